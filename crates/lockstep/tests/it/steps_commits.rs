//! Commits by people and agents: git's own hook, what was there before it, and what goes past it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use lockstep_testkit::TestEnv;
use serde_json::Value;

use crate::inactive;
use crate::steps::{no, ready, with_step, yes};

/// A repository with the gate in git's hook and a step; one commit is there.
fn repository() -> TestEnv {
    let env = with_step();
    env.git(["init", "--quiet"]);
    env.write(".gitignore", ".lockstep/\nsteps/audit-*.log\n.claude/\n");
    yes(&env, "init --git-hook --quiet");
    env.git(["add", "-A"]);
    env.git(["commit", "--quiet", "-m", "first"]);
    env
}

/// Tries to commit everything.
fn commit(env: &TestEnv, more: &[&str]) -> (Option<i32>, String) {
    env.git(["add", "-A"]);
    let args = [&["commit", "--quiet", "--allow-empty", "-m", "work"], more].concat();
    let output = env.git_output(args);
    (output.code, String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_commit_waits_for_a_deferred_phase_and_passes_after() {
    let env = repository();
    yes(&env, "step phase start 01-01 RED");
    yes(&env, "step phase done 01-01 RED --run false");
    env.lockstep(["step", "phase", "skip", "01-01", "GREEN", "--blocked-by", "DEFERRED: tomorrow"])
        .assert_success();
    assert!(yes(&env, "gate stop 01-01").contains("WARNING"));
    let (code, output) = commit(&env, &[]);
    assert_eq!(code, Some(1));
    assert!(output.contains("Phase GREEN is put off (DEFERRED: tomorrow)"), "{output}");
    assert!(output.contains("lockstep step phase start steps/01-01.json GREEN"), "{output}");
    yes(&env, "step phase start 01-01 GREEN");
    yes(&env, "step phase done 01-01 GREEN --run true");
    let (code, output) = commit(&env, &[]);
    assert_eq!(code, Some(1));
    assert!(output.contains("gate 2 has not passed since the last change"), "{output}");
    assert!(yes(&env, "gate stop 01-01").contains("PASS"));
    yes(&env, "step phase start 01-01 COMMIT");
    assert_eq!(commit(&env, &[]), (Some(0), String::new()));
    yes(&env, "step phase done 01-01 COMMIT --outcome PASS");
    yes(&env, "step finish 01-01 --status DONE");
    assert_eq!(commit(&env, &[]), (Some(0), String::new()), "the record of the end itself");
    assert_eq!(yes(&env, "audit verify").lines().count(), 1, "no commit went past the gate");
}

#[test]
fn ungated_commits_are_recorded_at_the_next_check() {
    let env = repository();
    yes(&env, "step phase start 01-01 RED");
    assert_eq!(commit(&env, &[]).0, Some(1));
    assert_eq!(commit(&env, &["--no-verify"]).0, Some(128), "the other hook of git is asked");
    env.git(["-c", "core.hooksPath=/dev/null", "commit", "--quiet", "-m", "work"]);
    env.shell(
        "tree=$(git write-tree) && new=$(git -c user.name=x -c user.email=x@y commit-tree -p HEAD -m plumbing $tree) && \
         git -c core.hooksPath=/dev/null update-ref HEAD $new",
    );
    let output = yes(&env, "audit verify");
    assert!(
        output.contains("(work) passed no gate") && output.contains("(plumbing) passed no gate"),
        "{output}"
    );
    let (code, output) = commit(&env, &[]);
    assert_eq!(code, Some(1));
    assert!(output.contains("(plumbing) passed no gate; it is on record now"), "{output}");
    let entries: Vec<Value> =
        serde_json::from_str(&yes(&env, "audit show --event COMMIT_NOT_VALIDATED --format json")).unwrap();
    assert_eq!(entries.len(), 2);
    assert_eq!(yes(&env, "audit verify").lines().count(), 1, "each is told once");
}

#[test]
fn an_amended_commit_has_passed_the_gate_too() {
    let env = repository();
    env.write("a.txt", "a");
    assert_eq!(commit(&env, &[]).0, Some(0));
    env.write("a.txt", "b");
    assert_eq!(commit(&env, &["--amend"]).0, Some(0));
    assert_eq!(yes(&env, "audit verify").lines().count(), 1);
}

#[test]
fn an_alias_and_another_directory_go_through_the_hook_too() {
    let env = repository();
    yes(&env, "step phase start 01-01 RED");
    env.git(["add", "-A"]);
    let root = env.project().display().to_string();
    for args in [
        vec!["-C", &root, "commit", "-m", "x"],
        vec!["-c", "alias.ci=commit", "ci", "-m", "x"],
        vec!["commit", "-m", "x", "--", "steps/01-01.json"],
    ] {
        assert_eq!(env.git_output(&args).code, Some(1), "{args:?}");
    }
}

#[test]
fn a_hook_that_was_there_runs_first_and_comes_back() {
    let env = inactive();
    env.git(["init", "--quiet"]);
    let hook = env.write(".git/hooks/pre-commit", "#!/bin/sh\necho before >> ran\ntest ! -e stop\n");
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o750)).unwrap();
    let before = fs::read_to_string(&hook).unwrap();
    let listing = || fs::read_dir(env.project().join(".git/hooks")).unwrap().count();
    let files = listing();
    let dry = yes(&env, "init --client claude --git-hook --dry-run");
    assert!(dry.contains("pre-commit"), "{dry}");
    assert_eq!(fs::read_to_string(&hook).unwrap(), before);
    let output = yes(&env, "init --client claude --git-hook");
    assert!(output.contains("pre-commit.before-lockstep"), "{output}");
    let installed = fs::read_to_string(&hook).unwrap();
    yes(&env, "init --client claude --git-hook");
    assert_eq!(fs::read_to_string(&hook).unwrap(), installed, "running it again changes nothing");
    env.write("a", "a");
    env.git(["add", "a"]);
    env.git(["commit", "--quiet", "-m", "x"]);
    assert_eq!(fs::read_to_string(env.project().join("ran")).unwrap(), "before\n");
    env.write("stop", "");
    assert_eq!(env.git_output(["commit", "--allow-empty", "-m", "x"]).code, Some(1), "it keeps its word");
    yes(&env, "uninstall");
    assert_eq!(fs::read_to_string(&hook).unwrap(), before);
    assert_eq!(fs::metadata(&hook).unwrap().permissions().mode() & 0o777, 0o750);
    assert_eq!(listing(), files);
}

