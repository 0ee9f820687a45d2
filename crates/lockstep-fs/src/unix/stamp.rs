//! Stamps from the system's records of files.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;

use rustix::fs::Stat;

use crate::stamp::FileStamp;

impl From<&Metadata> for FileStamp {
    fn from(meta: &Metadata) -> Self {
        Self {
            size: meta.size(),
            mtime: nanos(meta.mtime(), meta.mtime_nsec()),
            ctime: nanos(meta.ctime(), meta.ctime_nsec()),
            inode: meta.ino(),
        }
    }
}

impl From<&Stat> for FileStamp {
    fn from(stat: &Stat) -> Self {
        Self {
            size: stat.st_size.cast_unsigned(),
            mtime: nanos(stat.st_mtime, part(stat.st_mtime_nsec)),
            ctime: nanos(stat.st_ctime, part(stat.st_ctime_nsec)),
            inode: stat.st_ino,
        }
    }
}

/// The part below a second, whose type differs between systems.
fn part(nanos: impl TryInto<i64>) -> i64 {
    nanos.try_into().unwrap_or_default()
}

fn nanos(seconds: i64, nanos: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(nanos)
}
