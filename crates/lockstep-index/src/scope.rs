//! The scope: the files that git tracks or would track, by `.gitignore`, `.git/info/exclude`, the user's
//! excludes and `.lockstepignore`. It never has `.git`, `.lockstep`, a session's journal, or another
//! repository inside this one.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use ignore::gitignore::GitignoreBuilder;
use ignore::{DirEntry, WalkBuilder};
use lockstep_fs::is_temporary;
use lockstep_store::StateDir;
use lockstep_store::journal::is_journal;

/// The project's own ignore rules, in the syntax of `.gitignore`.
pub const IGNORE_FILE: &str = ".lockstepignore";

/// The size limit of ignore files.
const MAX_RULE_BYTES: u64 = 4 << 20;

/// Returns a walk of the tree below `start` (inside the project), `start` first.
pub(crate) fn walk(start: &Path) -> WalkBuilder {
    walk_around(start, |_| {})
}

/// Returns a walk as [`walk`] does, and passes the nested repositories that it leaves out to `skipped`.
///
/// The walker opens ignore files itself, and would block on a pipe or read a device to its end. If an ignore
/// file of `start`, of its parent directories or of the user is not a regular file, that kind of rules is not
/// applied: more files are in scope, none are hidden. A directory below with such a file is skipped.
pub(crate) fn walk_around(start: &Path, skipped: impl Fn(&Path) + Send + Sync + 'static) -> WalkBuilder {
    let mut builder = WalkBuilder::new(start);
    let above = |name: &str| start.ancestors().any(|directory| is_blocked(&directory.join(name)));
    builder
        .hidden(false)
        .ignore(false)
        .require_git(false)
        .follow_links(false)
        .git_ignore(!above(".gitignore"))
        .git_exclude(!start.ancestors().any(has_blocked_git))
        .git_global(user_excludes().is_ok())
        .filter_entry(move |entry| {
            if entry.depth() == 0 {
                return true;
            }
            let is_repository = !is_own(entry.file_name()) && is_repository(entry);
            if is_repository {
                skipped(entry.path());
            }
            !(is_own(entry.file_name()) || is_repository || is_closed(entry))
        });
    if !above(IGNORE_FILE) {
        builder.add_custom_ignore_filename(IGNORE_FILE);
    }
    builder
}

/// Returns true if a rule file cannot be read to its end.
fn is_blocked(path: &Path) -> bool {
    lockstep_fs::is_unreadable(path, MAX_RULE_BYTES)
}

/// Returns true if one of the git files that the walker opens is not a regular file.
fn has_blocked_git(directory: &Path) -> bool {
    let git = directory.join(".git");
    let is_directory = fs::metadata(&git).is_ok_and(|meta| meta.is_dir());
    (!is_directory && is_blocked(&git))
        || is_blocked(&git.join("info/exclude"))
        || is_blocked(&git.join("commondir"))
}

/// Returns the path of the user's excludes, if there is one; an error if a file that names or holds them cannot be read.
pub(crate) fn user_excludes() -> Result<Option<PathBuf>, ()> {
    let home = std::env::home_dir();
    let named = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let shared = named("XDG_CONFIG_HOME").or_else(|| Some(home.as_ref()?.join(".config")));
    let files = [
        named("GIT_CONFIG_GLOBAL"),
        home.map(|home| home.join(".gitconfig")),
        shared.map(|shared| shared.join("git/config")),
        named("GIT_CONFIG_SYSTEM").or_else(|| Some(PathBuf::from("/etc/gitconfig"))),
    ];
    // `/dev/null` stands for no configuration and is safe to read.
    let is_blocked_file = |file: &PathBuf| file != Path::new("/dev/null") && is_blocked(file);
    if files.iter().flatten().any(is_blocked_file) {
        return Err(());
    }
    let excludes = ignore::gitignore::gitconfig_excludes_path();
    if excludes.as_ref().is_some_and(is_blocked_file) { Err(()) } else { Ok(excludes) }
}

/// Returns true for a directory whose ignore rules cannot be read, so that its scope is unknown.
fn is_closed(entry: &DirEntry) -> bool {
    entry.file_type().is_some_and(|kind| kind.is_dir()) && has_blocked_rules(entry.path())
}

/// Returns true if an ignore file of a directory cannot be read.
pub(crate) fn has_blocked_rules(directory: &Path) -> bool {
    [".gitignore", IGNORE_FILE].iter().any(|name| is_blocked(&directory.join(name)))
}

/// Returns true if a file of this name has ignore rules.
pub fn is_rule_file(name: &OsStr) -> bool {
    name == ".gitignore" || name == IGNORE_FILE
}

/// Returns true if a tracked file (relative to the root) is left out of the scope by Lockstep's own rules.
pub fn is_left_out(root: &Path, path: &Path) -> bool {
    let is_matched = |directory: &Path| {
        let at = root.join(directory);
        let file = at.join(IGNORE_FILE);
        let rules = lockstep_fs::read_up_to(&file, MAX_RULE_BYTES).ok()?;
        let mut builder = GitignoreBuilder::new(&at);
        for line in String::from_utf8_lossy(&rules).lines() {
            // The walk skips an invalid rule as well.
            let _ = builder.add_line(None, line);
        }
        let matched = builder.build().ok()?.matched_path_or_any_parents(root.join(path), false).is_ignore();
        matched.then_some(())
    };
    path.iter().any(is_own) || path.ancestors().skip(1).any(|directory| is_matched(directory).is_some())
}

/// Returns true for the files of git and of Lockstep itself.
fn is_own(name: &OsStr) -> bool {
    name == ".git" || name == StateDir::NAME || is_journal(name) || is_temporary(name)
}

/// Returns true for a directory with its own `.git`: a submodule, a linked worktree or a clone.
fn is_repository(entry: &DirEntry) -> bool {
    entry.file_type().is_some_and(|kind| kind.is_dir())
        && fs::symlink_metadata(entry.path().join(".git")).is_ok()
}