#[test]
fn hooks_path_is_respected_and_never_left() {
    let env = inactive();
    env.git(["init", "--quiet"]);
    env.git(["config", "core.hooksPath", ".githooks"]);
    yes(&env, "init --client claude --git-hook");
    assert!(env.project().join(".githooks/pre-commit").is_file());
    assert!(!env.project().join(".git/hooks/pre-commit").exists());
    yes(&env, "uninstall");
    assert!(!env.project().join(".githooks/pre-commit").exists());
    env.git(["config", "core.hooksPath", env.outside_dir().to_str().unwrap()]);
    let output = env.lockstep(["init", "--client", "claude", "--git-hook"]).assert_failure(3);
    assert!(output.contains("points outside the repository"), "{output}");
    assert_eq!(fs::read_dir(env.outside_dir()).unwrap().count(), 0);
}

#[test]
fn doctor_reports_whether_the_gates_run() {
    let env = with_step();
    env.git(["init", "--quiet"]);
    yes(&env, "init --client claude --quiet");
    let output = |env: &TestEnv| env.lockstep(["doctor"]).snapshot();
    assert!(output(&env).contains("git does not ask it"), "{}", output(&env));
    yes(&env, "init --git-hook --quiet");
    assert!(
        output(&env).contains("git asks it before every commit and every move of a branch"),
        "{}",
        output(&env)
    );
    let settings = env.project().join(".claude/settings.json");
    let text = fs::read_to_string(&settings).unwrap();
    fs::write(&settings, text.replace("Task|Agent|Workflow|SendMessage|Bash|Monitor|PowerShell|", ""))
        .unwrap();
    assert!(
        output(&env).contains(
            "not for Task, Agent, Workflow, SendMessage, Bash, Monitor, PowerShell: no gate is asked"
        ),
        "{}",
        output(&env)
    );
    fs::write(&settings, text).unwrap();
    let log = env.project().join("steps/audit-2026-02-14.log");
    fs::write(&log, fs::read_to_string(&log).unwrap().replace("auth", "other")).unwrap();
    assert!(output(&env).contains("steps/audit-2026-02-14.log, line 1: it was edited"), "{}", output(&env));
}

#[test]
fn a_project_below_the_top_of_its_repository_has_its_gate() {
    let env = inactive();
    env.git(["init", "--quiet"]);
    env.write("app/lockstep.toml", "");
    yes(&env, "-C app init --client claude --git-hook --quiet");
    yes(&env, "-C app step new 01-01 --project auth --phases tdd-3");
    env.git(["add", "-A"]);
    env.git(["commit", "--quiet", "-m", "first"]);
    yes(&env, "-C app step phase start 01-01 RED");
    env.git(["add", "-A"]);
    let refused = env.git_output(["commit", "-m", "x"]);
    assert_eq!(refused.code, Some(1), "{}", refused.snapshot());
    assert!(
        refused.snapshot().contains("steps/01-01.json: Phase RED is IN_PROGRESS"),
        "{}",
        refused.snapshot()
    );
    let past = env.git_output(["commit", "--quiet", "-m", "elsewhere", "--no-verify"]);
    assert_eq!(past.code, Some(128), "{}", past.snapshot());
}

