//! The routing table: which event leads to which actions. `init` registers exactly the events that lead somewhere.

use lockstep_model::event::{Actor, Event, EventKind, Tool};
use lockstep_model::failure::Role;
use lockstep_model::task_list::{ListCall, ListOperation};
use lockstep_steps::markers::may_have_markers;
use lockstep_steps::shell::may_commit;

use super::shell::calls_task;

/// What Lockstep does about an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Journal the file a tool wrote.
    Journal,
    /// Look for changes no tool event reported.
    Sweep,
    /// Report what a subagent changed.
    ReportSubagent,
    /// Report what the Lead itself changed.
    ReportLead,
    /// Decide a call that writes the client's task list.
    GateTask,
    /// Decide a shell command that calls Lockstep's verbs of the task, and note who runs it.
    GateTaskCommand,
    /// Forget who ran such a command.
    ForgetTaskCommand,
    /// Decide whether an agent may be started: gate 1.
    GateInvocation,
    /// Decide whether the agent of a step may write a file.
    GateBoundary,
    /// Decide whether a shell command may make a commit: gate 3.
    GateCommit,
    /// Decide whether the agent of a step may end: gate 2.
    GateStop,
    /// Keep what a call wrote of the task.
    MirrorTask,
    /// Note who has read the task.
    NoteTaskRead,
    /// Give the Lead what waits in the mailbox.
    Deliver,
    /// Give a session that starts, or a subagent, its part of the session cache.
    DeliverCache,
    /// Note that a session began, and take the tree as it is for known.
    OpenSession,
    /// Note that a session ended, and remove expired journals.
    CloseSession,
}

impl Action {
    /// Whether a block by this action would keep an agent going that a hook has already kept going once.
    pub fn would_loop(self, event: &Event) -> bool {
        self == Self::GateStop
            && matches!(&event.kind, EventKind::SubagentStop(stop) if stop.already_continued)
    }

    /// Whether only a project with steps has to do with it. A prompt with markers says by itself that it is about a step.
    pub fn is_about_steps_only(self) -> bool {
        matches!(self, Self::GateBoundary | Self::GateCommit | Self::GateStop)
    }

    /// How the action fails.
    pub fn role(self) -> Role {
        match self {
            Self::Journal
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
            Tool::Agent { prompt, .. } if may_have_markers(prompt) => vec![Action::GateInvocation],
            Tool::File { .. } if event.actor != Actor::Lead => vec![Action::GateBoundary],
            Tool::Bash { command, .. } => {
                let commit = may_commit(command).then_some(Action::GateCommit);
                let task = calls_task(command).then_some(Action::GateTaskCommand);
                commit.into_iter().chain(task).collect()
            }
            _ => vec![],
        },
        EventKind::PostToolUse { call, .. } => match &call.tool {
            Tool::TaskList(list) if writes(list) => vec![Action::MirrorTask],
            Tool::TaskList(_) => vec![Action::NoteTaskRead],
            Tool::File { .. } => vec![Action::Journal],
            Tool::Bash { command, .. } if calls_task(command) => {
                vec![Action::ForgetTaskCommand, Action::Sweep]
            }
            Tool::Bash { .. } => vec![Action::Sweep],
            Tool::Agent { .. } | Tool::Other(_) => vec![],
        },
        EventKind::SubagentStop(_) => vec![Action::ReportSubagent, Action::GateStop],
        EventKind::Stop(_) => vec![Action::ReportLead],
        EventKind::UserPromptSubmit { .. } | EventKind::PreCompact { .. } | EventKind::Other(_) => vec![],
    };
    if delivers(event) {
        actions.push(Action::Deliver);
    }
    actions
}

fn writes(list: &ListCall) -> bool {
    matches!(list.operation, ListOperation::Create { .. } | ListOperation::Update { .. })
}

/// Whether the mailbox may be emptied into this event: only the Lead's, only where the text reaches it, and not into a stop
/// that a hook has already continued once.
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
    /// Seconds until the client gives up on the hook.
    pub timeout_seconds: u32,
}

/// The tools that a gate may have to do with.
const DECIDED: &str = "Task|Agent|Bash|Edit|Write|MultiEdit|NotebookEdit|TaskCreate|TaskUpdate";

/// The events of Claude Code to register. What observes has no matcher: the hook chooses, so that a tool with a new name
/// is not missed. What decides is asked about its own tools only: no other call has to wait for it.
pub const REGISTRATIONS: &[Registration] = &[
    Registration { event: "SessionStart", matcher: None, timeout_seconds: 10 },
    Registration { event: "UserPromptSubmit", matcher: None, timeout_seconds: 5 },
    Registration { event: "PreToolUse", matcher: Some(DECIDED), timeout_seconds: 10 },
    Registration { event: "PostToolUse", matcher: None, timeout_seconds: 5 },
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
                let matched = matcher.split('|').any(|tool| tool == call.tool.name());
                // Of a tool that is matched, what the call is about decides further.
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
            (samples::PRE_TOOL_USE_BASH, vec![]),
            (samples::PRE_TOOL_USE_AGENT, vec![GateInvocation]),
            (samples::PRE_TOOL_USE_EDIT_IN_SUBAGENT, vec![GateBoundary]),
            (samples::PRE_TOOL_USE_TASK_CREATE, vec![GateTask]),
            (samples::PRE_TOOL_USE_TASK_UPDATE, vec![GateTask]),
            (samples::POST_TOOL_USE_TASK_CREATE, vec![MirrorTask, Deliver]),
            (samples::POST_TOOL_USE_TASK_UPDATE, vec![MirrorTask, Deliver]),
            (samples::POST_TOOL_USE_TASK_GET, vec![NoteTaskRead]),
            (samples::POST_TOOL_USE_TASK_LIST, vec![NoteTaskRead, Deliver]),
            (samples::SUBAGENT_STOP, vec![ReportSubagent, GateStop]),
            (samples::OLD_SUBAGENT_STOP, vec![ReportSubagent, GateStop]),
            (samples::STOP, vec![ReportLead, Deliver]),
            (samples::USER_PROMPT_SUBMIT, vec![Deliver]),
            (samples::SESSION_START, vec![OpenSession, DeliverCache]),
            (samples::SUBAGENT_START, vec![DeliverCache]),
            (samples::SESSION_END, vec![CloseSession]),
        ] {
            assert_eq!(of(sample), expected, "{sample}");
        }
    }

    #[test]
    fn only_what_concerns_a_step_is_decided() {
        let ad_hoc = samples::PRE_TOOL_USE_AGENT.replace("<!--", "");
        assert_eq!(of(&ad_hoc.replace("DES-", "")), []);
        let commit =
            samples::PRE_TOOL_USE_BASH.replace("sleep 2; sed -i s/greet/salute/ a.py", "git -C x commit");
        assert_eq!(of(&commit), [Action::GateCommit]);
        let by_lead = samples::PRE_TOOL_USE_EDIT_IN_SUBAGENT.replace("agent_id", "no_agent");
        assert_eq!(of(&by_lead), []);
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
