//! Removes temporary files of processes that were killed before they could rename them.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::{StateDir, StoreError, StoreResult};

/// The prefixes of temporary file names: those of `write_atomically`, and those of writers that do not sync.
const PREFIXES: [&str; 2] = [lockstep_fs::TEMPORARY_PREFIX, ".tmp"];

/// A younger one may still be written.
const MIN_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// The depth to which directories are searched: `cache/ready/`, `reports/SESSION/`.
const DEPTH: usize = 2;

impl StateDir {
    /// Removes temporary files that are a day old at `now`, and returns their number. Links are not followed.
    pub fn remove_stale_temp_files(&self, now: SystemTime) -> StoreResult<usize> {
        if self.exists() { collect(self.path(), now, DEPTH) } else { Ok(0) }
    }
}

/// Removes temporary files that a killed writer left in a directory of the project, if they are a day old at `now`.
pub fn collect_beside(dir: &Path, now: SystemTime) {
    let old = |entry: &fs::DirEntry| {
        entry.file_type().is_ok_and(|kind| kind.is_file())
            && lockstep_fs::is_temporary(&entry.file_name())
            && is_old(entry, now)
    };
    for entry in fs::read_dir(dir).into_iter().flatten().flatten().filter(old) {
        let _ = fs::remove_file(entry.path());
    }
}

fn collect(dir: &Path, now: SystemTime, depth: usize) -> StoreResult<usize> {
    let mut removed = 0;
    // Entries may vanish during the search, because sessions end at any time.
    let entries = match fs::read_dir(dir) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(0),
        entries => entries.map_err(StoreError::io("list", dir))?,
    };
    for entry in entries {
        let Ok(entry) = entry else { continue };
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() && depth > 0 {
            removed += collect(&entry.path(), now, depth - 1)?;
        } else if kind.is_file() && is_temporary(&entry) && is_old(&entry, now) {
            let path = entry.path();
            match fs::remove_file(&path) {
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                done => {
                    done.map_err(StoreError::io("remove", &path))?;
                    removed += 1;
                }
            }
        }
    }
    Ok(removed)
}

fn is_temporary(entry: &fs::DirEntry) -> bool {
    let name = entry.file_name();
    PREFIXES.iter().any(|prefix| name.as_encoded_bytes().starts_with(prefix.as_bytes()))
}

/// Returns true for an old file. A file without a readable time does not count.
fn is_old(entry: &fs::DirEntry, now: SystemTime) -> bool {
    let modified = entry.metadata().and_then(|meta| meta.modified());
    modified.is_ok_and(|modified| now.duration_since(modified).is_ok_and(|age| age >= MIN_AGE))
}

#[cfg(test)]
mod tests {
    use lockstep_fs::symlink;

    use super::*;

    #[test]
    fn old_temporary_files_go_and_nothing_else() {
        let (root, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let state = StateDir::for_project(root.path());
        let now = SystemTime::now();
        assert_eq!(state.remove_stale_temp_files(now).unwrap(), 0);
        state.ensure_dir("reports/s1").unwrap();
        state.ensure_dir("index").unwrap();
        let put = |path: &Path, age: u64| {
            let file = fs::File::create(path).unwrap();
            file.set_modified(now - Duration::from_secs(age)).unwrap();
        };
        let day = 24 * 60 * 60;
        let old = ["reports/s1/.lockstep-aB3dE6", "index/.tmpXyZ123", ".lockstep-zzzzzz"];
        let recent = ["reports/s1/1.md", "index/catalogue", "state.db", "index/.hidden"];
        old.iter().chain(&recent).for_each(|name| put(&state.path().join(name), day + 60));
        put(&state.path().join("index/.tmpYoung1"), day - 60);
        put(&elsewhere.path().join(".tmpOther1"), 2 * day);
        symlink(elsewhere.path(), state.path().join("link")).unwrap();
        assert_eq!(state.remove_stale_temp_files(now).unwrap(), old.len());
        assert!(old.iter().all(|name| !state.path().join(name).exists()));
        assert!(recent.iter().chain(&["index/.tmpYoung1"]).all(|name| state.path().join(name).exists()));
        assert!(elsewhere.path().join(".tmpOther1").exists());
    }
}
