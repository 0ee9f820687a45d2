//! The proof: a real client plays a short scene in a scratch project with this project's settings, against a scripted model on
//! this machine. Nothing leaves the machine, no account is used.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use lockstep_rehearsal::client::ClientBinary;
use lockstep_rehearsal::run::{Rehearsal, RehearsalResult};
use lockstep_rehearsal::scenario::{Scenario, Turn};
use lockstep_rehearsal::transcript::RequestAgent;
use serde_json::json;

use super::{DoctorCheck, entries};
use crate::executable;
use crate::project::ActiveProject;
use crate::setup::{LOCAL_SETTINGS, SHARED_SETTINGS};

const NAME: &str = "live";

/// A run takes a few seconds, while the user waits.
const LIMIT: Duration = Duration::from_secs(120);

/// The alert's first words, by which it is found in the client's requests to the model.
const ALERT: &str = "SRC IMPACT ALERT:";

/// Runs the client once.
pub(crate) fn check(project: &ActiveProject) -> DoctorCheck {
    if entries(project).is_empty() {
        return DoctorCheck::skipped(NAME, "no hook is registered, so there is nothing to prove");
    }
    let Some(program) = executable::find("claude") else {
        return DoctorCheck::skipped(NAME, "`claude` is not on PATH, so no client was run");
    };
    match run_scenario(project, ClientBinary::at(program)) {
        Err(why) => DoctorCheck::failed(
            NAME,
            format!("the client could not be run: {why}"),
            "run `claude --version` by hand",
        ),
        Ok((outcome, journal)) => evaluate(&outcome, &journal),
    }
}

/// A dependent of the probe, so that there is something to report.
const DEPENDENT: (&str, &str) = ("dependent.py", "from probe import one\n");

/// Returns a scenario in which the Lead writes a file and a subagent renames something that another file
/// uses.
fn probe_scenario() -> Scenario {
    let mut scenario = Scenario::new("Prove that the hooks fire.");
    let file = "{project}/probe.py";
    scenario.lead = vec![
        Turn::call("Write", json!({"file_path": file, "content": "def one(): pass\n"})),
        Turn::call(
            "Agent",
            json!({
                "description": "edit the probe", "subagent_type": "general-purpose", "prompt": "PROBE-EDITOR: edit the probe",
            }),
        ),
        Turn::text("Done."),
    ];
    scenario.subagents.insert(
        "PROBE-EDITOR".to_owned(),
        vec![
            Turn::call("Read", json!({"file_path": file})),
            Turn::call("Edit", json!({"file_path": file, "old_string": "one", "new_string": "two"})),
            Turn::text("Edited."),
        ],
    );
    scenario
}

fn run_scenario(project: &ActiveProject, client: ClientBinary) -> Result<(RehearsalResult, String), String> {
    let text = |error: io::Error| error.to_string();
    let scratch = tempfile::tempdir().map_err(text)?;
    fs::write(scratch.path().join("lockstep.toml"), "[journal]\ndir = \"journal\"\n").map_err(text)?;
    fs::write(scratch.path().join(DEPENDENT.0), DEPENDENT.1).map_err(text)?;
    copy_settings(&project.root, scratch.path()).map_err(text)?;
    let mut rehearsal = Rehearsal::new(client, probe_scenario(), scratch.path()).limit(LIMIT);
    if let Some(plugin) = entries(project).into_iter().find_map(|entry| entry.plugin) {
        rehearsal = rehearsal.arg("--plugin-dir").arg(plugin);
    }
    let outcome = rehearsal.run().map_err(|error| error.to_string())?;
    Ok((outcome, journal(scratch.path())))
}

fn copy_settings(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to.join(".claude"))?;
    for settings in [SHARED_SETTINGS, LOCAL_SETTINGS] {
        if from.join(settings).is_file() {
            fs::copy(from.join(settings), to.join(settings))?;
        }
    }
    Ok(())
}

fn journal(scratch: &Path) -> String {
    let files = fs::read_dir(scratch.join("journal")).into_iter().flatten();
    files.filter_map(|entry| lockstep_fs::read_to_string(entry.ok()?.path()).ok()).collect()
}

fn evaluate(outcome: &RehearsalResult, journal: &str) -> DoctorCheck {
    let fix = "compare the hooks in .claude/settings.json with what `lockstep init --dry-run` would write";
    if !outcome.success() {
        let message = format!("the client ended with {:?}: {}", outcome.ended, outcome.stderr.trim());
        return DoctorCheck::failed(NAME, message, "run `claude --version` by hand; update the client");
    }
    let wrote = |tool: &str| journal.lines().any(|line| line.split('\t').nth(1) == Some(tool));
    let mut missing = Vec::new();
    if !wrote("Write") {
        missing.push("the Lead's write was not journaled");
    }
    if !wrote("Edit") {
        missing.push("the subagent's edit was not journaled");
    }
    if outcome.transcript.lead().count(ALERT) != 1 {
        missing.push("the alert did not reach the Lead once");
    }
    if outcome.transcript.recipients_of(ALERT).iter().any(|agent| *agent != RequestAgent::Lead) {
        missing.push("the alert reached somebody else than the Lead");
    }
    if missing.is_empty() {
        let message = format!(
            "a real client ran for {:.1} s: both changes were journaled, the alert reached the Lead once and nobody else",
            outcome.took.as_secs_f64()
        );
        return DoctorCheck::ok(NAME, message);
    }
    DoctorCheck::failed(NAME, missing.join("; "), fix)
}
