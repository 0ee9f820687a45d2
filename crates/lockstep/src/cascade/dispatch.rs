//! The groups to run now: waiting groups are assigned, and groups that were already assigned are repeated.

use lockstep_cascade::inspector::run_due_check;
use schemars::JsonSchema;
use serde::Serialize;

use super::prompts::GroupPrompt;
use super::{CascadeContext, CascadeSelector, dispatch_group};
use crate::command_output::CommandOutput;
use crate::error::CommandResult;

/// The work that is due now.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct DispatchOutput {
    pub(crate) id: i64,
    /// Set until the cascade has ended.
    pub(crate) active: bool,
    /// The groups, each for one agent.
    pub(crate) groups: Vec<DispatchedGroup>,
}

/// A group that was assigned.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct DispatchedGroup {
    #[serde(flatten)]
    pub(crate) handout: GroupPrompt,
    /// Set if the group was already assigned before.
    pub(crate) handed_before: bool,
}

impl CascadeContext {
    /// Hands out the groups that wait.
    pub(crate) fn dispatch_waiting(&self, which: &CascadeSelector) -> CommandResult<DispatchOutput> {
        let mut opened = self.require_active(which)?;
        let id = opened.record.id;
        let mut disk = self.disk(&opened, None)?;
        let state = &mut opened.state;
        run_due_check(state, &mut disk)?;
        let mut groups = Vec::new();
        let handed: Vec<String> = state.dispatched().map(|group| group.id.clone()).collect();
        let waiting: Vec<String> = state.waiting().map(|group| group.id.clone()).collect();
        for group in handed.iter().chain(&waiting) {
            let found = state.group(group).cloned().expect("it is one of the iteration's");
            let handout = disk.group_prompt(state, &found, &delivery(group))?;
            let handed_before = handed.contains(group);
            if !handed_before {
                dispatch_group(state, &mut disk, group)?;
            }
            groups.push(DispatchedGroup { handout, handed_before });
        }
        Ok(DispatchOutput { id, active: state.is_active(), groups })
    }
}

fn delivery(group: &str) -> String {
    format!(
        "Return both to the Lead. The Lead then runs `lockstep cascade done {group} --status complete` (or `failed`), which looks at \
         the files itself. For a file that needs no change: `lockstep cascade done --not-needed FILE --why REASON`."
    )
}

impl CommandOutput for DispatchOutput {
    fn text(&self) -> String {
        if !self.active {
            return format!("Cascade {} is over: `lockstep cascade report` shows how it ended.\n", self.id);
        }
        let parts: Vec<String> = self.groups.iter().map(part).collect();
        parts.join("\n")
    }
}

fn part(group: &DispatchedGroup) -> String {
    let handout = &group.handout;
    let again = if group.handed_before { ", handed out before" } else { "" };
    format!(
        "==> {} for {}, attempt {}{again}, {} of at most {} characters <==\n{}",
        handout.group, handout.role, handout.attempt, handout.chars, handout.budget_chars, handout.prompt
    )
}
