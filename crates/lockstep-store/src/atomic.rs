//! Whole files or nothing: temporary file, fsync, rename.

use std::fs::{self, Permissions};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::StoreError;

/// Replaces `path` by `content` in one step; a reader sees the old file or the new one. An existing file keeps its
/// permissions, a new one gets `mode`.
pub fn write_atomically(path: &Path, content: &[u8], mode: u32) -> Result<(), StoreError> {
    let dir = path.parent().unwrap_or(Path::new("."));
    let mode = fs::metadata(path).map_or(mode, |meta| meta.permissions().mode() & 0o7777);
    let mut file = tempfile::Builder::new()
        .prefix(".lockstep-")
        .permissions(Permissions::from_mode(mode))
        .tempfile_in(dir)
        .map_err(StoreError::io("create a file in", dir))?;
    file.write_all(content).map_err(StoreError::io("write", path))?;
    // The umask narrowed what the builder asked for; an existing file's mode is kept as it was.
    file.as_file()
        .set_permissions(Permissions::from_mode(mode))
        .and_then(|()| file.as_file().sync_all())
        .map_err(StoreError::io("write", path))?;
    file.persist(path).map_err(|error| StoreError::io("replace", path)(error.error))?;
    // The rename is only durable once the directory is.
    fs::File::open(dir).and_then(|dir| dir.sync_all()).map_err(StoreError::io("sync", dir))
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
