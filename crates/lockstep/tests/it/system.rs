//! Whole-system scenarios: a real Claude Code with the plugin that `lockstep init --plugin` sets up, against
//! a scripted model on loopback. Each is a file in `tests/scenarios/system-*.toml` that describes the events;
//! the expected results are here. Skipped with a message if the client is not available.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use lockstep_rehearsal::run::{Rehearsal, RehearsalResult};
use lockstep_rehearsal::scenario::Scenario;
use lockstep_rehearsal::transcript::{RequestAgent, TextSource};
use lockstep_testkit::client::{ClientBinary, find_client_or_skip};
use lockstep_testkit::{ProcessOutput, TestEnv};
use serde_json::{Value, json};

use crate::rename_fixtures::commit;
use crate::task_pipeline::{gate, l2};
use crate::{active, inactive};

/// The first words of an alert.
const ALERT: &str = "SRC IMPACT ALERT:";

/// A project, a client that trusts it, and the program on PATH.
pub(crate) struct Stage {
    pub(crate) env: TestEnv,
    client: ClientBinary,
}

impl Stage {
    /// Nothing is set up yet; `None` if the client cannot be had.
    pub(crate) fn bare() -> Option<Self> {
        let client = find_client_or_skip()?;
        let env = inactive();
        env.git(["init", "--quiet"]);
        for (key, value) in [("user.name", "Test"), ("user.email", "test@example.org")] {
            env.git(["config", key, value]);
        }
        let stage = Self { env, client };
        fs::create_dir(stage.bin()).unwrap();
        symlink(env!("CARGO_BIN_EXE_lockstep"), stage.bin().join("lockstep")).unwrap();
        // The file that the client writes when its user trusts the folder: only then it loads a project's
        // plugins.
        let project = stage.env.project().canonicalize().unwrap();
        let trust = json!({"projects": {project.to_str().unwrap(): {"hasTrustDialogAccepted": true}}});
        fs::write(stage.env.home().join(".claude.json"), trust.to_string()).unwrap();
        Some(stage)
    }

    /// With the plugin, by `lockstep init --plugin`.
    pub(crate) fn with_plugin() -> Option<Self> {
        let stage = Self::bare()?;
        stage.run("init --plugin --quiet").assert_success();
        Some(stage)
    }

    pub(crate) fn bin(&self) -> PathBuf {
        self.env.outside_dir().join("bin")
    }

    pub(crate) fn client(&self) -> &Path {
        self.client.program()
    }

    /// `lockstep …` with the program on PATH.
    pub(crate) fn run(&self, args: &str) -> ProcessOutput {
        let mut command = self.env.command(args.split(' '));
        command.env("PATH", format!("{}:/usr/bin:/bin", self.bin().display())).env_remove("LOCKSTEP_NOW");
        self.env.run(command, b"")
    }

    /// The JSON that a command prints.
    pub(crate) fn json(&self, args: &str) -> Value {
        serde_json::from_slice(&self.run(&format!("{args} --format json")).stdout).unwrap()
    }

    /// A session that plays the scenario of this name, with `{word}` in it replaced.
    pub(crate) fn rehearsal(&self, scenario: &str, fill: &[(&str, &str)]) -> Rehearsal {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/scenarios/{scenario}.toml"));
        let mut text = fs::read_to_string(path).unwrap();
        for (word, value) in fill {
            let quoted = serde_json::to_string(value).unwrap();
            text = text.replace(&format!("{{{word}}}"), quoted.trim_matches('"'));
        }
        let scenario = Scenario::parse(&text).unwrap();
        let rehearsal = Rehearsal::new(self.client.clone(), scenario, self.env.project());
        rehearsal.home(self.env.home()).env("TMPDIR", self.env.tmp()).path_prefix(self.bin())
    }

    /// Plays it to its end: the client is content, and every turn was taken.
    pub(crate) fn play(&self, scenario: &str, fill: &[(&str, &str)]) -> RehearsalResult {
        self.content(self.rehearsal(scenario, fill).run().unwrap())
    }

