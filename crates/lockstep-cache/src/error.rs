//! Errors of building and reading a cache.

use std::io;
use std::path::PathBuf;

use lockstep_store::StoreError;

use crate::lock::PATIENCE;

/// An error while building or reading a cache. A problem of a section is not an error but part of the
/// section's marker.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// The project's root cannot be used.
    #[error("the project root {} cannot be used", path.display())]
    Root {
        path: PathBuf,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// The cache file cannot be read or written.
    #[error("cannot {what} the session cache {}", path.display())]
    Target {
        what: &'static str,
        path: PathBuf,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// Something else is where the cache would be written.
    #[error(
        "{} is not written: {why}. Name another file in `[cache] path`, or remove this one", path.display()
    )]
    WouldOverwrite {
        path: PathBuf,
        /// The kind of file that was found.
        why: &'static str,
    },
    /// The file could not be replaced.
    #[error(transparent)]
    Write(#[from] StoreError),
    /// Another process builds, and does not end.
    #[error("another process has been building this cache for {} s ({} is locked)", PATIENCE.as_secs(), path.display())]
    Busy { path: PathBuf },
    /// Reading took longer than was allowed; the cache is as it was.
    #[error("the session cache could not be built in the time that was allowed")]
    DeadlineExceeded,
}
