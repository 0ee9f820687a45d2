//! The task through a shell: an agent may write there what it may write in the client's list, and the record names it.

use std::fs;

use lockstep_testkit::{HookEvent, ProcessOutput, TestEnv};
use lockstep_wire::claude::samples;
use serde_json::{Value, json};

use crate::doc_examples::repository;
use crate::steps_hooks::denied;
use crate::{active, configured};

const UPDATE: &str = "lockstep task update more.yaml --base 1";

fn begun(env: TestEnv) -> TestEnv {
    env.hook(&HookEvent::session_start()).assert_silent();
    env.write("task.yaml", "user_intent: Add login\nconstraints: []\n");
    env.write("more.yaml", "user_intent: Add login and logout\nconstraints: []\n");
    env.lockstep(["task", "new", "task.yaml", "--title", "auth"]).assert_success();
    env
}

fn before(command: &str) -> HookEvent {
    HookEvent::from_sample(samples::PRE_TOOL_USE_BASH)
        .with("tool_input", json!({"command": command}))
        .by_lead()
}

fn after(command: &str) -> HookEvent {
    HookEvent::bash().with("tool_input", json!({"command": command}))
}

/// Runs Lockstep as the client's shell does.
fn in_session(env: &TestEnv, args: &str) -> ProcessOutput {
    let mut command = env.command(args.split(' '));
    command.env("CLAUDE_CODE_SESSION_ID", "s1").env("CLAUDECODE", "1");
    env.run(command, b"")
}

fn authors(env: &TestEnv) -> Vec<Option<String>> {
    let history: Vec<Value> =
        serde_json::from_str(&env.lockstep(["task", "history", "--format", "json"]).assert_success())
            .unwrap();
    history.iter().map(|version| version["agent"].as_str().map(str::to_owned)).collect()
}

#[test]
fn an_agent_without_rights_is_refused_however_it_writes_the_command() {
    let env = begun(active());
    for command in [
        UPDATE,
        "/usr/local/bin/lockstep task update more.yaml --base 1 --as lead",
        "sh -c 'lockstep task update more.yaml --base 1'",
        "bash -lc \"cd /repo && lockstep task update more.yaml --base 1\"",
        "cat more.yaml | env -u CLAUDECODE lockstep task update - --base 1",
        "X=1 lockstep -C . task deliver --assume P1",
        "echo more.yaml | xargs lockstep task update --base 1",
        "echo \"$(lockstep task reopen --why x)\"",
        "true && `lockstep task restore 1`",
        "lockstep phase complete P1 --l2 x.md",
        "lockstep task new --title other --intent x",
        "lockstep task migrate global-context.md --write",
        "echo '{}' | lockstep mcp",
    ] {
        let reason = denied(&env.hook(&before(command).by_agent("w1", "implementer")));
        let reason = reason.unwrap_or_else(|| panic!("{command} passed"));
        assert!(reason.contains("implementer may not") && reason.contains("Who could"), "{reason}");
    }
    let events = fs::read_to_string(env.state().join("events.jsonl")).unwrap();
    let last: Value = serde_json::from_str(events.lines().last().unwrap()).unwrap();
    assert_eq!((&last["verdict"], &last["agent_type"]), (&json!("refused"), &json!("implementer")));
    assert_eq!(last["agent_id"], "w1");
    // Commands that only read pass, as do texts that are no call.
    for command in [
        "lockstep task show --as implementer",
        "lockstep phase enter P2",
        "grep -rn 'lockstep task update' docs",
        "lockstep task migrate global-context.md",
        "sh update.sh",
    ] {
        assert_eq!(denied(&env.hook(&before(command).by_agent("w1", "implementer"))), None, "{command}");
    }
    assert!(env.log_lines().is_empty(), "{:?}", env.log_lines());
}

#[test]
fn the_record_names_the_agent_that_the_hook_saw() {
    let env = begun(active());
    assert_eq!(denied(&env.hook(&before(UPDATE).by_agent("m1", "pt-manager"))), None);
    in_session(&env, "task update more.yaml --base 1").assert_success();
    env.hook(&after(UPDATE).by_agent("m1", "pt-manager")).assert_silent();
    let lead = "lockstep task update task.yaml --base 2";
    assert_eq!(denied(&env.hook(&before(lead))), None);
    in_session(&env, "task update task.yaml --base 2").assert_success();
    env.hook(&after(lead)).assert_success();
    assert_eq!(authors(&env), [None, Some("pt-manager".to_owned()), None]);
}