    pub(crate) fn content(&self, outcome: RehearsalResult) -> RehearsalResult {
        assert!(outcome.success(), "{outcome:?}");
        let (unplayed, transcript) = (&outcome.unplayed, &outcome.transcript);
        assert!(unplayed.is_empty(), "the session took another way: {unplayed:?}\n{transcript}");
        outcome
    }

    /// `(tool, file name, agent type)` of every journaled change, by file name.
    pub(crate) fn changes(&self) -> Vec<(String, String, Option<String>)> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let name = |path: &Value| {
            Path::new(path.as_str().unwrap()).file_name().unwrap().to_str().unwrap().to_owned()
        };
        let listing = self.json("changes");
        let changes = listing["changes"].as_array().unwrap().iter();
        let mut changes: Vec<_> = changes
            .map(|change| {
                (text(&change["tool"]).unwrap(), name(&change["path"]), text(&change["agent"]["type"]))
            })
            .collect();
        changes.sort_by(|a, b| a.1.cmp(&b.1));
        changes
    }

    pub(crate) fn journals(&self) -> usize {
        let entries = fs::read_dir(self.env.tmp()).unwrap().map(|entry| entry.unwrap().file_name());
        entries.filter(|name| name.to_string_lossy().starts_with("src-changes-")).count()
    }
}

pub(crate) fn change(tool: &str, file: &str, agent: Option<&str>) -> (String, String, Option<String>) {
    (tool.to_owned(), file.to_owned(), agent.map(str::to_owned))
}

fn e_nothing_at_all_happens_in_a_project_without_a_configuration() {
    let Some(stage) = Stage::with_plugin() else { return };
    fs::remove_file(stage.env.project().join("lockstep.toml")).unwrap();
    fs::remove_dir_all(stage.env.state()).unwrap();
    let outcome = stage.play("system-inactive", &[]);
    let transcript = &outcome.transcript;
    for words in ["SRC", "lockstep: ", "cascade is active"] {
        let saw: Vec<_> =
            transcript.requests().iter().filter(|request| told(request.texts(), words)).collect();
        assert!(saw.is_empty(), "{words}: {transcript}");
    }
    assert_eq!(stage.journals(), 0);
    assert!(!stage.env.state().exists());
    assert!(!outcome.stderr.contains("lockstep"), "{}", outcome.stderr);
}

/// Returns true if a hook sent this text. The list of skills and agents, which contains the plugin's names,
/// is ignored.
fn told(texts: Vec<lockstep_rehearsal::transcript::RequestText>, words: &str) -> bool {
    let listed = |text: &str| text.contains("Available agent types") || text.contains("skills are available");
    texts
        .iter()
        .any(|text| text.kind != TextSource::Assistant && text.text.contains(words) && !listed(&text.text))
}

fn f_the_program_is_removed_in_the_middle_of_a_session() {
    let Some(stage) = Stage::with_plugin() else { return };
    let bin = stage.bin();
    let outcome = stage.play("system-binary-removed", &[("bin", bin.to_str().unwrap())]);
    let transcript = &outcome.transcript;
    let output = "lockstep: the program is not on PATH, so nothing is journaled";
    assert_eq!(transcript.lead().count(output), 1, "{transcript}");
    assert_eq!(
        transcript.lead().first_with(output),
        Some(2),
        "with the first event after the removal: {transcript}"
    );
    assert_eq!(transcript.recipients_of(output), [RequestAgent::Lead].into());
    for file in ["one.md", "two.md", "three.md"] {
        assert!(stage.env.project().join(file).exists(), "the session goes on: {file}");
    }
    symlink(env!("CARGO_BIN_EXE_lockstep"), bin.join("lockstep")).unwrap();
    assert_eq!(stage.changes(), [change("Write", "one.md", None)], "what happened until then");
    assert!(stage.env.log_lines().is_empty(), "{:?}", stage.env.log_lines());
}

