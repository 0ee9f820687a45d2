//! The version of a file, compared to decide whether the index has its present content.
//!
//! Unlike the sweep's [`Stamp`](crate::stamp::Stamp), it uses the inode's change time, which programs cannot
//! set. A file that was rewritten and got its old modification time back has another version.

use std::fs::Metadata;

use lockstep_fs::{FileStamp, RACY_NANOS};
use serde::{Deserialize, Serialize};

use super::codec::check;

/// Size, change time and inode, and a digest of the content if the time cannot be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct FileVersion {
    pub(crate) size: u64,
    /// In nanoseconds since 1970. Zero if neither time nor content can be trusted: no file has this version.
    pub(crate) changed: i64,
    pub(crate) inode: u64,
    /// Zero if the time can be trusted.
    pub(crate) digest: u64,
}

impl From<FileStamp> for FileVersion {
    fn from(FileStamp { size, ctime: changed, inode, .. }: FileStamp) -> Self {
        Self { size, changed, inode, digest: 0 }
    }
}

impl FileVersion {
    pub(crate) fn of(meta: &Metadata) -> Self {
        FileStamp::from(meta).into()
    }

    /// Returns the version for a content that was read at time `at`. If the time is racy, it includes a
    /// digest.
    pub(crate) fn of_content(self, content: &[u8], at: i64) -> Self {
        if self.is_racy(at) { Self { digest: digest(content), ..self } } else { self }
    }

    /// Returns the version of a file whose content was not read.
    pub(crate) fn unread(self, at: i64) -> Self {
        if self.is_racy(at) { Self { changed: 0, ..self } } else { self }
    }

    /// Combines all fields in one number, for comparison only.
    pub(crate) fn number(&self) -> u64 {
        let parts = [self.size, self.changed.cast_unsigned(), self.inode, self.digest];
        let number = parts
            .iter()
            .fold(0_u64, |number, part| (number.rotate_left(23) ^ part).wrapping_mul(0xff51_afd7_ed55_8ccd));
        // Callers use zero for "unknown".
        (number ^ (number >> 32)).max(1)
    }

    /// Returns true if the time is too recent to be trusted.
    pub(crate) fn is_racy(&self, at: i64) -> bool {
        self.changed >= at - RACY_NANOS
    }

    /// Returns true if the two can only differ in content.
    pub(crate) fn matches_metadata(&self, other: &Self) -> bool {
        (self.size, self.changed, self.inode) == (other.size, other.changed, other.inode)
    }

    /// Returns true if `content`, read from a file with version `now`, has this version.
    pub(crate) fn matches_content(&self, now: &Self, content: &[u8]) -> bool {
        self.matches_metadata(now) && (self.digest == 0 || self.digest == digest(content))
    }
}

fn digest(content: &[u8]) -> u64 {
    // Zero stands for "not digested".
    check(content).max(1)
}
