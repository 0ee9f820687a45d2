//! What a cache remembers between processes, in `.lockstep/cache/`: the record of the last build and the memo of skills.
//! Losing it costs time, nothing else.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use lockstep_store::{StateDir, StoreError};

use crate::memo::{self, Memo};
use crate::record::{self, Record};

/// The directory, beside the project's other state.
const DIR: &str = "cache";

/// The record of the last build; an empty one if there is none, or a damaged one.
pub(crate) fn record(state: &StateDir) -> Record {
    Record::decode(&record_text(state)).unwrap_or_default()
}

/// The same as text, for [`record::untouched`].
pub(crate) fn record_text(state: &StateDir) -> String {
    kept(state, record::FILE)
}

/// The memo; an empty one if there is none, or a damaged one.
pub(crate) fn memo(state: &StateDir) -> Memo {
    Memo::decode(&kept(state, memo::FILE))
}

/// Keeps both.
pub(crate) fn keep(state: &StateDir, record: &Record, memo: &Memo) -> Result<(), StoreError> {
    let dir = state.ensure(DIR)?;
    replace(&dir, record::FILE, record.encode().as_bytes())?;
    replace(&dir, memo::FILE, memo.encode().as_bytes())
}

/// The file that builds lock.
pub(crate) fn lock_file(state: &StateDir) -> Result<PathBuf, StoreError> {
    Ok(state.ensure(DIR)?.join("lock"))
}

fn kept(state: &StateDir, file: &str) -> String {
    fs::read_to_string(state.path().join(DIR).join(file)).unwrap_or_default()
}

/// Replaces a file in one step. Not synced: a damaged one is read as none.
pub(crate) fn replace(dir: &Path, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
    let path = dir.join(name);
    let io = |source| StoreError::Io { what: "write", path: path.clone(), source };
    let mut file = tempfile::NamedTempFile::new_in(dir).map_err(io)?;
    file.write_all(bytes).map_err(io)?;
    file.persist(&path).map_err(|error| io(error.error))?;
    Ok(())
}