fn b_a_step_from_the_prompt_gate_to_the_commit_gate() {
    let Some(stage) = Stage::with_plugin() else { return };
    stage.env.write(".gitignore", ".lockstep/\nsteps/audit-*.log\n");
    stage.run("init --git-hook --quiet").assert_success();
    stage.run("step new 01-01 --project auth --phases tdd-3").assert_success();
    let render = ["prompt", "render", "execute_step", "--step", "01-01", "--set", "agent_name=implementer"];
    let complete = stage
        .env
        .lockstep(render.into_iter().chain(["--set", "description=CRAFTER: greet"]))
        .assert_success();
    let incomplete = complete.replace("## AGENT_IDENTITY", "## WHO").replace("CRAFTER", "NOBODY");
    let outcome = stage.play("system-step", &[("complete", &complete), ("incomplete", &incomplete)]);
    let transcript = &outcome.transcript;

    let denied = "MISSING: Mandatory section 'AGENT_IDENTITY' not found.";
    assert_eq!(transcript.lead().first_with(denied), Some(1), "{transcript}");
    assert_eq!(transcript.recipients_of(denied), [RequestAgent::Lead].into());
    let asked = "This is said once: if it stays so, the step is set to FAILED.";
    assert_eq!(transcript.recipients_of(asked), [RequestAgent::subagent("CRAFTER")].into(), "{transcript}");
    // The newest version repeats it to the model as an error of the hook.
    let crafter = &transcript.subagents("CRAFTER")[0];
    let last = crafter.texts(crafter.requests().len() - 1);
    let questions = last.iter().filter(|text| text.kind == TextSource::User && text.text.contains(asked));
    assert_eq!(questions.count(), 1, "{transcript}");
    assert!(
        transcript.lead().count("Phase GREEN is put off (DEFERRED: the Lead does it)") >= 1,
        "{transcript}"
    );
    assert_eq!(
        transcript.lead().count("TOO-EARLY\n") + transcript.lead().count("\nTOO-EARLY"),
        0,
        "{transcript}"
    );
    assert_eq!(stage.env.git_output(["log", "--format=%s"]).assert_success(), "late\n");

    let step: Value =
        serde_json::from_str(&fs::read_to_string(stage.env.project().join("steps/01-01.json")).unwrap())
            .unwrap();
    assert_ne!(step["state"]["status"], "FAILED", "it was mended: {step}");
    assert!(stage.run("audit verify").assert_success().contains("whole"));
    assert!(stage.env.log_lines().is_empty(), "{:?}", stage.env.log_lines());
}

fn d_a_session_starts_after_a_compaction_during_an_active_cascade() {
    let Some(stage) = Stage::with_plugin() else { return };
    let first = stage.play("system-compaction-1-begins", &[]);
    assert_eq!(first.transcript.lead().count(ALERT), 1, "{}", first.transcript);
    assert_eq!(stage.json("cascade status")["active"], true);
    let resumed =
        |scenario: &str| stage.content(stage.rehearsal(scenario, &[]).arg("--continue").run().unwrap());
    let _ = resumed("system-compaction-2-compacts");
    let last = resumed("system-compaction-3-goes-on");
    let (transcript, lead) = (&last.transcript, last.transcript.lead());
    let first = lead.requests()[0];
    // The conversation is lost; the work in progress is mentioned when it is compacted, and when it is
    // resumed.
    assert_eq!(first.count("The user asked for a rename."), 1, "{transcript}");
    assert_eq!(first.count("==> 1a for implementer") + first.count(ALERT), 0, "{transcript}");
    let mention = "A cascade is active in this project: cascade 1, iteration 1 of at most 3, after changes in store.py. \
                   Open groups: 1a (handed, report.py).";
    assert_eq!(first.count(mention), 2, "{transcript}");
    assert_eq!(lead.count("==> 1a for implementer, attempt 1, handed out before"), 1, "{transcript}");
    let status = stage.json("cascade status");
    assert_eq!(
        (&status["status"], &status["updated"]),
        (&"converged".into(), &json!(["report.py"])),
        "{status:#}"
    );
    // Alerts about the cascade's own files are held back.
    assert!(transcript.recipients_of(ALERT).is_empty(), "{transcript}");
    assert!(stage.env.log_lines().is_empty(), "{:?}", stage.env.log_lines());
}

/// Asserts that only this agent got the text.
#[track_caller]
fn saw(outcome: &RehearsalResult, who: RequestAgent, text: &str) {
    let transcript = &outcome.transcript;
    assert_eq!(transcript.recipients_of(text), [who].into(), "{text}\n{transcript}");
}

