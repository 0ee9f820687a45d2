//! Moves of branches past `git commit`: what git's reference-transaction hook refuses, what it lets alone, and what is found afterwards.

use std::fs;

use lockstep_testkit::TestEnv;
use lockstep_testkit::attacks::{PAST_HOOKS, refused_moves};
use serde_json::Value;

use crate::steps::{no, with_step, yes};

/// A repository with both hooks of git and a step; its first commit is there, and a second one on the branch `topic`.
fn repository() -> TestEnv {
    let env = with_step();
    env.git(["init", "--quiet", "--initial-branch=main"]);
    env.write(".gitignore", ".lockstep/\nsteps/audit-*.log\n.claude/\n");
    yes(&env, "init --git-hook --quiet");
    env.git(["add", "-A"]);
    env.git(["commit", "--quiet", "-m", "first"]);
    run(
        &env,
        "git switch -q -c topic && echo t > t && git add t && git commit -qm topic && git switch -q main",
    );
    env
}

/// The same, while gate 3 refuses a commit.
fn refusing() -> TestEnv {
    let env = repository();
    run(&env, "echo m > m && git add m && git commit -qm main");
    yes(&env, "step phase start 01-01 RED");
    env
}

/// Runs a script that must succeed; returns its output.
#[track_caller]
fn run(env: &TestEnv, script: &str) -> String {
    env.git_script(script).assert_success()
}

fn heads(env: &TestEnv) -> String {
    run(env, "git for-each-ref --format='%(refname) %(objectname)' refs/heads")
}

/// The commits that `audit verify` names, by their subjects.
fn reported(env: &TestEnv) -> Vec<String> {
    let output = env.lockstep(["audit", "verify", "--format", "json"]);
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value["commits_unknown"], Value::Null, "{value}");
    let commits = value["commits_past_the_gate"].as_array().unwrap();
    let mut subjects: Vec<String> =
        commits.iter().map(|commit| commit["subject"].as_str().unwrap().to_owned()).collect();
    subjects.sort();
    subjects
}

#[test]
fn deleting_records_or_the_configuration_does_not_open_the_gate() {
    for way in [
        "rm -f .lockstep/steps/known steps/01-01.json",
        "rm -rf .lockstep/steps steps",
        "rm -rf .lockstep steps",
        "rm lockstep.toml",
        "mv lockstep.toml other.toml",
        "rm -rf lockstep.toml .lockstep",
        "printf '[gates]\\ncommit = \"off\"\\n' > lockstep.toml",
        "printf '[gates]\\ncommit = \"warn\"\\n' > lockstep.toml",
        "rm -rf .lockstep; printf '[gates]\\ncommit = \"off\"\\n' > lockstep.toml",
    ] {
        for commit in ["git commit -qm x", "git commit -qnm x"] {
            let env = refusing();
            let before = heads(&env);
            let output = env.git_script(&format!("{way}; echo x > x; git add x; {commit}"));
            assert_eq!(heads(&env), before, "{way}; {commit}: {}", output.snapshot());
        }
    }
}

#[test]
fn a_branch_does_not_move_to_a_commit_that_the_gate_refuses() {
    for way in &refused_moves() {
        let env = refusing();
        let before = heads(&env);
        let output = env.git_script(way);
        assert_ne!(output.code, Some(0), "{way}");
        let text = output.snapshot();
        assert!(text.contains("GATE_3_PRE_COMMIT"), "{way}: {text}");
        let after = heads(&env);
        let moved: Vec<_> =
            after.lines().filter(|line| line.contains(' ') && !before.contains(*line)).collect();
        assert!(moved.is_empty(), "{way}: {moved:?}");
        // A tag and a ref of another kind may name such a commit; it is reported.
        let parked = ["tag t1", "refs/parked", "git replace"].iter().any(|name| way.contains(name));
        assert_eq!(reported(&env).len(), usize::from(parked), "{way}");
    }
}

