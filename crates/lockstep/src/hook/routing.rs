//! The routing table: the actions of each event. `init` registers exactly the events that have actions.

use lockstep_model::event::{Actor, Event, EventKind, ToolUse};
use lockstep_model::failure_policy::ActionRole;
use lockstep_model::task_list::{TaskListCall, TaskListOperation};
use lockstep_steps::commit_detection::{CommitReading, read_commit};
use lockstep_steps::markers::may_have_markers;

use super::shell::{calls_task, reserved_call};
use super::windows::ended_task;

/// An action of Lockstep for an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookAction {
    /// Save the contents of the files, if the start of the session was not seen.
    NoteStart,
    /// Journal the file a tool wrote.
    Journal,
    /// Note that a shell command or an edit starts.
    OpenWindow,
    /// Note that a background task has ended.
    CloseBackgroundTask,
    /// Journal the changes of a shell command: those that the client lists, or those found on disk.
    Sweep,
    ReportSubagent,
    /// Report the Lead's own changes.
    ReportLead,
    /// Decide a call that writes the client's task list.
    GateTask,
    /// Decide a shell command that calls Lockstep's verbs of the task, and record its caller.
    GateTaskCommand,
    /// Remove the record of such a caller.
    ForgetTaskCommand,
    /// Decide whether an agent may be started: gate 1.
    GateInvocation,
    /// Decide whether the agent of a step may write a file.
    GateBoundary,
    /// Decide whether a shell command may make a commit: gate 3.
    GateCommit,
    /// Refuse a shell command that calls a verb of Lockstep that is reserved for people.
    GateApproval,
    /// Decide whether the agent of a step may end: gate 2.
    GateStop,
    /// Save the task version that a call wrote.
    MirrorTask,
    /// Record a reader of the task.
    NoteTaskRead,
    /// Deliver the mailbox to the Lead.
    DeliverMail,
    /// Give a session that starts, or a subagent, its part of the session cache.
    DeliverCache,
    /// Record the start of a session, and the present tree as known.
    OpenSession,
    /// Note that a session ended, and remove expired journals.
    CloseSession,
}

impl HookAction {
    /// Returns true if a block by this action would continue an agent that a hook has already continued once.
    pub fn would_loop(self, event: &Event) -> bool {
        self == Self::GateStop
            && matches!(&event.kind, EventKind::SubagentStop(stop) if stop.already_continued)
    }

    /// Returns true if the action only concerns projects with steps. A prompt with markers shows itself that
    /// it concerns a step.
    pub fn is_step_gate(self) -> bool {
        matches!(self, Self::GateBoundary | Self::GateCommit | Self::GateApproval | Self::GateStop)
    }

    /// The failure behaviour of the action.
    pub fn role(self) -> ActionRole {
        match self {
            Self::NoteStart
            | Self::Journal
            | Self::OpenWindow
            | Self::CloseBackgroundTask
            | Self::Sweep
            | Self::ReportSubagent
            | Self::ReportLead
            | Self::MirrorTask
            | Self::ForgetTaskCommand
            | Self::NoteTaskRead
            | Self::DeliverMail
            | Self::OpenSession
            | Self::CloseSession => ActionRole::Observer,
            Self::DeliverCache => ActionRole::Announcer,
            Self::GateTask
            | Self::GateTaskCommand
            | Self::GateInvocation
            | Self::GateBoundary
            | Self::GateCommit
            | Self::GateApproval
            | Self::GateStop => ActionRole::Enforcer,
        }
    }
}

