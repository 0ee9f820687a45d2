//! Agents in sessions of a real Claude Code: every tool that starts or continues one, agents in the
//! background, and agents that edit through shell commands only. Skipped with a message if the client is not
//! available.

use std::collections::BTreeSet;

use lockstep_rehearsal::run::{Rehearsal, RehearsalResult};
use lockstep_rehearsal::scenario::{Scenario, Turn};
use lockstep_rehearsal::transcript::RequestAgent;
use lockstep_testkit::TestEnv;
use lockstep_testkit::client::{ClientBinary, VERSIONS, find_client_or_skip, version_of_test};
use serde_json::{Value, json};

use crate::inactive;
use crate::steps::yes;

const ALERT: &str = "SRC IMPACT ALERT:";
const NOTIFICATION: &str = "<task-notification>";

/// A committed project in which `b.py` uses `hello` of `a.py`, and `d.py` uses `load` of `c.py`, after `lockstep init`.
fn project() -> TestEnv {
    let env = inactive();
    env.git(["init", "--quiet"]);
    for (key, value) in [("user.name", "Test"), ("user.email", "test@example.org")] {
        env.git(["config", key, value]);
    }
    for (file, text) in [
        ("a.py", "def hello(): pass\n"),
        ("b.py", "from a import hello\n\nhello()\n"),
        ("c.py", "def load(): pass\n"),
        ("d.py", "from c import load\n\nload()\n"),
    ] {
        env.write(file, text);
    }
    env.git(["add", "--all"]);
    env.git(["commit", "--quiet", "--message", "first"]);
    env.lockstep(["init", "--client", "claude", "--quiet"]).assert_success();
    env
}

fn play(env: &TestEnv, client: ClientBinary, scenario: Scenario) -> RehearsalResult {
    let rehearsal = Rehearsal::new(client, scenario, env.project());
    let outcome = rehearsal.home(env.home()).env("TMPDIR", env.tmp()).run().unwrap();
    let (unplayed, transcript) = (&outcome.unplayed, &outcome.transcript);
    assert!(outcome.success(), "{outcome:?}");
    assert!(unplayed.is_empty(), "the session took another way: {unplayed:?}\n{transcript}");
    outcome
}

fn bash(command: &str) -> Turn {
    Turn::call("Bash", json!({"command": command, "description": "work"}))
}

fn agent(prompt: &str, background: bool) -> Turn {
    let input = json!({"description": "work", "subagent_type": "general-purpose", "prompt": prompt, "run_in_background": background, "name": "w1"});
    Turn::call("Agent", input)
}

/// Waits for reports of subagents, for at most 20 seconds. The file `.git/waiting` exists from the start of the wait.
fn wait_for_reports(count: usize) -> Turn {
    bash(&format!(
        "touch .git/waiting; for i in $(seq 200); do [ $(ls .lockstep/reports/*/*.yaml 2>/dev/null | wc -l) -ge {count} ] && break; sleep 0.1; done"
    ))
}

/// Waits until the transcript of a subagent contains a text, for at most 20 seconds. The client writes transcripts with a delay,
/// and continues a finished agent only from its transcript.
fn wait_for_transcript(tag: &str, text: &str) -> Turn {
    bash(&format!(
        "for i in $(seq 200); do grep -qs '{text}' ~/.claude/projects/*/*/subagents/agent-{{agent:{tag}}}.jsonl && break; sleep 0.1; done"
    ))
}

fn changes(env: &TestEnv) -> Vec<(String, String, String)> {
    let listing: Value =
        serde_json::from_str(&env.lockstep(["changes", "--format", "json"]).assert_success()).unwrap();
    let text = |value: &Value| value.as_str().unwrap_or("lead").to_owned();
    let of_change = |change: &Value| {
        let file = text(&change["path"]).rsplit('/').next().unwrap().to_owned();
        (file, text(&change["agent"]["type"]), text(&change["attribution"]))
    };
    let mut changes: Vec<_> = listing["changes"].as_array().unwrap().iter().map(of_change).collect();
    changes.sort();
    changes
}

