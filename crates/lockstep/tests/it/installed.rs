//! `lockstep self version --check`: copies on PATH, programs of hooks, and the state of a newer version.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use lockstep_testkit::{ProcessOutput, TestEnv, write_script};
use rusqlite::Connection;
use serde_json::Value;

use crate::active;

/// Runs the check with the program of this build in `bin`, and `more` directories behind it on PATH.
fn check(env: &TestEnv, args: &[&str], more: &[&Path]) -> ProcessOutput {
    let mut command = env.command([&["self", "version", "--check"], args].concat());
    let mut path = vec![env.outside_dir().join("bin")];
    path.extend(more.iter().map(|dir| dir.to_path_buf()));
    path.extend(["/usr/bin", "/bin"].map(Into::into));
    command.env("PATH", std::env::join_paths(path).unwrap());
    env.run(command, b"")
}

/// An environment whose PATH has this build.
fn installed() -> TestEnv {
    let env = active();
    env.git(["init", "--quiet"]);
    fs::create_dir(env.outside_dir().join("bin")).unwrap();
    symlink(env!("CARGO_BIN_EXE_lockstep"), env.outside_dir().join("bin/lockstep")).unwrap();
    env
}

/// A program in a directory of its own that prints another version.
fn other_version(env: &TestEnv, name: &str) -> std::path::PathBuf {
    let directory = env.outside_dir().join(name);
    fs::create_dir_all(&directory).unwrap();
    let program = directory.join("lockstep");
    write_script(&program, "#!/bin/sh\necho lockstep 0.0.1\n");
    directory
}

#[test]
fn one_copy_and_its_hooks_are_consistent() {
    let env = installed();
    env.lockstep(["init", "--client", "claude", "--git-hook"]).assert_success();
    let output = check(&env, &[], &[]).assert_success();
    assert!(output.contains("first on PATH: ") && output.contains("settings.json starts"), "{output}");
    assert!(output.contains("hooks/pre-commit starts"), "{output}");
    assert!(output.ends_with("Every copy that is used has this version.\n"), "{output}");
    let plain = env.lockstep(["self", "version"]).assert_success();
    assert_eq!(plain, env.lockstep(["--version"]).assert_success());
}

#[test]
fn program_outside_path_is_consistent_if_hooks_name_its_path() {
    let env = active();
    env.git(["init", "--quiet"]);
    env.lockstep(["init", "--client", "claude"]).assert_success();
    let output = env.lockstep(["self", "version", "--check"]).assert_success();
    assert!(output.contains("not on PATH") && output.contains("settings.json starts"), "{output}");
}

#[test]
fn later_copy_of_another_version_is_a_problem() {
    let env = installed();
    let old = other_version(&env, "old");
    let output = check(&env, &["--format", "json"], &[&old]);
    assert_eq!(output.code, Some(1));
    let data: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(data["on_path"][1]["version"], "0.0.1", "{data:#}");
    assert_eq!(data["on_path"][1]["is_script"], true, "{data:#}");
    assert!(data["problems"][0].as_str().unwrap().contains("different versions"), "{data:#}");
}

#[test]
fn hook_of_another_version_or_without_a_program_is_a_problem() {
    let env = installed();
    env.lockstep(["init", "--client", "claude"]).assert_success();
    let settings = env.project().join(".claude/settings.json");
    let text = fs::read_to_string(&settings).unwrap();
    let own = env!("CARGO_BIN_EXE_lockstep");
    assert!(text.contains(own), "{text}");
    let old = other_version(&env, "old").join("lockstep");
    fs::write(&settings, text.replace(own, old.to_str().unwrap())).unwrap();
    let output = check(&env, &[], &[]);
    let message = String::from_utf8(output.stdout).unwrap();
    assert!(output.code == Some(1) && message.contains("which is version 0.0.1"), "{message}");
    fs::remove_file(&old).unwrap();
    let message = String::from_utf8(check(&env, &[], &[]).stdout).unwrap();
    assert!(message.contains("not an installed lockstep"), "{message}");
}

#[test]
fn programs_of_the_repository_and_shell_commands_are_not_started() {
    let env = installed();
    env.lockstep(["init", "--client", "claude"]).assert_success();
    let mark = env.outside_dir().join("started");
    let planted = env.write("tool/lockstep", "");
    write_script(&planted, &format!("#!/bin/sh\ntouch {}\n", mark.display()));
    let settings = env.project().join(".claude/settings.json");
    let text = fs::read_to_string(&settings).unwrap();
    for program in [planted.display().to_string(), format!("touch {}; lockstep", mark.display())] {
        fs::write(&settings, text.replace(env!("CARGO_BIN_EXE_lockstep"), &program)).unwrap();
        assert_eq!(check(&env, &[], &[]).code, Some(1));
        assert!(!mark.exists(), "{program}");
    }
}

#[test]
fn state_of_a_newer_version_is_named_and_not_touched() {
    let env = installed();
    env.lockstep(["changes"]).assert_success();
    let database = env.state().join("state.db");
    assert!(database.is_file(), "{:?}", env.dir_snapshot());
    Connection::open(&database).unwrap().pragma_update(None, "user_version", 9_999).unwrap();
    let before = fs::read(&database).unwrap();
    let output = check(&env, &[], &[]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.code == Some(1) && text.contains("a newer lockstep wrote it"), "{text}");
    assert_eq!(env.lockstep(["changes"]).code, Some(4));
    assert_eq!(fs::read(&database).unwrap(), before);
}
