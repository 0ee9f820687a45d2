//! The version of a file: what is compared to see whether the index knows its present content.
//!
//! Unlike the sweep's [`Stamp`](crate::stamp::Stamp) it goes by the time of the last change to the inode, which no program
//! can set back: a file that was rewritten and given its old modification time again is another version.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::time::SystemTime;

use rustix::fs::Stat;
use serde::{Deserialize, Serialize};

use super::codec::check;
use crate::stamp::nanos;

/// A file changed this shortly before it was read may be changed again within the same tick of the file system's clock
/// (up to 10 ms), with no trace in its time.
const RACY_NANOS: i64 = 20_000_000;

/// Size, time of change and inode; and where the time cannot be trusted, a digest of the content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Version {
    pub(crate) size: u64,
    /// In nanoseconds since 1970. Zero where neither time nor content can be trusted: no file has this version.
    pub(crate) changed: i64,
    pub(crate) inode: u64,
    /// Zero where the time can be trusted.
    pub(crate) digest: u64,
}

impl Version {
    pub(crate) fn of(meta: &Metadata) -> Self {
        Self {
            size: meta.len(),
            changed: nanos(meta.ctime(), meta.ctime_nsec()),
            inode: meta.ino(),
            digest: 0,
        }
    }

    pub(crate) fn of_stat(stat: &Stat) -> Self {
        Self {
            size: stat.st_size.cast_unsigned(),
            changed: nanos(stat.st_ctime, stat.st_ctime_nsec.cast_signed()),
            inode: stat.st_ino,
            digest: 0,
        }
    }

    /// The version of what was looked at and read from a moment on.
    pub(crate) fn of_content(self, content: &[u8], at: i64) -> Self {
        if self.is_racy(at) { Self { digest: digest(content), ..self } } else { self }
    }

    /// The version of something whose content was not read.
    pub(crate) fn unread(self, at: i64) -> Self {
        if self.is_racy(at) { Self { changed: 0, ..self } } else { self }
    }

    /// All of it in one number, for who only wants to know whether it is another.
    pub(crate) fn number(&self) -> u64 {
        let parts = [self.size, self.changed.cast_unsigned(), self.inode, self.digest];
        let number = parts
            .iter()
            .fold(0_u64, |number, part| (number.rotate_left(23) ^ part).wrapping_mul(0xff51_afd7_ed55_8ccd));
        // Zero means "unknown" to who keeps it.
        (number ^ (number >> 32)).max(1)
    }

    /// Whether the time is too young to be trusted.
    pub(crate) fn is_racy(&self, at: i64) -> bool {
        self.changed >= at - RACY_NANOS
    }

    /// Whether nothing but the content could tell the two apart.
    pub(crate) fn looks_like(&self, other: &Self) -> bool {
        (self.size, self.changed, self.inode) == (other.size, other.changed, other.inode)
    }

    /// Whether `content`, read from a file that looks like `now`, is of this version.
    pub(crate) fn is_of(&self, now: &Self, content: &[u8]) -> bool {
        self.looks_like(now) && (self.digest == 0 || self.digest == digest(content))
    }
}

fn digest(content: &[u8]) -> u64 {
    // Zero means "not digested".
    check(content).max(1)
}

/// The present moment, as files count it.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    nanos(since.as_secs().cast_signed(), i64::from(since.subsec_nanos()))
}
