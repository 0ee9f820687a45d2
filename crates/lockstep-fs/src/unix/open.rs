//! Options for files that others may have planted.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;

use rustix::fs::OFlags;

/// Reading and writing at an offset, without moving the position of the file.
pub use std::os::unix::fs::FileExt as PositionedIo;

/// Returns options under which opening a pipe in place of a file does not wait for its other end. A created file has mode 0600.
pub fn non_blocking() -> OpenOptions {
    with_flags(OFlags::NONBLOCK)
}

/// Returns options like those of [`non_blocking`] under which a link is an error.
pub fn no_follow() -> OpenOptions {
    with_flags(OFlags::NONBLOCK | OFlags::NOFOLLOW)
}

fn with_flags(flags: OFlags) -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(0o600).custom_flags((flags | OFlags::CLOEXEC | OFlags::NOCTTY).bits().cast_signed());
    options
}

/// Lets writes at an offset of a file that was opened for appending go to that offset.
pub fn clear_append(file: &File) -> io::Result<()> {
    let flags = rustix::fs::fcntl_getfl(file)?;
    Ok(rustix::fs::fcntl_setfl(file, flags.difference(OFlags::APPEND))?)
}
