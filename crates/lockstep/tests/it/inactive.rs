//! An inactive project: no output and no written file, for every event.

use std::fs;

use insta::assert_snapshot;
use lockstep_testkit::{HookEvent, TestEnv};
use lockstep_wire::claude::samples;

/// A project without `lockstep.toml`, with everything that could tempt a hook.
fn tempting() -> TestEnv {
    let env = crate::inactive();
    env.git(["init", "--quiet"]);
    env.write("a.py", "x");
    fs::write(env.journal("s1"), "2026-02-14T15:30:42+09:00\tEdit\t/x\n").unwrap();
    fs::write(env.outside_dir().join("lockstep.toml"), "").unwrap();
    env
}

#[test]
fn no_event_is_answered_and_no_file_touched() {
    let env = tempting();
    let before = env.dir_snapshot();
    for (file, sample) in samples::ALL {
        env.hook(&HookEvent::from_sample(sample)).assert_silent();
        before.assert_eq(&env.dir_snapshot(), file);
    }
    for stdin in [&b""[..], b"{", b"\xff", b"{\"hook_event_name\":\"Stop\"}", &[b' '; 9 << 20]] {
        env.hook_bytes(stdin).assert_silent();
        before.assert_eq(&env.dir_snapshot(), "bytes that are no event");
    }
    env.hook(&HookEvent::stop().session("../../x")).assert_silent();
    before.assert_eq(&env.dir_snapshot(), "a hostile session id");
}

/// A state directory alone makes no project active: it may be left over, or have come with a clone.
#[test]
fn a_state_directory_without_a_configuration_is_not_used() {
    let env = crate::active();
    env.write("a.py", "x");
    env.hook(&HookEvent::session_start()).assert_silent();
    fs::remove_file(env.project().join("lockstep.toml")).unwrap();
    let before = env.dir_snapshot();
    for (file, sample) in samples::ALL {
        env.hook(&HookEvent::from_sample(sample)).assert_silent();
        before.assert_eq(&env.dir_snapshot(), file);
    }
}

#[test]
fn commands_say_so_and_make_nothing() {
    let env = tempting();
    let before = env.dir_snapshot();
    for args in [
        &["changes"][..],
        &["changes", "--tsv"],
        &["changes", "--prune"],
        &["changes", "--format", "json"],
        &["config", "show"],
    ] {
        env.lockstep(args).assert_failure(3);
        before.assert_eq(&env.dir_snapshot(), &args.join(" "));
    }
    assert_snapshot!(env.lockstep(["changes"]).snapshot(), @"
    stderr: error: there is no lockstep.toml in $ROOT or above it, so Lockstep is not active here
    hint: `lockstep init` sets up the project in the present directory; `-C DIR` names another one
    exit 3
    ");
    env.lockstep(["completions", "bash"]).assert_success();
    env.lockstep(["--help"]).assert_success();
    before.assert_eq(&env.dir_snapshot(), "help");
}
