//! The groups to run now: waiting groups are assigned, and groups that were already assigned are repeated.

use lockstep_cascade::inspect::catch_up;
use schemars::JsonSchema;
use serde::Serialize;

use super::prompts::Handout;
use super::{Cascades, Which, hand};
use crate::error::CommandError;
use crate::reply::Reply;

/// The work that is due now.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Work {
    pub(crate) id: i64,
    /// Set until the cascade has ended.
    pub(crate) active: bool,
    /// The groups, each for one agent.
    pub(crate) groups: Vec<Handed>,
}

/// A group that was assigned.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Handed {
    #[serde(flatten)]
    pub(crate) handout: Handout,
    /// Set if the group was already assigned before.
    pub(crate) handed_before: bool,
}

impl Cascades {
    /// Hands out the groups that wait.
    pub(crate) fn next(&self, which: &Which) -> Result<Work, CommandError> {
        let mut opened = self.needed(which)?;
        let id = opened.record.id;
        let mut disk = self.disk(&opened, None)?;
        let state = &mut opened.state;
        catch_up(state, &mut disk)?;
        let mut groups = Vec::new();
        let handed: Vec<String> = state.handed().map(|group| group.id.clone()).collect();
        let waiting: Vec<String> = state.waiting().map(|group| group.id.clone()).collect();
        for group in handed.iter().chain(&waiting) {
            let found = state.group(group).cloned().expect("it is one of the iteration's");
            let handout = disk.handout(state, &found, &delivery(group))?;
            let handed_before = handed.contains(group);
            if !handed_before {
                hand(state, &mut disk, group)?;
            }
            groups.push(Handed { handout, handed_before });
        }
        Ok(Work { id, active: state.is_active(), groups })
    }
}

fn delivery(group: &str) -> String {
    format!(
        "Return both to the Lead. The Lead then runs `lockstep cascade done {group} --status complete` (or `failed`), which looks at \
         the files itself. For a file that needs no change: `lockstep cascade done --not-needed FILE --why REASON`."
    )
}

impl Reply for Work {
    fn text(&self) -> String {
        if !self.active {
            return format!("Cascade {} is over: `lockstep cascade report` shows how it ended.\n", self.id);
        }
        let parts: Vec<String> = self.groups.iter().map(part).collect();
        parts.join("\n")
    }
}

fn part(group: &Handed) -> String {
    let handout = &group.handout;
    let again = if group.handed_before { ", handed out before" } else { "" };
    format!(
        "==> {} for {}, attempt {}{again}, {} of at most {} characters <==\n{}",
        handout.group, handout.role, handout.attempt, handout.chars, handout.budget_chars, handout.prompt
    )
}
