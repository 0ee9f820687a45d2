//! The directory in which Lockstep keeps a user's own state, outside every project: approvals and the memory of audit trails.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use lockstep_fs::{is_absent, is_own, mode_of};

use crate::{StoreError, StoreResult};

/// Larger files are not Lockstep's.
const MAX_BYTES: u64 = 8 << 20;

/// `$XDG_STATE_HOME/lockstep`, or `~/.local/state/lockstep`. Its directories are 0700, its files 0600.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserDir {
    path: PathBuf,
}

impl UserDir {
    /// The directory at `path`, which need not exist.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Creates the directory and `below` it.
    pub fn ensure(&self, below: &str) -> StoreResult<PathBuf> {
        let path = self.path.join(below);
        lockstep_fs::ensure_private_dir(&path, true).map_err(StoreError::io("create", &path))?;
        for dir in [&self.path, &path] {
            let meta = fs::symlink_metadata(dir).map_err(StoreError::io("look at", dir))?;
            let refused = |why| Err(StoreError::UnsafePath { path: dir.clone(), why });
            if !meta.is_dir() {
                return refused("it must be a directory, not a link or a file");
            }
            if !is_own(&meta) {
                return refused("it belongs to someone else");
            }
            if mode_of(&meta) & 0o077 != 0 {
                lockstep_fs::set_mode(dir, 0o700).map_err(StoreError::io("make private", dir))?;
            }
        }
        Ok(path)
    }

    /// Returns the text of a file below the directory. `None` if there is no file. A link, a special file and
    /// a file of another user are errors.
    pub fn read(&self, below: &str) -> StoreResult<Option<String>> {
        let path = self.path.join(below);
        let file = match lockstep_fs::no_follow().read(true).open(&path) {
            Err(error) if is_absent(&error) => return Ok(None),
            opened => opened.map_err(StoreError::io("read", &path))?,
        };
        let meta = file.metadata().map_err(StoreError::io("look at", &path))?;
        if !meta.is_file() || !is_own(&meta) {
            return Err(StoreError::UnsafePath { path, why: "it is not a plain file of this user" });
        }
        let mut text =
            String::with_capacity(usize::try_from(meta.len().min(MAX_BYTES)).unwrap_or_default() + 1);
        file.take(MAX_BYTES).read_to_string(&mut text).map_err(StoreError::io("read", &path))?;
        Ok(Some(text))
    }

    /// Replaces a file by `text` in one step. It is not synced: a power failure may leave the former text.
    pub fn write(&self, below: &str, text: &str) -> StoreResult {
        Ok(lockstep_fs::replace_unsynced(&self.path.join(below), text.as_bytes())?)
    }

    /// Removes a file below the directory; returns true if there was one.
    pub fn remove(&self, below: &str) -> StoreResult<bool> {
        let path = self.path.join(below);
        lockstep_fs::remove_if_present(&path).map_err(StoreError::io("remove", &path))
    }
}

#[cfg(test)]
mod tests {
    use lockstep_fs::symlink;

    use super::*;

    #[test]
    fn its_directories_and_files_are_private() {
        let home = tempfile::tempdir().unwrap();
        let user = UserDir::new(home.path().join("state/lockstep"));
        assert_eq!(user.read("trust/a").unwrap(), None);
        user.ensure("trust").unwrap();
        user.write("trust/a", "one").unwrap();
        user.write("trust/a", "two").unwrap();
        assert_eq!(user.read("trust/a").unwrap().as_deref(), Some("two"));
        let mode = |path: &str| mode_of(&fs::metadata(user.path().join(path)).unwrap());
        assert_eq!((mode(""), mode("trust"), mode("trust/a")), (0o700, 0o700, 0o600));
        lockstep_fs::set_mode(user.path(), 0o755).unwrap();
        user.ensure("trust").unwrap();
        assert_eq!(mode(""), 0o700);
        assert!(user.remove("trust/a").unwrap() && !user.remove("trust/a").unwrap());
        symlink("/etc/hostname", user.path().join("trust/link")).unwrap();
        assert!(user.read("trust/link").is_err());
    }
}