/// The rule of the agent that the hook saw applies, whatever the command claims.
#[test]
fn an_agent_writes_its_own_sections_in_its_own_name() {
    let env = begun(active());
    let claims = "lockstep task update more.yaml --base 1 --as pt-manager";
    let reason = denied(&env.hook(&before(claims).by_agent("r1", "rsil-agent"))).unwrap();
    assert!(reason.contains("an agent writes in its own name"), "{reason}");
    assert_eq!(
        denied(&env.hook(&before(UPDATE).by_agent("r1", "rsil-agent"))),
        None,
        "its sections are not known yet"
    );
    let refused = in_session(&env, "task update more.yaml --base 1");
    assert_eq!(refused.code, Some(1), "{}", refused.snapshot());
    assert!(refused.snapshot().contains("rsil-agent may not change user_intent"), "{}", refused.snapshot());
    let hidden = "lockstep task update more.yaml --base 1 --as \"$WHO\"";
    assert_eq!(denied(&env.hook(&before(hidden).by_agent("r1", "rsil-agent"))), None);
    let refused = in_session(&env, "task update more.yaml --base 1 --as pt-manager");
    assert!(refused.snapshot().contains("rsil-agent may not change"), "{}", refused.snapshot());
}

#[test]
fn write_without_hook_record_has_unknown_writer() {
    let env = begun(active());
    for command in ["sh update.sh", "$TOOL task update more.yaml", "eval \"$CMD\""] {
        assert_eq!(denied(&env.hook(&before(command).by_agent("w1", "implementer"))), None, "{command}");
    }
    in_session(&env, "task update more.yaml --base 1").assert_success();
    // A note of a command that has ended does not count.
    let lead = "lockstep task update task.yaml --base 2";
    assert_eq!(denied(&env.hook(&before(lead))), None);
    env.hook(&after(lead)).assert_success();
    in_session(&env, "task update task.yaml --base 2").assert_success();
    assert_eq!(authors(&env), [None, Some("unknown".to_owned()), Some("unknown".to_owned())]);
    assert!(env.lockstep(["task", "history"]).assert_success().contains("  unknown  "));
    // A project may forbid it.
    let env = begun(configured("[task.agents.unknown]\nupdate = []\n"));
    let refused = in_session(&env, "task update more.yaml --base 1");
    assert_eq!(refused.code, Some(1), "{}", refused.snapshot());
    assert!(refused.snapshot().contains("unknown may not update the task"), "{}", refused.snapshot());
}

/// The README promises that the history names the writer; each row of the guide's table holds.
#[test]
fn the_writer_is_the_one_that_readme_and_guide_name() {
    let read = |path: &str| fs::read_to_string(repository().join(path)).unwrap();
    assert!(read("README.md").contains("whose history names each writer | `lockstep task` |"));
    let guide = read("docs/guide/task.md");
    let (_, table) = guide.split_once("| the call | writer |\n|---|---|\n").expect("the table of writers");
    let rows: Vec<&str> = table.lines().take_while(|line| line.starts_with('|')).collect();
    let arguments = "task update more.yaml --base 1";
    for row in &rows {
        let env = begun(active());
        let writer = match row.split('|').nth(1).unwrap().trim() {
            "in your terminal" => {
                env.lockstep(arguments.split(' ')).assert_success();
                ("the Lead", None)
            }
            "in a client's session, where a hook saw it" => {
                env.hook(&before(UPDATE).by_agent("m1", "pt-manager")).assert_success();
                in_session(&env, arguments).assert_success();
                ("the agent that made it", Some("pt-manager"))
            }
            "in a client's session, where no hook saw it, as from a script file" => {
                env.hook(&before("sh update.sh").by_agent("w1", "implementer")).assert_success();
                in_session(&env, arguments).assert_success();
                ("`unknown`", Some("unknown"))
            }
            other => panic!("no such call: {other}"),
        };
        assert!(row.split('|').nth(2).unwrap().trim().starts_with(writer.0), "{row}");
        assert_eq!(authors(&env)[1].as_deref(), writer.1, "{row}");
    }
    assert_eq!(rows.len(), 3);
}

#[test]
fn the_rules_in_a_shell_warn_or_are_off_too() {
    for (mode, warned) in [("warn", true), ("off", false)] {
        let env = begun(configured(&format!("[gates]\ntask = '{mode}'\n")));
        assert_eq!(denied(&env.hook(&before(UPDATE).by_agent("w1", "implementer"))), None, "{mode}");
        let output = env.hook(&HookEvent::prompt()).context();
        assert_eq!(output.is_some_and(|(_, text)| text.contains("implementer may not")), warned, "{mode}");
    }
}
