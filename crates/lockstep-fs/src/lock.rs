//! Locks between processes. A lock ends with its value, or with its process.

use std::fs::{File, TryLockError};
use std::io::{self, Read as _};
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::platform::PositionedIo as _;

/// The interval between two attempts to take a lock.
const PAUSE: Duration = Duration::from_millis(2);

const MAX_NOTE_BYTES: u64 = 4096;

#[derive(Debug)]
pub struct FileLock {
    file: File,
}

impl FileLock {
    /// Takes the lock in the file at `path`, which is created if it is missing. Waits for another holder for at most `patience`;
    /// `None` if it still has the lock then. Anything but a regular file, which may have come with a cloned repository, is
    /// refused.
    pub fn acquire(path: &Path, patience: Duration) -> io::Result<Option<Self>> {
        let file = crate::open_to_write(path)?;
        let start = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Some(Self { file })),
                Err(TryLockError::Error(error)) => return Err(error),
                Err(TryLockError::WouldBlock) if start.elapsed() >= patience => return Ok(None),
                Err(TryLockError::WouldBlock) => sleep(PAUSE),
            }
        }
    }

    /// Like [`FileLock::acquire`], without a limit.
    pub fn wait(path: &Path) -> io::Result<Self> {
        let file = crate::open_to_write(path)?;
        file.lock()?;
        Ok(Self { file })
    }

    /// Takes the lock together with other readers, without a limit.
    pub fn wait_shared(file: File) -> io::Result<Self> {
        file.lock_shared()?;
        Ok(Self { file })
    }

    pub fn file(&self) -> &File {
        &self.file
    }

    /// Writes the holder into the file, for people; errors are ignored. Overwrites in place, because truncating a file takes ten
    /// times as long as writing a line.
    pub fn set_note(&self, note: &str) {
        let is_longer = self.file.metadata().is_ok_and(|meta| meta.len() > note.len() as u64);
        let written = self.file.write_all_at(note.as_bytes(), 0);
        if is_longer && written.is_ok() {
            let _ = self.file.set_len(note.len() as u64);
        }
    }

    /// Returns the note of the lock at `path`, of any holder. Empty if there is none, and on Windows while the lock is held: its
    /// locks keep others from reading.
    pub fn note(path: &Path) -> String {
        let mut note = String::new();
        let read = crate::open(path).and_then(|file| file.take(MAX_NOTE_BYTES).read_to_string(&mut note));
        read.map(|_| note).unwrap_or_default()
    }
}

impl Drop for FileLock {
    /// Releases the lock explicitly. Closing the file would not be enough: a child process that another thread is just starting has
    /// a copy of the file until it executes its program, and others would see the lock as taken.
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_second_holder_waits_and_reads_the_note() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let lock = FileLock::acquire(&path, Duration::ZERO).unwrap().unwrap();
        for note in ["process 12\n", "process 12345 (update)\n", "process 9\n", ""] {
            lock.set_note(note);
            assert_eq!(FileLock::note(&path), note);
        }
        assert!(FileLock::acquire(&path, Duration::ZERO).unwrap().is_none());
        drop(lock);
        assert!(FileLock::acquire(&path, Duration::ZERO).unwrap().is_some());
        crate::symlink(&path, dir.path().join("link")).unwrap();
        assert!(FileLock::acquire(&dir.path().join("link"), Duration::ZERO).is_err());
    }
}
