//! A real Claude Code plays complete scenarios. Skipped with a message if the client is not available.

#![allow(clippy::unwrap_used, reason = "every function here is part of a test")]

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};
use std::thread;
use std::time::{Duration, Instant};

use lockstep_rehearsal::{
    ClientBinary, ExitReason, NetworkAccess, Rehearsal, RehearsalResult, RequestAgent, Scenario, TextSource,
    Turn,
};
use lockstep_testkit::client::{NEWEST, find_client_or_skip, version_of_test};
use lockstep_testkit::on_each_client;
use serde_json::{Value, json};
use tempfile::TempDir;

const LEAD_AND_SUBAGENT: &str = include_str!("../scenarios/lead-and-subagent.toml");
const BACKGROUND: &str = include_str!("../scenarios/background-subagent.toml");

/// Plays a scenario to its last turn in a fresh project.
fn play(client: ClientBinary, scenario: Scenario) -> (RehearsalResult, TempDir) {
    let project = tempfile::tempdir().expect("a temporary folder");
    let outcome = finish(Rehearsal::new(client, scenario, project.path()));
    (outcome, project)
}

fn finish(rehearsal: Rehearsal) -> RehearsalResult {
    let outcome = rehearsal.run().expect("the client starts");
    assert!(outcome.success(), "{:?}\n{}\n{}", outcome.ended, outcome.stderr, outcome.transcript);
    assert!(outcome.unplayed.is_empty(), "{:?}\n{}", outcome.unplayed, outcome.transcript);
    outcome
}

fn hook_events(project: &Path) -> Vec<Value> {
    let lines = fs::read_to_string(project.join("hooks.jsonl")).expect("a hook has run");
    lines.lines().map(|line| serde_json::from_str(line).expect("a hook gets JSON")).collect()
}