/// The actions for an event, in order.
pub fn actions_for(event: &Event) -> Vec<HookAction> {
    let mut actions = match &event.kind {
        EventKind::SessionStart { .. } => vec![HookAction::OpenSession, HookAction::DeliverCache],
        EventKind::SubagentStart => vec![HookAction::DeliverCache],
        EventKind::SessionEnd { .. } => vec![HookAction::CloseSession],
        EventKind::PreToolUse(call) => match &call.tool {
            ToolUse::TaskList(list) if writes(list) => vec![HookAction::GateTask],
            // An ad-hoc prompt, the Lead's own edits and all other commands are no step's business.
            // The names of the markers are the project's; most prompts have no comment at all.
            ToolUse::Agent { prompt: text, .. } | ToolUse::Message { text, .. } if may_have_markers(text) => {
                vec![HookAction::GateInvocation]
            }
            // Its scripts have to be read.
            ToolUse::Workflow(_) => vec![HookAction::GateInvocation],
            ToolUse::File { .. } if event.actor != Actor::Lead => {
                vec![HookAction::GateBoundary, HookAction::OpenWindow]
            }
            ToolUse::File { .. } => vec![HookAction::OpenWindow],
            ToolUse::Bash { command, .. } => {
                gates_of(command).into_iter().chain([HookAction::OpenWindow]).collect()
            }
            ToolUse::Mcp { command, writes, .. } => {
                let is_bounded = event.actor != Actor::Lead && !writes.is_empty();
                let boundary = is_bounded.then_some(HookAction::GateBoundary);
                let gates = command.as_deref().map(gates_of).unwrap_or_default();
                boundary.into_iter().chain(gates).collect()
            }
            _ => vec![],
        },
        EventKind::PostToolUse { call, .. } => match &call.tool {
            ToolUse::TaskList(list) if writes(list) => vec![HookAction::MirrorTask],
            ToolUse::TaskList(_) => vec![HookAction::NoteTaskRead],
            ToolUse::File { .. } => vec![HookAction::Journal],
            ToolUse::Bash { command, .. } => after_command(command),
            ToolUse::Mcp { command: Some(command), .. } if calls_task(command) => {
                vec![HookAction::ForgetTaskCommand]
            }
            ToolUse::Agent { .. }
            | ToolUse::Workflow(_)
            | ToolUse::Message { .. }
            | ToolUse::Mcp { .. }
            | ToolUse::Other(_) => vec![],
        },
        EventKind::PostToolUseFailure(call) => match &call.tool {
            ToolUse::Bash { command, .. } => after_command(command),
            _ => vec![],
        },
        EventKind::UserPromptSubmit { prompt } if ended_task(prompt).is_some() => {
            vec![HookAction::CloseBackgroundTask]
        }
        // The gate decides first, so that no sweep, index or analysis can prevent it.
        EventKind::SubagentStop(_) => vec![HookAction::GateStop, HookAction::ReportSubagent],
        EventKind::Stop(_) => vec![HookAction::ReportLead],
        EventKind::UserPromptSubmit { .. } => vec![HookAction::NoteStart],
        EventKind::PreCompact { .. } | EventKind::Other(_) => vec![],
    };
    if delivers(event) {
        actions.push(HookAction::DeliverMail);
    }
    actions
}

/// The gates that decide a shell command.
fn gates_of(command: &str) -> Vec<HookAction> {
    let commit = (read_commit(command) != CommitReading::Harmless).then_some(HookAction::GateCommit);
    let approval = reserved_call(command).map(|_| HookAction::GateApproval);
    let task = calls_task(command).then_some(HookAction::GateTaskCommand);
    commit.into_iter().chain(approval).chain(task).collect()
}

fn after_command(command: &str) -> Vec<HookAction> {
    let task = calls_task(command).then_some(HookAction::ForgetTaskCommand);
    task.into_iter().chain([HookAction::Sweep]).collect()
}

fn writes(list: &TaskListCall) -> bool {
    matches!(list.operation, TaskListOperation::Create { .. } | TaskListOperation::Update { .. })
}

/// Returns true if mail may be delivered with this event: only to the Lead, only if the text reaches it, and
/// not at a stop that a hook has already continued once.
fn delivers(event: &Event) -> bool {
    event.actor == Actor::Lead
        && match &event.kind {
            EventKind::PostToolUse { .. } | EventKind::UserPromptSubmit { .. } => true,
            EventKind::Stop(stop) => !stop.already_continued,
            _ => false,
        }
}