fn files(env: &TestEnv) -> Vec<String> {
    changes(env).into_iter().map(|(file, ..)| file).collect()
}

fn change(file: &str, agent: &str) -> (String, String, String) {
    (file.to_owned(), agent.to_owned(), "exact".to_owned())
}

/// There is no index, and no editing tool is used.
fn the_first_session_with_edits_through_bash_only_names_the_dependent() {
    let Some(client) = find_client_or_skip() else { return };
    let env = project();
    let mut scenario = Scenario::new("Rename hello.");
    scenario.lead = vec![agent("RENAMER: rename hello", false), Turn::text("Renamed.")];
    let edits = vec![bash("sed -i s/hello/greet/ a.py"), Turn::text("Done.")];
    scenario.subagents.insert("RENAMER".to_owned(), edits);
    let outcome = play(&env, client, scenario);
    let transcript = &outcome.transcript;
    assert_eq!(changes(&env), [change("a.py", "general-purpose")]);
    assert_eq!(transcript.lead().count(ALERT), 1, "{transcript}");
    assert_eq!(transcript.lead().count("b.py:1,3 (refs hello) [breaks]"), 1, "{transcript}");
    assert_eq!(transcript.recipients_of(ALERT), [RequestAgent::Lead].into());
    assert!(env.log_lines().is_empty(), "{:?}", env.log_lines());
}

/// The agent ends while the Lead is at work.
fn a_background_agent_that_ends_first_is_reported_once() {
    let Some(client) = find_client_or_skip() else { return };
    let env = project();
    let mut scenario = Scenario::new("Rename hello in the background.");
    scenario.lead = vec![agent("RENAMER: rename hello", true), wait_for_reports(1), Turn::text("Renamed.")];
    let edits = vec![bash("sed -i s/hello/greet/ a.py"), Turn::text("Done.")];
    scenario.subagents.insert("RENAMER".to_owned(), edits);
    let outcome = play(&env, client, scenario);
    let transcript = &outcome.transcript;
    // The Lead's own command was running too.
    assert_eq!(files(&env), ["a.py"]);
    assert_eq!(transcript.lead().count(ALERT), 1, "{transcript}");
    assert_eq!(transcript.lead().count("b.py:1,3 (refs hello) [breaks]"), 1, "{transcript}");
    assert!(transcript.lead().first_with(ALERT) > Some(1), "not with the launch\n{transcript}");
    assert_eq!(transcript.recipients_of(ALERT), [RequestAgent::Lead].into());
}

/// The Lead stops while the agent is at work. Its end reaches the Lead as a notification, and the alert with it.
fn a_stop_of_the_lead_is_not_the_end_of_its_agents() {
    let Some(client) = find_client_or_skip() else { return };
    let env = project();
    let mut scenario = Scenario::new("Rename hello in the background.");
    scenario.lead =
        vec![agent("RENAMER: rename hello", true), Turn::text("It is at work."), Turn::text("Renamed.")];
    let edits = vec![bash("sleep 2; sed -i s/hello/greet/ a.py; sleep 1"), Turn::text("Done.")];
    scenario.subagents.insert("RENAMER".to_owned(), edits);
    let outcome = play(&env, client, scenario);
    let transcript = &outcome.transcript;
    assert_eq!(changes(&env), [change("a.py", "general-purpose")]);
    assert_eq!(transcript.lead().count(ALERT), 1, "{transcript}");
    let notified = transcript.lead().first_with(NOTIFICATION);
    assert!(notified.is_some(), "{transcript}");
    assert_eq!(transcript.lead().first_with(ALERT), notified, "with the notification\n{transcript}");
    assert_eq!(transcript.lead().count("0 impact candidates"), 0, "{transcript}");
    assert_eq!(transcript.recipients_of(ALERT), [RequestAgent::Lead].into());
}