/// `event tool` for the Lead, `event tool @` inside a subagent.
fn short(event: &Value) -> String {
    let inside = if event["agent_id"].is_string() { "@" } else { "" };
    let words =
        [event["hook_event_name"].as_str().unwrap_or("?"), event["tool_name"].as_str().unwrap_or(""), inside];
    words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

fn tools_and_hooks_of_lead_and_subagent_run() {
    let Some(client) = find_client_or_skip() else { return };
    let (outcome, project) = play(client, Scenario::parse(LEAD_AND_SUBAGENT).unwrap());
    let transcript = &outcome.transcript;

    assert_eq!(fs::read_to_string(project.path().join("notes.md")).unwrap(), "renaming\n");
    assert_eq!(fs::read_to_string(project.path().join("a.py")).unwrap(), "def greet(): pass\n");
    assert_eq!(outcome.stdout.trim(), "All renamed.");

    let editors = transcript.subagents("EDITOR");
    assert_eq!((transcript.lead().requests().len(), editors.len()), (4, 1), "{transcript}");
    assert_eq!(editors[0].requests().len(), 3);

    // The hook's text is next to the subagent's result, once, and the subagent never got it.
    assert_eq!(transcript.lead().count("TOLD-AFTER-AGENT"), 1);
    assert_eq!(transcript.lead().first_with("TOLD-AFTER-AGENT"), Some(2));
    assert_eq!(transcript.recipients_of("TOLD-AFTER-AGENT"), [RequestAgent::Lead].into());
    let output: Vec<_> =
        transcript.lead().texts(2).into_iter().filter(|t| t.text.contains("TOLD-")).collect();
    // The older version sends it as a reminder in a message of the user's.
    let kind = if version_of_test() == NEWEST { TextSource::System } else { TextSource::Reminder };
    assert_eq!(output[0].kind, kind);
    assert_eq!(transcript.recipients_of("LOOKED"), [RequestAgent::Lead].into());
    assert_eq!(transcript.recipients_of("1\tdef hello(): pass"), [RequestAgent::subagent("EDITOR")].into());

    let events = hook_events(project.path());
    let expected = [
        "PreToolUse Write",
        "PostToolUse Write",
        "PreToolUse Agent",
        "PreToolUse Read @",
        "PostToolUse Read @",
        "PreToolUse Edit @",
        "PostToolUse Edit @",
        "SubagentStop @",
        "PostToolUse Agent",
        "PreToolUse Bash",
        "PostToolUse Bash",
        "Stop",
    ];
    assert_eq!(events.iter().map(short).collect::<Vec<_>>(), expected);
    let inside = events.iter().filter_map(|event| event["agent_id"].as_str());
    assert!(inside.into_iter().all(|id| Some(id) == editors[0].requests()[0].agent_id.as_deref()));
}

fn a_background_subagent_that_outlives_the_leads_turn_wakes_it_as_a_prompt() {
    let Some(client) = find_client_or_skip() else { return };
    let (outcome, project) = play(client, Scenario::parse(BACKGROUND).unwrap());

    let expected = [
        "UserPromptSubmit",
        "PostToolUse Agent",
        "PostToolUse Bash",
        "Stop",
        "Stop",
        "PostToolUse Bash @",
        "SubagentStop @",
        "UserPromptSubmit",
        "Stop",
    ];
    let events = hook_events(project.path());
    assert_eq!(events.iter().map(short).collect::<Vec<_>>(), expected);
    assert_eq!(events[1]["tool_response"]["status"], "async_launched");
    assert_eq!(events[3]["background_tasks"][0]["status"], "running");
    assert!(events[7]["prompt"].as_str().unwrap().starts_with("<task-notification>"));

    let lead = outcome.transcript.lead();
    for (request, text) in [(1, "LAUNCH-TEXT"), (2, "BASH-TEXT"), (3, "STOP-TEXT"), (4, "NOTIFIED-TEXT")] {
        assert_eq!(
            (lead.first_with(text), lead.count(text)),
            (Some(request), 1),
            "{text}\n{}",
            outcome.transcript
        );
        assert_eq!(outcome.transcript.recipients_of(text), [RequestAgent::Lead].into());
    }
}

fn a_background_subagent_that_ends_during_a_tool_of_the_leads_is_reported_after_it() {
    let Some(client) = find_client_or_skip() else { return };
    let mut scenario = Scenario::parse(BACKGROUND).unwrap();
    let wait = "until grep -q SubagentStop hooks.jsonl; do sleep 0.1; done; sleep 5";
    scenario.lead[1] = Turn::call("Bash", json!({"command": wait, "description": "wait"}));
    scenario.lead.truncate(4);
    scenario.subagents.get_mut("EDITOR").unwrap().remove(0);
    let (outcome, project) = play(client, scenario);

    let mut expected =
        vec!["UserPromptSubmit", "PostToolUse Agent", "SubagentStop @", "PostToolUse Bash", "Stop", "Stop"];
    if version_of_test() == NEWEST {
        // The older version adds the notice to the tool's result without an event.
        expected.insert(4, "UserPromptSubmit");
    }
    let events = hook_events(project.path());
    assert_eq!(events.iter().map(short).collect::<Vec<_>>(), expected, "{}", outcome.transcript);
    // The notice and the text of the tool's own hook reach the Lead in the same request.
    let lead = outcome.transcript.lead();
    assert_eq!(lead.first_with("Agent \"rename\" finished"), Some(2), "{}", outcome.transcript);
    assert_eq!((lead.first_with("BASH-TEXT"), lead.count("BASH-TEXT")), (Some(2), 1));
}

fn arguments_environment_and_path_reach_the_client_also_without_a_namespace() {
    let Some(client) = find_client_or_skip() else { return };
    let (project, tools) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let tool = tools.path().join("tool-of-ours");
    fs::write(&tool, "#!/bin/sh\necho \"tool says $OURS in $PWD\"\n").unwrap();
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).unwrap();
    let mut scenario = Scenario::new("Run the tool in {project}.");
    scenario.lead.push(Turn::call("Bash", json!({"command": "tool-of-ours; echo proxy $HTTPS_PROXY"})));
    let rehearsal = Rehearsal::new(client, scenario, project.path())
        .arg("--append-system-prompt")
        .arg("SYSTEM-OF-OURS")
        .env("OURS", "hello")
        .path_prefix(tools.path())
        .on_host_network();
    let outcome = finish(rehearsal);

    let place = project.path().canonicalize().unwrap();
    let lead = outcome.transcript.lead();
    assert_eq!(lead.count(&format!("tool says hello in {}", place.display())), 1, "{}", outcome.transcript);
    assert_eq!(lead.count(&format!("Run the tool in {}.", place.display())), 1);
    assert_eq!(lead.count("proxy http://127.0.0.1:1"), 1);
    assert_eq!(lead.count("SYSTEM-OF-OURS"), 1);
    assert_eq!(outcome.network, NetworkAccess::Host { why: "it was asked for".into() });
    // After the end of its script the Lead reports that, and so does the record.
    assert_eq!(lead.requests().last().unwrap().turn, None);
}

