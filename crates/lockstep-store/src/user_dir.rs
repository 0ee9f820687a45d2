//! The directory in which Lockstep keeps a user's own state, outside every project: approvals and the memory of audit trails.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::StoreError;

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

    /// The directory itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Creates the directory and `below` it.
    pub fn ensure(&self, below: &str) -> Result<PathBuf, StoreError> {
        let path = self.path.join(below);
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&path)
            .map_err(StoreError::io("create", &path))?;
        for dir in [&self.path, &path] {
            let meta = fs::symlink_metadata(dir).map_err(StoreError::io("look at", dir))?;
            let refused = |why| Err(StoreError::Unsafe { path: dir.clone(), why });
            if !meta.is_dir() {
                return refused("it must be a directory, not a link or a file");
            }
            if meta.uid() != rustix::process::geteuid().as_raw() {
                return refused("it belongs to someone else");
            }
            if meta.mode() & 0o077 != 0 {
                fs::set_permissions(dir, Permissions::from_mode(0o700))
                    .map_err(StoreError::io("make private", dir))?;
            }
        }
        Ok(path)
    }

    /// Returns the text of a file below the directory. `None` if there is no file. A link, a special file and
    /// a file of another user are errors.
    pub fn read(&self, below: &str) -> Result<Option<String>, StoreError> {
        let path = self.path.join(below);
        let opened = File::options()
            .read(true)
            .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC).bits().cast_signed())
            .open(&path);
        let file = match opened {
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Ok(None);
            }
            opened => opened.map_err(StoreError::io("read", &path))?,
        };
        let meta = file.metadata().map_err(StoreError::io("look at", &path))?;
        if !meta.is_file() || meta.uid() != rustix::process::geteuid().as_raw() {
            return Err(StoreError::Unsafe { path, why: "it is not a plain file of this user" });
        }
        let mut text = String::new();
        file.take(MAX_BYTES).read_to_string(&mut text).map_err(StoreError::io("read", &path))?;
        Ok(Some(text))
    }

    /// Replaces a file by `text` in one step. It is not synced: a power failure may leave the former text.
    pub fn write(&self, below: &str, text: &str) -> Result<(), StoreError> {
        let path = self.path.join(below);
        let dir = path.parent().unwrap_or(&self.path);
        let mut file = tempfile::Builder::new()
            .prefix(crate::atomic::PREFIX)
            .permissions(Permissions::from_mode(0o600))
            .tempfile_in(dir)
            .map_err(StoreError::io("create a file in", dir))?;
        file.write_all(text.as_bytes()).map_err(StoreError::io("write", file.path()))?;
        file.persist(&path).map(drop).map_err(|error| StoreError::io("replace", &path)(error.error))
    }

    /// Removes a file below the directory; returns true if there was one.
    pub fn remove(&self, below: &str) -> Result<bool, StoreError> {
        let path = self.path.join(below);
        match fs::remove_file(&path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(StoreError::io("remove", &path)(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

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
        let mode = |path: &str| fs::metadata(user.path().join(path)).unwrap().mode() & 0o777;
        assert_eq!((mode(""), mode("trust"), mode("trust/a")), (0o700, 0o700, 0o600));
        fs::set_permissions(user.path(), Permissions::from_mode(0o755)).unwrap();
        user.ensure("trust").unwrap();
        assert_eq!(mode(""), 0o700);
        assert!(user.remove("trust/a").unwrap() && !user.remove("trust/a").unwrap());
        symlink("/etc/hostname", user.path().join("trust/link")).unwrap();
        assert!(user.read("trust/link").is_err());
    }
}
