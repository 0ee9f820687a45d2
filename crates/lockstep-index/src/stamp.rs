//! A file's stamp: what is compared to see whether it changed, without reading it.

use std::fs::{File, Metadata};
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rustix::fs::Stat;

/// A file written this shortly before it was stamped may be written again within the same tick of the
/// file system's clock (up to 10 ms), with no trace in its time.
const RACY_NANOS: i64 = 20_000_000;

/// Larger files are not read to settle a race.
const MAX_DIGESTED_BYTES: u64 = 1 << 20;

/// Size, modification time and inode; and where the time cannot be trusted, a digest of the content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Stamp {
    pub(crate) size: u64,
    pub(crate) mtime: i64,
    pub(crate) inode: u64,
    /// Zero where the time can be trusted.
    pub(crate) digest: u64,
}

impl Stamp {
    pub(crate) fn of(meta: &Metadata) -> Self {
        Self { size: meta.len(), mtime: nanos(meta.mtime(), meta.mtime_nsec()), inode: meta.ino(), digest: 0 }
    }

    pub(crate) fn of_stat(stat: &Stat) -> Self {
        Self {
            size: stat.st_size.cast_unsigned(),
            mtime: nanos(stat.st_mtime, stat.st_mtime_nsec.cast_signed()),
            inode: stat.st_ino,
            digest: 0,
        }
    }

    /// The same stamp, with the content's digest if the file was written so shortly before `taken_at` that its time
    /// cannot be trusted.
    pub(crate) fn settled(self, path: &Path, taken_at: i64) -> Self {
        let digest = if self.is_racy(taken_at) { digest(path, self.size) } else { 0 };
        Self { digest, ..self }
    }

    /// Whether the time is too young to be trusted.
    pub(crate) fn is_racy(&self, taken_at: i64) -> bool {
        self.mtime >= taken_at - RACY_NANOS
    }

    /// Whether both are stamps of the same content. `self` is the older one.
    pub(crate) fn same(&self, now: &Self) -> bool {
        self.identity() == now.identity()
            && (self.digest == 0 || now.digest == 0 || self.digest == now.digest)
    }

    /// What stays the same when a file gets another name.
    pub(crate) fn identity(&self) -> (u64, i64, u64) {
        (self.size, self.mtime, self.inode)
    }
}

/// Whether a file came to be or got its name after `taken_at`, or so shortly before that it is not certain.
pub(crate) fn arrived_after(meta: &Metadata, taken_at: i64) -> bool {
    nanos(meta.ctime(), meta.ctime_nsec()) >= taken_at - RACY_NANOS
}

pub(crate) fn nanos(seconds: i64, nanos: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(nanos)
}

pub(crate) fn digest(path: &Path, size: u64) -> u64 {
    let mut content = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MAX_DIGESTED_BYTES).read_to_end(&mut content));
    if size > MAX_DIGESTED_BYTES || read.is_err() {
        return 0;
    }
    let hash = blake3::hash(&content);
    let bytes: [u8; 8] = hash.as_bytes()[..8].try_into().expect("a hash has 32 bytes");
    // Zero means "not digested".
    u64::from_le_bytes(bytes).max(1)
}
