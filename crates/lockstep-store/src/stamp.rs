//! A file's stamp, compared to decide whether the file must be read again.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::Stat;

/// A file that was written this shortly before it was stamped may be written again within the same tick of
/// the file system's clock, without different times.
const RACY_NANOS: i64 = 20_000_000;

/// Size, times and inode. The change time is there because programs set modification times back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stamp {
    /// Size in bytes.
    pub size: u64,
    /// When it was modified, in nanoseconds since 1970.
    pub mtime: i64,
    /// The inode's change time, in nanoseconds since 1970.
    pub ctime: i64,
    /// Inode number.
    pub inode: u64,
}

impl Stamp {
    /// Returns the stamp of a file at the time `now`. If its times are racy, returns the default stamp, which
    /// equals that of no file.
    pub fn of(meta: &Metadata, now: i64) -> Self {
        let stamp = Self::plain(meta);
        if stamp.is_young(now) { Self::default() } else { stamp }
    }

    /// Returns true if the file may be written again without a change of its times.
    pub(crate) fn is_young(&self, now: i64) -> bool {
        self.ctime.max(self.mtime) >= now - RACY_NANOS
    }

    /// The stamp of a file, however young.
    pub fn plain(meta: &Metadata) -> Self {
        Self {
            size: meta.size(),
            mtime: nanos(meta.mtime(), meta.mtime_nsec()),
            ctime: nanos(meta.ctime(), meta.ctime_nsec()),
            inode: meta.ino(),
        }
    }

    /// Returns true if a file still has this stamp.
    pub fn still(&self, meta: &Metadata) -> bool {
        *self != Self::default() && *self == Self::plain(meta)
    }

    /// Like [`Stamp::still`], for the result of `statat`.
    pub fn still_stat(&self, stat: &Stat) -> bool {
        *self != Self::default() && *self == Self::of_stat(stat)
    }

    /// Returns the stamp in the result of `statat`, even if its times are racy.
    pub fn of_stat(stat: &Stat) -> Self {
        Self {
            size: stat.st_size.cast_unsigned(),
            mtime: nanos(stat.st_mtime, stat.st_mtime_nsec.cast_signed()),
            ctime: nanos(stat.st_ctime, stat.st_ctime_nsec.cast_signed()),
            inode: stat.st_ino,
        }
    }

    /// The same for equal stamps, and another for others.
    pub fn bytes(&self) -> [u8; 32] {
        let mut bytes = [0; 32];
        let numbers = [self.size, self.mtime.cast_unsigned(), self.ctime.cast_unsigned(), self.inode];
        for (to, number) in bytes.chunks_exact_mut(8).zip(numbers) {
            to.copy_from_slice(&number.to_le_bytes());
        }
        bytes
    }
}

fn nanos(seconds: i64, nanos: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(nanos)
}

/// Nanoseconds since 1970.
pub fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}
