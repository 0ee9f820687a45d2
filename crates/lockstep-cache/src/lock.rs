//! Allows one build at a time. The lock ends with its process.

use std::fs::{File, TryLockError};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::error::CacheError;

/// The time that a build waits for another one. A build takes tens of milliseconds.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// Acquires the lock in the file at `path`; gives up at `deadline`, if there is one.
pub(crate) fn lock(path: PathBuf, deadline: Option<Instant>) -> Result<File, CacheError> {
    let io = |source| CacheError::Target { what: "lock", path: path.clone(), source };
    let file = lockstep_fs::open_to_write(&path).map_err(io)?;
    let patience = Instant::now() + PATIENCE;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(source)) => return Err(io(source)),
            Err(TryLockError::WouldBlock) => {}
        }
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(CacheError::Late);
        }
        if Instant::now() >= patience {
            return Err(CacheError::Busy { path });
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}
