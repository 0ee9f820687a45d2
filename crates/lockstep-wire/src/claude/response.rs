//! Claude Code's reply JSON: exactly the keys that the client accepts for the event, and no output if there
//! is nothing to report.

use lockstep_model::decision::Decision;
use lockstep_model::event::EventKind;
use lockstep_text::printable;
use serde_json::json;

use crate::HookResponse;

/// Returns true if the client adds a hook's `additionalContext` to a context for this event.
///
/// `SubagentStop` accepts it too, but gives it to the stopping subagent, which then continues. That is never
/// wanted.
pub fn accepts_context(kind: &EventKind) -> bool {
    matches!(
        kind,
        EventKind::SessionStart { .. }
            | EventKind::SubagentStart
            | EventKind::UserPromptSubmit { .. }
            | EventKind::PostToolUse { .. }
            | EventKind::Stop(_)
    )
}

/// The reply to an event of `kind`. Characters from outside that control a terminal or hide text are replaced.
pub fn render(kind: &EventKind, decision: &Decision) -> HookResponse {
    match decision {
        Decision::Silent => HookResponse::silent(),
        Decision::Context(text) if accepts_context(kind) => HookResponse::json(&json!({
            "hookSpecificOutput": {"hookEventName": kind.name(), "additionalContext": printable(text)}
        })),
        Decision::Context(_) => HookResponse::silent(),
        Decision::Ask(reason) if matches!(kind, EventKind::PreToolUse(_)) => permission("ask", reason),
        // Only a tool call can be put before the user; anything else that waits for an answer is refused.
        Decision::Ask(reason) | Decision::Block(reason) => block(kind, reason),
    }
}

fn permission(decision: &str, reason: &str) -> HookResponse {
    HookResponse::json(&json!({
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": decision,
            "permissionDecisionReason": printable(reason),
        }
    }))
}

fn block(kind: &EventKind, reason: &str) -> HookResponse {
    match kind {
        EventKind::PreToolUse(_) => permission("deny", reason),
        EventKind::Stop(_)
        | EventKind::SubagentStop(_)
        | EventKind::UserPromptSubmit { .. }
        | EventKind::PostToolUse { .. } => {
            HookResponse::json(&json!({"decision": "block", "reason": printable(reason)}))
        }
        // Events without a JSON form for it: exit code 2, with the reason on standard error.
        _ => HookResponse { stderr: format!("{reason}\n"), code: 2, ..HookResponse::silent() },
    }
}

#[cfg(test)]
mod tests {
    use lockstep_model::event::{StopEvent, ToolCall, ToolOutcome, ToolUse};

    use super::*;

    fn call() -> ToolCall {
        ToolCall { id: None, tool: ToolUse::Other("Read".to_owned()) }
    }

    fn stop() -> StopEvent {
        StopEvent { already_continued: false }
    }

    fn every_kind() -> Vec<EventKind> {
        vec![
            EventKind::SessionStart { source: "startup".to_owned() },
            EventKind::SessionEnd { reason: "other".to_owned() },
            EventKind::UserPromptSubmit { prompt: String::new() },
            EventKind::PreToolUse(call()),
            EventKind::PostToolUse { call: call(), outcome: ToolOutcome::Succeeded },
            EventKind::PostToolUseFailure(call()),
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
            assert_eq!(render(&kind, &Decision::Silent), HookResponse::default());
        }
    }

    #[test]
    fn context_names_its_event_and_skips_stopping_subagents() {
        let text = Decision::Context("a \"b\"\nc".to_owned());
        let post = EventKind::PostToolUse { call: call(), outcome: ToolOutcome::Succeeded };
        assert_eq!(
            render(&post, &text).stdout,
            "{\"hookSpecificOutput\":{\"hookEventName\":\"PostToolUse\",\"additionalContext\":\"a \\\"b\\\"\\nc\"}}\n"
        );
        assert_eq!(render(&EventKind::SubagentStop(stop()), &text), HookResponse::default());
        for kind in every_kind() {
            assert_eq!(render(&kind, &text).stdout.is_empty(), !accepts_context(&kind));
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

    #[test]
    fn nothing_from_outside_controls_a_terminal() {
        let text = "a\u{1b}[2J\u{202e}b\nc".to_owned();
        for kind in every_kind() {
            for decision in
                [Decision::Block(text.clone()), Decision::Ask(text.clone()), Decision::Context(text.clone())]
            {
                let reply = render(&kind, &decision);
                assert!(
                    !reply.stdout.contains("\\u001b") && !reply.stdout.contains('\u{202e}'),
                    "{}",
                    reply.stdout
                );
            }
        }
    }

    #[test]
    fn only_a_tool_call_is_put_before_the_user() {
        let asks = Decision::Ask("because".to_owned());
        for kind in every_kind() {
            let reply = render(&kind, &asks);
            assert!(!reply.stdout.contains("allow"));
            if matches!(kind, EventKind::PreToolUse(_)) {
                assert!(reply.stdout.contains("\"permissionDecision\":\"ask\""), "{}", reply.stdout);
            } else {
                assert_eq!(reply, render(&kind, &Decision::Block("because".to_owned())));
            }
        }
    }
}
