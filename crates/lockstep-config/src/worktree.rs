//! Finds the main git worktree of a linked one from git's files, without starting git.
//!
//! A linked worktree has a `.git` *file*, `gitdir: MAIN/.git/worktrees/NAME`, and that directory has a file
//! `commondir` that names `MAIN/.git`. Submodules have a `.git` file too, but no such directory.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use lockstep_model::path::absolute_lexical;

use crate::discover::is_not_found;

/// Longer than any path; git's files hold one.
const MAX_LINK_BYTES: u64 = 64 * 1024;

/// The root of the main worktree, if `directory` is the root of a linked one. The error has the path that could
/// not be read.
pub(crate) fn main_worktree_root(directory: &Path) -> Result<Option<PathBuf>, (PathBuf, io::Error)> {
    let dot_git = directory.join(".git");
    if !fs::symlink_metadata(&dot_git).is_ok_and(|metadata| metadata.is_file()) {
        return Ok(None);
    }
    let Some(content) = read(&dot_git)? else { return Ok(None) };
    let Some(git_dir) = content.strip_prefix(b"gitdir:") else { return Ok(None) };
    let git_dir = absolute_lexical(directory, &path(git_dir));
    if git_dir.parent().and_then(Path::file_name) != Some(OsStr::new("worktrees")) {
        return Ok(None);
    }
    let Some(content) = read(&git_dir.join("commondir"))? else { return Ok(None) };
    let common = absolute_lexical(&git_dir, &path(&content));
    let has_worktree = common.file_name() == Some(OsStr::new(".git"));
    Ok(common.parent().filter(|_| has_worktree).map(Path::to_path_buf))
}

fn read(path: &Path) -> Result<Option<Vec<u8>>, (PathBuf, io::Error)> {
    match lockstep_fs::read_prefix(path, MAX_LINK_BYTES) {
        Ok(content) => Ok(Some(content)),
        Err(error) if is_not_found(&error) => Ok(None),
        Err(error) => Err((path.to_path_buf(), error)),
    }
}

/// A line of a git file as a path: blanks before it and the newline after it are not part of it.
fn path(line: &[u8]) -> Cow<'_, Path> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    lockstep_text::path_in_bytes(line.trim_ascii_start())
}