#[test]
fn other_git_commands_work_while_commits_are_refused() {
    let env = refusing();
    env.git(["clone", "-q", "--bare", ".", "../elsewhere/up.git"]);
    for way in [
        "git checkout -q -b b1 && git switch -q main && git branch -q -d b1",
        "git branch b2 HEAD~1 && git branch -m b2 b3 && git branch -D b3",
        "git reset -q --hard HEAD~1 && git reset -q --hard HEAD@{1}",
        "git checkout -q --detach HEAD~1 && git checkout -q main",
        "git tag v1 && git tag -a v2 -m x && git tag -d v1",
        "echo x >> t2; git add t2; git stash -q; git stash pop -q; git reset -q; rm t2",
        "git gc -q --prune=now && git pack-refs --all && git reflog expire --all --expire=never",
        "git worktree add -q ../elsewhere/w2 && git worktree remove ../elsewhere/w2",
        "git remote add up ../elsewhere/up.git && git fetch -q up && git remote prune up",
        "git notes add -m note HEAD",
        "git bisect start HEAD HEAD~1 >/dev/null && git bisect reset >/dev/null 2>&1",
        "git merge -q --ff-only up/main",
        "git symbolic-ref HEAD refs/heads/topic && git symbolic-ref HEAD refs/heads/main",
        "git clone -q . ../elsewhere/c2",
        "git fsck --no-progress >/dev/null && git status --short >/dev/null",
    ] {
        let output = env.git_script(way);
        assert_eq!(output.code, Some(0), "{way}: {}", output.snapshot());
    }
    // Commits of others arrive by a fast-forward.
    run(
        &env,
        "git clone -q ../elsewhere/up.git ../elsewhere/other && cd ../elsewhere/other && git commit -q --allow-empty -m theirs && \
         git push -q origin HEAD:main",
    );
    run(&env, "git fetch -q up && git merge -q --ff-only up/main");
    assert_eq!(reported(&env), Vec::<String>::new());
    assert!(yes(&env, "audit verify").contains("commits from remotes, not judged here: 1"));
}

#[test]
fn rebase_merge_and_pick_pass_and_are_recorded_under_an_open_gate() {
    let env = repository();
    run(&env, "echo m > m && git add m && git commit -qm main");
    run(&env, "git merge -q --no-ff -m merged topic");
    run(
        &env,
        "git switch -q -c pick HEAD~1 && git cherry-pick topic && git commit -q --amend -m picked && git switch -q main",
    );
    run(
        &env,
        "git switch -q -c again topic && git rebase -q --reapply-cherry-picks --empty=keep pick && git switch -q main",
    );
    run(&env, "git revert --no-edit HEAD~1");
    assert_eq!(reported(&env), Vec::<String>::new());
    assert_eq!(yes(&env, "audit verify").lines().count(), 1);
}

#[test]
fn commits_past_the_hooks_are_found_wherever_they_are() {
    for way in PAST_HOOKS {
        let env = refusing();
        run(&env, &format!("past='git -c core.hooksPath=/dev/null'; {way}"));
        assert_eq!(reported(&env), ["past"], "{way}");
    }
}

#[test]
fn the_first_of_many_commits_past_the_gate_is_found_too() {
    let env = refusing();
    run(
        &env,
        "for n in $(seq 230); do git -c core.hooksPath=/dev/null commit -q --allow-empty -m past$n; done",
    );
    assert_eq!(reported(&env).len(), 230);
}

#[test]
fn commits_before_the_first_step_are_not_reported() {
    let env = crate::active();
    env.git(["init", "--quiet", "--initial-branch=main"]);
    env.write(".gitignore", ".lockstep/\nsteps/audit-*.log\n.claude/\n");
    yes(&env, "init --git-hook --quiet");
    run(
        &env,
        "git add -A && git commit -qm one && git commit -q --amend -m two && git commit -qn --allow-empty -m three",
    );
    run(
        &env,
        "git switch -q -c side && git commit -q --allow-empty -m side && git switch -q main && git branch -q -D side",
    );
    yes(&env, "step new 01-01 --project auth --phases tdd-3");
    yes(&env, "step phase start 01-01 RED");
    assert_eq!(reported(&env), Vec::<String>::new());
    run(&env, "git -c core.hooksPath=/dev/null commit -q --allow-empty -m past");
    assert_eq!(reported(&env), ["past"], "the gate has not seen a commit before");
}

#[test]
fn a_repository_that_cannot_be_read_is_not_one_without_commits() {
    let env = refusing();
    fs::write(env.project().join(".git/HEAD"), "garbage").unwrap();
    let output = no(&env, "audit verify");
    assert!(output.contains("commits were not compared: git could not be asked"), "{output}");
}