/// Returns the writer of each version of the task; `None` is the Lead.
fn writers(stage: &Stage) -> Vec<(u64, Option<String>)> {
    let history = stage.json("task history");
    let versions = history.as_array().unwrap().iter();
    let of = |version: &Value| {
        (version["version"].as_u64().unwrap(), version["agent"].as_str().map(str::to_owned))
    };
    versions.map(of).collect()
}

fn c_a_pipeline_from_the_idea_to_the_delivery() {
    let Some(stage) = Stage::with_plugin() else { return };
    for file in ["src/auth.rs", "plan/index.md", "out/index.md"] {
        stage.env.write(file, "x\n");
    }
    for n in 1..=9 {
        stage.env.write(format!("work/{n}/L2-summary.md"), l2(&format!("P{n}-work")));
        stage.env.write(format!("work/{n}/gate-record.yaml"), gate(n));
    }
    let outcome = stage.content(stage.rehearsal("system-pipeline", &[]).with_task_list().run().unwrap());

    // Handoffs: each phase is entered with the results of the previous one, by any agent that enters it.
    saw(&outcome, RequestAgent::Lead, "not ready, for ");
    saw(&outcome, RequestAgent::subagent("PLANNER"), "P3-work is decided");
    for before in 4..=7 {
        saw(
            &outcome,
            RequestAgent::Lead,
            &format!("## Handoff from P{before} (work/{before}/L2-summary.md)"),
        );
        saw(&outcome, RequestAgent::Lead, &format!("P{before}-work is decided"));
    }
    saw(&outcome, RequestAgent::subagent("DELIVERER"), "P8-work is decided");

    // Access: each refusal names the rule, to the one that was refused.
    saw(&outcome, RequestAgent::subagent("PLANNER"), "No such tool available: TaskUpdate");
    saw(&outcome, RequestAgent::subagent("PLANNER"), "planning-coordinator may not update the task");
    saw(&outcome, RequestAgent::Lead, "agent-teams-execution-plan may write only implementation_results");
    saw(&outcome, RequestAgent::subagent("DELIVERER"), "delivery-agent may not change user_intent");

    let by = |version| match version {
        10 => Some("pt-manager".to_owned()),
        18 | 19 => Some("delivery-agent".to_owned()),
        _ => None,
    };
    let expected: Vec<_> = (1..=19).map(|version| (version, by(version))).collect();
    assert_eq!(writers(&stage), expected, "{}", outcome.transcript);
    let task = stage.json("task show");
    assert!(task["subject"].as_str().unwrap().ends_with("DELIVERED"), "{task:#}");
    assert!(stage.env.log_lines().is_empty(), "{:?}", stage.env.log_lines());
}

fn the_rules_of_the_task_know_the_plugins_agents() {
    let Some(stage) = Stage::with_plugin() else { return };
    let outcome = stage.content(stage.rehearsal("system-task-list", &[]).with_task_list().run().unwrap());
    saw(&outcome, RequestAgent::subagent("WORKER"), "No such tool available: TaskUpdate");
    saw(&outcome, RequestAgent::subagent("REVIEWER"), "rsil-agent may not change user_intent");
    saw(&outcome, RequestAgent::Lead, "the store and the client's list agree");
    let expected = [(1, None), (2, Some("pt-manager".to_owned())), (3, Some("rsil-agent".to_owned()))];
    assert_eq!(writers(&stage), expected, "{}", outcome.transcript);
    assert!(stage.env.log_lines().is_empty(), "{:?}", stage.env.log_lines());
}

/// The prompts of the cascade after the scenario's rename, from a twin of its project: the engine writes the same for the same files.
fn prompts_of_twin(scenario: &Scenario) -> Vec<String> {
    let twin = active();
    scenario.create_files(&twin.project()).unwrap();
    commit(&twin);
    let renamed = scenario.files["src/store.rs"].replace("load", "fetch");
    twin.write("src/store.rs", renamed);
    twin.lockstep(["cascade", "start", "--quiet"]).assert_success();
    let next: Value =
        serde_json::from_str(&twin.lockstep(["cascade", "next", "--format", "json"]).assert_success())
            .unwrap();
    let groups = next["groups"].as_array().unwrap();
    groups.iter().map(|group| group["prompt"].as_str().unwrap().to_owned()).collect()
}

