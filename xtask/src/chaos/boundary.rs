//! Files outside the boundary of a step that reach its commit.

use lockstep_testkit::TestEnv;

use super::scene::{must, must_git, repository};
use super::trial::{Trial, Verdict};

/// Scripts that stage a change outside of `src`.
const WAYS: [&str; 22] = [
    "echo x > docs.md; git add docs.md",
    "echo x >> m; git add m",
    "echo x > docs.md; touch -d 2001-01-01 docs.md; git add docs.md",
    "echo x >> m; touch -d 2001-01-01 m; git add m; git update-index --skip-worktree m",
    "echo x >> m; git add m; git update-index --assume-unchanged m",
    "echo x > \"$(printf 'n\\377')\"; git add -A",
    "echo x > \"$(printf 'a\\nb')\"; git add -A",
    "ln -s /nonexistent dangling; git add dangling",
    "ln -s src/a.rs linked; git add linked",
    "git rm -q m",
    "git mv m n",
    "chmod +x m; git add m",
    "echo docs.md >> .git/info/exclude; echo x > docs.md; git add -f docs.md",
    "blob=$(echo x | git hash-object -w --stdin); git update-index --add --cacheinfo 100644,$blob,docs.md",
    "blob=$(echo x | git hash-object -w --stdin); git update-index --add --cacheinfo 120000,$blob,l",
    "blob=$(git rev-parse HEAD); git update-index --add --cacheinfo 160000,$blob,module",
    "mkdir -p SRC; echo x > SRC/a.rs; git add SRC",
    "mkdir -p 'src '; echo x > 'src /a'; git add 'src '",
    "rm m; mkdir m; echo x > m/a; git add -A m",
    "echo x > docs.md; git add -N docs.md; git add docs.md",
    "git rm -q --cached m; echo '/m' >> .git/info/exclude",
    "echo x > lockstep2.toml; git add -A; git config core.fileMode false",
];

const COMMITS: [&str; 5] = [
    "git commit -qm x",
    "git commit -qnm x",
    "git commit -q --amend -m x",
    "new=$(git commit-tree -p HEAD -m x $(git write-tree)) && git update-ref HEAD $new",
    "git commit -qm x -- $(git diff --cached --name-only | head -1)",
];

fn bounded(trial: &Trial<'_>) -> TestEnv {
    let env = repository(trial.program);
    env.lockstep(["step", "new", "02-01", "--project", "auth", "--phases", "tdd-3", "--allow", "src/**"])
        .assert_success();
    must(&env, "step phase start 02-01 RED");
    must(&env, "step phase done 02-01 RED --run false");
    env.write("src/a.rs", "fine");
    must(&env, "step phase start 02-01 GREEN");
    must(&env, "step phase done 02-01 GREEN --run true");
    must(&env, "gate stop 02-01");
    env
}

pub(super) fn attack(trial: &mut Trial<'_>) {
    let env = bounded(trial);
    trial.case("a commit inside the boundary passes", || {
        let output = env.git_script("git add -A && git commit -qm inside");
        Verdict::held_if(output.code == Some(0), || output.snapshot())
    });
    let all = WAYS.iter().flat_map(|way| COMMITS.iter().map(move |commit| (*way, *commit)));
    for (way, commit) in trial.sample(all) {
        let env = bounded(trial);
        trial.case(format!("{way}; {commit}"), || {
            let head = |env: &TestEnv| must_git(env, "git rev-parse HEAD");
            let before = head(&env);
            let output = env.git_script(&format!("{way}; {commit}"));
            Verdict::held_if(head(&env) == before, || output.snapshot())
        });
    }
}
