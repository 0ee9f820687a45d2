//! Files planted in the directories that Lockstep writes to. Journals are in a directory that everybody may
//! write to, and a state directory may come with a cloned repository: nothing may be written or read through
//! planted files.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use lockstep_testkit::{DirSnapshot, HookEvent, TestEnv};

use crate::{active, configured, observed};

/// An active project with a baseline, and a victim elsewhere.
fn begun() -> TestEnv {
    let env = active();
    env.write("a.py", "x");
    env.hook(&HookEvent::session_start()).assert_silent();
    fs::write(env.outside_dir().join("victim"), "precious\n").unwrap();
    env
}

/// Everything but the project: its own files are Lockstep's to remember things in.
fn outside(env: &TestEnv) -> DirSnapshot {
    env.dir_snapshot().without("project")
}

/// Returns the number of new faults in the log. Each event follows a change for the sweep.
fn faults(env: &TestEnv, event: &HookEvent) -> usize {
    let logged = env.log_lines().len();
    env.shell("echo more >> swept.py");
    env.hook(event).assert_silent();
    env.log_lines().len() - logged
}

fn make_fifo(path: &Path) {
    rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
}

#[test]
fn planted_journal_path_is_neither_written_nor_followed() {
    type Plant = (&'static str, fn(&Path, &Path));
    let plants: [Plant; 6] = [
        ("a link", |path, victim| symlink(victim, path).unwrap()),
        ("a link to nothing", |path, victim| symlink(victim.with_file_name("new"), path).unwrap()),
        ("a fifo", |path, _| make_fifo(path)),
        ("a hard link", |path, victim| fs::hard_link(victim, path).unwrap()),
        ("a directory", |path, _| fs::create_dir(path).unwrap()),
        ("a link to a device", |path, _| symlink("/dev/zero", path).unwrap()),
    ];
    for (what, plant) in plants {
        let env = begun();
        plant(&env.journal("s1"), &env.outside_dir().join("victim"));
        let before = outside(&env);
        for event in observed() {
            let faults = faults(&env, &event);
            before.assert_eq(&outside(&env), &format!("{what}, {}", event.name()));
            // The others write a line, or read what is there. A hard link can be read: it is a plain file of ours.
            let untouched = matches!(event.name(), "SessionStart" | "UserPromptSubmit" | "SubagentStart")
                || event.json(Path::new("/")).contains("\"Agent\"")
                || (what == "a hard link" && event.name() == "SessionEnd");
            assert_eq!(faults, usize::from(!untouched), "{what}, {}: {:?}", event.name(), env.log_lines());
        }
        let listed = env.lockstep(["changes"]).assert_success();
        assert!(!listed.contains("precious"), "{what}: {listed}");
        before.assert_eq(&outside(&env), &format!("{what}, changes"));
        // After its removal nothing is missing: the sweep had kept the changes that it could not journal.
        match fs::symlink_metadata(env.journal("s1")).unwrap().is_dir() {
            true => fs::remove_dir(env.journal("s1")).unwrap(),
            false => fs::remove_file(env.journal("s1")).unwrap(),
        }
        env.hook(&HookEvent::stop()).assert_silent();
        assert!(env.journal_text("s1").contains("/swept.py\t"), "{what}");
    }
}

#[test]
fn a_journal_directory_that_cannot_be_written() {
    // Not even root may make something there.
    for dir in ["/proc/nowhere/here", "a.py", "a.py/below", "/dev/null"] {
        let env = begun();
        env.configure(&format!("[journal]\ndir = \"{dir}\"\n"));
        let before = outside(&env);
        for event in observed() {
            let faults = faults(&env, &event);
            before.assert_eq(&outside(&env), &format!("{dir}, {}", event.name()));
            let writes = matches!(event.name(), "Stop" | "SubagentStop")
                || ["\"Edit\"", "\"Bash\""].iter().any(|tool| event.json(Path::new("/")).contains(tool));
            // A reader may treat an impossible path as an empty one.
            let reads = event.name() == "SessionEnd";
            assert!(faults == usize::from(writes) || reads, "{dir}, {}: {:?}", event.name(), env.log_lines());
        }
        env.configure("");
        env.hook(&HookEvent::stop()).assert_silent();
        assert!(env.journal_text("s1").contains("/swept.py\t"), "{dir}: found once it can be written");
    }
}

#[test]
fn a_state_directory_that_is_something_else() {
    type Plant = (&'static str, fn(&TestEnv));
    let plants: [Plant; 4] = [
        ("a link out", |env| symlink(env.outside_dir(), env.state()).unwrap()),
        ("a link to nothing", |env| symlink(env.outside_dir().join("new"), env.state()).unwrap()),
        ("a file", |env| fs::write(env.state(), "mine").unwrap()),
        ("a link to a state", |env| {
            env.hook(&HookEvent::session_start()).assert_silent();
            fs::rename(env.state(), env.outside_dir().join("state")).unwrap();
            symlink(env.outside_dir().join("state"), env.state()).unwrap();
        }),
    ];
    for (what, plant) in plants {
        let env = active();
        env.write("a.py", "x");
        plant(&env);
        let before = env.dir_snapshot().without("tmp");
        for event in observed() {
            env.hook(&event).assert_silent();
            before.assert_eq(&env.dir_snapshot().without("tmp"), &format!("{what}, {}", event.name()));
        }
        assert_eq!(
            env.journal_text("s1").lines().count(),
            2,
            "{what}: both edits are journaled all the same"
        );
        env.lockstep(["changes"]).assert_failure(4);
        before.assert_eq(&env.dir_snapshot().without("tmp"), &format!("{what}, changes"));
    }
}

/// A cloned repository may bring a `.lockstep` of its own.
#[test]
fn links_planted_inside_the_state_directory_are_not_followed() {
    for (place, target) in [
        ("log", "elsewhere"),
        ("log/hooks.log", "elsewhere/victim"),
        ("log/hooks.log", "elsewhere/new"),
        ("index", "elsewhere"),
        ("index/accounts", "elsewhere/victim"),
        ("index/accounts", "elsewhere/new"),
        ("index/catalogue", "elsewhere/victim"),
        ("index/catalogue.lock", "elsewhere/new"),
        ("mailbox", "elsewhere"),
        ("mailbox/s1", "elsewhere/victim"),
        ("mailbox/s1", "elsewhere/new"),
        ("reports", "elsewhere"),
        ("reports/s1", "elsewhere"),
        ("reports/s1/1.md", "elsewhere/victim"),
        ("state.db", "elsewhere/victim"),
        ("state.db", "elsewhere/new"),
        ("state.db-wal", "elsewhere/victim"),
        ("state.db-shm", "elsewhere/new"),
    ] {
        let env = active();
        env.write("a.py", "x");
        let victim = env.outside_dir().join("victim");
        fs::write(&victim, "precious\n").unwrap();
        // The file that a hook would remove if the flag's directory were a link.
        fs::write(env.outside_dir().join("s1"), "precious\n").unwrap();
        let path = env.state().join(place);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(env.root().join(target), &path).unwrap();
        let before = outside(&env).without("tmp");
        for event in observed() {
            env.shell("echo more >> a.py; echo more >> swept.py");
            env.hook(&event).assert_success();
            let when = format!("{place} linked to {target}, {}", event.name());
            before.assert_eq(&outside(&env).without("tmp"), &when);
        }
    }
}

#[test]
fn a_store_that_is_none() {
    type Plant = (&'static str, fn(&Path));
    let plants: [Plant; 5] = [
        ("garbage", |path| fs::write(path, vec![b'x'; 10_000]).unwrap()),
        ("from the future", |path| {
            let db = rusqlite::Connection::open(path).unwrap();
            db.pragma_update(None, "user_version", 999).unwrap();
        }),
        ("a directory", |path| fs::create_dir(path).unwrap()),
        ("a fifo", make_fifo),
        ("of another program", |path| {
            let db = rusqlite::Connection::open(path).unwrap();
            db.execute_batch("CREATE TABLE session (x); PRAGMA user_version = 1;").unwrap();
        }),
    ];
    for (what, plant) in plants {
        let env = begun();
        for file in ["state.db", "state.db-wal", "state.db-shm"] {
            let _ = fs::remove_file(env.state().join(file));
        }
        plant(&env.state().join("state.db"));
        let (before, db) = (outside(&env).without("tmp"), DirSnapshot::of(&env.state().join("state.db")));
        for event in observed() {
            let faults = faults(&env, &event);
            before.assert_eq(&outside(&env).without("tmp"), &format!("{what}, {}", event.name()));
            let edit = event.json(Path::new("/")).contains("\"Edit\"");
            // The mailbox has no flag, so the store is not opened.
            let delivery = event.json(Path::new("/")).contains("\"Agent\"");
            // Without a file in the store's place there is nothing to deliver.
            let none = event.name() == "UserPromptSubmit" && matches!(what, "a directory" | "a fifo");
            // Without a cache, a subagent's start asks for nothing.
            let none = none || event.name() == "SubagentStart";
            let expected = usize::from(!edit && !delivery && !none);
            assert_eq!(faults, expected, "{what}, {}: {:?}", event.name(), env.log_lines());
        }
        db.assert_eq(&DirSnapshot::of(&env.state().join("state.db")), what);
        let journal = env.journal_text("s1");
        assert_eq!(journal.matches("\tEdit\t").count(), 2, "{what}: edits are journaled all the same");
        let complaint = env.lockstep(["changes"]).assert_failure(4);
        assert!(complaint.contains("state.db"), "{what}: {complaint}");
    }
}

#[test]
fn valid_keys_of_a_faulty_configuration_are_used() {
    let env = begun();
    env.write("use_a.py", "from a import hello\n");
    env.configure("[alert]\nlead = \"any\"\nsubagent = 7\nunknown = 1\n");
    for event in observed() {
        let logged = env.log_lines().len();
        env.shell("echo more >> swept.py");
        env.hook(&event).assert_success();
        let log = env.log_lines();
        assert_eq!(log.len(), logged + 1, "{}: {log:?}", event.name());
        assert!(log[logged].contains("line 3") && log[logged].contains("line 4"), "{log:?}");
    }
    env.hook(&HookEvent::edit("a.py")).assert_success();
    env.write("a.py", "changed");
    let (_, alert) = env.hook(&HookEvent::stop()).context().expect("the valid key is in effect");
    assert!(alert.contains("a.py"), "{alert}");
}

#[test]
fn a_configuration_that_cannot_be_read() {
    type Plant = (&'static str, fn(&TestEnv, &Path));
    let plants: [Plant; 4] = [
        ("a directory", |_, path| fs::create_dir(path).unwrap()),
        ("a fifo", |_, path| make_fifo(path)),
        ("a link to nothing", |env, path| symlink(env.outside_dir().join("new"), path).unwrap()),
        ("a link to a device", |_, path| symlink("/dev/zero", path).unwrap()),
    ];
    for (what, plant) in plants {
        for was_active in [true, false] {
            let env = if was_active { begun() } else { configured("") };
            let config = env.project().join("lockstep.toml");
            fs::remove_file(&config).unwrap();
            plant(&env, &config);
            let before = if was_active { env.dir_snapshot().without_state() } else { env.dir_snapshot() };
            for event in observed() {
                let logged = env.log_lines().len();
                env.hook(&event).assert_silent();
                let new = env.log_lines().len() - logged;
                assert_eq!(new, usize::from(was_active), "{what}, {}: {:?}", event.name(), env.log_lines());
                let after = if was_active { env.dir_snapshot().without_state() } else { env.dir_snapshot() };
                before.assert_eq(&after, &format!("{what}, {}", event.name()));
            }
            env.lockstep(["changes"]).assert_failure(3);
        }
    }
}

/// A writer was killed between the temporary file and its new name.
#[test]
fn temporary_files_of_killed_writers_are_not_journaled_and_are_collected() {
    let env = begun();
    let temporary = env.write(".lockstep-a1B2c3", "half a file");
    let own = env.write(".lockstep-notes-of-mine", "mine");
    env.hook(&HookEvent::bash()).assert_silent();
    let journal = env.journal_text("s1");
    assert!(journal.contains("/.lockstep-notes-of-mine\t") && !journal.contains("a1B2c3"), "{journal}");
    // A fresh one may belong to a process that is still at work.
    env.hook(&HookEvent::session_end()).assert_silent();
    assert!(temporary.exists());
    env.shell("touch -d '2026-02-10 00:00' .lockstep-a1B2c3 .lockstep-notes-of-mine");
    env.hook(&HookEvent::session_start()).assert_silent();
    env.hook(&HookEvent::session_end()).assert_silent();
    assert!(!temporary.exists() && own.exists());
}
