//! Whole files or nothing: temporary file, fsync, rename.

use std::fs::{self, File, Permissions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tempfile::NamedTempFile;

use crate::StoreError;

/// How the names of its temporary files begin.
pub(crate) const PREFIX: &str = ".lockstep-";

/// Replaces `path` by `content` in one step; a reader sees the old file or the new one. An existing file keeps its
/// permissions, a new one gets `mode`.
pub fn write_atomically(path: &Path, content: &[u8], mode: u32) -> Result<(), StoreError> {
    let dir = path.parent().unwrap_or(Path::new("."));
    let mode = fs::metadata(path).map_or(mode, |meta| meta.permissions().mode() & 0o7777);
    Prepared::new(dir, content, mode)?.put(path)?;
    sync(dir)
}

/// The same, for a file among other people's: what a killed process leaves behind lies in `staging`, a directory of ours on the
/// same disk. Where it is another disk, the file is made beside its place.
pub fn write_atomically_from(
    staging: &Path,
    path: &Path,
    content: &[u8],
    mode: u32,
) -> Result<(), StoreError> {
    let mode = fs::metadata(path).map_or(mode, |meta| meta.permissions().mode() & 0o7777);
    match Prepared::new(staging, content, mode)?.put(path) {
        Ok(()) => sync(path.parent().unwrap_or(Path::new("."))),
        Err(StoreError::Io { source, .. }) if source.kind() == ErrorKind::CrossesDevices => {
            write_atomically(path, content, mode)
        }
        Err(error) => Err(error),
    }
}

/// A file whose content is on disk and which has no name yet.
#[derive(Debug)]
pub(crate) struct Prepared(NamedTempFile);

impl Prepared {
    /// Writes `content` to a file of this `mode` in `dir`.
    pub(crate) fn new(dir: &Path, content: &[u8], mode: u32) -> Result<Self, StoreError> {
        let mut file = tempfile::Builder::new()
            .prefix(PREFIX)
            .permissions(Permissions::from_mode(mode))
            .tempfile_in(dir)
            .map_err(StoreError::io("create a file in", dir))?;
        // The umask narrowed what the builder asked for.
        file.write_all(content)
            .and_then(|()| file.as_file().set_permissions(Permissions::from_mode(mode)))
            .and_then(|()| file.as_file().sync_all())
            .map_err(StoreError::io("write", file.path()))?;
        Ok(Self(file))
    }

    /// Gives it the name `path`, in the same directory, in place of what had it. Durable once the directory is synced.
    pub(crate) fn put(self, path: &Path) -> Result<(), StoreError> {
        self.0.persist(path).map(drop).map_err(|error| StoreError::io("replace", path)(error.error))
    }
}

/// Makes the names in a directory durable.
pub(crate) fn sync(dir: &Path) -> Result<(), StoreError> {
    File::open(dir).and_then(|dir| dir.sync_all()).map_err(StoreError::io("sync", dir))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_whole_files_and_keeps_their_mode() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        write_atomically(&path, b"one", 0o600).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        write_atomically(&path, b"two", 0o600).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o644);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "no temporary file is left");
    }
}
