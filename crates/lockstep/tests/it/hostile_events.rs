//! Events that a gate could misread: it reads what is meant, or refuses with a reason. Controls show that it does not refuse all.

use lockstep_testkit::attacks::{event_forms, unreadable_events};
use lockstep_testkit::{HookEvent, ProcessOutput, TestEnv};
use lockstep_wire::claude::samples;
use serde_json::json;

use crate::steps::{with_step, yes};

/// A project whose step keeps commits from being made.
fn begun() -> TestEnv {
    let env = with_step();
    yes(&env, "step phase start 01-01 RED");
    env
}

fn bash(env: &TestEnv, command: &str) -> String {
    HookEvent::from_sample(samples::PRE_TOOL_USE_BASH)
        .with("tool_input", json!({"command": command}))
        .json(&env.project())
}

/// Returns true if the call is refused, with a reason.
fn is_refused(output: &ProcessOutput) -> bool {
    let denied = String::from_utf8_lossy(&output.stdout).contains("\"permissionDecision\":\"deny\"");
    let stopped = output.code == Some(2) && output.stderr.starts_with(b"lockstep");
    denied || stopped
}

#[test]
fn a_commit_is_refused_in_every_form_of_its_event() {
    let env = begun();
    for (form, bytes) in event_forms(&bash(&env, "git commit")) {
        let output = env.hook_bytes(&bytes);
        assert!(is_refused(&output), "{form}: {}", output.snapshot());
    }
}

#[test]
fn other_commands_pass_in_every_form_that_can_be_read() {
    let env = begun();
    for (form, bytes) in event_forms(&bash(&env, "ls -l")) {
        let output = env.hook_bytes(&bytes);
        assert_eq!(is_refused(&output), form.starts_with("9 MB"), "{form}: {}", output.snapshot());
    }
}

#[test]
fn calls_that_cannot_be_read_are_refused_with_a_reason() {
    let env = begun();
    for (what, bytes) in unreadable_events(&bash(&env, "git commit")) {
        let output = env.hook_bytes(&bytes);
        assert!(is_refused(&output), "{what}: {}", output.snapshot());
    }
}

#[test]
fn a_stop_that_cannot_be_read_is_refused_once() {
    let env = begun();
    let stop = HookEvent::subagent_stop("a1", "implementer");
    let truncated = |event: &HookEvent| {
        let json = event.json(&env.project());
        json[..json.len() - 2].to_owned()
    };
    assert!(is_refused(&env.hook_bytes(truncated(&stop).as_bytes())));
    env.hook_bytes(truncated(&stop.with("stop_hook_active", true)).as_bytes()).assert_silent();
}

#[test]
fn a_name_that_is_blank_or_foreign_does_not_open_a_gate() {
    let env = begun();
    let commit = bash(&env, "git commit");
    let stop = HookEvent::subagent_stop("a1", "implementer").json(&env.project());
    for (json, from, to) in [
        (&commit, "\"PreToolUse\"", "\" \""),
        (&commit, "\"PreToolUse\"", "\"\""),
        (&commit, "\"Bash\"", "\" \""),
        (&stop, "\"SubagentStop\"", "\"\u{ff33}ubagentStop\""),
        (&stop, "\"SubagentStop\"", "\"\\uff33ubagentStop\""),
    ] {
        let changed = json.replace(from, to);
        assert_ne!(&changed, json);
        let output = env.hook_bytes(changed.as_bytes());
        assert!(is_refused(&output), "{to}: {}", output.snapshot());
    }
}

/// A client does not wait longer than ten seconds for the answer, and no system runs such a command.
#[test]
fn a_command_that_is_too_long_to_be_read_is_not_harmless() {
    let env = begun();
    for piece in ["read a<<<b;", "|sh ", "{a..z}git "] {
        let command = piece.repeat((7 << 20) / piece.len()) + "\ngit commit";
        let output = env.hook_bytes(bash(&env, &command).as_bytes());
        assert!(output.snapshot().contains("\"permissionDecision\":\"ask\""), "{piece}");
    }
}

#[test]
fn a_directory_elsewhere_does_not_open_the_gate() {
    let env = begun();
    for cwd in ["/", "/nonexistent", "/repo/missing", "\u{0}", "\u{fffd}"] {
        let event = HookEvent::from_sample(samples::PRE_TOOL_USE_BASH)
            .with("cwd", cwd)
            .with("tool_input", json!({"command": "git commit"}));
        let output = env.hook(&event);
        assert!(is_refused(&output), "{cwd:?}: {}", output.snapshot());
    }
}

#[test]
fn bytes_without_a_name_pass_where_no_step_was_recorded() {
    let env = crate::active();
    for bytes in [&b"{"[..], b"\xc0\x7f", b"nonsense"] {
        env.hook_bytes(bytes).assert_silent();
    }
}

#[test]
fn unreadable_calls_pass_where_no_gate_waits() {
    let env = crate::configured("[gates]\nprompt = \"off\"\ntask = \"off\"\n");
    let json = bash(&env, "git commit");
    env.hook_bytes(format!("{json} x").as_bytes()).assert_silent();
}
