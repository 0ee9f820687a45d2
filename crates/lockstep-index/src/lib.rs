//! Lockstep's knowledge of the files on disk.
//!
//! The [`catalogue`] has a stamp of every file in scope. The [`sweep`] compares it with the disk and finds
//! changes that no tool event reported; [`reported_writes`] are the changes that tool events did report. They use
//! file names and stamps, not contents. The [`index`] has the words, definitions, imports and uses of each
//! file. The [`scope`] is the files that git tracks or would track.

pub mod catalogue;
mod catalogue_diff;
mod catalogue_scan;
pub mod content_digests;
pub mod index;
pub mod listed;
mod parallelism;
pub mod reported_writes;
pub mod scope;
mod stamp;
pub mod sweep;
pub mod user_cache;

use std::io;
use std::path::{Path, PathBuf};

use lockstep_fs::FsError;
use lockstep_store::StoreError;

pub type IndexResult<T = ()> = Result<T, IndexError>;

/// The error for a disk that could not be read, or a catalogue that could not be saved.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// A file or directory could not be used.
    #[error(transparent)]
    Io(#[from] FsError),
    /// The state directory could not be used.
    #[error(transparent)]
    State(#[from] StoreError),
    /// Another process has locked the catalogue for too long.
    #[error("another process has held {} for {seconds} s", path.display())]
    Busy { path: PathBuf, seconds: u64 },
    /// A pattern of the scope is invalid.
    #[error("a pattern of [scope] is invalid: {why}")]
    Pattern { why: String },
}

impl IndexError {
    fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let at = FsError::at(what, path);
        move |source| Self::Io(at(source))
    }
}
