//! Every way to install the plugin in a real Claude Code, and the plugin together with entries in the
//! settings: the hooks fire, and fire once. Skipped with a message if the client is not available.

use std::fs;
use std::process::Command;

use lockstep_rehearsal::run::RehearsalResult;
use lockstep_rehearsal::transcript::RequestAgent;

use crate::doc_examples::repository;
use crate::system::{Stage, change};

const ALERT: &str = "SRC IMPACT ALERT:";
const SCENARIO: &str = "three-ways-to-change";

impl Stage {
    /// `claude ARGS` in the project, with this stage's home and nothing to be reached.
    fn claude(&self, args: &[&str]) -> String {
        let mut command = Command::new(self.client());
        command.args(args).current_dir(self.env.project()).env_clear().env("PATH", "/usr/bin:/bin");
        command.env("HOME", self.env.home()).env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
        command.envs(["HTTP_PROXY", "HTTPS_PROXY"].map(|name| (name, "http://127.0.0.1:1")));
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{args:?}: {text}{}", String::from_utf8_lossy(&output.stderr));
        text
    }

    /// From the marketplace file at the root of this repository, as a user would.
    fn install_from_marketplace(&self) {
        self.claude(&["plugin", "marketplace", "add", repository().to_str().unwrap()]);
        self.claude(&["plugin", "install", "lockstep@lockstep"]);
    }

    /// Every change is journaled with one line, and the alert reached the Lead once.
    fn fired_once(&self, outcome: &RehearsalResult) {
        let transcript = &outcome.transcript;
        let expected = [
            change("Edit", "a.py", Some("general-purpose")),
            change("Sweep", "list.txt", None),
            change("Write", "notes.md", None),
        ];
        assert_eq!(self.changes(), expected, "{transcript}");
        let journals = fs::read_dir(self.env.tmp()).unwrap().map(|entry| entry.unwrap().path());
        let journals = journals.filter(|path| path.to_string_lossy().contains("src-changes-"));
        let lines: usize = journals.map(|path| fs::read_to_string(path).unwrap().lines().count()).sum();
        assert_eq!(lines, 3, "each change has one line");
        assert_eq!(transcript.lead().count(ALERT), 1, "{transcript}");
        assert_eq!(transcript.recipients_of(ALERT), [RequestAgent::Lead].into());
        assert!(self.env.log_lines().is_empty(), "{:?}", self.env.log_lines());
    }

    /// The client offers what the plugin brings.
    fn offers(&self, outcome: &RehearsalResult) {
        let lead = outcome.transcript.lead();
        for listed in ["lockstep:execution-impact", "lockstep:rsil-review", "lockstep:infra-implementer"] {
            assert!(lead.requests()[0].count(listed) > 0, "{listed}: {}", outcome.transcript);
        }
    }
}

/// Asserts the status of the registered hooks in `doctor`.
#[track_caller]
fn assert_registration(stage: &Stage, status: &str) {
    let doctor = stage.json("doctor");
    let checks = doctor["checks"].as_array().unwrap().iter();
    let registration = checks.into_iter().find(|check| check["name"] == "registration");
    assert_eq!(registration.unwrap()["status"], status, "{doctor:#}");
}

fn the_copy_that_init_makes_is_loaded_by_the_client() {
    let Some(stage) = Stage::with_plugin() else { return };
    stage.run("index --quiet").assert_success();
    let outcome = stage.play(SCENARIO, &[]);
    stage.fired_once(&outcome);
    stage.offers(&outcome);
}

fn a_plugin_directory_works() {
    let Some(stage) = Stage::bare() else { return };
    stage.env.configure("");
    stage.run("index --quiet").assert_success();
    let rehearsal = stage.rehearsal(SCENARIO, &[]).arg("--plugin-dir").arg(repository().join("plugin"));
    let outcome = stage.content(rehearsal.run().unwrap());
    stage.fired_once(&outcome);
    stage.offers(&outcome);
}

fn the_marketplace_file_installs_it_and_init_makes_no_second_copy() {
    let Some(stage) = Stage::bare() else { return };
    stage.install_from_marketplace();
    assert!(stage.claude(&["plugin", "list"]).contains("lockstep@lockstep"));
    let output = stage.run("init --plugin").assert_success();
    assert!(output.contains("installed from a marketplace"), "{output}");
    assert!(!stage.env.project().join(".claude").exists());
    stage.run("index --quiet").assert_success();
    let outcome = stage.play(SCENARIO, &[]);
    stage.fired_once(&outcome);
    stage.offers(&outcome);
    assert_registration(&stage, "ok");
    stage.claude(&["plugin", "uninstall", "lockstep@lockstep"]);
    assert_registration(&stage, "failed");
}

fn beside_entries_in_the_settings_nothing_is_done_twice() {
    let Some(stage) = Stage::bare() else { return };
    stage.run("init --client claude --quiet").assert_success();
    stage.install_from_marketplace();
    stage.run("index --quiet").assert_success();
    let outcome = stage.play(SCENARIO, &[]);
    stage.fired_once(&outcome);
    stage.offers(&outcome);
    assert_registration(&stage, "warning");
}

fn doctor_proves_the_plugin_live() {
    let Some(stage) = Stage::with_plugin() else { return };
    let mut doctor = stage.env.command(["doctor", "--live", "--format", "json"]);
    let client = stage.client().parent().unwrap().display();
    doctor.env("PATH", format!("{}:{client}:/usr/bin:/bin:/usr/sbin:/sbin", stage.bin().display()));
    doctor.env_remove("LOCKSTEP_NOW");
    let report: serde_json::Value =
        serde_json::from_str(&stage.env.run(doctor, b"").assert_success()).unwrap();
    let live = report["checks"].as_array().unwrap().iter().find(|check| check["name"] == "live").unwrap();
    assert_eq!(live["status"], "ok", "{report:#}");
}

on_each_client!(
    the_copy_that_init_makes_is_loaded_by_the_client,
    a_plugin_directory_works,
    the_marketplace_file_installs_it_and_init_makes_no_second_copy,
    beside_entries_in_the_settings_nothing_is_done_twice,
    doctor_proves_the_plugin_live,
);
