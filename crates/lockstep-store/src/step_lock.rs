//! The lock of a step: one writer at a time, and a holder that excludes others for a while.
//!
//! A writer takes the system's lock on a small file, which ends with its process. A hold is a note in that
//! file with the holder's name and an end time, so a holder that dies blocks the step no longer than that.

use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use lockstep_fs::{FileLock, PositionedIo as _};
use serde::{Deserialize, Serialize};

use crate::{StateDir, StoreError, StoreResult};

/// The maximum wait for another writer, which needs a few milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    pub name: String,
    /// The start of the hold.
    pub since: Timestamp,
    /// Until when; `None` for a writer, which is done in a moment.
    pub until: Option<Timestamp>,
}

impl std::fmt::Display for Holder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "STEP_LOCKED by {} since {:.0}", self.name, self.since)?;
        match self.until {
            Some(until) => write!(f, ", until {until:.0}"),
            None => Ok(()),
        }
    }
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Note {
    holder: Option<Holder>,
    writer: Option<Holder>,
}

/// Leave to write a step; it ends with the value.
#[derive(Debug)]
pub struct StepLock {
    lock: FileLock,
    path: PathBuf,
    note: Note,
}

/// The reason why a step cannot be written now.
#[derive(Debug, thiserror::Error)]
pub enum StepLockError {
    #[error("{0}")]
    Held(Holder),
    /// The lock itself cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl StepLock {
    /// Takes the lock of a step, by the absolute path of its file, for `name`. Another holder is respected
    /// until its hold ends.
    pub fn take(state: &StateDir, step: &Path, name: &str, now: Timestamp) -> Result<Self, StepLockError> {
        let lock = Self::take_over(state, step, name, now)?;
        match lock.holder(now) {
            Some(holder) if holder.name != name => Err(StepLockError::Held(holder.clone())),
            _ => Ok(lock),
        }
    }

    /// Takes the lock regardless of the holder: a gate must be able to record that it failed.
    pub fn take_over(
        state: &StateDir,
        step: &Path,
        name: &str,
        now: Timestamp,
    ) -> Result<Self, StepLockError> {
        let path = path(state, step)?;
        let Some(lock) = FileLock::acquire(&path, PATIENCE).map_err(StoreError::io("lock", &path))? else {
            let unknown = Holder { name: "another process".to_owned(), since: now, until: None };
            return Err(StepLockError::Held(read(&path).writer.unwrap_or(unknown)));
        };
        let mut lock = Self { note: read(&path), lock, path };
        lock.note.writer = Some(Holder { name: name.to_owned(), since: now, until: None });
        lock.write()?;
        Ok(lock)
    }

    /// Returns the holder of the step, if there is one, without taking the lock.
    pub fn held(state: &StateDir, step: &Path, now: Timestamp) -> Option<Holder> {
        read(&state.path().join("steps").join("locks").join(key(step)))
            .holder
            .filter(|holder| holder.until.is_none_or(|until| until > now))
    }

    pub fn holder(&self, now: Timestamp) -> Option<&Holder> {
        self.note.holder.as_ref().filter(|holder| holder.until.is_none_or(|until| until > now))
    }

    /// Keeps others out until `until`.
    pub fn hold(&mut self, name: &str, now: Timestamp, until: Timestamp) -> StoreResult {
        self.note.holder = Some(Holder { name: name.to_owned(), since: now, until: Some(until) });
        self.write()
    }

    /// Lets others in.
    pub fn release(&mut self) -> StoreResult {
        self.note.holder = None;
        self.write()
    }

    fn write(&self) -> StoreResult {
        let text = serde_json::to_string(&self.note).expect("a note is plain text");
        let file = self.lock.file();
        let written = file.set_len(0).and_then(|()| file.write_all_at(text.as_bytes(), 0));
        written.map_err(StoreError::io("write", &self.path))
    }
}

fn key(step: &Path) -> String {
    blake3::hash(step.as_os_str().as_encoded_bytes()).to_hex()[..32].to_owned()
}

fn path(state: &StateDir, step: &Path) -> StoreResult<PathBuf> {
    state.ensure_dir("steps")?;
    state.ensure_dir("steps/locks")?;
    Ok(state.path().join("steps").join("locks").join(key(step)))
}

/// Reads the note. A truncated note is empty.
fn read(lock: &Path) -> Note {
    serde_json::from_str(&FileLock::note(lock)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hold_keeps_others_out_until_it_ends() {
        let root = tempfile::tempdir().unwrap();
        let (state, step) = (StateDir::for_project(root.path()), Path::new("/p/steps/1.json"));
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let (now, until) = (at("2026-02-14T10:00:00Z"), at("2026-02-14T10:30:00Z"));
        StepLock::take(&state, step, "ada", now).unwrap().hold("ada", now, until).unwrap();
        let error = StepLock::take(&state, step, "bob", now).unwrap_err();
        assert_eq!(
            error.to_string(),
            "STEP_LOCKED by ada since 2026-02-14T10:00:00Z, until 2026-02-14T10:30:00Z"
        );
        assert_eq!(StepLock::held(&state, step, now).unwrap().name, "ada");
        StepLock::take(&state, step, "ada", now).unwrap();
        StepLock::take(&state, Path::new("/p/steps/2.json"), "bob", now).unwrap();
        StepLock::take_over(&state, step, "gate", now).unwrap();
        StepLock::take(&state, step, "bob", until).unwrap();
        let mut lock = StepLock::take(&state, step, "ada", now).unwrap();
        lock.release().unwrap();
        drop(lock);
        StepLock::take(&state, step, "bob", now).unwrap();
        assert_eq!(StepLock::held(&state, step, now), None);
    }
}