fn scenario_a_rename_converges_through_skills() {
    let Some(stage) = Stage::with_plugin() else { return };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios/system-cascade.toml");
    let prompts: [String; 2] =
        prompts_of_twin(&Scenario::read(&path).unwrap()).try_into().expect("two folders, two groups");
    let fill = [("prompt_1a", prompts[0].as_str()), ("prompt_1b", prompts[1].as_str())];
    let outcome = stage.play("system-cascade", &fill);
    let (transcript, lead) = (&outcome.transcript, outcome.transcript.lead());

    // The rename is the implementer's, the alert the Lead's, once; what the cascade's own agents changed is held back.
    saw(&outcome, RequestAgent::Lead, ALERT);
    assert_eq!(lead.count(ALERT), 1, "{transcript}");
    assert_eq!(lead.first_with(ALERT), Some(1), "{transcript}");
    // The skills were found by their bare names, which the alert uses.
    assert_eq!(lead.count("# Impact of changes"), 1, "{transcript}");
    assert_eq!(lead.count("\n# Cascade\n"), 1, "{transcript}");
    assert_eq!(lead.count("\"next\": \"execution-impact\""), 1, "{transcript}");
    // The prompts that the agents got are those that the engine printed to the Lead, word for word.
    for (prompt, tag) in prompts.iter().zip(["Cascade 1a", "Cascade 1b"]) {
        let printed = serde_json::to_string(prompt).unwrap();
        assert!(lead.count(&printed) >= 1, "{printed}\n{transcript}");
        let agents = transcript.subagents(tag);
        assert_eq!((agents.len(), agents[0].count(prompt.trim())), (1, 1), "{transcript}");
    }
    let status = stage.json("cascade status");
    assert_eq!(status["status"], "converged", "{status:#}");
    assert_eq!(
        status["updated"],
        json!(["src/api/one.rs", "src/api/two.rs", "src/web/one.rs", "src/web/two.rs"]),
        "{status:#}"
    );
    assert_eq!(status["warnings"], json!([]), "{status:#}");
    let by_implementer =
        |(_, _, agent): &(String, String, Option<String>)| agent.as_deref() == Some("implementer");
    assert!(
        stage.changes().iter().filter(|(tool, _, _)| tool == "Edit").all(by_implementer),
        "{:?}",
        stage.changes()
    );
    assert_eq!(lead.count("MAP-IS-TRUE"), 1, "{transcript}");
    let entry = stage.json("map show src/store.rs").to_string();
    assert!(entry.contains("api/one.rs") && entry.contains("web/two.rs"), "{entry}");
    assert!(stage.env.log_lines().is_empty(), "{:?}", stage.env.log_lines());
}

fn the_plugins_analyst_asks_its_server_and_can_change_nothing() {
    let Some(stage) = Stage::with_plugin() else { return };
    let outcome = stage.play("system-analyst", &[]);
    let reader = RequestAgent::subagent("READER");
    saw(&outcome, reader.clone(), "from store import load");
    for tool in ["Bash", "Write"] {
        saw(&outcome, reader.clone(), &format!("No such tool available: {tool}"));
    }
    assert!(fs::read_to_string(stage.env.project().join("report.py")).unwrap().starts_with("from store"));
    assert!(stage.changes().is_empty());
}

on_each_client!(
    e_nothing_at_all_happens_in_a_project_without_a_configuration,
    f_the_program_is_removed_in_the_middle_of_a_session,
    b_a_step_from_the_prompt_gate_to_the_commit_gate,
    d_a_session_starts_after_a_compaction_during_an_active_cascade,
    scenario_a_rename_converges_through_skills,
    the_plugins_analyst_asks_its_server_and_can_change_nothing,
    c_a_pipeline_from_the_idea_to_the_delivery,
    the_rules_of_the_task_know_the_plugins_agents,
);
