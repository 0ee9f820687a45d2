//! Sessions and their journals: what begins, ends, expires and goes on.

use std::fs;
use std::os::unix::fs::symlink;

use jiff::SignedDuration;
use lockstep_testkit::{HookEvent, TestEnv};

use crate::{active, configured};

const HOUR: SignedDuration = SignedDuration::from_hours(1);

/// The file need not be there; and making one could take an inode that a test is about.
fn edit(env: &TestEnv, session: &str, file: &str) {
    env.hook(&HookEvent::edit(file).session(session)).assert_silent();
}

fn begin(env: &TestEnv, session: &str) {
    env.hook(&HookEvent::session_start().session(session)).assert_silent();
}

fn end(env: &TestEnv, session: &str) {
    env.hook(&HookEvent::session_end().session(session)).assert_silent();
}

fn listed(env: &TestEnv, session: &str) -> usize {
    env.lockstep(["changes", "--tsv", "--session", session]).assert_success().lines().count()
}

#[test]
fn journal_expires_only_after_session_end_and_grace_period() {
    let env = configured("[journal]\ngrace = \"2h\"\n");
    for session in ["ended", "open", "later"] {
        begin(&env, session);
        edit(&env, session, "a.py");
    }
    // A session of another project, or of another program.
    fs::write(env.journal("foreign"), "2026-02-14T15:30:42+09:00\tEdit\t/x\n").unwrap();
    end(&env, "ended");
    env.advance(HOUR);
    end(&env, "later");
    assert!(env.journal("ended").exists(), "one hour of two");
    env.advance(HOUR);
    begin(&env, "next");
    edit(&env, "next", "b.py");
    assert!(env.journal("ended").exists(), "only an end collects");
    end(&env, "next");
    let there = ["ended", "open", "later", "next", "foreign"].map(|session| env.journal(session).exists());
    assert_eq!(there, [false, true, true, true, true]);
    assert_eq!(listed(&env, "ended"), 1, "its changes stay listed");
    assert!(env.log_lines().is_empty(), "{:?}", env.log_lines());
}

#[test]
fn a_resumed_session_keeps_its_journal() {
    let env = configured("[journal]\ngrace = \"1h\"\n");
    begin(&env, "s");
    edit(&env, "s", "a.py");
    end(&env, "s");
    env.advance(HOUR);
    env.hook(&HookEvent::session_start().session("s").with("source", "resume")).assert_silent();
    begin(&env, "other");
    end(&env, "other");
    assert!(env.journal("s").exists());
    edit(&env, "s", "b.py");
    assert_eq!(listed(&env, "s"), 2);
}

/// The new file may get the inode of the old one, and may be longer before it is read.
#[test]
fn session_continues_after_its_journal_was_removed() {
    let env = configured("[journal]\ngrace = \"0s\"\n");
    for prune in [false, true] {
        let session = if prune { "pruned" } else { "expired" };
        begin(&env, session);
        edit(&env, session, "a.py");
        assert_eq!(listed(&env, session), 1);
        if prune {
            env.lockstep(["changes", "--prune", "--session", session]).assert_success();
        } else {
            end(&env, session);
        }
        assert!(!env.journal(session).exists());
        for file in ["b.py", "c.py", "d.py"] {
            edit(&env, session, file);
        }
        assert_eq!(listed(&env, session), 4, "{session}: {}", env.journal_text(session));
    }
}

#[test]
fn changes_after_session_end_are_recorded() {
    let env = configured("[journal]\ngrace = \"1h\"\n");
    begin(&env, "s");
    edit(&env, "s", "a.py");
    end(&env, "s");
    // A background agent that outlived the client.
    edit(&env, "s", "b.py");
    env.advance(HOUR);
    begin(&env, "other");
    end(&env, "other");
    assert!(!env.journal("s").exists());
    assert_eq!(listed(&env, "s"), 2);
}

#[test]
fn a_session_ends_whatever_lies_at_its_journals_path() {
    let env = configured("[journal]\ngrace = \"1h\"\n");
    begin(&env, "s");
    symlink(env.outside_dir().join("x"), env.journal("s")).unwrap();
    end(&env, "s");
    assert_eq!(env.log_lines().len(), 1, "{:?}", env.log_lines());
    // Alone again: what a person does between sessions is not an agent's doing.
    env.write("by-a-person.py", "x");
    begin(&env, "next");
    env.hook(&HookEvent::stop().session("next")).assert_silent();
    assert_eq!(env.journal_text("next"), "");
}

#[test]
fn one_journal_that_cannot_be_removed_keeps_no_other() {
    let env = configured("[journal]\ngrace = \"1h\"\n");
    for session in ["a", "b"] {
        begin(&env, session);
        edit(&env, session, "a.py");
        end(&env, session);
    }
    fs::remove_file(env.journal("a")).unwrap();
    fs::create_dir(env.journal("a")).unwrap();
    env.advance(HOUR);
    begin(&env, "c");
    end(&env, "c");
    assert!(!env.journal("b").exists());
    assert_eq!(env.log_lines().len(), 1, "{:?}", env.log_lines());
}

#[test]
fn new_session_keeps_unswept_changes_of_another() {
    for source in ["startup", "resume", "clear", "compact"] {
        let env = active();
        env.write("a.py", "x");
        begin(&env, "first");
        env.shell("echo more >> a.py");
        env.hook(&HookEvent::session_start().session("second").with("source", source)).assert_silent();
        env.hook(&HookEvent::bash().session("first")).assert_silent();
        assert!(env.journal_text("first").contains("/a.py\t"), "{source}");
        assert_eq!(env.journal_text("second"), "", "{source}");
    }
}

#[test]
fn a_session_that_never_ended_counts_for_a_day() {
    let env = active();
    env.write("a.py", "x");
    begin(&env, "crashed");
    env.advance(HOUR * 25);
    env.shell("echo by a person >> a.py");
    begin(&env, "next");
    env.hook(&HookEvent::stop().session("next")).assert_silent();
    assert_eq!(env.journal_text("next"), "");
}

#[test]
fn compact_and_clear_do_not_reset_the_baseline() {
    for source in ["clear", "compact"] {
        let env = active();
        env.write("a.py", "x");
        begin(&env, "s1");
        env.shell("echo more >> a.py");
        env.hook(&HookEvent::session_start().with("source", source)).assert_silent();
        env.hook(&HookEvent::stop()).assert_silent();
        assert!(env.journal_text("s1").contains("/a.py\t"), "{source}");
    }
}
