//! `doctor`: every check fails when it should, and names the fix.

use std::fs;

use lockstep_testkit::{DirSnapshot, HookEvent, TestEnv, write_script};
use serde_json::Value;

use crate::inactive;

const SETTINGS: &str = ".claude/settings.json";

fn installed() -> TestEnv {
    let env = inactive();
    env.git(["init", "--quiet"]);
    env.lockstep(["init", "--client", "claude"]).assert_success();
    env
}

/// The exit code and the checks.
fn doctor(env: &TestEnv) -> (Option<i32>, Vec<Value>) {
    let output = env.lockstep(["doctor", "--format", "json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["healthy"].as_bool(), Some(output.code == Some(0)));
    (output.code, report["checks"].as_array().unwrap().clone())
}

/// Asserts that the worst check of a name has this status and `message` and, if something is wrong, a fix.
#[track_caller]
fn finds(env: &TestEnv, name: &str, status: &str, message: &str) {
    let (code, checks) = doctor(env);
    let found = checks.iter().any(|check| {
        check["name"] == name
            && check["status"] == status
            && check["message"].as_str().unwrap().contains(message)
            && (check["fix"].is_string() || matches!(status, "ok" | "skipped"))
    });
    assert!(found, "{name} {status} {message:?} in {checks:#?}");
    assert_eq!(code, Some(i32::from(checks.iter().any(|check| check["status"] == "failed"))));
}

#[test]
fn a_fresh_installation_is_healthy() {
    let env = installed();
    let (code, checks) = doctor(&env);
    assert_eq!(code, Some(0), "{checks:#?}");
    assert!(checks.iter().all(|check| check["status"] == "ok"), "{checks:#?}");
    let before = DirSnapshot::of(&env.project());
    let text = env.lockstep(["doctor"]).assert_success();
    assert!(text.contains("ok       registration: all 9 events are registered"), "{text}");
    assert_eq!(DirSnapshot::of(&env.project()), before, "looking changes nothing");
}

/// The client reads the settings of the directory in which it is started.
#[test]
fn subdirectory_of_a_project_gets_a_warning() {
    let env = installed();
    env.write("pkg/a.py", "x = 1\n");
    let output = |directory: &str| env.lockstep(["-C", directory, "doctor"]).snapshot();
    assert!(!output(".").contains("it runs no hook"), "{}", output("."));
    let below = output("pkg");
    assert!(below.contains("warning  directory: Claude Code reads .claude/settings.json"), "{below}");
    assert!(below.contains("fix: start it in $ROOT"), "{below}");
    env.write("pkg/.claude/settings.json", "{}");
    assert!(!output("pkg").contains("it runs no hook"), "{}", output("pkg"));
}

#[test]
fn an_inactive_project_and_a_broken_configuration() {
    let env = inactive();
    finds(&env, "configuration", "failed", "no lockstep.toml");
    let env = installed();
    env.configure("[journal]\nswep = \"off\"\n");
    finds(&env, "configuration", "failed", "swep");
}

#[test]
fn no_git_repository_is_a_failure_with_its_reason_and_fix() {
    let env = inactive();
    env.lockstep(["init", "--client", "claude"]).assert_success();
    finds(&env, "git", "failed", "is not in a git repository");
    let output = env.lockstep(["doctor"]).snapshot();
    assert!(
        output.contains("original content of changed files") && output.contains("fix: run `git init`"),
        "{output}"
    );
    env.git(["init", "--quiet"]);
    finds(&env, "git", "ok", "is the repository");
}

#[test]
fn a_project_without_a_client_gets_the_command_that_registers_hooks() {
    let env = inactive();
    env.git(["init", "--quiet"]);
    env.lockstep(["init"]).assert_success();
    finds(&env, "registration", "failed", "no hook of Lockstep's is registered");
    let output = env.lockstep(["doctor"]).snapshot();
    assert!(output.contains("`lockstep init --client claude` registers them"), "{output}");
    env.lockstep(["init", "--client", "claude"]).assert_success();
    finds(&env, "registration", "ok", "are registered");
}

#[test]
fn settings_the_client_would_ignore() {
    let env = installed();
    let good = fs::read_to_string(env.project().join(SETTINGS)).unwrap();
    env.write(SETTINGS, format!("{good}// note\n"));
    finds(&env, "settings", "failed", "not strict JSON");
    env.write(SETTINGS, good.replacen("\"hooks\": [", "\"matcher\": {\"tool\": \"Edit\"}, \"hooks\": [", 1));
    finds(&env, "settings", "failed", "matcher");
    env.write(SETTINGS, good.replace("\"timeout\": 15", "\"timeout\": 15000"));
    finds(&env, "settings", "warning", "milliseconds");
    env.write(SETTINGS, good.replacen('{', "{\"disableAllHooks\": true,", 1));
    finds(&env, "settings", "failed", "disableAllHooks");
}

#[test]
fn missing_and_doubled_registrations() {
    let env = installed();
    let good = fs::read_to_string(env.project().join(SETTINGS)).unwrap();
    env.write(SETTINGS, good.replace("SubagentStop", "SubagentStart"));
    finds(&env, "registration", "failed", "SubagentStop");
    env.write(SETTINGS, good);
    env.lockstep(["init", "--local"]).assert_success();
    finds(&env, "registration", "warning", "more than once");
}

#[test]
fn detects_missing_outdated_and_inert_binary() {
    let env = installed();
    let good = fs::read_to_string(env.project().join(SETTINGS)).unwrap();
    let own = env!("CARGO_BIN_EXE_lockstep");
    env.write(SETTINGS, good.replace(own, "/nowhere/lockstep"));
    finds(&env, "binary", "failed", "cannot be started");
    finds(&env, "events", "failed", "127");

    let old = env.outside_dir().join("lockstep");
    write_script(&old, "#!/bin/sh\necho lockstep 0.0.1\n");
    env.write(SETTINGS, good.replace(own, old.to_str().unwrap()));
    finds(&env, "binary", "failed", "0.0.1");
    finds(&env, "events", "failed", "not JSON");

    write_script(&old, "#!/bin/sh\nexit 0\n");
    finds(&env, "events", "failed", "was not journaled");
}

#[test]
fn state_that_cannot_be_used() {
    let env = installed();
    env.hook(&HookEvent::stop()).assert_silent();
    // Its log alone would restore the database.
    for beside in ["state.db-wal", "state.db-shm"] {
        fs::remove_file(env.state().join(beside)).unwrap();
    }
    fs::write(env.state().join("state.db"), "rubbish".repeat(1_000)).unwrap();
    finds(&env, "store", "failed", "state.db");

    let env = installed();
    fs::remove_file(env.state().join("index/catalogue")).unwrap();
    finds(&env, "catalogue", "warning", "no catalogue");

    let env = installed();
    env.configure("[journal]\ndir = \"lockstep.toml\"\n");
    finds(&env, "journal", "failed", "cannot be written");
}

#[test]
fn hook_failures_are_reported_for_one_day() {
    let env = installed();
    env.hook_bytes(b"{").assert_silent();
    finds(&env, "log", "warning", "1 times since yesterday");
    env.advance(jiff::SignedDuration::from_hours(25));
    finds(&env, "log", "ok", "no hook has failed");
}

#[test]
fn without_a_client_nothing_is_proven_live() {
    let env = installed();
    let output = env.lockstep(["doctor", "--live"]);
    let text = output.assert_success();
    assert!(text.contains("skipped  live: `claude` is not on PATH"), "{text}");
}

#[test]
fn user_settings_are_read_where_the_client_has_them() {
    let env = installed();
    let directory = env.root().join("client");
    fs::create_dir(&directory).unwrap();
    fs::write(directory.join("settings.json"), "{ \"hooks\": ").unwrap();
    let mut command = env.command(["doctor"]);
    command.env("CLAUDE_CONFIG_DIR", &directory);
    let output = env.run(command, b"");
    assert_eq!(output.code, Some(1), "{}", output.snapshot());
    let path = directory.join("settings.json");
    let message = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(message.contains(path.to_str().unwrap()), "{message}");
}

#[test]
fn the_version_of_the_client_is_compared_with_the_tested_ones() {
    let env = installed();
    for (printed, status, words) in [
        ("2.1.197 (Claude Code)", "ok", "Claude Code 2.1.197; tested are"),
        ("99.0.0 (Claude Code)", "warning", "99.0.0 is newer than the newest tested version"),
        ("no version", "warning", "does not print a version"),
    ] {
        let client = env.outside_dir().join("claude");
        write_script(&client, &format!("#!/bin/sh\necho '{printed}'\n"));
        let mut command = env.command(["doctor", "--format", "json"]);
        command.env("PATH", format!("{}:/usr/bin:/bin", env.outside_dir().display()));
        let report: Value = serde_json::from_slice(&env.run(command, b"").stdout).unwrap();
        let checks = report["checks"].as_array().unwrap();
        let check = checks.iter().find(|check| check["name"] == "client").unwrap();
        assert_eq!(check["status"], status, "{check}");
        assert!(check["message"].as_str().unwrap().contains(words), "{check}");
    }
}
