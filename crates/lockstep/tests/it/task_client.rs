//! The task in a real Claude Code session: access rights, and the agreement of the client's list and the
//! store. Skipped with a message if the client is not available.

use std::path::Path;

use lockstep_rehearsal::run::{Rehearsal, RehearsalResult};
use lockstep_rehearsal::scenario::Scenario;
use lockstep_rehearsal::transcript::{RequestAgent, TextSource};
use lockstep_testkit::TestEnv;
use lockstep_testkit::client::find_client_or_skip;
use serde_json::Value;

use crate::inactive;

/// Plays a scenario in a project that `lockstep init` has set up. The client keeps its lists in this test's home.
fn play(env: &TestEnv, scenario: &str) -> Option<RehearsalResult> {
    let client = find_client_or_skip()?;
    env.git(["init", "--quiet"]);
    env.lockstep(["init", "--client", "claude", "--quiet"]).assert_success();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios").join(scenario);
    let text = std::fs::read_to_string(path).unwrap().replace("{lockstep}", env!("CARGO_BIN_EXE_lockstep"));
    let rehearsal = Rehearsal::new(client, Scenario::parse(&text).unwrap(), env.project());
    let outcome = rehearsal.home(env.home()).env("TMPDIR", env.tmp()).with_task_list().run().unwrap();
    assert!(outcome.success(), "{outcome:?}");
    assert!(
        outcome.unplayed.is_empty(),
        "the session took another way: {:?}\n{}",
        outcome.unplayed,
        outcome.transcript
    );
    Some(outcome)
}

fn the_table_of_access_holds_in_a_real_session_and_the_list_agrees_with_the_store() {
    let env = inactive();
    let Some(outcome) = play(&env, "task-access.toml") else { return };
    let transcript = &outcome.transcript;

    // Each refusal is in the next request of the agent that was refused, as the result of its call, with the rule.
    let refusals = [
        (
            "WORKER",
            1,
            "implementer may not update the task: an agent that is not named in the access table only reads",
        ),
        ("MANAGER", 2, "pt-manager may not create another task: there is one task, and it is at PT-v1"),
        (
            "DELIVERY",
            1,
            "delivery-agent may not change user_intent: delivery-agent may update only phase_status, metrics, subject",
        ),
        ("REVIEW", 1, "rsil-agent may not change metrics.spawns: rsil-agent may update only phase_status"),
    ];
    for (agent, request, rule) in refusals {
        assert_eq!(
            transcript.recipients_of(rule),
            [RequestAgent::subagent(agent)].into(),
            "{rule}\n{transcript}"
        );
        let conversation = &transcript.subagents(agent)[0];
        assert_eq!(conversation.first_with(rule), Some(request), "{transcript}");
        let output = conversation.texts(request).into_iter().find(|text| text.text.contains(rule)).unwrap();
        assert_eq!(output.kind, TextSource::ToolResult, "{transcript}");
    }

    let history: Vec<Value> =
        serde_json::from_str(&env.lockstep(["task", "history", "--format", "json"]).assert_success())
            .unwrap();
    let written: Vec<_> = history.iter().map(|v| (v["version"].as_u64(), v["agent"].as_str())).collect();
    assert_eq!(
        written,
        [
            (Some(1), None),
            (Some(2), Some("pt-manager")),
            (Some(3), Some("delivery-agent")),
            (Some(4), Some("rsil-agent")),
        ],
        "{transcript}"
    );
    // The client's own file is compared, during the session and after it.
    assert_eq!(transcript.lead().count("the store and the client's list agree"), 1, "{transcript}");
    let checked = env.lockstep(["task", "check", "--format", "json"]).assert_success();
    let checked: Value = serde_json::from_str(&checked).unwrap();
    assert_eq!(
        (&checked["version"], &checked["lists"][0]["source"]),
        (&4.into(), &"list".into()),
        "{checked}"
    );
    assert_eq!(checked["lists"][0]["agreement"], "same", "{checked}");
    assert!(env.log_lines().is_empty(), "{:?}", env.log_lines());

    // A list that was changed without a hook is detected.
    let session = checked["lists"][0]["session"].as_str().unwrap();
    let file = env.home().join(".claude/tasks").join(session).join("1.json");
    let list = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, list.replace("Add login", "Add logout")).unwrap();
    let checked = env.lockstep(["task", "check"]);
    assert_eq!(checked.code, Some(1));
    assert!(checked.snapshot().contains("\"Add login\" → \"Add logout\""), "{}", checked.snapshot());
}

fn the_lead_hears_of_agents_at_work_from_an_older_version() {
    let env = inactive();
    let Some(outcome) = play(&env, "task-readers.toml") else { return };
    let transcript = &outcome.transcript;
    let notice = "The task is at PT-v2. Agents at work from an older version: implementer ";
    assert_eq!(transcript.recipients_of(notice), [RequestAgent::Lead].into(), "{transcript}");
    assert_eq!(transcript.lead().count(notice), 1, "{transcript}");
    // Beside the results of the two.
    assert_eq!(transcript.lead().first_with(notice), Some(2), "{transcript}");
    assert!(env.log_lines().is_empty(), "{:?}", env.log_lines());
}

on_each_client!(
    the_table_of_access_holds_in_a_real_session_and_the_list_agrees_with_the_store,
    the_lead_hears_of_agents_at_work_from_an_older_version,
);
