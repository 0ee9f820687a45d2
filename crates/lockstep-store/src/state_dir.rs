//! `.lockstep/` beside `lockstep.toml`: where everything is, and the promise that it is ours.

use std::fs;
use std::path::{Path, PathBuf};

use lockstep_model::ids::SessionId;

use crate::{StoreError, StoreResult};

#[derive(Debug, Clone)]
pub struct StateDir {
    path: PathBuf,
}

impl StateDir {
    pub const NAME: &str = ".lockstep";

    /// The state directory of the project at `root`, which need not exist yet.
    pub fn for_project(root: &Path) -> Self {
        Self { path: root.join(Self::NAME) }
    }

    /// The state directory at `path`, which need not be in a project.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Makes sure that the directory and `below` it exist, are private, and are no symbolic links: state is never
    /// written out of the project. Git ignores the directory by its own `.gitignore`.
    pub fn ensure_dir(&self, below: &str) -> StoreResult<PathBuf> {
        private_dir(&self.path)?;
        self.hide_from_git()?;
        let mut path = self.path.clone();
        for component in below.split('/').filter(|c| !c.is_empty()) {
            path.push(component);
            private_dir(&path)?;
        }
        Ok(path)
    }

    /// Looked at each time, because a process may have died, or the disk been full, right after the directory was made.
    fn hide_from_git(&self) -> StoreResult {
        let ignore = self.path.join(".gitignore");
        match fs::symlink_metadata(&ignore) {
            Ok(meta) if meta.len() > 0 => Ok(()),
            _ => Ok(lockstep_fs::write_atomically(&ignore, b"*\n", 0o600)?),
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns true if the directory exists.
    pub fn exists(&self) -> bool {
        self.path.is_dir()
    }

    pub fn database(&self) -> PathBuf {
        self.path.join("state.db")
    }

    pub fn hook_log(&self) -> PathBuf {
        self.path.join("log").join("hooks.log")
    }

    pub fn index(&self) -> PathBuf {
        self.path.join("index")
    }

    pub fn reports(&self, session: &SessionId) -> PathBuf {
        self.path.join("reports").join(session.as_str())
    }
}

fn private_dir(path: &Path) -> StoreResult {
    let why = "it must be a directory, not a link or a file";
    let is_directory =
        lockstep_fs::ensure_private_dir(path, false).map_err(StoreError::io("create", path))?;
    if is_directory { Ok(()) } else { Err(StoreError::UnsafePath { path: path.to_owned(), why }) }
}

#[cfg(test)]
mod tests {
    use lockstep_fs::{mode_of, symlink};

    use super::*;

    #[test]
    fn state_directory_is_private_and_ignored_by_git() {
        let root = tempfile::tempdir().unwrap();
        let state = StateDir::for_project(root.path());
        state.ensure_dir("log").unwrap();
        state.ensure_dir("log").unwrap();
        let ignore = state.path().join(".gitignore");
        assert_eq!(fs::read_to_string(&ignore).unwrap(), "*\n");
        fs::write(&ignore, "").unwrap();
        state.ensure_dir("").unwrap();
        assert_eq!(fs::read_to_string(&ignore).unwrap(), "*\n", "one that was cut short is mended");
        for dir in [state.path(), &state.path().join("log")] {
            assert_eq!(mode_of(&fs::metadata(dir).unwrap()), 0o700);
        }
    }

    #[test]
    fn a_link_is_never_followed_out_of_the_project() {
        let (root, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        symlink(elsewhere.path(), root.path().join(".lockstep")).unwrap();
        let error = StateDir::for_project(root.path()).ensure_dir("log").unwrap_err();
        assert!(matches!(error, StoreError::UnsafePath { .. }), "{error}");
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    }
}
