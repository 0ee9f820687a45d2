//! A file's stamp, compared to detect a change without reading the file.

use std::fs::Metadata;
use std::io::Read as _;
use std::path::Path;

use lockstep_fs::{FileStamp, RACY_NANOS};

/// Larger files are not digested, even if their time is racy.
const MAX_DIGESTED_BYTES: u64 = 1 << 20;

/// Size, modification time and inode, and a digest of the content if the time cannot be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct CatalogueStamp {
    pub(crate) size: u64,
    pub(crate) mtime: i64,
    pub(crate) inode: u64,
    /// Zero if the time can be trusted.
    pub(crate) digest: u64,
}

impl From<FileStamp> for CatalogueStamp {
    fn from(FileStamp { size, mtime, inode, .. }: FileStamp) -> Self {
        Self { size, mtime, inode, digest: 0 }
    }
}

impl CatalogueStamp {
    pub(crate) fn of(meta: &Metadata) -> Self {
        FileStamp::from(meta).into()
    }

    /// The same stamp, with the content's digest if the file was written so shortly before `taken_at` that its time
    /// cannot be trusted.
    pub(crate) fn with_digest_if_racy(self, path: &Path, taken_at: i64) -> Self {
        let digest = if self.is_racy(taken_at) { digest(path, self.size) } else { 0 };
        Self { digest, ..self }
    }

    /// Returns true if the time is too recent to be trusted.
    pub(crate) fn is_racy(&self, taken_at: i64) -> bool {
        self.mtime >= taken_at - RACY_NANOS
    }

    /// Returns true if both are stamps of the same content. `self` is the older one.
    pub(crate) fn same(&self, now: &Self) -> bool {
        self.identity() == now.identity()
            && (self.digest == 0 || now.digest == 0 || self.digest == now.digest)
    }

    /// Returns the fields that a rename does not change.
    pub(crate) fn identity(&self) -> (u64, i64, u64) {
        (self.size, self.mtime, self.inode)
    }
}

/// Returns true if a file was created or renamed after `taken_at`, or so shortly before that it is uncertain.
pub(crate) fn arrived_after(meta: &Metadata, taken_at: i64) -> bool {
    status_time(meta) >= taken_at - RACY_NANOS
}

/// Returns the time at which a file was last written or renamed, in nanoseconds since 1970.
pub(crate) fn status_time(meta: &Metadata) -> i64 {
    FileStamp::from(meta).ctime
}

pub(crate) fn digest(path: &Path, size: u64) -> u64 {
    let mut content = Vec::new();
    let read =
        lockstep_fs::open(path).and_then(|file| file.take(MAX_DIGESTED_BYTES).read_to_end(&mut content));
    if size > MAX_DIGESTED_BYTES || read.is_err() {
        return 0;
    }
    let hash = blake3::hash(&content);
    let bytes: [u8; 8] = hash.as_bytes()[..8].try_into().expect("a hash has 32 bytes");
    // Zero stands for "not digested".
    u64::from_le_bytes(bytes).max(1)
}
