//! Git queries of Lockstep: changed files between two states, their old contents, files that changed
//! together.
//!
//! [`Repository`] runs the `git` program, so that its configuration, worktrees and every object format are
//! respected. Hooks start no process: they use only [`local`], which reads git's files.

mod blobs;
pub mod cochange;
mod command;
mod commit_times;
mod diff;
pub mod local;
pub mod moves;
pub mod patch;
mod removed_files;
mod worktree;

pub use command::{SAFE_SETTINGS, WITHOUT_HOOKS, output_of_git};
pub use diff::{DiffEntry, DiffRange, DiffStatus};
pub use removed_files::RemovedFile;

use std::io;
use std::path::{Path, PathBuf};

/// The reason why git failed, or its unexpected output.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// The program could not be started or talked to.
    #[error("cannot run git")]
    Spawn(#[source] io::Error),
    #[error("git {what} failed: {message}")]
    Failed { what: String, message: String },
    /// The output of git cannot be parsed.
    #[error("git {what} gave an answer that is not understood")]
    UnexpectedOutput { what: String },
}

/// A directory inside a repository's working tree. Paths are relative to it; files outside are ignored.
#[derive(Debug, Clone)]
pub struct Repository {
    directory: PathBuf,
}

impl Repository {
    pub fn discover(directory: &Path) -> Result<Option<Self>, GitError> {
        let repository = Self { directory: directory.to_owned() };
        // At its top, git need not be started.
        if directory.join(".git").exists() {
            return Ok(Some(repository));
        }
        Ok(repository.worktree_root()?.map(|_| repository))
    }

    /// The top of the working tree; `None` outside of one.
    pub fn worktree_root_of(directory: &Path) -> Result<Option<PathBuf>, GitError> {
        Self { directory: directory.to_owned() }.worktree_root()
    }

    /// Returns true if `directory` is inside a repository without a working tree.
    pub fn is_bare(directory: &Path) -> Result<bool, GitError> {
        let repository = Self { directory: directory.to_owned() };
        Ok(repository.run(&["rev-parse", "--is-bare-repository"])?.trimmed_stdout() == "true")
    }

    /// Returns the reason if git refuses the repository around `directory`, because another user owns it.
    pub fn refusal(directory: &Path) -> Option<GitError> {
        let answer = Self { directory: directory.to_owned() }.run(&["rev-parse", "--git-dir"]).ok()?;
        let is_refused = !answer.succeeded() && answer.stderr.contains("dubious ownership");
        is_refused.then(|| answer.failure("rev-parse"))
    }

    /// The commit that is checked out; `None` before the first one.
    pub fn head(&self) -> Result<Option<String>, GitError> {
        self.revision("HEAD")
    }

    /// Resolves a name to a commit, if there is one.
    pub fn revision(&self, name: &str) -> Result<Option<String>, GitError> {
        let spec = format!("{name}^{{commit}}");
        let answer = self.run(&["rev-parse", "--verify", "--quiet", "--end-of-options", &spec])?;
        Ok(answer.succeeded().then(|| answer.trimmed_stdout()))
    }

    fn worktree_root(&self) -> Result<Option<PathBuf>, GitError> {
        let answer = self.run(&["rev-parse", "--show-toplevel"])?;
        let mut path = answer.output;
        if !answer.status.success() || path.is_empty() {
            return Ok(None);
        }
        path.pop();
        Ok(Some(lockstep_text::path_of_bytes(path)))
    }
}
