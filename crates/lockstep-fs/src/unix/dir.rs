//! Entries relative to an open directory.

use std::ffi::CString;
use std::fs::{DirBuilder, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat};
use rustix::path::Arg;
use tempfile::NamedTempFile;

use crate::dir::{Entry, FileKind, Links};
use crate::stamp::FileStamp;

/// Creates a symbolic link.
pub use std::os::unix::fs::symlink;

impl From<FileType> for FileKind {
    fn from(kind: FileType) -> Self {
        match kind {
            FileType::RegularFile => Self::Regular,
            FileType::Directory => Self::Directory,
            FileType::Symlink => Self::Link,
            FileType::Unknown => Self::Unknown,
            _ => Self::Special,
        }
    }
}

impl From<Stat> for Entry {
    fn from(stat: Stat) -> Self {
        Self { kind: FileType::from_raw_mode(stat.st_mode).into(), stamp: FileStamp::from(&stat) }
    }
}

/// An open directory. Paths relative to it are shorter, and resolved faster, than absolute ones.
#[derive(Debug)]
pub struct Dir(OwnedFd);

impl Dir {
    /// Opens a directory to look at its entries.
    pub fn open(path: impl Arg, links: Links) -> io::Result<Self> {
        Ok(Self(rustix::fs::openat(CWD, path, directory_flags(links), Mode::empty())?))
    }

    pub fn open_below(&self, path: impl Arg, links: Links) -> io::Result<Self> {
        Ok(Self(rustix::fs::openat(&self.0, path, directory_flags(links), Mode::empty())?))
    }

    /// Looks at the directory itself.
    pub fn own_entry(&self) -> io::Result<Entry> {
        Ok(rustix::fs::fstat(&self.0)?.into())
    }

    /// Looks at the entry at `path`; under [`Links::Refuse`], at the link itself.
    pub fn entry(&self, path: impl Arg, links: Links) -> io::Result<Entry> {
        let flags = match links {
            Links::Follow => AtFlags::empty(),
            Links::Refuse => AtFlags::SYMLINK_NOFOLLOW,
        };
        Ok(rustix::fs::statat(&self.0, path, flags)?.into())
    }
}

fn directory_flags(links: Links) -> OFlags {
    // Only Linux opens a directory without the right to list it.
    #[cfg(target_os = "linux")]
    let access = OFlags::PATH;
    #[cfg(not(target_os = "linux"))]
    let access = OFlags::RDONLY;
    let flags = access | OFlags::DIRECTORY | OFlags::CLOEXEC;
    if links == Links::Refuse { flags | OFlags::NOFOLLOW } else { flags }
}

/// Lists the names and kinds in a directory that was opened for reading, without `.` and `..`. The path is used on Windows only.
pub fn list(dir: File, _path: &Path) -> io::Result<Vec<(CString, FileKind)>> {
    let mut entries = Vec::new();
    for entry in rustix::fs::Dir::new(dir)? {
        let entry = entry?;
        let name = entry.file_name();
        if !matches!(name.to_bytes(), b"." | b"..") {
            entries.push((name.to_owned(), entry.file_type().into()));
        }
    }
    Ok(entries)
}

/// Creates a named pipe that only its owner can use.
#[cfg(target_os = "linux")]
pub fn make_pipe(path: &Path) -> io::Result<()> {
    Ok(rustix::fs::mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o600), 0)?)
}

/// Returns a builder of directories with mode 0700.
pub(crate) fn private_dir_builder() -> DirBuilder {
    let mut builder = DirBuilder::new();
    builder.mode(0o700);
    builder
}

/// Exchanges two files in one step. Fails if the file system cannot do it.
pub(crate) fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    Ok(rustix::fs::renameat_with(CWD, one, CWD, other, rustix::fs::RenameFlags::EXCHANGE)?)
}

/// Makes the names in a directory durable.
pub(crate) fn sync_names(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

/// Renames a temporary file to `path`.
pub(crate) fn persist(file: NamedTempFile, path: &Path) -> io::Result<()> {
    file.persist(path).map(drop).map_err(|error| error.error)
}
