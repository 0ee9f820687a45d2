//! An inactive project: no output and no written file, for every event.

use std::fs;

use insta::assert_snapshot;
use lockstep_testkit::{Event, TestEnv};
use lockstep_wire::claude::samples;

/// A project without `lockstep.toml`, with everything that could tempt a hook.
fn tempting() -> TestEnv {
    let env = crate::inactive();
    env.git(["init", "--quiet"]);
    env.write("a.py", "x");
    fs::write(env.journal("s1"), "2026-02-14T15:30:42+09:00\tEdit\t/x\n").unwrap();
    fs::write(env.elsewhere().join("lockstep.toml"), "").unwrap();
    env
}

#[test]
fn no_event_is_answered_and_no_file_touched() {
    let env = tempting();
    let before = env.listing();
    for (file, sample) in samples::ALL {
        env.hook(&Event::of(sample)).silent();
        before.assert_same(&env.listing(), file);
    }
    for stdin in [&b""[..], b"{", b"\xff", b"{\"hook_event_name\":\"Stop\"}", &[b' '; 9 << 20]] {
        env.hook_bytes(stdin).silent();
        before.assert_same(&env.listing(), "bytes that are no event");
    }
    env.hook(&Event::stop().session("../../x")).silent();
    before.assert_same(&env.listing(), "a hostile session id");
}

/// A state directory alone makes no project active: it may be left over, or have come with a clone.
#[test]
fn a_state_directory_without_a_configuration_is_not_used() {
    let env = crate::active();
    env.write("a.py", "x");
    env.hook(&Event::session_start()).silent();
    fs::remove_file(env.project().join("lockstep.toml")).unwrap();
    let before = env.listing();
    for (file, sample) in samples::ALL {
        env.hook(&Event::of(sample)).silent();
        before.assert_same(&env.listing(), file);
    }
}

#[test]
fn commands_say_so_and_make_nothing() {
    let env = tempting();
    let before = env.listing();
    for args in [
        &["changes"][..],
        &["changes", "--tsv"],
        &["changes", "--prune"],
        &["changes", "--format", "json"],
        &["config", "show"],
    ] {
        env.lockstep(args).failed(3);
        before.assert_same(&env.listing(), &args.join(" "));
    }
    assert_snapshot!(env.lockstep(["changes"]).snapshot(), @"
    stderr: error: there is no lockstep.toml in $ROOT or above it, so Lockstep is not active here
    hint: `lockstep init` sets up the project in the present directory; `-C DIR` names another one
    exit 3
    ");
    env.lockstep(["completions", "bash"]).succeeded();
    env.lockstep(["--help"]).succeeded();
    before.assert_same(&env.listing(), "help");
}
