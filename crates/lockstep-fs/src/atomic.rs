//! Whole files or nothing: temporary file, fsync, rename.

use std::ffi::OsStr;
use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use tempfile::{NamedTempFile, PersistError};

use crate::error::FsError;
use crate::platform::{exchange, mode_of, persist, set_file_mode, sync_names, temporary_builder};

/// The prefix of temporary file names.
pub const TEMPORARY_PREFIX: &str = ".lockstep-";

/// The number of random characters behind it.
const RANDOM: usize = 6;

/// Returns true for the name of a temporary file that a killed process may have left beside the file it was to become.
pub fn is_temporary(name: &OsStr) -> bool {
    let random = name.to_str().and_then(|name| name.strip_prefix(TEMPORARY_PREFIX));
    random.is_some_and(|random| {
        random.len() == RANDOM && random.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// Replaces `path` by `content` if its content still is `before` (`None`: there is no such file). Returns
/// false if it is not.
///
/// A concurrent change by another process is not lost: the two files are exchanged, and the other one is
/// checked afterwards.
pub fn replace_if_unchanged(
    path: &Path,
    before: Option<&[u8]>,
    content: &[u8],
    mode: u32,
) -> Result<bool, FsError> {
    let dir = path.parent().unwrap_or(Path::new("."));
    if content_of(path)?.as_deref() != before {
        return Ok(false);
    }
    let mode = fs::metadata(path).map_or(mode, |meta| mode_of(&meta));
    let prepared = StagedFile::new(dir, content, mode)?;
    let temporary = prepared.0.path().to_owned();
    // Writing the file to disk took time in which others may have written.
    if content_of(path)?.as_deref() != before {
        return Ok(false);
    }
    if before.is_none() {
        match prepared.0.persist_noclobber(path) {
            Ok(_) => {}
            Err(PersistError { error, .. })
                if matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::NotFound) =>
            {
                return Ok(false);
            }
            // The file system cannot do it in one step.
            Err(PersistError { file, .. }) => StagedFile(file).put(path)?,
        }
        sync_dir(dir)?;
        return Ok(true);
    }
    match exchange(&temporary, path) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        // The file system cannot do it in one step.
        Err(_) => {
            prepared.put(path)?;
            sync_dir(dir)?;
            return Ok(true);
        }
    }
    if content_of(&temporary)?.as_deref() != before {
        // Another process changed the file first, so its file is moved back.
        exchange(&temporary, path).map_err(FsError::at("restore", path))?;
        return Ok(false);
    }
    sync_dir(dir)?;
    Ok(true)
}

fn content_of(path: &Path) -> Result<Option<Vec<u8>>, FsError> {
    match crate::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(FsError::at("read", path)(error)),
    }
}

/// Replaces `path` by `content` in one step; a reader sees the old file or the new one. An existing file keeps its
/// permissions, a new one gets `mode`.
pub fn write_atomically(path: &Path, content: &[u8], mode: u32) -> Result<(), FsError> {
    let dir = path.parent().unwrap_or(Path::new("."));
    let mode = fs::metadata(path).map_or(mode, |meta| mode_of(&meta));
    StagedFile::new(dir, content, mode)?.put(path)?;
    sync_dir(dir)
}

/// Like [`write_atomically`], for a directory that is not ours: a killed process leaves its temporary file in
/// `staging`, our own directory on the same file system. If it is on another file system, the temporary file
/// is created next to `path`.
pub fn write_atomically_from(staging: &Path, path: &Path, content: &[u8], mode: u32) -> Result<(), FsError> {
    let mode = fs::metadata(path).map_or(mode, |meta| mode_of(&meta));
    match StagedFile::new(staging, content, mode)?.put(path) {
        Ok(()) => sync_dir(path.parent().unwrap_or(Path::new("."))),
        Err(FsError { source, .. }) if source.kind() == ErrorKind::CrossesDevices => {
            write_atomically(path, content, mode)
        }
        Err(error) => Err(error),
    }
}

/// Like [`write_atomically`] for private files, but not synced: a power failure may leave the former content or a damaged one.
pub fn replace_unsynced(path: &Path, content: &[u8]) -> Result<(), FsError> {
    let dir = path.parent().unwrap_or(Path::new("."));
    let mut file = temporary(dir, 0o600)?;
    file.write_all(content).map_err(FsError::at("write", path))?;
    StagedFile(file).put(path)
}

fn temporary(dir: &Path, mode: u32) -> Result<NamedTempFile, FsError> {
    temporary_builder(mode)
        .prefix(TEMPORARY_PREFIX)
        .rand_bytes(RANDOM)
        .tempfile_in(dir)
        // The system's answer, without the temporary name.
        .map_err(|error| FsError::at("create a file in", dir)(error.kind().into()))
}

/// A file whose content is on disk and which has no final name yet.
#[derive(Debug)]
pub struct StagedFile(NamedTempFile);

impl StagedFile {
    /// Writes `content` to a file of this `mode` in `dir`.
    pub fn new(dir: &Path, content: &[u8], mode: u32) -> Result<Self, FsError> {
        let mut file = temporary(dir, mode)?;
        // The umask restricted the mode that the builder requested.
        file.write_all(content)
            .and_then(|()| set_file_mode(file.as_file(), mode))
            .and_then(|()| file.as_file().sync_all())
            .map_err(FsError::at("write", file.path()))?;
        Ok(Self(file))
    }

    /// Renames it to `path`, in the same directory, and replaces an existing file. Durable once the directory
    /// is synced.
    pub fn put(self, path: &Path) -> Result<(), FsError> {
        persist(self.0, path).map_err(FsError::at("replace", path))
    }
}

/// Makes the names in a directory durable.
pub fn sync_dir(dir: &Path) -> Result<(), FsError> {
    sync_names(dir).map_err(FsError::at("sync", dir))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_changed_is_not_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        assert!(replace_if_unchanged(&path, None, b"one", 0o600).unwrap());
        assert!(!replace_if_unchanged(&path, None, b"two", 0o600).unwrap());
        assert!(!replace_if_unchanged(&path, Some(b"other"), b"two", 0o600).unwrap());
        assert_eq!(fs::read(&path).unwrap(), b"one");
        assert!(replace_if_unchanged(&path, Some(b"one"), b"two", 0o600).unwrap());
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "no temporary file is left");
    }

    #[cfg(unix)]
    #[test]
    fn replaces_whole_files_and_keeps_their_mode() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        write_atomically(&path, b"one", 0o600).unwrap();
        assert_eq!(mode_of(&fs::metadata(&path).unwrap()), 0o600);
        crate::set_mode(&path, 0o644).unwrap();
        write_atomically(&path, b"two", 0o600).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(mode_of(&fs::metadata(&path).unwrap()), 0o644);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "no temporary file is left");
    }
}
