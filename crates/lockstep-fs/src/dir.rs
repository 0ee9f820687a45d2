//! Kinds of directory entries, and private directories.

use std::fs;
use std::io;
use std::path::Path;

use crate::platform::private_dir_builder;
use crate::stamp::FileStamp;

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

/// The kind and the stamp of a directory entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    pub kind: FileKind,
    pub stamp: FileStamp,
}

/// Makes sure that `path` is a directory and no link. A new one has mode 0700, as have the directories above it that are missing if
/// `recursive` is set. Returns false if something else is there.
pub fn ensure_private_dir(path: &Path, recursive: bool) -> io::Result<bool> {
    match fs::symlink_metadata(path) {
        Ok(meta) => return Ok(meta.is_dir()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    match private_dir_builder().recursive(recursive).create(path) {
        // Another process was first.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(true),
        created => created.map(|()| true),
    }
}
