//! The registered commands, really run: each gets a recorded payload of its event in a scratch project and must answer as the
//! client expects, within its time.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use lockstep_wire::claude::{parse, samples};

use super::{DoctorCheck, HookRegistration};
use crate::env_vars::CLAUDE_PROJECT_DIR;
use crate::hook::routing::{REGISTRATIONS, actions_for};

const NAME: &str = "events";

/// Returns one check for all events, which names the slowest and the wrong ones.
pub(super) fn check(entries: &[HookRegistration]) -> Vec<DoctorCheck> {
    if entries.is_empty() {
        return vec![DoctorCheck::skipped(NAME, "no hook is registered, so none was run")];
    }
    match try_all(entries) {
        Err(error) => vec![DoctorCheck::skipped(NAME, format!("no scratch project could be made: {error}"))],
        Ok(check) => vec![check],
    }
}

fn try_all(entries: &[HookRegistration]) -> io::Result<DoctorCheck> {
    let scratch = tempfile::tempdir()?;
    fs::write(scratch.path().join("lockstep.toml"), "[journal]\ndir = \"journal\"\n")?;
    fs::write(scratch.path().join("a.py"), "def greet(): pass\n")?;
    let tries: BTreeSet<(&str, &str)> =
        entries.iter().map(|entry| (entry.event.as_str(), entry.command.as_str())).collect();
    let mut wrong = Vec::new();
    let mut slowest = (Duration::ZERO, "");
    let mut count = 0;
    for (event, command) in tries {
        for payload in payloads(event, scratch.path()) {
            let start = Instant::now();
            wrong.extend(run(command, &payload, scratch.path())?.map(|why| format!("{event}: {why}")));
            let took = start.elapsed();
            count += 1;
            if took > slowest.0 {
                slowest = (took, event);
            }
            if took > budget(event) {
                wrong.push(format!("{event}: took {} ms", took.as_millis()));
            }
        }
    }
    wrong.extend(journaled(entries, scratch.path()));
    if wrong.is_empty() {
        let (took, event) = slowest;
        let message = format!(
            "{count} recorded events were answered, the slowest ({event}) in {} ms",
            took.as_millis()
        );
        return Ok(DoctorCheck::ok(NAME, message));
    }
    let fix =
        "run the command of the settings by hand with an event on standard input; .lockstep/log tells more";
    Ok(DoctorCheck::failed(NAME, wrong.join("; "), fix))
}

/// The recorded payloads of an event that cause an action, with their paths in the scratch project.
fn payloads(event: &str, scratch: &Path) -> Vec<String> {
    let moved = |json: &str| json.replace("/repo", &scratch.display().to_string());
    samples::ALL
        .iter()
        .filter(|(_, json)| {
            parse(json.as_bytes())
                .is_ok_and(|parsed| parsed.kind.name() == event && !actions_for(&parsed).is_empty())
        })
        .map(|(_, json)| moved(json))
        .collect()
}

/// Returns the problem of the answer, if there is one.
fn run(command: &str, payload: &str, scratch: &Path) -> io::Result<Option<String>> {
    let input = scratch.join("event.json");
    fs::write(&input, payload)?;
    let output = Command::new("sh")
        .arg("-c")
        .arg(command)
        .current_dir(scratch)
        .env(CLAUDE_PROJECT_DIR.name, scratch)
        .stdin(Stdio::from(File::open(&input)?))
        .output()?;
    let stderr = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Ok(if !output.status.success() {
        Some(format!("{} {stderr}", output.status))
    } else if !stderr.is_empty() {
        Some(format!("wrote to standard error: {stderr}"))
    } else if !output.stdout.is_empty()
        && serde_json::from_slice::<serde_json::Value>(&output.stdout).is_err()
    {
        Some("its reply is not JSON".to_owned())
    } else {
        None
    })
}

/// Checks that the edit among the payloads is in the journal: a hook that only exits 0 proves nothing.
fn journaled(entries: &[HookRegistration], scratch: &Path) -> Option<String> {
    if !entries.iter().any(|entry| entry.event == "PostToolUse") {
        return None;
    }
    let lines: Vec<String> = fs::read_dir(scratch.join("journal"))
        .into_iter()
        .flatten()
        .filter_map(|entry| fs::read_to_string(entry.ok()?.path()).ok())
        .collect();
    let edit = format!("\tEdit\t{}\t", scratch.join("a.py").display());
    (!lines.concat().contains(&edit)).then(|| "PostToolUse: the edit was not journaled".to_owned())
}

fn budget(event: &str) -> Duration {
    let registration = REGISTRATIONS.iter().find(|registration| registration.event == event);
    registration
        .map_or(Duration::MAX, |registration| Duration::from_secs(registration.timeout_seconds.into()))
}
