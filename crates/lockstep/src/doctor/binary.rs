//! The program that the registered commands start: is it there, and is it this version?

use std::collections::BTreeSet;
use std::process::Command;

use super::{DoctorCheck, HookRegistration};

/// One check per distinct program.
pub(super) fn check(entries: &[HookRegistration]) -> Vec<DoctorCheck> {
    // The client passes the command to a shell, so a shell resolves it: `…/lockstep` up to ` hook`.
    let programs: BTreeSet<&str> =
        entries.iter().filter_map(|entry| entry.command.split(" hook").next()).collect();
    programs.into_iter().map(check_program).collect()
}

fn check_program(program: &str) -> DoctorCheck {
    const NAME: &str = "binary";
    let line = format!("{program} --version");
    // The plugin's command first checks that the program exists.
    let program = program.rsplit("exec ").next().unwrap_or(program);
    let asked = Command::new("sh").arg("-c").arg(line).output();
    let fix = "install lockstep where the client's PATH finds it, then run `lockstep init`";
    match asked {
        Err(error) => DoctorCheck::skipped(NAME, format!("`{program}` was not asked: {error}")),
        Ok(output) if !output.status.success() => {
            let why = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            DoctorCheck::failed(NAME, format!("`{program}` cannot be started: {why}"), fix)
        }
        Ok(output) => {
            let theirs = String::from_utf8_lossy(&output.stdout).trim().to_owned();
            let ours = format!("lockstep {}", crate::cli::VERSION);
            if theirs == ours {
                DoctorCheck::ok(NAME, format!("`{program}` is {theirs}"))
            } else {
                DoctorCheck::failed(NAME, format!("`{program}` is {theirs}, this is {ours}"), fix)
            }
        }
    }
}
