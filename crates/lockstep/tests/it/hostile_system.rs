//! A system that does not play along: closed descriptors, a full disk, forbidden directories.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use lockstep_testkit::{HookEvent, TestEnv};

use crate::{active, observed};

fn begun() -> TestEnv {
    let env = active();
    env.write("a.py", "x");
    env.hook(&HookEvent::session_start()).assert_silent();
    env
}

/// The hook, started by a shell that prepares it: `$0` is the hook and `$@` are its arguments.
fn prepared(env: &TestEnv, script: &str) -> Command {
    let hook = env.hook_command();
    let mut command = Command::new("sh");
    command.arg("-c").arg(script).arg(hook.get_program()).args(hook.get_args()).env_clear();
    command.current_dir(hook.get_current_dir().unwrap());
    command.envs(hook.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.stdin(std::process::Stdio::piped());
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    command
}

fn run(env: &TestEnv, script: &str, event: &HookEvent) {
    env.run(prepared(env, script), event.json(&env.project()).as_bytes()).assert_silent();
}

#[test]
fn closed_stdio_descriptors_do_not_block_the_client() {
    let env = begun();
    for event in observed() {
        for script in [r#"exec "$0" "$@" >&-"#, r#"exec "$0" "$@" 2>&-"#, r#"exec "$0" "$@" >&- 2>&-"#] {
            run(&env, script, &event);
        }
    }
    assert!(env.log_lines().is_empty(), "{:?}", env.log_lines());
    for script in [r#"exec "$0" "$@" <&-"#, r#"exec "$0" "$@" <&- >&- 2>&-"#, r#"exec "$0" "$@" < ."#] {
        let logged = env.log_lines().len();
        run(&env, script, &HookEvent::stop());
        assert_eq!(env.log_lines().len(), logged + 1, "{script}: {:?}", env.log_lines());
    }
    assert!(env.journal_text("s1").lines().all(|line| line.matches('\t').count() == 4));
}

#[test]
fn a_deleted_working_directory_is_handled() {
    let env = begun();
    for event in observed() {
        let script = r#"mkdir gone && cd gone && rmdir ../gone && exec "$0" "$@""#;
        for event in [event.clone(), event.without("cwd")] {
            env.run(prepared(&env, script), event.json(&env.project()).as_bytes()).assert_success();
        }
    }
    assert_eq!(env.journal_text("s1").matches("\tEdit\t").count(), 4, "{}", env.journal_text("s1"));
}

/// With no room for a single byte, files can be made but not written; the signal that would end the process is ignored, as
/// for a real full disk there is none.
const NO_ROOM: &str = r#"trap '' XFSZ; ulimit -f 0; exec "$0" "$@""#;

#[test]
fn a_full_disk() {
    let env = begun();
    for event in observed() {
        env.shell("echo more >> swept.py");
        run(&env, NO_ROOM, &event);
    }
    assert_eq!(env.journal_text("s1"), "");
    // There is room again, and nothing is missing: what was edited is found on disk.
    env.write("a.py", "as edited");
    env.hook(&HookEvent::stop()).assert_silent();
    let journal = env.journal_text("s1");
    assert!(journal.contains("/swept.py\t") && journal.contains("/a.py\t"), "{journal}");
    let listed = env.lockstep(["changes", "--tsv"]).assert_success();
    assert_eq!(listed, journal);
}

#[test]
fn a_full_disk_in_a_new_project() {
    let env = active();
    for event in observed() {
        run(&env, NO_ROOM, &event);
    }
    env.hook(&HookEvent::session_start()).assert_silent();
    env.shell("echo more >> swept.py");
    env.hook(&HookEvent::stop()).assert_silent();
    assert!(env.journal_text("s1").contains("/swept.py\t"));
    assert!(!env.lockstep(["changes"]).assert_success().is_empty());
    let ignore = fs::read_to_string(env.state().join(".gitignore")).unwrap();
    assert_eq!(ignore, "*\n", "git must not see the state directory");
}

/// A disk that is full in the middle of a line: the line is not taken for one, and swallows none.
#[test]
fn a_disk_that_fills_up_inside_a_line() {
    let env = begun();
    fs::remove_dir_all(env.state()).unwrap();
    // 512 bytes: two lines and a part of the third.
    let limited = r#"trap '' XFSZ; ulimit -f 1; exec "$0" "$@""#;
    let name = |n: usize| format!("{}{n}.py", "x".repeat(90));
    for n in 0..6 {
        run(&env, limited, &HookEvent::edit(name(n)));
    }
    assert_eq!(env.journal_text("s1").len(), 512, "as much as there is room for");
    env.hook(&HookEvent::edit(name(7))).assert_silent();
    let listed = env.lockstep(["changes", "--tsv"]).assert_success();
    assert!(listed.lines().count() >= 2, "{listed}");
    // Neither here nor for a program that reads the file itself.
    for line in env.journal_text("s1").lines().filter(|line| !line.is_empty()).chain(listed.lines()) {
        let path = line.split('\t').nth(2).unwrap_or_default();
        assert!((0..8).any(|n| Path::new(path) == env.project().join(name(n))), "half a path: {line}");
    }
    assert!(listed.lines().last().unwrap().contains(&name(7)), "{listed}");
}

/// Modes bind ordinary users only, so these run as one.
fn forbid(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_journal_directory_that_may_not_be_written() {
    let env = begun().as_unprivileged_user();
    forbid(&env.tmp(), 0o555);
    let before = env.dir_snapshot().without_state();
    for event in observed() {
        let logged = env.log_lines().len();
        env.hook(&event).assert_silent();
        before.assert_eq(&env.dir_snapshot().without_state(), event.name());
        let edit = event.json(Path::new("/")).contains("\"Edit\"");
        assert_eq!(
            env.log_lines().len() - logged,
            usize::from(edit),
            "{}: {:?}",
            event.name(),
            env.log_lines()
        );
    }
    forbid(&env.tmp(), 0o755);
}

#[test]
fn a_project_that_may_not_be_written() {
    let env = active().as_unprivileged_user();
    env.write("a.py", "x");
    forbid(&env.project(), 0o555);
    let before = env.dir_snapshot().without("tmp");
    for event in observed() {
        env.hook(&event).assert_silent();
        before.assert_eq(&env.dir_snapshot().without("tmp"), event.name());
    }
    assert_eq!(env.journal_text("s1").matches("\tEdit\t").count(), 2, "edits are journaled all the same");
    forbid(&env.project(), 0o755);
}

#[test]
fn a_configuration_that_may_not_be_read() {
    let env = begun().as_unprivileged_user();
    forbid(&env.project().join("lockstep.toml"), 0o000);
    let before = env.dir_snapshot().without_state();
    for event in observed() {
        let logged = env.log_lines().len();
        env.hook(&event).assert_silent();
        before.assert_eq(&env.dir_snapshot().without_state(), event.name());
        assert_eq!(env.log_lines().len() - logged, 1, "{}: {:?}", event.name(), env.log_lines());
    }
    let complaint = env.lockstep(["changes"]).assert_failure(3);
    assert!(complaint.contains("readable to this user"), "{complaint}");
}

/// An unreadable file is not deleted.
#[test]
fn a_directory_that_may_not_be_searched_has_lost_no_file() {
    let env = begun().as_unprivileged_user();
    let secret = env.write("secret/b.py", "x");
    forbid(secret.parent().unwrap(), 0o755);
    env.hook(&HookEvent::bash()).assert_silent();
    let journal = env.journal_text("s1");
    assert!(journal.contains("/secret/b.py\t"), "{journal}");
    forbid(secret.parent().unwrap(), 0o000);
    env.hook(&HookEvent::bash()).assert_silent();
    forbid(secret.parent().unwrap(), 0o755);
    env.hook(&HookEvent::bash()).assert_silent();
    assert_eq!(env.journal_text("s1"), journal, "nothing was deleted, nothing created");
}
