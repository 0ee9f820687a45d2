//! The routing table: the actions of each event. `init` registers exactly the events that have actions.

use lockstep_model::event::{Actor, Event, EventKind, Tool};
use lockstep_model::failure::Role;
use lockstep_model::task_list::{ListCall, ListOperation};
use lockstep_steps::markers::may_have_markers;
use lockstep_steps::shell::{CommitReading, read_commit};

use super::shell::calls_task;
use super::windows::ended_task;

/// An action of Lockstep for an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
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
    /// Report the changes of a subagent.
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
    /// Decide whether the agent of a step may end: gate 2.
    GateStop,
    /// Save the task version that a call wrote.
    MirrorTask,
    /// Record a reader of the task.
    NoteTaskRead,
    /// Deliver the mailbox to the Lead.
    Deliver,
    /// Give a session that starts, or a subagent, its part of the session cache.
    DeliverCache,
    /// Record the start of a session, and the present tree as known.
    OpenSession,
    /// Note that a session ended, and remove expired journals.
    CloseSession,
}

impl Action {
    /// Returns true if a block by this action would continue an agent that a hook has already continued once.
    pub fn would_loop(self, event: &Event) -> bool {
        self == Self::GateStop
            && matches!(&event.kind, EventKind::SubagentStop(stop) if stop.already_continued)
    }

    /// Returns true if the action only concerns projects with steps. A prompt with markers shows itself that
    /// it concerns a step.
    pub fn is_about_steps_only(self) -> bool {
        matches!(self, Self::GateBoundary | Self::GateCommit | Self::GateStop)
    }

    /// The failure behaviour of the action.
    pub fn role(self) -> Role {
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
            | Self::Deliver
            | Self::OpenSession
            | Self::CloseSession => Role::Observer,
            Self::DeliverCache => Role::Announcer,
            Self::GateTask
            | Self::GateTaskCommand
            | Self::GateInvocation
            | Self::GateBoundary
            | Self::GateCommit
            | Self::GateStop => Role::Enforcer,
        }
    }
}

/// The actions for an event, in order.
pub fn routes(event: &Event) -> Vec<Action> {
    let mut actions = match &event.kind {
        EventKind::SessionStart { .. } => vec![Action::OpenSession, Action::DeliverCache],
        EventKind::SubagentStart => vec![Action::DeliverCache],
        EventKind::SessionEnd { .. } => vec![Action::CloseSession],
        EventKind::PreToolUse(call) => match &call.tool {
            Tool::TaskList(list) if writes(list) => vec![Action::GateTask],
            // An ad-hoc prompt, the Lead's own edits and all other commands are no step's business.
            // The names of the markers are the project's; most prompts have no comment at all.
            Tool::Agent { prompt: text, .. } | Tool::Message { text, .. } if may_have_markers(text) => {
                vec![Action::GateInvocation]
            }
            // Its scripts have to be read.
            Tool::Workflow(_) => vec![Action::GateInvocation],
            Tool::File { .. } if event.actor != Actor::Lead => vec![Action::GateBoundary, Action::OpenWindow],
            Tool::File { .. } => vec![Action::OpenWindow],
            Tool::Bash { command, .. } => gates_of(command).into_iter().chain([Action::OpenWindow]).collect(),
            Tool::McpCommand { command, .. } => gates_of(command),
            _ => vec![],
        },
        EventKind::PostToolUse { call, .. } => match &call.tool {
            Tool::TaskList(list) if writes(list) => vec![Action::MirrorTask],
            Tool::TaskList(_) => vec![Action::NoteTaskRead],
            Tool::File { .. } => vec![Action::Journal],
            Tool::Bash { command, .. } => after_command(command),
            Tool::McpCommand { command, .. } if calls_task(command) => vec![Action::ForgetTaskCommand],
            Tool::Agent { .. }
            | Tool::Workflow(_)
            | Tool::Message { .. }
            | Tool::McpCommand { .. }
            | Tool::Other(_) => vec![],
        },
        EventKind::PostToolUseFailure(call) => match &call.tool {
            Tool::Bash { command, .. } => after_command(command),
            _ => vec![],
        },
        EventKind::UserPromptSubmit { prompt } if ended_task(prompt).is_some() => {
            vec![Action::CloseBackgroundTask]
        }
        // The gate decides first, so that no sweep, index or analysis can prevent it.
        EventKind::SubagentStop(_) => vec![Action::GateStop, Action::ReportSubagent],
        EventKind::Stop(_) => vec![Action::ReportLead],
        EventKind::UserPromptSubmit { .. } => vec![Action::NoteStart],
        EventKind::PreCompact { .. } | EventKind::Other(_) => vec![],
    };
    if delivers(event) {
        actions.push(Action::Deliver);
    }
    actions
}

/// The gates that decide a shell command.
fn gates_of(command: &str) -> Vec<Action> {
    let commit = (read_commit(command) != CommitReading::Harmless).then_some(Action::GateCommit);
    let task = calls_task(command).then_some(Action::GateTaskCommand);
    commit.into_iter().chain(task).collect()
}

fn after_command(command: &str) -> Vec<Action> {
    let task = calls_task(command).then_some(Action::ForgetTaskCommand);
    task.into_iter().chain([Action::Sweep]).collect()
}

