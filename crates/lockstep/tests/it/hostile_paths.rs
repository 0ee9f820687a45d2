//! A cloned `lockstep.toml` names paths outside the project. Each test describes the attack.

use std::fs;
use std::os::unix::fs::symlink;

use lockstep_testkit::{HookEvent, TestEnv};

use crate::steps::{ready, with_step, yes};
use crate::{active, configured};

/// Writes the task, so that its event is recorded, and runs the events of a session with steps.
fn work(env: &TestEnv) {
    env.write("lib.py", "def f(): pass\n");
    for event in [
        HookEvent::session_start(),
        HookEvent::write("lib.py").by_lead(),
        HookEvent::stop(),
        HookEvent::session_end(),
    ] {
        let output = env.hook(&event.session("s1"));
        assert!(output.code == Some(0), "{}", output.snapshot());
    }
    let _ = env.lockstep(["task", "new", "--title", "auth", "--intent", "Add login"]);
    for command in ["step new 01-01 --project auth --phases tdd-3", "gate commit", "map", "cache build"] {
        let _ = env.lockstep(command.split(' '));
    }
}

/// Every file of a directory tree with its content.
fn contents(dir: &std::path::Path) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap() {
            kind if kind.is_dir() => found.extend(contents(&entry.path())),
            kind if kind.is_file() => found.push((entry.path(), fs::read(entry.path()).unwrap())),
            _ => {}
        }
    }
    found.sort();
    found
}

/// Each key of a path is set to a place outside the project: nothing there is read, written or created.
#[test]
fn a_configured_path_outside_the_project_is_not_used() {
    for key in ["task.events", "audit.dir", "journal.dir", "map.path", "cache.path", "impact.file"] {
        let (section, name) = key.split_once('.').unwrap();
        let env = active();
        fs::write(env.outside_dir().join(".bashrc"), "export A=1\n").unwrap();
        let before = contents(&env.outside_dir());
        for place in ["elsewhere/.bashrc", "elsewhere/new/{session}.md", "elsewhere"] {
            for path in [env.root().join(place).display().to_string(), format!("../{place}")] {
                env.configure(&format!("[{section}]\n{name} = {path:?}\n"));
                work(&env);
                assert_eq!(contents(&env.outside_dir()), before, "{key} = {path}");
            }
        }
    }
}

/// A directory of the project is a link to a directory outside, and a configured or a default path leads through it.
#[test]
fn a_link_on_the_way_of_a_configured_path_is_not_followed() {
    for text in [
        "[task]\nevents = 'linked/events.jsonl'\n",
        "[audit]\ndir = 'linked'\n",
        "[journal]\ndir = 'linked'\n",
        "[map]\npath = 'linked/map.md'\n",
        "[cache]\npath = 'linked/cache.md'\n",
        "[impact]\nfile = 'linked/{session}.md'\n",
        "[steps]\ndir = 'linked'\n",
        "",
    ] {
        let env = configured(text);
        symlink(env.outside_dir(), env.project().join("linked")).unwrap();
        symlink(env.outside_dir(), env.project().join("steps")).unwrap();
        work(&env);
        assert_eq!(contents(&env.outside_dir()), [], "{text}");
    }
}

/// A configured path names a file of the repository, of git, or of the user, which would be appended to or replaced.
#[test]
fn foreign_file_is_neither_replaced_nor_appended_to() {
    let victims =
        ["README.md", ".git/config", ".git/hooks/post-commit", "lib.py", ".claude/settings.json", ".envrc"];
    for key in ["task.events", "map.path", "cache.path", "impact.file"] {
        let (section, name) = key.split_once('.').unwrap();
        for victim in victims {
            let env = active();
            env.git(["init", "--quiet"]);
            if victim != ".git/config" {
                env.write(victim, "# text of the user\n");
            }
            let before = fs::read(env.project().join(victim)).unwrap();
            env.configure(&format!("[{section}]\n{name} = {victim:?}\n"));
            if key == "impact.file" {
                env.write("s1", "# text of the user\n");
                env.configure("[impact]\nfile = '{session}'\n");
            }
            let own = "def f(): pass\n";
            work(&env);
            let after = fs::read(env.project().join(victim)).unwrap();
            // The session itself writes lib.py.
            assert!(after == before || (victim == "lib.py" && after == own.as_bytes()), "{key} = {victim}");
        }
    }
}

/// A configured path names a file that does not exist yet, and that another program would read: settings, rules, hooks. It is made
/// only after the user approved it.
#[test]
fn nothing_is_made_in_hidden_places_of_other_programs() {
    let places = [
        ".claude/settings.local.json",
        ".claude/commands",
        ".GitHub/workflows/x.yml",
        ".husky",
        "a\u{1b}[2J",
    ];
    for key in
        ["task.events", "audit.dir", "journal.dir", "map.path", "cache.path", "impact.file", "steps.dir"]
    {
        let (section, name) = key.split_once('.').unwrap();
        for place in places {
            let env = active();
            env.configure(&format!("[{section}]\n{name} = {}\n", serde_json::json!(place)));
            work(&env);
            let first = place.split('/').next().unwrap();
            let created = env.project().join(if place.starts_with(".claude") { place } else { first });
            assert!(!created.exists(), "{key} = {place}");
        }
    }
    let env = configured("[audit]\ndir = '.audit'\n");
    assert!(yes(&env, "trust").contains("Approved: [audit] dir"));
    yes(&env, "step new 02-01 --project auth --phases tdd-3");
    assert!(env.project().join(".audit").is_dir());
}

