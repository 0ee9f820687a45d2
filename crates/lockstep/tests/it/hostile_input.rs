//! Unexpected standard input of any kind: exit 0, no output, and nothing written but one line in the log.

use std::fs;

use lockstep_testkit::{HookEvent, TestEnv};
use serde_json::{Value, json};

use crate::{active, observed};

const HUGE: usize = 50 << 20;

/// An active project with a baseline and a change that a sweep would find.
fn begun() -> TestEnv {
    let env = active();
    env.write("a.py", "x");
    env.hook(&HookEvent::session_start()).assert_silent();
    env.write("b.py", "found by the next sweep");
    env
}

/// Sends `stdin` and asserts that the only effect is one line in the log, which contains `why`.
fn leaves_one_line(env: &TestEnv, stdin: &[u8], why: &str) {
    let (before, state) = (env.dir_snapshot().without_state(), env.state());
    let (logged, files) = (env.log_lines().len(), names(&state));
    env.hook_bytes(stdin).assert_silent();
    let text = String::from_utf8_lossy(&stdin[..stdin.len().min(200)]);
    before.assert_eq(&env.dir_snapshot().without_state(), &text);
    let log = env.log_lines();
    assert_eq!(log.len(), logged + 1, "{text}: {log:?}");
    assert!(log[logged].contains(why), "{text}: {:?}", log[logged]);
    let mut now = names(&state);
    now.retain(|name| !files.contains(name) && name != "log");
    assert!(now.is_empty(), "{text}: {now:?} in the state directory");
}

fn names(dir: &std::path::Path) -> Vec<String> {
    fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn bytes_that_are_no_event() {
    let env = begun();
    for (stdin, why) in [
        (&b""[..], "empty"),
        (b"\n", "empty"),
        (b"{", "not a JSON object"),
        (b"[]", "not a JSON object"),
        (b"null", "not a JSON object"),
        (b"{\"hook_event_name\":\"Stop\",\"session_id\":\"\xff\xfe\"}", "session"),
        (b"\xff\xfe\x00", "empty"),
        (b"\xff\xfe\x41\x00", "not a JSON object"),
        (b"{}", "hook_event_name"),
        (b"{\"hook_event_name\":7}", "hook_event_name"),
    ] {
        leaves_one_line(&env, stdin, why);
    }
    for event in observed() {
        let json = event.json(&env.project());
        leaves_one_line(&env, &json.as_bytes()[..json.len() / 2], "not a JSON object");
        let mut broken = json.into_bytes();
        broken.extend_from_slice(b"{}");
        leaves_one_line(&env, &broken, "not a JSON object");
    }
    let deep = format!("{}{}", "{\"hook_event_name\":".repeat(100_000), "}".repeat(100_000));
    leaves_one_line(&env, deep.as_bytes(), "not a JSON object");
}

#[test]
fn fifty_megabytes() {
    let env = begun();
    leaves_one_line(&env, &vec![b'x'; HUGE], "bytes, more than are parsed");
    leaves_one_line(&env, &vec![b'{'; HUGE], "bytes, more than are parsed");
    leaves_one_line(&env, &vec![b' '; HUGE], "bytes, more than are parsed");
    let padding = "x".repeat(HUGE);
    for event in observed() {
        let json = event.with("padding", "HUGE").json(&env.project()).replace("HUGE", &padding);
        leaves_one_line(&env, json.as_bytes(), "bytes, more than are parsed");
    }
}

/// A session id becomes a file's name, so nothing is written for one that could become another file's.
#[test]
fn session_ids_that_are_no_names() {
    let env = begun();
    let long = "x".repeat(5_000);
    let ids: [(Value, &str); 11] = [
        (json!("../../x"), "starts with a dot"),
        (json!(".."), "starts with a dot"),
        (json!(".hidden"), "starts with a dot"),
        (json!("a/../../../elsewhere/x"), "contains '/'"),
        (json!("/etc/x"), "contains '/'"),
        (json!(long), "5000 bytes"),
        (json!("a\0b"), "contains '\\0'"),
        (json!("a\nb"), "contains '\\n'"),
        (json!(""), "is empty"),
        (json!(42), "is empty"),
        (json!({"a": 1}), "is empty"),
    ];
    for event in observed() {
        for (id, why) in &ids {
            let event = event.clone().with("session_id", id.clone());
            leaves_one_line(&env, event.json(&env.project()).as_bytes(), why);
        }
        let event = event.without("session_id");
        leaves_one_line(&env, event.json(&env.project()).as_bytes(), "is empty");
    }
}

/// An agent's id is only a column: a strange one is kept in a harmless form, because losing it would blame the Lead.
#[test]
fn agent_ids_that_would_break_a_line() {
    let env = begun();
    for (id, column) in [("a\tb", "a_b"), ("a\nb", "a_b"), ("../x", ".._x"), ("é", "_")] {
        env.hook(&HookEvent::edit("a.py").by_agent(id, "type\n\twith lines")).assert_silent();
        env.hook(&HookEvent::subagent_stop(id, "type\n\twith lines")).assert_silent();
        let journal = env.journal_text("s1");
        let line = journal.lines().find(|line| line.contains("\tEdit\t") && line.contains(column));
        assert_eq!(line.map(|line| line.matches('\t').count()), Some(4), "{id:?}: {journal}");
    }
    assert!(env.log_lines().is_empty(), "{:?}", env.log_lines());
}

#[test]
fn fields_of_other_types_than_expected() {
    let env = begun();
    for event in observed() {
        for field in
            ["cwd", "agent_id", "tool_name", "tool_input", "tool_response", "source", "stop_hook_active"]
        {
            for value in [json!(7), json!({"x": []})] {
                env.hook(&event.clone().with(field, value)).assert_success();
            }
        }
    }
    assert!(env.log_lines().is_empty(), "{:?}", env.log_lines());
}
