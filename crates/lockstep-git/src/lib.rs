//! Git queries of Lockstep: changed files between two states, their old contents, files that changed
//! together.
//!
//! [`Repository`] runs the `git` program, so that its configuration, worktrees and every object format are
//! respected. Hooks start no process: they use only [`local`], which reads git's files.

mod changes;
pub mod cochange;
mod command;
mod contents;
mod dates;
pub mod local;
pub mod moves;
pub mod patch;
mod removed;
mod worktree;

pub use changes::{Between, Changed, Status};
pub use removed::Removed;

use std::io;
use std::path::{Path, PathBuf};

/// The reason why git failed, or its unexpected output.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// The program could not be started or talked to.
    #[error("cannot run git")]
    Run(#[source] io::Error),
    /// Git reported an error.
    #[error("git {what} failed: {message}")]
    Refused { what: String, message: String },
    /// The output of git cannot be parsed.
    #[error("git {what} gave an answer that is not understood")]
    Answer { what: String },
}

/// A directory inside a repository's working tree. Paths are relative to it; files outside are ignored.
#[derive(Debug, Clone)]
pub struct Repository {
    directory: PathBuf,
}

impl Repository {
    /// Returns the repository of `directory`, if there is one.
    pub fn at(directory: &Path) -> Result<Option<Self>, GitError> {
        let repository = Self { directory: directory.to_owned() };
        // At its top, git need not be started.
        if directory.join(".git").exists() {
            return Ok(Some(repository));
        }
        Ok(repository.top()?.map(|_| repository))
    }

    /// The top of the working tree; `None` outside of one.
    pub fn top_of(directory: &Path) -> Result<Option<PathBuf>, GitError> {
        Self { directory: directory.to_owned() }.top()
    }

    /// The commit that is checked out; `None` before the first one.
    pub fn head(&self) -> Result<Option<String>, GitError> {
        self.revision("HEAD")
    }

    /// Resolves a name to a commit, if there is one.
    pub fn revision(&self, name: &str) -> Result<Option<String>, GitError> {
        let spec = format!("{name}^{{commit}}");
        let answer = self.ask(&["rev-parse", "--verify", "--quiet", "--end-of-options", &spec])?;
        Ok(answer.succeeded().then(|| answer.line()))
    }

    fn top(&self) -> Result<Option<PathBuf>, GitError> {
        let answer = self.ask(&["rev-parse", "--show-toplevel"])?;
        let mut path = answer.output;
        if !answer.status.success() || path.is_empty() {
            return Ok(None);
        }
        path.pop();
        Ok(Some(lockstep_text::path_of_bytes(path)))
    }
}