/// The Lead stops while its own command runs. The notification is the first event after the change.
fn a_command_in_the_background_is_attributed_to_the_lead() {
    let Some(client) = find_client_or_skip() else { return };
    let env = project();
    let mut scenario = Scenario::new("Rename hello in the background.");
    let command = "sleep 2; sed -i s/hello/greet/ a.py; sleep 1";
    let input = json!({"command": command, "description": "work", "run_in_background": true});
    scenario.lead = vec![
        Turn::call("Bash", input),
        Turn::text("It runs."),
        Turn::text("Renamed."),
        Turn::text("I see the alert."),
    ];
    let outcome = play(&env, client, scenario);
    let transcript = &outcome.transcript;
    assert_eq!(changes(&env), [change("a.py", "lead")], "{transcript}");
    assert_eq!(transcript.lead().count("b.py:1,3 (refs hello) [breaks]"), 1, "{transcript}");
}

/// Files in a worktree are not read, and the Lead is told where to ask.
fn an_agent_in_a_worktree_of_its_own_is_not_passed_over() {
    let Some(client) = find_client_or_skip() else { return };
    let env = project();
    let mut scenario = Scenario::new("Rename hello in a worktree.");
    let input = json!({"description": "work", "subagent_type": "general-purpose", "prompt": "RENAMER: rename hello",
        "run_in_background": false, "isolation": "worktree"});
    scenario.lead = vec![Turn::call("Agent", input), Turn::text("Renamed.")];
    let edits = vec![bash("sed -i s/hello/greet/ a.py"), Turn::text("Done.")];
    scenario.subagents.insert("RENAMER".to_owned(), edits);
    let outcome = play(&env, client, scenario);
    let transcript = &outcome.transcript;
    let notice = "other repositories or worktrees: .claude/worktrees/agent-";
    assert_eq!(transcript.lead().count(notice), 1, "{transcript}");
    assert_eq!(transcript.lead().count("Run `lockstep impact` there."), 1, "{transcript}");
}

/// Two notifications under one id, and one alert for the new changes of each.
fn a_continued_agent_reports_only_what_is_new() {
    let Some(client) = find_client_or_skip() else { return };
    let env = project();
    let mut scenario = Scenario::new("Rename hello, then load.");
    // Both versions know a finished agent by its id, and only the newest knows it by its name.
    let to = if version_of_test() == VERSIONS[0] { "w1" } else { "{agent:RENAMER}" };
    let message = json!({"to": to, "summary": "rename load", "message": "Now rename load."});
    scenario.lead = vec![
        agent("RENAMER: rename hello", false),
        wait_for_transcript("RENAMER", "Done."),
        Turn::call("SendMessage", message),
        wait_for_reports(2),
        Turn::text("Renamed."),
    ];
    let turns = vec![
        bash("sed -i s/hello/greet/ a.py"),
        Turn::text("Done."),
        bash(
            "for i in $(seq 200); do [ -e .git/waiting ] && break; sleep 0.1; done; sed -i s/load/fetch/ c.py",
        ),
        Turn::text("Done again."),
    ];
    scenario.subagents.insert("RENAMER".to_owned(), turns);
    let outcome = play(&env, client, scenario);
    let transcript = &outcome.transcript;
    assert_eq!(files(&env), ["a.py", "c.py"]);
    assert_eq!(transcript.lead().count(ALERT), 2, "{transcript}");
    // The second was made while the Lead's own command was running.
    assert_eq!(transcript.lead().count("Changed: a.py (hello → greet)\n"), 1, "{transcript}");
    assert_eq!(
        transcript.lead().count("Changed: c.py (load → fetch; by lead or general-purpose "),
        1,
        "{transcript}"
    );
    assert_eq!(transcript.subagents("RENAMER").len(), 1, "it is one agent\n{transcript}");
}