#[test]
fn a_gate_that_cannot_run_fails_loudly() {
    let env = repository();
    env.configure("[steps]\nphase = 1\n");
    let (code, output) = commit(&env, &[]);
    assert_eq!(code, Some(1), "{output}");
    assert!(output.contains("unknown key `phase`") && output.contains("could not decide"), "{output}");
    fs::remove_file(env.project().join("lockstep.toml")).unwrap();
    assert_eq!(commit(&env, &[]).0, Some(0), "an inactive project has no gate");
}

#[test]
fn a_step_whose_boundary_was_left_is_not_committed() {
    let env = repository();
    env.lockstep(["step", "new", "02-01", "--project", "auth", "--phases", "tdd-3", "--allow", "src/**"])
        .assert_success();
    yes(&env, "step phase start 02-01 RED");
    env.write("src/a.rs", "fine");
    env.write("docs/x.md", "not fine");
    yes(&env, "step phase done 02-01 RED --run false");
    let output = no(&env, "gate stop 02-01");
    assert!(
        output.contains("docs/x.md was changed, outside the step's boundary") && !output.contains("src/a.rs"),
        "{output}"
    );
    ready(&env);
}

/// A repository with a step that may change `src` only, ready for its commit.
fn bounded() -> TestEnv {
    let env = repository();
    env.lockstep(["step", "new", "02-01", "--project", "auth", "--phases", "tdd-3", "--allow", "src/**"])
        .assert_success();
    env.write("before.txt", "uncommitted before the step begins");
    yes(&env, "step phase start 02-01 RED");
    yes(&env, "step phase done 02-01 RED --run false");
    yes(&env, "step phase start 02-01 GREEN");
    yes(&env, "step phase done 02-01 GREEN --run true");
    env.write("src/a.rs", "fine");
    assert!(yes(&env, "gate stop 02-01").contains("PASS"));
    env
}

#[test]
fn a_commit_is_judged_by_its_content_since_the_step_began() {
    let env = bounded();
    assert_eq!(
        commit(&env, &[]),
        (Some(0), String::new()),
        "files from before the step and inside its boundary"
    );
    for way in [
        "echo x > outside.txt; git add outside.txt",
        "echo x > outside.txt; touch -d '2001-01-01' outside.txt; git add outside.txt",
        "echo x >> .gitignore; git add .gitignore; git update-index --skip-worktree .gitignore",
        "echo x >> .gitignore; git add .gitignore; git update-index --assume-unchanged .gitignore",
        "git rm -q --cached before.txt",
        "git mv before.txt after.txt",
        "echo x > \"$(printf 'out\\377side')\"; git add -A",
        "echo x > outside.txt; git add outside.txt; git -c core.hooksPath=/dev/null commit -qnm past; git reset -q",
        "git config core.trustctime false; git config core.fileMode false; echo x > outside.txt; git add -A",
    ] {
        let env = bounded();
        commit(&env, &[]);
        env.git_script(way).assert_success();
        let output = env.git_output(["commit", "--quiet", "--allow-empty", "-m", "work"]);
        assert_eq!(output.code, Some(1), "{way}: {}", output.snapshot());
        assert!(output.snapshot().contains("outside the step's boundary"), "{way}: {}", output.snapshot());
    }
}

#[test]
fn gate_2_compares_contents_not_times_and_flags() {
    for way in [
        "echo x > outside.txt; touch -d '2001-01-01' outside.txt",
        "echo x >> .gitignore; git update-index --skip-worktree .gitignore",
        "git update-index --assume-unchanged .gitignore; echo x >> .gitignore",
        "echo x > \"$(printf 'out\\377side')\"",
    ] {
        let env = bounded();
        env.git_script(way).assert_success();
        let output = no(&env, "gate stop 02-01");
        assert!(output.contains("outside the step's boundary"), "{way}: {output}");
    }
}

#[test]
fn a_staged_name_that_is_no_text_does_not_block_a_commit() {
    let env = repository();
    env.git_script("mkdir -p src; echo x > \"$(printf 'src/na\\377me')\"").assert_success();
    assert_eq!(commit(&env, &[]), (Some(0), String::new()));
    let env = bounded();
    env.git_script("echo x > \"$(printf 'src/na\\377me')\"").assert_success();
    assert_eq!(commit(&env, &[]), (Some(0), String::new()), "it is inside the boundary");
}
