//! A file's stamp, compared to detect a change without reading the file.

use std::fs::Metadata;
use std::time::{SystemTime, UNIX_EPOCH};

/// A file that was written this shortly before it was stamped may be written again within the same tick of the file system's clock
/// (up to 10 ms), without different times.
pub const RACY_NANOS: i64 = 20_000_000;

/// Size, times and inode. The change time is there because programs set modification times back. Windows reports neither a change
/// time nor a number of the file here: `ctime` is the time of its creation, and `inode` is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FileStamp {
    /// Size in bytes.
    pub size: u64,
    /// When it was modified, in nanoseconds since 1970.
    pub mtime: i64,
    /// The inode's change time, in nanoseconds since 1970.
    pub ctime: i64,
    pub inode: u64,
}

impl FileStamp {
    /// Returns the stamp of a file at the time `now`. If its times are racy, returns the default stamp, which equals that of no
    /// file.
    pub fn settled(meta: &Metadata, now: i64) -> Self {
        let stamp = Self::from(meta);
        if stamp.is_racy(now) { Self::default() } else { stamp }
    }

    /// Returns true if the file may be written again without a change of its times.
    pub fn is_racy(&self, now: i64) -> bool {
        self.ctime.max(self.mtime) >= now - RACY_NANOS
    }

    /// Returns true if a file with the stamp `now` is unchanged.
    pub fn is_still(&self, now: impl Into<Self>) -> bool {
        *self != Self::default() && *self == now.into()
    }

    /// Returns bytes that are the same for equal stamps only.
    pub fn to_bytes(&self) -> [u8; 32] {
        let mut bytes = [0; 32];
        let numbers = [self.size, self.mtime.cast_unsigned(), self.ctime.cast_unsigned(), self.inode];
        for (to, number) in bytes.chunks_exact_mut(8).zip(numbers) {
            to.copy_from_slice(&number.to_le_bytes());
        }
        bytes
    }
}

/// Returns the current time in the unit of stamps: nanoseconds since 1970.
pub fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}
