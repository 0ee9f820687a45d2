//! The task in a client's own list: the calls that the gate accepts, the versions in the store, and the
//! notices to the Lead.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use insta::assert_snapshot;
use lockstep_testkit::{HookEvent, ProcessOutput, TestEnv};
use lockstep_wire::claude::samples;
use serde_json::{Value, json};

use crate::{active, configured, plant_users};

const TASK: &str = "user_intent: Add login\nconstraints: []\n";

fn before(tool: &str, input: Value) -> HookEvent {
    HookEvent::from_sample(samples::PRE_TOOL_USE_TASK_UPDATE)
        .with("tool_name", tool)
        .with("tool_input", input)
}

fn after(tool: &str, input: Value, response: Value) -> HookEvent {
    HookEvent::from_sample(samples::POST_TOOL_USE_TASK_UPDATE)
        .with("tool_name", tool)
        .with("tool_input", input)
        .with("tool_response", response)
}

/// The sender of an event.
type By = fn(HookEvent) -> HookEvent;
const LEAD: By = |event| event;
const MANAGER: By = |event| event.by_agent("m1", "pt-manager");
const WORKER: By = |event| event.by_agent("w1", "implementer");

/// Returns the reason of a denied call. `None` for one that passes, without output.
#[track_caller]
fn denied(output: &ProcessOutput) -> Option<String> {
    let stdout = output.assert_success();
    if stdout.is_empty() {
        return None;
    }
    let reply: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(reply["hookSpecificOutput"]["permissionDecision"], "deny");
    Some(reply["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap().to_owned())
}

/// A call as the client makes it: the gate first, and where it passes, the tool and what follows it.
#[track_caller]
fn call(env: &TestEnv, by: By, tool: &str, input: Value) -> Result<ProcessOutput, String> {
    if let Some(reason) = denied(&env.hook(&by(before(tool, input.clone())))) {
        return Err(reason);
    }
    let response = match tool {
        "TaskCreate" => json!({"task": {"id": "1", "subject": input["subject"]}}),
        _ => json!({"success": true, "taskId": input["taskId"]}),
    };
    Ok(env.hook(&by(after(tool, input, response))))
}

fn create(env: &TestEnv, by: By, subject: &str, description: &str) -> Result<ProcessOutput, String> {
    call(env, by, "TaskCreate", json!({"subject": subject, "description": description}))
}

fn update(env: &TestEnv, by: By, subject: &str, description: &str) -> Result<ProcessOutput, String> {
    call(env, by, "TaskUpdate", json!({"taskId": "1", "subject": subject, "description": description}))
}

fn get(env: &TestEnv, by: By, subject: &str, description: &str) {
    let task =
        json!({"task": {"id": "1", "subject": subject, "description": description, "status": "pending"}});
    env.hook(&by(after("TaskGet", json!({"taskId": "1"}), task))).assert_silent();
}

fn begun() -> TestEnv {
    let env = active();
    env.hook(&HookEvent::session_start()).assert_silent();
    create(&env, LEAD, "[PERMANENT] PT-v1 auth", TASK).unwrap().assert_silent();
    env
}

fn present(env: &TestEnv) -> Value {
    serde_json::from_str(&env.lockstep(["task", "show", "--format", "json"]).assert_success()).unwrap()
}

#[test]
fn list_entry_of_the_lead_becomes_version_one() {
    let env = begun();
    let text = present(&env);
    assert_eq!((&text["version"], &text["subject"]), (&json!(1), &json!("[PERMANENT] PT-v1 auth")));
    assert_eq!(text["document"]["user_intent"], "Add login");
    assert_eq!(text["session"], "s1");
    assert_snapshot!(env.lockstep(["task", "check"]).snapshot(), @"
    [PERMANENT] PT-v1 auth
    session s1, task 1, last seen at 2026-02-14T06:30:42Z: the store and the client's list agree
    exit 0
    ");
    assert!(env.log_lines().is_empty(), "{:?}", env.log_lines());
}

#[test]
fn access_follows_the_documented_table() {
    let env = begun();
    let more = "user_intent: Add login and logout\nconstraints: []\n";
    let denied = update(&env, WORKER, "[PERMANENT] PT-v2 auth", more).unwrap_err();
    assert_snapshot!(denied, @"
    lockstep: TaskUpdate was refused by the rules of the task:
    - implementer may not update the task: an agent that is not named in the access table only reads. Who could: the Lead, pt-manager.
    ");
    update(&env, MANAGER, "[PERMANENT] PT-v2 auth", more).unwrap().assert_silent();
    assert!(
        create(&env, MANAGER, "[PERMANENT] PT-v1 other", TASK).unwrap_err().contains("create another task")
    );
    let delivery: By = |event| event.by_agent("d1", "delivery-agent");
    let review: By = |event| event.by_agent("r1", "rsil-agent");
    let status =
        "user_intent: Add login and logout\nphase_status: {P1: {status: IN_PROGRESS}}\nconstraints: []\n";
    let intent = "user_intent: mine\nconstraints: []\n";
    for agent in [delivery, review] {
        let reason = update(&env, agent, "[PERMANENT] PT-v3 auth", intent).unwrap_err();
        assert!(reason.contains("may not change user_intent"), "{reason}");
    }
    update(&env, review, "[PERMANENT] PT-v3 auth", status).unwrap().assert_silent();
    let metrics = format!("{status}metrics: {{spawns: 3}}\n");
    assert!(update(&env, review, "[PERMANENT] PT-v4 auth", &metrics).unwrap_err().contains("metrics"));
    // While the task is open, the rest of the list is the Lead's too.
    let other = json!({"subject": "write tests", "description": "x"});
    assert!(call(&env, WORKER, "TaskCreate", other.clone()).unwrap_err().contains("may not create a task"));
    let output =
        call(&env, LEAD, "TaskCreate", other).unwrap().context().expect("the manager's version is old");
    assert!(output.1.contains("pt-manager m1 (PT-v2)"), "{output:?}");
    let history: Vec<Value> =
        serde_json::from_str(&env.lockstep(["task", "history", "--format", "json"]).assert_success())
            .unwrap();
    let agents: Vec<_> = history.iter().map(|version| version["agent"].as_str()).collect();
    assert_eq!(agents, [None, Some("pt-manager"), Some("rsil-agent")]);
}

#[test]
fn a_stale_invalid_or_lossy_call_is_denied_with_every_reason() {
    let env = begun();
    env.write("work/L2.md", "x");
    let with_pointer = format!("{TASK}phase_status: {{P1: {{status: COMPLETE, l2_path: work/L2.md}}}}\n");
    update(&env, LEAD, "[PERMANENT] PT-v2 auth", &with_pointer).unwrap().assert_silent();
    let output = update(&env, LEAD, "[PERMANENT] PT-v2 auth", "user_intent: x\nvalidation_verdict: MAYBE\n")
        .unwrap_err();
    for part in ["kept its version", "validation_verdict", "phase_status.P1.l2_path", "--drop"] {
        assert!(output.contains(part), "{part}\n{output}");
    }
    assert!(
        update(&env, LEAD, "[PERMANENT] PT-v3 auth", "just words").unwrap_err().contains("expected sections")
    );
    let deleted = call(&env, LEAD, "TaskUpdate", json!({"taskId": "1", "status": "deleted"})).unwrap_err();
    assert!(deleted.contains("never deleted"));
    // A status in the list is not a version.
    call(&env, LEAD, "TaskUpdate", json!({"taskId": "1", "status": "in_progress"})).unwrap().assert_silent();
    assert_eq!(present(&env)["version"], 2);
    let events = fs::read_to_string(env.state().join("events.jsonl")).unwrap();
    let last: Value = serde_json::from_str(events.lines().last().unwrap()).unwrap();
    assert_eq!(
        (&last["verdict"], &last["tool"], &last["task_id"]),
        (&json!("refused"), &json!("TaskUpdate"), &json!("1"))
    );
}

#[test]
fn ordinary_list_entries_are_not_gated() {
    for env in [active(), configured("[alert]\nlead = 'of'\n")] {
        for by in [LEAD, WORKER] {
            call(&env, by, "TaskCreate", json!({"subject": "write tests", "description": "x"}))
                .unwrap()
                .assert_silent();
            call(&env, by, "TaskUpdate", json!({"taskId": "1", "status": "completed"}))
                .unwrap()
                .assert_silent();
        }
        assert!(!env.state().join("state.db").exists(), "no store is made for an ordinary list");
    }
    // A delivered task can no longer be written through any list.
    let env = begun();
    env.lockstep("task deliver --assume P1 --assume P2 --assume P3 --assume P4 --assume P5 --assume P6 --assume P7 --assume P8".split(' '))
        .assert_success();
    call(&env, WORKER, "TaskCreate", json!({"subject": "write tests", "description": "x"}))
        .unwrap()
        .assert_silent();
    assert!(update(&env, LEAD, "[PERMANENT] PT-v3 auth", TASK).unwrap_err().contains("DELIVERED and final"));
    create(&env, LEAD, "[PERMANENT] PT-v1 next", TASK).unwrap().assert_silent();
    assert_eq!(present(&env)["subject"], "[PERMANENT] PT-v1 next");
}

#[test]
fn undecidable_call_is_blocked_unless_configured() {
    let input = json!({"subject": "[PERMANENT] PT-v2 auth", "taskId": "1", "description": TASK});
    let broken: [fn(&TestEnv); 3] = [
        |env| fs::write(env.state().join("state.db"), vec![b'x'; 8_192]).unwrap(),
        |env| env.configure("[task.agents.x]\nupdat = ['*']\n"),
        |env| fs::set_permissions(env.state().join("state.db"), fs::Permissions::from_mode(0o000)).unwrap(),
    ];
    for (n, breaks) in broken.into_iter().enumerate() {
        let env = active().as_unprivileged_user();
        create(&env, LEAD, "[PERMANENT] PT-v1 auth", TASK).unwrap().assert_silent();
        for suffix in ["-wal", "-shm"] {
            let _ = fs::remove_file(env.state().join(format!("state.db{suffix}")));
        }
        breaks(&env);
        let reason = denied(&env.hook(&before("TaskUpdate", input.clone()))).expect("it is blocked");
        assert!(reason.contains("could not decide") && reason.contains("on_failure"), "{n}: {reason}");
        assert_eq!(env.log_lines().len(), 1, "{n}");
        // Observers do not interfere.
        env.hook(&after("TaskUpdate", input.clone(), json!({"success": true}))).assert_silent();
        if n == 0 {
            env.configure("[hooks]\non_failure = 'allow'\n");
            env.hook(&before("TaskUpdate", input.clone())).assert_silent();
        }
    }
    // An event that is too large to be parsed is refused.
    let env = begun();
    let huge =
        json!({"taskId": "1", "subject": "[PERMANENT] PT-v2 auth", "description": "x".repeat(9 << 20)});
    let output = env.hook(&before("TaskUpdate", huge));
    assert_eq!(output.code, Some(2), "{}", output.snapshot());
    assert!(output.assert_failure(2).contains("could not decide"));
}

#[test]
fn the_lead_learns_which_agents_use_an_older_version() {
    let env = begun();
    get(&env, WORKER, "[PERMANENT] PT-v1 auth", TASK);
    get(&env, |event| event.by_agent("w2", "reviewer"), "[PERMANENT] PT-v1 auth", TASK);
    get(&env, |event| event.by_agent("w3", "tester"), "[PERMANENT] PT-v1 auth", TASK);
    env.hook(&HookEvent::subagent_stop("w3", "tester")).assert_silent();
    // The bump is by a subagent, so the Lead hears of it at its next event.
    let more = "user_intent: Add login and logout\nconstraints: []\n";
    update(&env, MANAGER, "[PERMANENT] PT-v2 auth", more).unwrap().assert_silent();
    get(&env, |event| event.by_agent("w2", "reviewer"), "[PERMANENT] PT-v2 auth", more);
    let (_, text) = env.hook(&HookEvent::prompt()).context().expect("the Lead is told");
    assert_eq!(text, "The task is at PT-v2. Agents at work from an older version: implementer w1 (PT-v1).");
    env.hook(&HookEvent::prompt()).assert_silent();
    assert_snapshot!(env.lockstep(["task", "readers"]).snapshot(), @"
    PT-v2
    the Lead (PT-v1), 1 behind, session s1
    implementer w1 (PT-v1), 1 behind, session s1
    pt-manager m1 (PT-v2), session s1
    reviewer w2 (PT-v2), session s1
    exit 1
    ");
    // An update by the Lead's own call, or on the command line, is reported in the same way.
    let again = update(&env, LEAD, "[PERMANENT] PT-v3 auth", TASK).unwrap();
    assert!(again.context().unwrap().1.contains("implementer w1 (PT-v1)"));
    env.write("task.yaml", more);
    env.lockstep(["task", "update", "task.yaml", "--base", "3"]).assert_success();
    assert!(env.hook(&HookEvent::stop()).context().unwrap().1.starts_with("The task is at PT-v4."));
    // Agents that have stopped before the Lead is notified are not mentioned.
    env.lockstep(["task", "restore", "3"]).assert_success();
    for agent in ["w1", "w2", "m1"] {
        env.hook(&HookEvent::subagent_stop(agent, "x")).assert_silent();
    }
    env.hook(&HookEvent::prompt()).assert_silent();
}

/// An alert and a notice that wait together arrive together, the alert first and as it always was.
#[test]
fn a_notice_does_not_change_the_alert() {
    let env = active();
    plant_users(&env, &["a"]);
    env.hook(&HookEvent::session_start()).assert_silent();
    create(&env, LEAD, "[PERMANENT] PT-v1 auth", TASK).unwrap().assert_silent();
    env.write("a.py", "def bye(): pass\n");
    env.hook(&HookEvent::edit("a.py").by_agent("w1", "implementer")).assert_silent();
    env.hook(&HookEvent::subagent_stop("w1", "implementer")).assert_silent();
    get(&env, WORKER, "[PERMANENT] PT-v1 auth", TASK);
    update(&env, MANAGER, "[PERMANENT] PT-v2 auth", "user_intent: y\nconstraints: []\n")
        .unwrap()
        .assert_silent();
    let (_, text) = env.hook(&HookEvent::agent_done()).context().unwrap();
    let (alert, notice) = text.split_once("\n\n").unwrap();
    assert!(alert.starts_with("SRC IMPACT ALERT: 1 files changed") && alert.chars().count() <= 500, "{text}");
    assert!(notice.starts_with("The task is at PT-v2."), "{text}");
}

#[test]
fn list_and_store_mismatch_is_reported() {
    let env = begun();
    env.write("task.yaml", "user_intent: from the command line\nconstraints: []\n");
    // Another process writes between the gate and the tool.
    let input = json!({"taskId": "1", "subject": "[PERMANENT] PT-v2 auth", "description": "user_intent: mine\nconstraints: []\n"});
    env.hook(&before("TaskUpdate", input.clone())).assert_silent();
    env.lockstep(["task", "update", "task.yaml", "--base", "1"]).assert_success();
    let output = env.hook(&after("TaskUpdate", input, json!({"success": true, "taskId": "1"})));
    let (_, text) = output.context().expect("the Lead is told at once");
    assert!(text.contains("the two disagree; the store is at PT-v2"), "{text}");
    let checked = env.lockstep(["task", "check"]);
    assert_eq!(checked.code, Some(1));
    assert!(checked.snapshot().contains("\"from the command line\" → \"mine\""), "{}", checked.snapshot());
}

#[test]
fn the_list_of_a_new_session_takes_a_copy() {
    let env = begun();
    let create_in = |subject: &str, description: &str| {
        let input = json!({"subject": subject, "description": description});
        match denied(&env.hook(&before("TaskCreate", input.clone()).session("s2"))) {
            Some(reason) => Err(reason),
            None => Ok(env.hook(
                &after("TaskCreate", input, json!({"task": {"id": "4", "subject": subject}})).session("s2"),
            )),
        }
    };
    let reason = create_in("[PERMANENT] PT-v1 other", "user_intent: other\n").unwrap_err();
    assert!(reason.contains("word for word"), "{reason}");
    create_in("[PERMANENT] PT-v1 auth", TASK).unwrap().assert_silent();
    assert_eq!(present(&env)["version"], 1, "a copy is not a version");
    let input =
        json!({"taskId": "4", "subject": "[PERMANENT] PT-v1 auth", "description": "user_intent: z\n"});
    let gate = env.hook(&before("TaskUpdate", input).session("s2"));
    assert!(denied(&gate).expect("the copy is known as the task").contains("kept its version"));
    let checked = env.lockstep(["task", "check"]).snapshot();
    assert!(checked.contains("session s2, task 4"), "{checked}");
}

/// The journaling hook does not pay for the task: no store is opened, none is made.
#[test]
fn journaling_costs_what_it_did() {
    let env = begun();
    let store = env.state().join("state.db");
    for suffix in ["-wal", "-shm"] {
        let _ = fs::remove_file(env.state().join(format!("state.db{suffix}")));
    }
    fs::write(&store, vec![b'x'; 8_192]).unwrap();
    env.write("a.py", "x");
    env.hook(&HookEvent::edit("a.py")).assert_silent();
    env.hook(&HookEvent::from_sample(samples::PRE_TOOL_USE_BASH)).assert_silent();
    env.hook(&HookEvent::from_sample(samples::PRE_TOOL_USE_EDIT_IN_SUBAGENT)).assert_silent();
    assert!(env.log_lines().is_empty(), "a store that nobody opens fails nobody: {:?}", env.log_lines());
}