fn a_resumed_session_plays_its_own_scenario_from_the_start() {
    let Some(client) = find_client_or_skip() else { return };
    let (project, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for (prompt, answer) in [("One?", "FIRST"), ("Two?", "SECOND")] {
        let mut scenario = Scenario::new(prompt);
        scenario.lead.push(Turn::text(answer));
        let mut rehearsal = Rehearsal::new(client.clone(), scenario, project.path()).home(home.path());
        if answer == "SECOND" {
            rehearsal = rehearsal.arg("--continue");
        }
        let outcome = finish(rehearsal);
        assert_eq!(outcome.stdout.trim(), answer);
        assert_eq!(outcome.transcript.lead().count("One?"), 1, "{}", outcome.transcript);
    }
}

fn neither_the_time_limit_nor_a_drop_leaves_anything_running() {
    let Some(client) = find_client_or_skip() else { return };
    let project = tempfile::tempdir().unwrap();
    let mut scenario = Scenario::new("Wait.");
    let command = "setsid sleep 300 & echo $! > started; echo $$ >> started; mv started pids; sleep 300";
    scenario.lead.push(Turn::call("Bash", json!({"command": command})));
    let rehearsal = Rehearsal::new(client, scenario, project.path());

    let outcome = rehearsal.clone().limit(Duration::from_millis(1)).run().unwrap();
    assert_eq!(outcome.ended, ExitReason::TimeLimit);

    let running = rehearsal.start().unwrap();
    let (start, pids) = (Instant::now(), project.path().join("pids"));
    while !pids.exists() {
        assert!(start.elapsed() < Duration::from_secs(60), "{}", running.transcript());
        thread::sleep(Duration::from_millis(20));
    }
    let pids = fs::read_to_string(pids).unwrap();
    assert!(pids.lines().count() == 2 && pids.lines().all(is_running), "{pids}");
    drop(running);
    assert!(!pids.lines().any(is_running), "{pids}");
}

/// Returns true if the process runs. A zombie does not: it only waits to be reaped.
fn is_running(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(") ").map(|(_, rest)| rest.starts_with(['Z', 'X']));
    state == Some(false)
}

/// Runs this test binary with neither npm nor a cached client available.
fn without_client(required: bool) -> Output {
    let empty = tempfile::tempdir().expect("a temporary folder");
    Command::new(env::current_exe().expect("the path of this test"))
        .args(["--exact", "tools_and_hooks_of_lead_and_subagent_run::newest", "--nocapture"])
        .env_remove("LOCKSTEP_CLIENT")
        .env("LOCKSTEP_CLIENT_CACHE", empty.path())
        .env("PATH", empty.path())
        .env("LOCKSTEP_REQUIRE_CLIENT", if required { "1" } else { "0" })
        .output()
        .expect("this test starts again")
}

#[test]
fn a_missing_client_skips_in_sight_unless_it_is_required() {
    let skipped = without_client(false);
    let stderr = String::from_utf8_lossy(&skipped.stderr);
    let lines: Vec<_> =
        stderr.lines().filter(|line| line.starts_with("SKIPPED real client: npm is not")).collect();
    assert!(skipped.status.success() && lines.len() == 1, "{stderr}");
    assert!(!without_client(true).status.success());
}

on_each_client!(
    tools_and_hooks_of_lead_and_subagent_run,
    a_background_subagent_that_outlives_the_leads_turn_wakes_it_as_a_prompt,
    a_background_subagent_that_ends_during_a_tool_of_the_leads_is_reported_after_it,
    arguments_environment_and_path_reach_the_client_also_without_a_namespace,
    a_resumed_session_plays_its_own_scenario_from_the_start,
    neither_the_time_limit_nor_a_drop_leaves_anything_running,
);