/// Every way to start or continue an agent with a prompt that gate 1 refuses.
fn no_tool_starts_an_agent_with_an_incomplete_step_prompt() {
    let Some(client) = find_client_or_skip() else { return };
    let env = project();
    let prompt = step_prompt(&env, "01-01", "REFUSED").replace("## TASK_CONTEXT", "## REFUSED");
    let script = |name: &str| {
        let literal = serde_json::to_string(&prompt).unwrap();
        format!(
            "export const meta = {{ name: '{name}', description: 'd', phases: [] }};\nreturn await agent({literal});\n"
        )
    };
    env.write("flow.js", script("by-path"));
    env.write(".claude/workflows/saved.js", script("saved"));
    let assembled = "export const meta = { name: 'x', description: 'd', phases: [] };\nreturn await agent('<!-- DES-VALIDATION: ' + 'required --> ASSEMBLED');\n";
    let message = |to: &str| json!({"to": to, "summary": "go on", "message": prompt});
    let mut scenario = Scenario::new("Use a workflow.");
    scenario.lead = vec![
        agent("HELPER: look around", false),
        agent(&prompt, false),
        Turn::call("Workflow", json!({"script": script("inline")})),
        Turn::call("Workflow", json!({"scriptPath": env.project().join("flow.js")})),
        Turn::call("Workflow", json!({"name": "saved"})),
        Turn::call("SendMessage", message("w1")),
        Turn::call("SendMessage", message("{agent:HELPER}")),
        Turn::call("Workflow", json!({"script": assembled})),
        bash("sleep 1"),
        Turn::text("Nothing was started."),
    ];
    scenario.subagents.insert("HELPER".to_owned(), vec![Turn::text("I looked.")]);
    let outcome = play(&env, client, scenario);
    let transcript = &outcome.transcript;
    let refused = "Mandatory section 'TASK_CONTEXT' not found";
    assert_eq!(transcript.lead().count(refused), 6, "{transcript}");
    assert_eq!(transcript.lead().count("cannot read what the agents of this workflow"), 1, "{transcript}");
    let own = |request: &&lockstep_rehearsal::transcript::ModelRequest| {
        !matches!(request.agent, RequestAgent::Lead | RequestAgent::ClientInternal)
            && request.agent != RequestAgent::subagent("HELPER")
    };
    assert_eq!(transcript.requests().iter().filter(own).count(), 0, "no other agent ran\n{transcript}");
    assert_eq!(transcript.subagents("HELPER")[0].requests().len(), 1, "it was not continued\n{transcript}");
}

/// A prompt for the work on a step, with the tag of its agent.
fn step_prompt(env: &TestEnv, step: &str, tag: &str) -> String {
    yes(env, &format!("step new {step} --project auth --phases tdd-3"));
    let args = ["prompt", "render", "execute_step", "--step", step, "--set", "agent_name=crafter", "--set"];
    env.lockstep(args.into_iter().chain([format!("description={tag}: work").as_str()])).assert_success()
}

/// Both agents leave a phase open, are asked once, and leave it open again.
fn gate_2_finds_the_steps_of_a_workflow_and_of_a_message() {
    let Some(client) = find_client_or_skip() else { return };
    let env = project();
    let by_workflow = serde_json::to_string(&step_prompt(&env, "01-01", "FLOW")).unwrap();
    let by_message = step_prompt(&env, "01-02", "LATER");
    let script = format!(
        "export const meta = {{ name: 'flow', description: 'd', phases: [] }};\nreturn await agent({by_workflow});\n"
    );
    let wait_for_failed = |step: &str| {
        bash(&format!("for i in $(seq 300); do grep -q FAILED steps/{step}.json && break; sleep 0.1; done"))
    };
    let message = json!({"to": "{agent:HELPER}", "summary": "a step", "message": by_message});
    let mut scenario = Scenario::new("Do both steps.");
    scenario.lead = vec![
        Turn::call("Workflow", json!({"script": script})),
        wait_for_failed("01-01"),
        agent("HELPER: look around", false),
        wait_for_transcript("HELPER", "I looked."),
        Turn::call("SendMessage", message),
        wait_for_failed("01-02"),
        Turn::text("Both failed."),
    ];
    let leave_open = |step: &str| {
        let start = format!("{} step phase start {step} RED", env!("CARGO_BIN_EXE_lockstep"));
        [bash(&start), Turn::text("I leave it."), Turn::text("I leave it again.")]
    };
    scenario.subagents.insert("FLOW".to_owned(), leave_open("01-01").into());
    let continued = [Turn::text("I looked.")].into_iter().chain(leave_open("01-02")).collect();
    scenario.subagents.insert("HELPER".to_owned(), continued);
    let outcome = play(&env, client, scenario);
    let transcript = &outcome.transcript;
    let asked = "This is said once: if it stays so, the step is set to FAILED.";
    assert_eq!(
        transcript.recipients_of(asked),
        ["FLOW", "HELPER"].map(RequestAgent::subagent).into(),
        "{transcript}"
    );
    for step in ["01-01", "01-02"] {
        let text = std::fs::read_to_string(env.project().join(format!("steps/{step}.json"))).unwrap();
        let step: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(step["state"]["status"], "FAILED", "{step}\n{transcript}");
        assert_eq!(step["state"]["failure_reason"], "Phase RED left IN_PROGRESS (abandoned)");
    }
}

