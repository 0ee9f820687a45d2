//! The commit that is checked out, read from git's files: no process is started for it.

use std::path::{Path, PathBuf};

/// Returns the commit of the repository around `root`. `None` if there is none, or finding it is expensive.
pub(crate) fn head(root: &Path) -> Option<String> {
    let git = root.ancestors().map(|directory| directory.join(".git")).find(|git| git.exists())?;
    let git = directory_of(git)?;
    let head = lockstep_fs::read_to_string(git.join("HEAD")).ok()?;
    match head.trim().strip_prefix("ref: ") {
        None => commit(&head),
        Some(name) => resolve(&git, name),
    }
}

/// Returns the git directory. In a linked worktree, `.git` is a file that names it.
fn directory_of(git: PathBuf) -> Option<PathBuf> {
    if git.is_dir() {
        return Some(git);
    }
    let text = lockstep_fs::read_to_string(&git).ok()?;
    Some(git.parent()?.join(text.trim().strip_prefix("gitdir: ")?))
}

fn resolve(git: &Path, name: &str) -> Option<String> {
    // References of a linked worktree are in the directory it shares with the others.
    let common = lockstep_fs::read_to_string(git.join("commondir"))
        .map_or_else(|_| git.to_owned(), |to| git.join(to.trim()));
    let loose =
        [git, &common].into_iter().find_map(|dir| commit(&lockstep_fs::read_to_string(dir.join(name)).ok()?));
    loose.or_else(|| {
        let packed = lockstep_fs::read_to_string(common.join("packed-refs")).ok()?;
        packed.lines().find_map(|line| commit(line.strip_suffix(name)?))
    })
}

fn commit(text: &str) -> Option<String> {
    let text = text.trim();
    let is_commit = text.len() >= 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_commit.then(|| text.to_owned())
}
