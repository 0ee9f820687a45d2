//! Directories: entries relative to an open directory, and private directories.

use std::ffi::CString;
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat};
use rustix::path::Arg;

use crate::stamp::FileStamp;

/// Creates a symbolic link.
pub use std::os::unix::fs::symlink;

/// The treatment of a symbolic link at the end of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Links {
    Follow,
    Refuse,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    Regular,
    Directory,
    Link,
    /// A listing of some file systems does not tell kinds.
    Unknown,
    /// A pipe, a socket or a device.
    Special,
}

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

/// The kind and the stamp of a directory entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    pub kind: FileKind,
    pub stamp: FileStamp,
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
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    if links == Links::Refuse { flags | OFlags::NOFOLLOW } else { flags }
}

/// Lists the names and kinds in a directory that was opened for reading, without `.` and `..`.
pub fn list(dir: File) -> io::Result<Vec<(CString, FileKind)>> {
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

/// Makes sure that `path` is a directory and no link. A new one has mode 0700, as have the directories above it that are missing if
/// `recursive` is set. Returns false if something else is there.
pub fn ensure_private_dir(path: &Path, recursive: bool) -> io::Result<bool> {
    match fs::symlink_metadata(path) {
        Ok(meta) => return Ok(meta.is_dir()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    match DirBuilder::new().mode(0o700).recursive(recursive).create(path) {
        // Another process was first.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(true),
        created => created.map(|()| true),
    }
}

/// Creates a named pipe that only its owner can use.
pub fn make_pipe(path: &Path) -> io::Result<()> {
    Ok(rustix::fs::mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o600), 0)?)
}
