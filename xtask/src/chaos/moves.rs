//! Commits past `git commit`, and past git's hooks.

use lockstep_testkit::TestEnv;
use lockstep_testkit::attacks::{PAST_HOOKS, refused_moves};
use serde_json::Value;

use super::scene::{must_git, refusing, run};
use super::trial::{Trial, Verdict};

fn heads(env: &TestEnv) -> String {
    must_git(env, "git for-each-ref --format='%(refname) %(objectname)' refs/heads")
}

/// The subjects of the commits that `audit verify` names; `None` if it could not look.
fn reported(env: &TestEnv) -> Option<Vec<String>> {
    let output = env.lockstep(["audit", "verify", "--format", "json"]);
    let value: Value = serde_json::from_slice(&output.stdout).ok()?;
    if value["commits_unknown"] != Value::Null {
        return None;
    }
    let commits = value["commits_past_the_gate"].as_array()?;
    Some(commits.iter().filter_map(|commit| Some(commit["subject"].as_str()?.to_owned())).collect())
}

/// Branches at a commit that no branch had before.
fn moved(before: &str, after: &str) -> Vec<String> {
    let is_new = |line: &&str| line.split_once(' ').is_some_and(|(_, commit)| !before.contains(commit));
    after.lines().filter(is_new).map(str::to_owned).collect()
}

pub(super) fn attack(trial: &mut Trial<'_>) {
    let program = trial.program;
    let settings = [
        "true",
        "git config core.logAllRefUpdates false",
        "export GIT_TRACE=0",
        "git config gc.auto 1",
        "cd steps && cd ..",
    ];
    for way in trial.sample(refused_moves()) {
        let first = *trial.numbers.choose(&settings);
        trial.case(format!("{first}; {way}"), || {
            let env = refusing(program);
            let before = heads(&env);
            let output = env.git_script(&format!("{first}; {way}"));
            let moved = moved(&before, &heads(&env));
            let found = reported(&env);
            match (moved.is_empty(), found) {
                (true, Some(_)) => Verdict::Held,
                (false, Some(found)) if !found.is_empty() => Verdict::Reported,
                (_, found) => {
                    Verdict::Broken(format!("moved {moved:?}, reported {found:?}: {}", output.snapshot()))
                }
            }
        });
    }
}

pub(super) fn attack_past_hooks(trial: &mut Trial<'_>) {
    let program = trial.program;
    for way in trial.sample(PAST_HOOKS) {
        let hiding = *trial.numbers.choose(&[
            "true",
            "git config log.encoding UTF-16; git config i18n.logOutputEncoding UTF-16",
            "git reflog expire --all --expire=now",
            "git config core.warnAmbiguousRefs false; git config log.follow true",
            "git branch -m topic subject",
            "git config grep.lineNumber true; git config core.abbrev 4",
        ]);
        trial.case(format!("{way}; {hiding}"), || {
            let env = refusing(program);
            must_git(&env, &format!("past='git -c core.hooksPath=/dev/null'; {way}"));
            // A commit that only a reflog names is lost once the reflog is removed.
            let is_lost = hiding.contains("reflog")
                && way.contains("--detach")
                && !way.contains("tag")
                && !way.contains("worktree");
            if !is_lost {
                let _ = env.git_script(hiding);
            }
            match reported(&env) {
                Some(found) if found.iter().any(|subject| subject == "past") => Verdict::Reported,
                found => Verdict::Broken(format!("{found:?}: {}", run(&env, "audit verify").snapshot())),
            }
        });
    }
}
