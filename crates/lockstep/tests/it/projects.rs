//! Which project an event or a command is about: monorepos, subdirectories, linked git worktrees.

use std::fs;
use std::path::Path;

use lockstep_testkit::{HookEvent, TestEnv};

use crate::{active, inactive};

/// Sends an event as a client in `cwd` does that names `project_dir`.
fn hook(env: &TestEnv, event: &HookEvent, project_dir: Option<&Path>, cwd: &Path) {
    let mut command = env.hook_command();
    command.env_remove("CLAUDE_PROJECT_DIR").current_dir(cwd);
    if let Some(dir) = project_dir {
        command.env("CLAUDE_PROJECT_DIR", dir);
    }
    let event = event.clone().with("cwd", cwd.to_str().unwrap());
    env.run(command, event.json(&env.project()).as_bytes()).assert_silent();
}

/// The directories that have state.
fn states(env: &TestEnv) -> Vec<String> {
    fn collect(dir: &Path, found: &mut Vec<std::path::PathBuf>) {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.file_name() == Some(".lockstep".as_ref()) {
                found.push(dir.to_owned());
            } else if path.is_dir() {
                collect(&path, found);
            }
        }
    }
    let mut found = Vec::new();
    collect(env.root(), &mut found);
    found.sort();
    found.iter().map(|dir| env.redact_paths(dir.to_str().unwrap())).collect()
}

#[test]
fn the_clients_project_comes_first_then_its_working_directory() {
    let cases = [
        (Some("outer"), "outer/pkg", "$ROOT/outer"),
        (Some("outer/pkg"), "outer", "$ROOT/outer/pkg"),
        (None, "outer/pkg/src", "$ROOT/outer/pkg"),
        (None, "outer/src", "$ROOT/outer"),
        (Some("plain"), "outer", "$ROOT/outer"),
        (Some("missing"), "outer/pkg", "$ROOT/outer/pkg"),
        (Some(""), "outer", "$ROOT/outer"),
    ];
    for (named, cwd, expected) in cases {
        let env = inactive();
        for file in ["outer/lockstep.toml", "outer/pkg/lockstep.toml"] {
            env.write(file, "");
        }
        for file in ["outer/src/a.py", "outer/pkg/src/a.py", "plain/a.py"] {
            env.write(file, "x");
        }
        let named = named.map(|dir| if dir.is_empty() { dir.into() } else { env.project().join(dir) });
        let cwd = env.project().join(cwd);
        hook(&env, &HookEvent::session_start(), named.as_deref(), &cwd);
        hook(&env, &HookEvent::stop(), named.as_deref(), &cwd);
        assert_eq!(states(&env), [expected], "{named:?} in {cwd:?}");
        // Files of both are its business, files of neither are not.
        for file in ["outer/src/a.py", "outer/pkg/src/a.py", "plain/a.py"] {
            hook(&env, &HookEvent::edit(file), named.as_deref(), &cwd);
        }
        let journal = env.redact_paths(&env.journal_text("s1"));
        let paths: Vec<&str> = journal.lines().map(|line| line.split('\t').nth(2).unwrap()).collect();
        assert_eq!(paths, ["$ROOT/outer/src/a.py", "$ROOT/outer/pkg/src/a.py"], "{named:?} in {cwd:?}");
    }
}

#[test]
fn edited_file_selects_the_project_in_a_monorepo() {
    let env = inactive();
    env.write("pkg/lockstep.toml", "");
    for file in ["pkg/src/a.py", "other/b.py"] {
        env.write(file, "x");
        env.hook(&HookEvent::edit(file)).assert_silent();
    }
    env.hook(&HookEvent::edit("pkg/src/deleted.py")).assert_silent();
    env.hook(&HookEvent::bash()).assert_silent();
    env.hook(&HookEvent::stop()).assert_silent();
    let journal = env.redact_paths(&env.journal_text("s1"));
    let paths: Vec<&str> = journal.lines().map(|line| line.split('\t').nth(2).unwrap()).collect();
    assert_eq!(paths, ["$ROOT/pkg/src/a.py", "$ROOT/pkg/src/deleted.py"]);
    assert_eq!(states(&env), ["$ROOT/pkg"]);
    let listed = env.lockstep(["-C", "pkg/src", "changes", "--quiet"]).assert_success();
    assert_eq!(listed.lines().count(), 2, "{listed}");
    env.lockstep(["changes"]).assert_failure(3);
}

#[test]
fn a_linked_worktree_uses_the_main_ones_configuration_and_its_own_state() {
    let env = active();
    env.configure("[alert]\nlead = \"any\"\n");
    env.git(["init", "--quiet"]);
    env.write("a.py", "def hello(): pass\n");
    env.write("b.py", "from a import hello\n");
    env.git(["add", "a.py", "b.py"]);
    env.git(["commit", "--quiet", "-m", "first"]);
    let tree = env.outside_dir().join("tree");
    env.git(["worktree", "add", "--quiet", tree.to_str().unwrap()]);
    assert!(!tree.join("lockstep.toml").exists(), "the configuration is not in git");
    hook(&env, &HookEvent::session_start(), Some(&tree), &tree);
    env.lockstep(["-C", tree.to_str().unwrap(), "index", "--quiet"]).assert_success();
    fs::write(tree.join("a.py"), "changed").unwrap();
    let mut command = env.hook_command();
    command.env("CLAUDE_PROJECT_DIR", &tree).current_dir(&tree);
    let stop = HookEvent::stop().with("cwd", tree.to_str().unwrap());
    let (_, alert) =
        env.run(command, stop.json(&tree).as_bytes()).context().expect("lead = any is in effect");
    assert!(alert.contains("Changed: a.py (hello removed)\n"), "{alert}");
    assert_eq!(states(&env), ["$ELSEWHERE/tree"]);
    let text = env.lockstep(["-C", tree.to_str().unwrap(), "config", "show"]).assert_success();
    assert!(text.contains("alert.lead = \"any\""), "{text}");
    // The main worktree does not sweep what belongs to the linked one, and the other way round.
    let listed = env.lockstep(["changes", "--tsv"]).assert_success();
    assert_eq!(listed, "", "the session ran in the linked worktree");
}

#[test]
fn a_session_that_also_edits_another_active_project_is_listed_in_both() {
    let env = active();
    fs::write(env.outside_dir().join("lockstep.toml"), "").unwrap();
    env.hook(&HookEvent::session_start()).assert_silent();
    env.write("a.py", "x");
    env.hook(&HookEvent::edit("a.py")).assert_silent();
    fs::write(env.outside_dir().join("b.py"), "x").unwrap();
    env.hook(&HookEvent::edit(env.outside_dir().join("b.py"))).assert_silent();
    let here = env.redact_paths(&env.lockstep(["changes", "--quiet"]).assert_success());
    assert!(here.contains("a.py\n") && here.contains("$ELSEWHERE/b.py\n"), "{here}");
    let there =
        env.lockstep(["-C", env.outside_dir().to_str().unwrap(), "changes", "--quiet"]).assert_success();
    assert!(there.contains("b.py\n") && !there.contains("a.py\n"), "{there}");
}