/// An event that `init` registers, and how long the client may wait for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HookRegistrationSpec {
    /// The event's name.
    pub event: &'static str,
    /// The tools it is registered for, as the client matches them; `None` for all.
    pub matcher: Option<&'static str>,
    /// The client's timeout for the hook, in seconds.
    pub timeout_seconds: u32,
}

/// The tools that a gate may have to do with.
const GATED_TOOLS: &str = "^(Task|Agent|Workflow|SendMessage|Bash|Monitor|PowerShell|Edit|Write|MultiEdit|NotebookEdit|TaskCreate|TaskUpdate|mcp__.*)$";

/// The alternatives of a matcher: names of tools, or beginnings of names before `.*`. A list without a pattern has no anchors.
pub(crate) fn alternatives(matcher: &str) -> impl Iterator<Item = &str> {
    let inner = matcher.strip_prefix("^(").and_then(|rest| rest.strip_suffix(")$"));
    inner.unwrap_or(matcher).split('|')
}

/// Returns true if a matcher of ours accepts a tool.
pub(crate) fn accepts(matcher: &str, tool: &str) -> bool {
    alternatives(matcher)
        .any(|one| one == tool || one.strip_suffix(".*").is_some_and(|start| tool.starts_with(start)))
}

/// The events of Claude Code to register. Observers have no matcher: the hook selects the events itself, so
/// that a tool with a new name is not missed. Gates match only their own tools, so that no other call has to
/// wait.
pub const REGISTRATIONS: &[HookRegistrationSpec] = &[
    HookRegistrationSpec { event: "SessionStart", matcher: None, timeout_seconds: 10 },
    HookRegistrationSpec { event: "UserPromptSubmit", matcher: None, timeout_seconds: 5 },
    HookRegistrationSpec { event: "PreToolUse", matcher: Some(GATED_TOOLS), timeout_seconds: 10 },
    HookRegistrationSpec { event: "PostToolUse", matcher: None, timeout_seconds: 5 },
    HookRegistrationSpec {
        event: "PostToolUseFailure",
        matcher: Some("Bash|Monitor|PowerShell"),
        timeout_seconds: 5,
    },
    HookRegistrationSpec { event: "SubagentStart", matcher: None, timeout_seconds: 5 },
    HookRegistrationSpec { event: "SubagentStop", matcher: None, timeout_seconds: 15 },
    HookRegistrationSpec { event: "Stop", matcher: None, timeout_seconds: 15 },
    HookRegistrationSpec { event: "SessionEnd", matcher: None, timeout_seconds: 10 },
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use lockstep_wire::claude::{accepts_context, parse, samples};

    use super::*;

    fn of(sample: &str) -> Vec<HookAction> {
        actions_for(&parse(sample.as_bytes()).unwrap())
    }

    #[test]
    fn exactly_the_events_that_lead_somewhere_are_registered() {
        let routed: BTreeSet<String> = samples::ALL
            .iter()
            .map(|(_, json)| parse(json.as_bytes()).unwrap())
            .filter(|event| !actions_for(event).is_empty())
            .map(|event| event.kind.name().to_owned())
            .collect();
        let registered: BTreeSet<String> =
            REGISTRATIONS.iter().map(|registration| registration.event.to_owned()).collect();
        assert_eq!(routed, registered);
    }

    #[test]
    fn a_matcher_lets_through_whatever_is_routed() {
        for (file, json) in samples::ALL {
            let event = parse(json.as_bytes()).unwrap();
            let (EventKind::PreToolUse(call) | EventKind::PostToolUse { call, .. }) = &event.kind else {
                continue;
            };
            let registration =
                REGISTRATIONS.iter().find(|registration| registration.event == event.kind.name()).unwrap();
            if let Some(matcher) = registration.matcher {
                let matched = accepts(matcher, call.tool.name());
                // For a matched tool, the call itself decides further.
                assert!(matched || actions_for(&event).is_empty(), "{file}");
            }
        }
    }

    #[test]
    fn routes_every_event_to_its_actions() {
        use HookAction::*;
        for (sample, expected) in [
            (samples::POST_TOOL_USE_EDIT_IN_SUBAGENT, vec![Journal]),
            (samples::POST_TOOL_USE_MULTI_EDIT, vec![Journal, DeliverMail]),
            (samples::POST_TOOL_USE_NOTEBOOK_EDIT, vec![Journal, DeliverMail]),
            (samples::POST_TOOL_USE_BASH, vec![Sweep, DeliverMail]),
            (samples::POST_TOOL_USE_AGENT, vec![DeliverMail]),
            (samples::POST_TOOL_USE_READ_IN_SUBAGENT, vec![]),
            (samples::PRE_TOOL_USE_BASH, vec![OpenWindow]),
            (samples::POST_TOOL_USE_FAILURE_BASH, vec![Sweep]),
            (samples::PRE_TOOL_USE_AGENT, vec![GateInvocation]),
            (samples::PRE_TOOL_USE_WORKFLOW, vec![GateInvocation]),
            (samples::PRE_TOOL_USE_SEND_MESSAGE, vec![GateInvocation]),
            (samples::POST_TOOL_USE_WORKFLOW, vec![DeliverMail]),
            (samples::POST_TOOL_USE_SEND_MESSAGE, vec![DeliverMail]),
            (samples::PRE_TOOL_USE_EDIT_IN_SUBAGENT, vec![GateBoundary, OpenWindow]),
            (samples::PRE_TOOL_USE_TASK_CREATE, vec![GateTask]),
            (samples::PRE_TOOL_USE_TASK_UPDATE, vec![GateTask]),
            (samples::POST_TOOL_USE_TASK_CREATE, vec![MirrorTask, DeliverMail]),
            (samples::POST_TOOL_USE_TASK_UPDATE, vec![MirrorTask, DeliverMail]),
            (samples::POST_TOOL_USE_TASK_GET, vec![NoteTaskRead]),
            (samples::POST_TOOL_USE_TASK_LIST, vec![NoteTaskRead, DeliverMail]),
            (samples::SUBAGENT_STOP, vec![GateStop, ReportSubagent]),
            (samples::OLD_SUBAGENT_STOP, vec![GateStop, ReportSubagent]),
            (samples::STOP, vec![ReportLead, DeliverMail]),
            (samples::USER_PROMPT_SUBMIT, vec![NoteStart, DeliverMail]),
            (samples::USER_PROMPT_SUBMIT_TASK_NOTIFICATION, vec![CloseBackgroundTask, DeliverMail]),
            (samples::SESSION_START, vec![OpenSession, DeliverCache]),
            (samples::SUBAGENT_START, vec![DeliverCache]),
            (samples::SESSION_END, vec![CloseSession]),
        ] {
            assert_eq!(of(sample), expected, "{sample}");
        }
    }

    #[test]
    fn only_what_concerns_a_step_is_decided() {
        for sample in [samples::PRE_TOOL_USE_AGENT, samples::PRE_TOOL_USE_SEND_MESSAGE] {
            let ad_hoc = sample.replace("<!--", "");
            assert_eq!(of(&ad_hoc.replace("DES-", "")), []);
        }
        let commit =
            samples::PRE_TOOL_USE_BASH.replace("sleep 2; sed -i s/greet/salute/ a.py", "git -C x commit");
        assert_eq!(of(&commit), [HookAction::GateCommit, HookAction::OpenWindow]);
        let by_lead = samples::PRE_TOOL_USE_EDIT_IN_SUBAGENT.replace("agent_id", "no_agent");
        assert_eq!(of(&by_lead), [HookAction::OpenWindow]);
    }

    #[test]
    fn events_that_cannot_reach_the_lead_deliver_nothing() {
        for (file, json) in samples::ALL {
            let event = parse(json.as_bytes()).unwrap();
            if actions_for(&event).contains(&HookAction::DeliverMail) {
                assert!(accepts_context(&event.kind) && event.actor == Actor::Lead, "{file}");
            }
        }
        let continued = samples::STOP.replace("\"stop_hook_active\": false", "\"stop_hook_active\": true");
        assert_eq!(of(&continued), [HookAction::ReportLead]);
    }
}
