//! Complete sessions of a real Claude Code with the hooks that `lockstep init` registers, against a scripted
//! model on loopback. The client's requests to the model are the evidence. Skipped with a message if the
//! client is not available.

use std::fs;
use std::path::Path;

use lockstep_rehearsal::run::{Rehearsal, RehearsalResult};
use lockstep_rehearsal::scenario::Scenario;
use lockstep_rehearsal::transcript::RequestAgent;
use lockstep_testkit::TestEnv;
use lockstep_testkit::client::{ClientBinary, find_client_or_skip};
use serde_json::Value;

use crate::inactive;

/// The first words of every text of Lockstep's that a model may see.
const ALERT: &str = "SRC IMPACT ALERT:";

/// Plays a scenario in a project that `lockstep init` has set up; `None` if the client cannot be had.
fn play(env: &TestEnv, scenario: &str) -> Option<RehearsalResult> {
    let client = find_client_or_skip()?;
    env.git(["init", "--quiet"]);
    env.lockstep(["init", "--client", "claude", "--quiet"]).assert_success();
    env.lockstep(["index", "--quiet"]).assert_success();
    Some(rehearse(env, client, scenario))
}

fn rehearse(env: &TestEnv, client: ClientBinary, scenario: &str) -> RehearsalResult {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
    let scenario = Scenario::read(&folder.join(scenario)).unwrap();
    // Hooks inherit the client's environment, so their journals stay in this test's world.
    let outcome = Rehearsal::new(client, scenario, env.project()).env("TMPDIR", env.tmp()).run().unwrap();
    assert!(outcome.success(), "{outcome:?}");
    assert!(outcome.unplayed.is_empty(), "the session took another way: {:?}", outcome.unplayed);
    outcome
}

/// `(tool, path, agent type)` of every change, by path.
fn changes(env: &TestEnv) -> Vec<(String, String, Option<String>)> {
    let listing: Value =
        serde_json::from_str(&env.lockstep(["changes", "--format", "json"]).assert_success()).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let mut changes: Vec<_> = listing["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|change| {
            let path = env.redact_paths(&text(&change["path"]));
            (text(&change["tool"]), path, change["agent"]["type"].as_str().map(str::to_owned))
        })
        .collect();
    changes.sort_by(|a, b| a.1.cmp(&b.1));
    changes
}

fn change(tool: &str, path: &str, agent: Option<&str>) -> (String, String, Option<String>) {
    (tool.to_owned(), format!("$ROOT/{path}"), agent.map(str::to_owned))
}

fn every_way_to_change_a_file_is_journaled_and_the_alert_reaches_the_lead_once() {
    let env = inactive();
    let Some(outcome) = play(&env, "three-ways-to-change.toml") else { return };
    assert_eq!(
        changes(&env),
        [
            change("Edit", "a.py", Some("general-purpose")),
            change("Sweep", "list.txt", None),
            change("Write", "notes.md", None),
        ]
    );
    let transcript = &outcome.transcript;
    assert_eq!(transcript.lead().count(ALERT), 1, "{transcript}");
    assert_eq!(transcript.lead().count("Changed: a.py"), 1, "{transcript}");
    // The alert names exactly the files that depend on the renamed function.
    assert_eq!(transcript.lead().count("Dependents: b.py:1,3 (refs hello) [breaks]"), 1, "{transcript}");
    // The request that follows the subagent's end is the first to have it.
    assert_eq!(transcript.lead().first_with(ALERT), Some(1), "{transcript}");
    assert_eq!(transcript.recipients_of(ALERT), [RequestAgent::Lead].into());
    assert!(env.log_lines().is_empty(), "{:?}", env.log_lines());
}

fn background_subagent_changes_reach_the_lead_at_its_next_event() {
    let env = inactive();
    let Some(outcome) = play(&env, "background-subagent.toml") else { return };
    assert_eq!(changes(&env), [change("Edit", "a.py", Some("general-purpose"))]);
    let transcript = &outcome.transcript;
    assert_eq!(transcript.lead().count(ALERT), 1, "{transcript}");
    assert!(transcript.lead().first_with(ALERT) > Some(1), "not with the launch, when nothing had changed");
    assert_eq!(transcript.recipients_of(ALERT), [RequestAgent::Lead].into());
}

fn a_session_that_changes_nothing_gets_no_text_at_all() {
    let env = inactive();
    let Some(outcome) = play(&env, "only-looking.toml") else { return };
    assert!(changes(&env).is_empty());
    for word in ["SRC", "lockstep:", "Lockstep"] {
        assert!(outcome.transcript.recipients_of(word).is_empty(), "{word}: {}", outcome.transcript);
    }
    assert!(!env.state().join("reports").exists());
    assert!(env.log_lines().is_empty(), "{:?}", env.log_lines());
}

fn registered_hooks_do_nothing_where_the_project_is_not_active() {
    let env = inactive();
    let Some(client) = find_client_or_skip() else { return };
    env.lockstep(["init", "--client", "claude", "--quiet"]).assert_success();
    fs::remove_file(env.project().join("lockstep.toml")).unwrap();
    fs::remove_dir_all(env.state()).unwrap();
    let outcome = rehearse(&env, client, "three-ways-to-change.toml");
    assert!(outcome.transcript.recipients_of("SRC").is_empty());
    assert!(!env.state().exists());
    let journals = fs::read_dir(env.tmp())
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().starts_with("src-changes-"));
    assert_eq!(journals.count(), 0);
}

fn doctor_proves_it_live() {
    let env = inactive();
    let Some(client) = find_client_or_skip() else { return };
    env.git(["init", "--quiet"]);
    env.lockstep(["init", "--client", "claude", "--quiet"]).assert_success();
    let mut doctor = env.command(["doctor", "--live", "--format", "json"]);
    let path = format!("{}:/usr/bin:/bin:/usr/sbin:/sbin", client.program().parent().unwrap().display());
    doctor.env("PATH", path).env_remove("LOCKSTEP_NOW");
    let report: Value = serde_json::from_str(&env.run(doctor, b"").assert_success()).unwrap();
    let live = report["checks"].as_array().unwrap().iter().find(|check| check["name"] == "live").unwrap();
    assert_eq!(live["status"], "ok", "{report:#}");
}

on_each_client!(
    every_way_to_change_a_file_is_journaled_and_the_alert_reaches_the_lead_once,
    background_subagent_changes_reach_the_lead_at_its_next_event,
    a_session_that_changes_nothing_gets_no_text_at_all,
    registered_hooks_do_nothing_where_the_project_is_not_active,
    doctor_proves_it_live,
);
