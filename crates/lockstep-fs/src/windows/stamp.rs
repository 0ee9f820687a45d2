//! Stamps from the system's records of files.

use std::fs::Metadata;
use std::os::windows::fs::MetadataExt as _;

use crate::stamp::FileStamp;

/// The start of 1970 in the unit of Windows: 100 nanoseconds since the start of 1601.
const START_OF_1970: i64 = 116_444_736_000_000_000;

impl From<&Metadata> for FileStamp {
    fn from(meta: &Metadata) -> Self {
        Self {
            size: meta.file_size(),
            mtime: nanos(meta.last_write_time()),
            ctime: nanos(meta.creation_time()),
            inode: 0,
        }
    }
}

fn nanos(time: u64) -> i64 {
    time.cast_signed().saturating_sub(START_OF_1970).saturating_mul(100)
}
