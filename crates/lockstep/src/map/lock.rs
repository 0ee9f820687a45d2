//! The lock of a project's map: one process updates it at a time, the next waits and names the owner. The
//! lock ends with its process.

use std::path::Path;
use std::time::Duration;

use lockstep_fs::FileLock;
use lockstep_store::StateDir;

use crate::error::{CommandError, CommandResult};
use crate::terminal::{Terminal, print_error};

/// The maximum wait for another process's build.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(600);

/// A wait shorter than this is not reported.
const NOTICE_DELAY: Duration = Duration::from_millis(300);

/// Leave to write the map; it ends with the value.
pub(super) struct MapLock {
    _lock: FileLock,
}

impl MapLock {
    /// Acquires the lock for `what`, waiting for its owner.
    pub(super) fn acquire(state: &StateDir, what: &str, terminal: &Terminal) -> CommandResult<Self> {
        let path = state.ensure_dir("map")?.join("lock");
        let acquire = |patience| {
            FileLock::acquire(&path, patience)
                .map_err(|error| CommandError::store(format!("cannot lock {}: {error}", path.display())))
        };
        let mut lock = acquire(NOTICE_DELAY)?;
        if lock.is_none() {
            if !terminal.quiet() {
                print_error(&format!("waiting for {}\n", lock_owner(&path)));
            }
            lock = acquire(ACQUIRE_TIMEOUT)?;
        }
        let Some(lock) = lock else {
            let message =
                format!("{} has been making the map for {} s", lock_owner(&path), ACQUIRE_TIMEOUT.as_secs());
            return Err(CommandError::store(message).hint("wait until it has ended, or end it"));
        };
        lock.set_note(&format!("process {} (map {what})\n", std::process::id()));
        Ok(Self { _lock: lock })
    }
}

/// Returns the owner's note.
fn lock_owner(path: &Path) -> String {
    match FileLock::note(path).trim() {
        "" => "another process".to_owned(),
        note => note.chars().filter(|c| !c.is_control()).collect(),
    }
}
