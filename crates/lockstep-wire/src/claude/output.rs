//! Claude Code's reply JSON: exactly the keys the client takes for the event, and nothing when there is nothing to say.

use lockstep_model::decision::Decision;
use lockstep_model::event::EventKind;
use serde_json::json;

use crate::Reply;

/// Whether the client puts a hook's `additionalContext` for this event into a context.
///
/// `SubagentStop` would take it too, but gives it to the stopping subagent and makes it go on: never wanted.
pub fn carries_context(kind: &EventKind) -> bool {
    matches!(
        kind,
        EventKind::SessionStart { .. }
            | EventKind::SubagentStart
            | EventKind::UserPromptSubmit { .. }
            | EventKind::PostToolUse { .. }
            | EventKind::Stop(_)
    )
}

/// The reply to an event of `kind`.
pub fn render(kind: &EventKind, decision: &Decision) -> Reply {
    match decision {
        Decision::Silent => Reply::silent(),
        Decision::Context(text) if carries_context(kind) => Reply::json(&json!({
            "hookSpecificOutput": {"hookEventName": kind.name(), "additionalContext": text}
        })),
        Decision::Context(_) => Reply::silent(),
        Decision::Block(reason) => block(kind, reason),
    }
}

fn block(kind: &EventKind, reason: &str) -> Reply {
    match kind {
        EventKind::PreToolUse(_) => Reply::json(&json!({
            "hookSpecificOutput": {
                "hookEventName": kind.name(),
                "permissionDecision": "deny",
                "permissionDecisionReason": reason,
            }
        })),
        EventKind::Stop(_)
        | EventKind::SubagentStop(_)
        | EventKind::UserPromptSubmit { .. }
        | EventKind::PostToolUse { .. } => Reply::json(&json!({"decision": "block", "reason": reason})),
        // Events without a JSON form for it: exit code 2, with the reason on standard error.
        _ => Reply { stderr: format!("{reason}\n"), code: 2, ..Reply::silent() },
    }
}

#[cfg(test)]
mod tests {
    use lockstep_model::event::{Outcome, Stop, Tool, ToolCall};

    use super::*;

    fn call() -> ToolCall {
        ToolCall { id: None, tool: Tool::Bash { command: "true".to_owned(), edited: Vec::new() } }
    }

    fn stop() -> Stop {
        Stop { already_continued: false }
    }

    fn every_kind() -> Vec<EventKind> {
        vec![
            EventKind::SessionStart { source: "startup".to_owned() },
            EventKind::SessionEnd { reason: "other".to_owned() },
            EventKind::UserPromptSubmit { prompt: String::new() },
            EventKind::PreToolUse(call()),
            EventKind::PostToolUse { call: call(), outcome: Outcome::Succeeded },
            EventKind::SubagentStart,
            EventKind::SubagentStop(stop()),
            EventKind::Stop(stop()),
            EventKind::PreCompact { trigger: "auto".to_owned() },
            EventKind::Other("New".to_owned()),
        ]
    }

    #[test]
    fn silence_is_nothing_at_all() {
        for kind in every_kind() {
            assert_eq!(render(&kind, &Decision::Silent), Reply::default());
        }
    }

    #[test]
    fn context_is_named_after_its_event_and_never_reaches_a_stopping_subagent() {
        let text = Decision::Context("a \"b\"\nc".to_owned());
        let post = EventKind::PostToolUse { call: call(), outcome: Outcome::Succeeded };
        assert_eq!(
            render(&post, &text).stdout,
            "{\"hookSpecificOutput\":{\"hookEventName\":\"PostToolUse\",\"additionalContext\":\"a \\\"b\\\"\\nc\"}}\n"
        );
        assert_eq!(render(&EventKind::SubagentStop(stop()), &text), Reply::default());
        for kind in every_kind() {
            assert_eq!(render(&kind, &text).stdout.is_empty(), !carries_context(&kind));
        }
    }

    #[test]
    fn a_block_is_never_silent_and_never_an_allow() {
        for kind in every_kind() {
            let reply = render(&kind, &Decision::Block("because".to_owned()));
            assert!(reply.stdout.contains("because") || (reply.code == 2 && reply.stderr == "because\n"));
            assert!(!reply.stdout.contains("allow"));
        }
        assert_eq!(
            render(&EventKind::PreToolUse(call()), &Decision::Block("no".to_owned())).stdout,
            "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"deny\",\
             \"permissionDecisionReason\":\"no\"}}\n"
        );
    }
}