#[test]
fn continuous_integration_proves_a_range_by_the_trail() {
    let env = repository();
    env.write(".gitignore", ".lockstep/\n.claude/\n");
    run(&env, "git add -A && git commit -qm 'keep the trail'");
    let base = run(&env, "git rev-parse HEAD").trim().to_owned();
    run(&env, "echo a > a && git add a && git commit -qm a && git add -A && git commit -qm 'record'");
    let range = format!("gate ci --range {base}..HEAD");
    assert!(yes(&env, &range).contains("commits: 2, not let through: 0"), "{}", yes(&env, &range));
    // In a clone without any state, as a server has it.
    run(&env, "git clone -q . ../elsewhere/ci");
    let ci = |expected: i32| {
        let output =
            env.lockstep(["-C", "../elsewhere/ci", "gate", "ci", "--range", &format!("{base}..HEAD")]);
        assert_eq!(output.code, Some(expected), "{}", output.snapshot());
        output.snapshot()
    };
    ci(0);
    run(
        &env,
        "git -c core.hooksPath=/dev/null commit -q --allow-empty -m past && git -C ../elsewhere/ci pull -q",
    );
    assert!(ci(1).contains("(past) was not let through"));
    run(&env, "cd ../elsewhere/ci && git reset -q --hard HEAD~1 && sed -i 1d steps/audit-*.log");
    assert!(ci(1).contains("the trail was rewritten"));
}

#[test]
fn a_worktree_without_steps_is_judged_by_the_main_one() {
    let env = refusing();
    run(&env, "git worktree add -q -b side ../elsewhere/side");
    let refused = env.git_script("cd ../elsewhere/side && echo x > x && git add x && git commit -qm x");
    assert!(refused.snapshot().contains("GATE_3_PRE_COMMIT"), "{}", refused.snapshot());
    // Other moves of the worktree go on.
    run(
        &env,
        "cd ../elsewhere/side && git checkout -q --detach HEAD~1 && git switch -q side && git branch spare",
    );
    assert_eq!(reported(&env), Vec::<String>::new());
    // While the main worktree's gate lets commits through, so it does there, on record.
    let env = repository();
    run(&env, "git worktree add -q -b side ../elsewhere/side");
    run(&env, "cd ../elsewhere/side && echo x > x && git add x && git commit -qm side");
    assert_eq!(reported(&env), Vec::<String>::new());
}

/// A repository that came as an archive has a configuration of its own, which names programs.
#[test]
fn the_configuration_of_a_repository_starts_no_program() {
    let env = with_step();
    env.git(["init", "--quiet", "--initial-branch=main"]);
    env.write("a.rs", "pub fn a() {}\n");
    env.write("b.rs", "use crate::a;\nfn b() { a(); }\n");
    env.write(".gitattributes", "*.rs diff=x\n");
    env.git(["add", "-A"]);
    env.git(["commit", "--quiet", "-m", "first"]);
    env.write("a.rs", "pub fn c() {}\n");
    let mark = env.outside_dir().join("started");
    let program = env.outside_dir().join("program");
    lockstep_testkit::write_script(&program, &format!("#!/bin/sh\ntouch {}\n", mark.display()));
    let hooks = env.outside_dir().join("hooks");
    fs::create_dir(&hooks).unwrap();
    for hook in ["post-index-change", "post-checkout", "reference-transaction"] {
        fs::copy(&program, hooks.join(hook)).unwrap();
    }
    for (key, value) in [
        ("core.fsmonitor", &program),
        ("core.hooksPath", &hooks),
        ("core.pager", &program),
        ("core.sshCommand", &program),
        ("diff.external", &program),
        ("diff.x.textconv", &program),
        ("diff.x.command", &program),
        ("gpg.program", &program),
        ("alias.diff", &program),
    ] {
        env.git(["config", key, value.to_str().unwrap()]);
    }
    for verb in [
        "impact",
        "changes",
        "index",
        "refs a",
        "refs c",
        "cascade start",
        "gate commit",
        "gate ci HEAD..HEAD",
        "audit verify",
        "step phase start 01-01 RED",
        "doctor",
    ] {
        let output = env.lockstep(verb.split(' '));
        assert!(!mark.exists(), "{verb}: {}", output.snapshot());
    }
}