/// The commands of two agents, twenty in all and each with pauses of its own: every one overlaps with others in another way.
fn overlapping_commands_of_two_agents_are_not_attributed_to_a_wrong_one() {
    let Some(client) = find_client_or_skip() else { return };
    let env = project();
    let mut scenario = Scenario::new("Work side by side.");
    let start = |tag: &str, background: bool| json!({"description": "work", "subagent_type": "general-purpose", "prompt": tag, "run_in_background": background});
    scenario.lead = vec![
        Turn::call("Agent", start("ALONE: begin", false)),
        Turn::call("Agent", start("FIRST: work", true)).and_call("Agent", start("SECOND: work", true)),
        Turn::text("They are at work."),
    ];
    // Tenths of a second before and after the change.
    let pauses =
        |tag: &str, at: usize| if tag == "FIRST" { (at % 4, at * 3 % 5) } else { (at * 2 % 5, at % 3) };
    let work = |tag: &str| {
        let command = |at: usize| {
            let (before, after) = pauses(tag, at);
            bash(&format!("sleep 0.{before}; echo x = 1 > {tag}{at}.py; sleep 0.{after}"))
        };
        (0..10).map(command).chain([Turn::text("Done.")]).collect()
    };
    for tag in ["FIRST", "SECOND"] {
        scenario.subagents.insert(tag.to_owned(), work(tag));
    }
    let alone = vec![bash("echo x = 1 > ALONE0.py"), Turn::text("Done.")];
    scenario.subagents.insert("ALONE".to_owned(), alone);
    let outcome = play(&env, client, scenario);
    let id = |tag: &str| {
        let own = |request: &&lockstep_rehearsal::transcript::ModelRequest| {
            request.agent == RequestAgent::subagent(tag)
        };
        outcome.transcript.requests().iter().find(own).and_then(|request| request.agent_id.clone()).unwrap()
    };
    let listing: Value =
        serde_json::from_str(&env.lockstep(["changes", "--format", "json"]).assert_success()).unwrap();
    let mut seen = BTreeSet::new();
    for change in listing["changes"].as_array().unwrap() {
        let file = change["path"].as_str().unwrap().rsplit('/').next().unwrap();
        let tag = file.trim_end_matches(|char: char| !char.is_ascii_uppercase());
        let agents = change["agents"].as_array().unwrap();
        assert!(agents.iter().any(|agent| agent["id"] == id(tag).as_str()), "{file}: {listing:#}");
        if tag == "ALONE" {
            assert_eq!((agents.len(), &change["attribution"]), (1, &json!("exact")), "{listing:#}");
        }
        seen.insert(file.to_owned());
    }
    assert_eq!(seen.len(), 21, "{listing:#}");
}

on_each_client!(
    the_first_session_with_edits_through_bash_only_names_the_dependent,
    a_background_agent_that_ends_first_is_reported_once,
    a_stop_of_the_lead_is_not_the_end_of_its_agents,
    a_command_in_the_background_is_attributed_to_the_lead,
    an_agent_in_a_worktree_of_its_own_is_not_passed_over,
    no_tool_starts_an_agent_with_an_incomplete_step_prompt,
    overlapping_commands_of_two_agents_are_not_attributed_to_a_wrong_one,
    a_continued_agent_reports_only_what_is_new,
    gate_2_finds_the_steps_of_a_workflow_and_of_a_message,
);
