//! Linked worktrees: separate working directories for agents.

use std::path::Path;

use crate::{GitError, Repository};

impl Repository {
    /// Makes a worktree of the commit that is checked out, at `directory`, which must not exist. No branch is made.
    pub fn add_worktree(&self, directory: &Path) -> Result<(), GitError> {
        let directory = directory.to_string_lossy();
        self.run_checked(&["worktree", "add", "--quiet", "--detach", &directory, "HEAD"]).map(drop)
    }

    /// Removes a worktree and its content. A missing one is only pruned.
    pub fn remove_worktree(&self, directory: &Path) -> Result<(), GitError> {
        let name = directory.to_string_lossy();
        if directory.exists() {
            self.run_checked(&["worktree", "remove", "--force", &name])?;
        }
        self.run_checked(&["worktree", "prune"]).map(drop)
    }
}
