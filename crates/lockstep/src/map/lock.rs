//! The lock of a project's map: one process updates it at a time, the next waits and names the owner. The
//! lock ends with its process.

use std::fs::{File, TryLockError};
use std::io::{Read as _, Seek as _};
use std::thread::sleep;
use std::time::{Duration, Instant};

use lockstep_store::{StateDir, note_holder, open_private};

use crate::error::{CommandError, Kind};
use crate::terminal::{Terminal, complain};

/// The maximum wait for another process's build.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(600);

/// A wait shorter than this is not reported.
const NOTICE_DELAY: Duration = Duration::from_millis(300);

/// Leave to write the map; it ends with the value.
pub(super) struct MapLock {
    _file: File,
}

impl MapLock {
    /// Acquires the lock for `what`, waiting for its owner.
    pub(super) fn take(state: &StateDir, what: &str, terminal: &Terminal) -> Result<Self, CommandError> {
        let path = state.ensure("map")?.join("lock");
        let failed = |doing: &str, error: std::io::Error| {
            CommandError::new(Kind::Store, format!("cannot {doing} {}: {error}", path.display()))
        };
        let mut file = open_private(&path).map_err(|error| failed("open", error))?;
        let started = Instant::now();
        let mut told = false;
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::Error(error)) => return Err(failed("lock", error)),
                Err(TryLockError::WouldBlock) if started.elapsed() > ACQUIRE_TIMEOUT => {
                    let message = format!(
                        "{} has been making the map for {} s",
                        holder(&mut file),
                        ACQUIRE_TIMEOUT.as_secs()
                    );
                    return Err(
                        CommandError::new(Kind::Store, message).hint("wait until it has ended, or end it")
                    );
                }
                Err(TryLockError::WouldBlock) => {}
            }
            if !told && !terminal.quiet() && started.elapsed() > NOTICE_DELAY {
                complain(&format!("waiting for {}\n", holder(&mut file)));
                told = true;
            }
            sleep(Duration::from_millis(2));
        }
        let note = format!("process {} (map {what})\n", std::process::id());
        note_holder(&file, &note);
        Ok(Self { _file: file })
    }
}

/// Returns the owner's note.
fn holder(file: &mut File) -> String {
    let mut note = String::new();
    let _ = file.rewind().and_then(|()| file.take(200).read_to_string(&mut note));
    match note.trim() {
        "" => "another process".to_owned(),
        note => note.chars().filter(|c| !c.is_control()).collect(),
    }
}
