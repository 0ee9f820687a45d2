//! State of a cache between processes, in `.lockstep/cache/`: the record of the last build and the memo of
//! skills. Losing it costs only time.

use std::path::{Path, PathBuf};

use lockstep_store::{StateDir, StoreError};

use crate::build_record::{self, BuildRecord};
use crate::skill_facts_cache::{self, SkillFactsCache};

/// The directory, beside the project's other state.
const DIR: &str = "cache";

/// Returns the record of the last build, or an empty one if it is missing or damaged.
pub(crate) fn record(state: &StateDir) -> BuildRecord {
    BuildRecord::decode(&record_text(state)).unwrap_or_default()
}

/// The same as text, for [`build_record::all_unchanged`].
pub(crate) fn record_text(state: &StateDir) -> String {
    read_state_file(state, build_record::FILE)
}

/// Returns the memo, or an empty one if it is missing or damaged.
pub(crate) fn memo(state: &StateDir) -> SkillFactsCache {
    SkillFactsCache::decode(&read_state_file(state, skill_facts_cache::FILE))
}

/// Saves both files.
pub(crate) fn keep(state: &StateDir, record: &BuildRecord, memo: &SkillFactsCache) -> Result<(), StoreError> {
    let dir = state.ensure_dir(DIR)?;
    replace(&dir, build_record::FILE, record.encode().as_bytes())?;
    replace(&dir, skill_facts_cache::FILE, memo.encode().as_bytes())
}

pub(crate) fn lock_file(state: &StateDir) -> Result<PathBuf, StoreError> {
    Ok(state.ensure_dir(DIR)?.join("lock"))
}

fn read_state_file(state: &StateDir, file: &str) -> String {
    lockstep_fs::read_to_string(state.path().join(DIR).join(file)).unwrap_or_default()
}

/// Replaces a file atomically. It is not synced: a damaged one is treated as missing.
pub(crate) fn replace(dir: &Path, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
    Ok(lockstep_fs::replace_unsynced(&dir.join(name), bytes)?)
}
