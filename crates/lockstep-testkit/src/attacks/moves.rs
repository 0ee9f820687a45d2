//! Scripts of git that move a branch past `git commit`. They run in a repository with the branches `main` and `topic`, whose `HEAD`
//! is `main` and has two commits, while gate 3 refuses.

const NEW: &str = "new=$(git commit-tree -p HEAD -m plumbing $(git write-tree))";

const CLONE: &str =
    "git clone -q . ../elsewhere/clone; git -C ../elsewhere/clone commit -q --allow-empty -m x";

/// Moves that the reference-transaction hook refuses.
pub fn refused_moves() -> Vec<String> {
    let plumbing = [
        "git update-ref HEAD $new",
        "git update-ref refs/heads/main $new",
        "echo \"update refs/heads/main $new\" | git update-ref --stdin",
        "git branch other $new",
        "git reset -q --soft $new",
        "git checkout -q -B main $new",
        "git tag t1 $new; git branch other t1",
        "git update-ref refs/parked $new; git branch other refs/parked",
        "git push -q . $new:refs/heads/other",
        "cd /; git --git-dir=\"$OLDPWD/.git\" update-ref refs/heads/main $new",
        "git switch -q -C main $new",
        "git branch -q -f topic $new",
        "git update-ref --no-deref HEAD $new && git checkout -q -b other",
        "git worktree add -q ../elsewhere/w -b other $new",
        "git merge -q --ff-only $new",
        "git reset -q --hard $new",
        "printf 'start\\ncreate refs/heads/other %s\\nprepare\\ncommit\\n' $new | git update-ref --stdin",
        "env -u GIT_DIR git branch other $new",
        "git replace -f HEAD $new; git branch other $new",
    ];
    let own = [
        "echo x > x; git add x; git commit -qnm x",
        "echo x > x; git add x; git commit -q --amend -nm x",
        "new=$(git cat-file commit HEAD | sed 's/^main$/forged/' | git hash-object -t commit -w --stdin); git branch other $new",
        "git worktree add -q --detach ../elsewhere/w; cd ../elsewhere/w; echo x > x; git add x; git commit -qm x",
        "git worktree add -q --detach ../elsewhere/w; cd ../elsewhere/w; git commit -qn --allow-empty -m x",
        "git worktree add -q --detach ../elsewhere/w topic; cd ../elsewhere/w; git commit -q --amend -m x",
        "git checkout -q --detach; echo x > x; git add x; git commit -qnm x",
        "git checkout -q --orphan lone; git commit -qnm x",
        "git merge -q --no-ff -m x topic",
        "git merge -q topic -m x",
        "git cherry-pick topic >/dev/null",
        "git revert --no-edit HEAD",
        "git update-index --assume-unchanged steps/01-01.json; git rebase -q topic",
        "git format-patch -q -1 topic -o ../elsewhere; git am -q ../elsewhere/*.patch",
        "echo m >> m; git stash push -q -- m; git branch other stash@{0}",
        "echo m >> m; git stash push -q -- m; git branch other refs/stash",
        "printf 'commit refs/heads/other\\ncommitter a <a@b> 0 +0000\\ndata 1\\nx\\n' | git fast-import --quiet",
        "git -c alias.x='commit --no-verify' x -q --allow-empty -m x",
        "GIT_EDITOR=true git commit -q -n --allow-empty -m x",
        "git commit -q -n --allow-empty --allow-empty-message -m ''",
        "git config core.hooksPath; git commit -q -n --allow-empty -m x",
        "git subtree --help >/dev/null 2>&1; git commit -q -n --allow-empty -C HEAD",
    ];
    let clones = [
        "cd ../elsewhere/clone; git push -q origin HEAD:other",
        "git fetch -q ../elsewhere/clone HEAD:other",
        "git pull -q ../elsewhere/clone",
    ];
    let plumbing = plumbing.iter().map(|way| format!("{NEW}; {way}"));
    let clones = clones.iter().map(|way| format!("{CLONE}; {way}"));
    plumbing.chain(own.iter().map(|way| (*way).to_owned())).chain(clones).collect()
}

/// Scripts that get past git's hooks and leave one commit with the subject `past`. `$past` is `git` without hooks.
pub const PAST_HOOKS: [&str; 19] = [
    "$past commit -q --allow-empty -m past",
    "$past switch -q -c other && $past commit -q --allow-empty -m past && $past switch -q main",
    "$past branch lone $(git commit-tree -m past $(git write-tree))",
    "$past checkout -q --detach && $past commit -q --allow-empty -m past && git tag kept && $past checkout -q main",
    "$past checkout -q --detach && $past commit -q --allow-empty -m past && $past checkout -q main",
    "$past merge -q --no-ff -m past topic",
    "$past worktree add -q --detach ../elsewhere/w && $past -C ../elsewhere/w commit -q --allow-empty -m past",
    "new=$(git commit-tree -p HEAD -m past $(git write-tree)) && $past update-ref HEAD $new",
    "git config i18n.logOutputEncoding UTF-16 && $past commit -q --allow-empty -m past",
    "$past commit -q --allow-empty -m past && git replace HEAD HEAD~1",
    "new=$(git commit-tree -p HEAD -m past $(git write-tree)) && git update-ref refs/parked $new",
    "git stash -q --include-untracked 2>/dev/null; echo m >> m; git stash -q; $past commit -q --allow-empty -m past",
    "rm .git/hooks/*; git commit -q --allow-empty -m past",
    "chmod -x .git/hooks/*; git commit -q --allow-empty -m past 2>/dev/null",
    "git config core.hooksPath /dev/null; git commit -q --allow-empty -m past",
    "new=$(git commit-tree -p HEAD -m past $(git write-tree)); echo $new > .git/refs/heads/main",
    "new=$(git commit-tree -p HEAD -m past $(git write-tree)); echo \"$new refs/heads/packed\" >> .git/packed-refs",
    "$past commit -q --allow-empty -m past && git config log.showSignature true && git config core.commentChar auto",
    "$past commit -q --allow-empty -m past && git pack-refs --all && git gc -q --prune=now",
];
