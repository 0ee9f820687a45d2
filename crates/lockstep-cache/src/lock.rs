//! Allows one build at a time. The lock ends with its process.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use lockstep_fs::FileLock;

use crate::error::CacheError;

/// The time that a build waits for another one. A build takes tens of milliseconds.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// Acquires the lock in the file at `path`; gives up at `deadline`, if there is one.
pub(crate) fn lock(path: PathBuf, deadline: Option<Instant>) -> Result<FileLock, CacheError> {
    let left = deadline.map_or(PATIENCE, |deadline| deadline.saturating_duration_since(Instant::now()));
    match FileLock::acquire(&path, left.min(PATIENCE)) {
        Ok(Some(lock)) => Ok(lock),
        Ok(None) if left < PATIENCE => Err(CacheError::DeadlineExceeded),
        Ok(None) => Err(CacheError::Busy { path }),
        Err(source) => Err(CacheError::Target { what: "lock", path, source }),
    }
}
