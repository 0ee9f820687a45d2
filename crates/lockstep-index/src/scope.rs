//! Which files count: what git tracks or would track, by `.gitignore`, `.git/info/exclude`, the user's excludes and
//! `.lockstepignore`. Never `.git`, `.lockstep`, a session's journal, or another repository inside this one.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use ignore::{DirEntry, WalkBuilder};
use lockstep_store::StateDir;
use lockstep_store::journal::is_journal;

/// Ignore rules of the project's own, in the syntax of `.gitignore`.
pub const IGNORE_FILE: &str = ".lockstepignore";

/// A walk of the tree below `start` (inside the project), `start` first.
pub(crate) fn walk(start: &Path) -> WalkBuilder {
    let mut builder = WalkBuilder::new(start);
    builder
        .hidden(false)
        .ignore(false)
        .require_git(false)
        .follow_links(false)
        .add_custom_ignore_filename(IGNORE_FILE)
        .filter_entry(|entry| entry.depth() == 0 || !is_foreign(entry));
    builder
}

/// Whether a file changes which files count.
pub(crate) fn is_rule_file(name: &OsStr) -> bool {
    name == ".gitignore" || name == IGNORE_FILE
}

fn is_foreign(entry: &DirEntry) -> bool {
    let name = entry.file_name();
    if name == ".git" || name == StateDir::NAME || is_journal(name) {
        return true;
    }
    // A directory with a `.git` of its own is another repository: a submodule, a linked worktree, a clone.
    entry.file_type().is_some_and(|kind| kind.is_dir())
        && fs::symlink_metadata(entry.path().join(".git")).is_ok()
}
