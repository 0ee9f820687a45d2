//! Entries relative to a directory.

use std::borrow::Cow;
use std::ffi::{CStr, CString, OsStr, OsString};
use std::fs::{self, DirBuilder, File, FileType, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::NamedTempFile;

use crate::dir::{Entry, FileKind, Links};
use crate::stamp::FileStamp;

/// A path as callers have it: a name of the system, text, or bytes of a stored path.
pub trait Arg {
    fn to_path(&self) -> Cow<'_, Path>;
}

impl Arg for &CStr {
    fn to_path(&self) -> Cow<'_, Path> {
        PathBuf::from(self.to_string_lossy().into_owned()).into()
    }
}

macro_rules! paths {
    ($($kind:ty),*) => {$(
        impl Arg for $kind {
            fn to_path(&self) -> Cow<'_, Path> {
                Path::new(self).into()
            }
        }
    )*};
}

paths!(&str, &String, &OsStr, &OsString, &Path, &PathBuf);

impl From<FileType> for FileKind {
    fn from(kind: FileType) -> Self {
        if kind.is_file() {
            Self::Regular
        } else if kind.is_dir() {
            Self::Directory
        } else if kind.is_symlink() {
            Self::Link
        } else {
            Self::Special
        }
    }
}

impl From<&Metadata> for Entry {
    fn from(meta: &Metadata) -> Self {
        Self { kind: meta.file_type().into(), stamp: FileStamp::from(meta) }
    }
}

/// A directory. It is a path: unlike on Unix, another directory may take its place between two calls.
#[derive(Debug)]
pub struct Dir(PathBuf);

impl Dir {
    /// Checks that there is a directory.
    pub fn open(path: impl Arg, links: Links) -> io::Result<Self> {
        let path = path.to_path().into_owned();
        if look(&path, links)?.is_dir() { Ok(Self(path)) } else { Err(io::ErrorKind::NotADirectory.into()) }
    }

    /// Checks that there is a directory below this one.
    pub fn open_below(&self, path: impl Arg, links: Links) -> io::Result<Self> {
        Self::open(&self.0.join(path.to_path()), links)
    }

    /// Looks at the directory itself.
    pub fn own_entry(&self) -> io::Result<Entry> {
        Ok(Entry::from(&fs::metadata(&self.0)?))
    }

    /// Looks at the entry at `path`; under [`Links::Refuse`], at the link itself.
    pub fn entry(&self, path: impl Arg, links: Links) -> io::Result<Entry> {
        Ok(Entry::from(&look(&self.0.join(path.to_path()), links)?))
    }
}

fn look(path: &Path, links: Links) -> io::Result<Metadata> {
    match links {
        Links::Follow => fs::metadata(path),
        Links::Refuse => fs::symlink_metadata(path),
    }
}

/// Lists the names and kinds in the directory at a path. The open directory cannot be listed with safe calls.
pub fn list(_dir: File, path: &Path) -> io::Result<Vec<(CString, FileKind)>> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let name = CString::new(entry.file_name().as_encoded_bytes())?;
        entries.push((name, entry.file_type()?.into()));
    }
    Ok(entries)
}

/// Returns a builder of directories. They inherit the access control of the directory above.
pub(crate) fn private_dir_builder() -> DirBuilder {
    DirBuilder::new()
}

/// Always fails: two files cannot be exchanged in one step. The caller replaces the file instead.
pub(crate) fn exchange(_one: &Path, _other: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Does nothing: NTFS records names in its journal, and a directory cannot be synced.
pub(crate) fn sync_names(_dir: &Path) -> io::Result<()> {
    Ok(())
}

/// The time in which other processes close a file that is replaced.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// Renames a temporary file to `path`. Some file systems refuse this while another process has that file open, so it is tried for
/// a while.
pub(crate) fn persist(file: NamedTempFile, path: &Path) -> io::Result<()> {
    let (open, temporary) = file.keep().map_err(|error| error.error)?;
    drop(open);
    let start = Instant::now();
    loop {
        match fs::rename(&temporary, path) {
            Err(error)
                if error.kind() == io::ErrorKind::PermissionDenied && start.elapsed() < CLOSE_TIMEOUT =>
            {
                thread::sleep(Duration::from_millis(5));
            }
            Err(error) => {
                let _ = fs::remove_file(&temporary);
                return Err(error);
            }
            Ok(()) => return Ok(()),
        }
    }
}