fn writes(list: &ListCall) -> bool {
    matches!(list.operation, ListOperation::Create { .. } | ListOperation::Update { .. })
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
pub struct Registration {
    /// The event's name.
    pub event: &'static str,
    /// The tools it is registered for, as the client matches them; `None` for all.
    pub matcher: Option<&'static str>,
    /// The client's timeout for the hook, in seconds.
    pub timeout_seconds: u32,
}

/// The tools that a gate may have to do with.
const DECIDED: &str = "^(Task|Agent|Workflow|SendMessage|Bash|Monitor|PowerShell|Edit|Write|MultiEdit|NotebookEdit|TaskCreate|TaskUpdate|mcp__.*)$";

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
pub const REGISTRATIONS: &[Registration] = &[
    Registration { event: "SessionStart", matcher: None, timeout_seconds: 10 },
    Registration { event: "UserPromptSubmit", matcher: None, timeout_seconds: 5 },
    Registration { event: "PreToolUse", matcher: Some(DECIDED), timeout_seconds: 10 },
    Registration { event: "PostToolUse", matcher: None, timeout_seconds: 5 },
    Registration {
        event: "PostToolUseFailure",
        matcher: Some("Bash|Monitor|PowerShell"),
        timeout_seconds: 5,
    },
    Registration { event: "SubagentStart", matcher: None, timeout_seconds: 5 },
    Registration { event: "SubagentStop", matcher: None, timeout_seconds: 15 },
    Registration { event: "Stop", matcher: None, timeout_seconds: 15 },
    Registration { event: "SessionEnd", matcher: None, timeout_seconds: 10 },
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use lockstep_wire::claude::{carries_context, parse, samples};

    use super::*;

    fn of(sample: &str) -> Vec<Action> {
        routes(&parse(sample.as_bytes()).unwrap())
    }

    #[test]
    fn exactly_the_events_that_lead_somewhere_are_registered() {
        let routed: BTreeSet<String> = samples::ALL
            .iter()
            .map(|(_, json)| parse(json.as_bytes()).unwrap())
            .filter(|event| !routes(event).is_empty())
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
                assert!(matched || routes(&event).is_empty(), "{file}");
            }
        }
    }

    #[test]
    fn the_table() {
        use Action::*;
        for (sample, expected) in [
            (samples::POST_TOOL_USE_EDIT_IN_SUBAGENT, vec![Journal]),
            (samples::POST_TOOL_USE_MULTI_EDIT, vec![Journal, Deliver]),
            (samples::POST_TOOL_USE_NOTEBOOK_EDIT, vec![Journal, Deliver]),
            (samples::POST_TOOL_USE_BASH, vec![Sweep, Deliver]),
            (samples::POST_TOOL_USE_AGENT, vec![Deliver]),
            (samples::POST_TOOL_USE_READ_IN_SUBAGENT, vec![]),
            (samples::PRE_TOOL_USE_BASH, vec![OpenWindow]),
            (samples::POST_TOOL_USE_FAILURE_BASH, vec![Sweep]),
            (samples::PRE_TOOL_USE_AGENT, vec![GateInvocation]),
            (samples::PRE_TOOL_USE_WORKFLOW, vec![GateInvocation]),
            (samples::PRE_TOOL_USE_SEND_MESSAGE, vec![GateInvocation]),
            (samples::POST_TOOL_USE_WORKFLOW, vec![Deliver]),
            (samples::POST_TOOL_USE_SEND_MESSAGE, vec![Deliver]),
            (samples::PRE_TOOL_USE_EDIT_IN_SUBAGENT, vec![GateBoundary, OpenWindow]),
            (samples::PRE_TOOL_USE_TASK_CREATE, vec![GateTask]),
            (samples::PRE_TOOL_USE_TASK_UPDATE, vec![GateTask]),
            (samples::POST_TOOL_USE_TASK_CREATE, vec![MirrorTask, Deliver]),
            (samples::POST_TOOL_USE_TASK_UPDATE, vec![MirrorTask, Deliver]),
            (samples::POST_TOOL_USE_TASK_GET, vec![NoteTaskRead]),
            (samples::POST_TOOL_USE_TASK_LIST, vec![NoteTaskRead, Deliver]),
            (samples::SUBAGENT_STOP, vec![GateStop, ReportSubagent]),
            (samples::OLD_SUBAGENT_STOP, vec![GateStop, ReportSubagent]),
            (samples::STOP, vec![ReportLead, Deliver]),
            (samples::USER_PROMPT_SUBMIT, vec![NoteStart, Deliver]),
            (samples::USER_PROMPT_SUBMIT_TASK_NOTIFICATION, vec![CloseBackgroundTask, Deliver]),
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
        assert_eq!(of(&commit), [Action::GateCommit, Action::OpenWindow]);
        let by_lead = samples::PRE_TOOL_USE_EDIT_IN_SUBAGENT.replace("agent_id", "no_agent");
        assert_eq!(of(&by_lead), [Action::OpenWindow]);
    }

    #[test]
    fn nothing_is_delivered_where_it_would_not_reach_the_lead_or_would_loop() {
        for (file, json) in samples::ALL {
            let event = parse(json.as_bytes()).unwrap();
            if routes(&event).contains(&Action::Deliver) {
                assert!(carries_context(&event.kind) && event.actor == Actor::Lead, "{file}");
            }
        }
        let continued = samples::STOP.replace("\"stop_hook_active\": false", "\"stop_hook_active\": true");
        assert_eq!(of(&continued), [Action::ReportLead]);
    }
}