/// Tables of the steps are read from a file outside the project.
#[test]
fn tables_of_steps_are_not_read_from_outside() {
    for name in ["commands", "sections", "machine"] {
        let env = active();
        let secret = env.outside_dir().join("secret.yaml");
        fs::write(&secret, "password: hunter2\n").unwrap();
        env.configure(&format!("[steps]\n{name} = {:?}\n", secret.display().to_string()));
        let output = env.lockstep(["step", "new", "01-01", "--project", "auth"]).snapshot();
        assert!(
            output.contains("is ignored") && !output.contains("hunter2") && !output.contains("password"),
            "{output}"
        );
        assert!(env.project().join("steps/01-01.json").is_file());
    }
    let env = with_step();
    let secret = env.outside_dir().join("secret.yaml");
    fs::write(&secret, "password: hunter2\n").unwrap();
    symlink(&secret, env.project().join("steps/step-execution-fsm.yaml")).unwrap();
    let text = env.lockstep(["gate", "commit"]).snapshot();
    assert!(text.contains("is a symbolic link") && !text.contains("hunter2"), "{text}");
}

/// The user knows the purpose of the path: `trust` approves it, for this value only, and `doctor` lists the
/// ignored ones.
#[test]
fn a_path_outside_is_used_after_the_user_approved_it() {
    let env = with_step();
    let logs = env.outside_dir().join("logs");
    let set = |dir: &str| env.configure(&format!("[audit]\ndir = {dir:?}\n"));
    set(&logs.display().to_string());
    let doctor = env.lockstep(["doctor"]).snapshot();
    assert!(doctor.contains("[audit] dir") && doctor.contains("is ignored"), "{doctor}");
    assert!(yes(&env, "trust").contains("Approved: [audit] dir"));
    yes(&env, "step new 02-01 --project auth --phases tdd-3");
    assert!(logs.join("audit-2026-02-14.log").is_file());
    assert!(!env.lockstep(["doctor"]).snapshot().contains("is ignored"));
    let make = |id: &str| {
        let output = env.lockstep(["step", "new", id, "--project", "auth", "--phases", "tdd-3"]);
        assert!(output.code == Some(0) && output.snapshot().contains("is ignored"), "{}", output.snapshot());
    };
    // Another value, or a link in place of the directory, is not approved.
    set(&env.outside_dir().join("other").display().to_string());
    make("03-01");
    assert!(!env.outside_dir().join("other").exists());
    set(&logs.display().to_string());
    fs::rename(&logs, env.outside_dir().join("moved")).unwrap();
    fs::create_dir(env.outside_dir().join("target")).unwrap();
    symlink(env.outside_dir().join("target"), &logs).unwrap();
    make("04-01");
    assert_eq!(contents(&env.outside_dir().join("target")), []);
    fs::remove_file(&logs).unwrap();
    yes(&env, "trust --revoke");
    make("05-01");
    assert!(!logs.exists());
}

/// The user's own configuration allows a directory for every project; an agent's session approves nothing.
#[test]
fn the_users_configuration_allows_directories() {
    let env = active();
    let dir = env.outside_dir().join("journals");
    env.configure(&format!("[journal]\ndir = {:?}\n", dir.display().to_string()));
    let mut command = env.command(["trust"]);
    command.env("CLAUDECODE", "1");
    assert_eq!(env.run(command, b"").code, Some(2));
    let _ = env.hook(&HookEvent::write("lib.py"));
    assert!(!dir.exists());
    let config = env.home().join(".config/lockstep/config.toml");
    fs::create_dir_all(config.parent().unwrap()).unwrap();
    fs::write(config, format!("[paths]\nallow = [{:?}]\n", env.outside_dir().display().to_string())).unwrap();
    let _ = env.hook(&HookEvent::write("lib.py"));
    assert!(dir.is_dir());
}

/// A user's `codebase-map.md.bak` beside the map stays.
#[test]
fn a_backup_of_the_users_is_not_removed() {
    let env = configured("[map]\npath = 'map.md'\n");
    env.write("lib.py", "def f(): pass\n");
    let backup = env.write("map.md.bak", "mine\n");
    for command in ["map build", "map build", "map update"] {
        yes(&env, command);
        assert_eq!(fs::read_to_string(&backup).unwrap(), "mine\n", "{command}");
    }
}

/// An audit log of another program is in the directory of the trail.
#[test]
fn an_audit_log_of_another_program_is_not_appended_to() {
    let env = with_step();
    let file = env.project().join("steps/audit-2026-02-14.log");
    fs::write(&file, "Feb 14 10:00:00 sshd[1]: Accepted\n").unwrap();
    assert_eq!(env.lockstep(["step", "phase", "start", "01-01", "RED"]).code, Some(1));
    assert_eq!(fs::read_to_string(&file).unwrap(), "Feb 14 10:00:00 sshd[1]: Accepted\n");
    let env = with_step();
    ready(&env);
    yes(&env, "gate stop 01-01");
}
