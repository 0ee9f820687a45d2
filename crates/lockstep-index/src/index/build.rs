//! Builds the index of a project on request: all files, with the lock held, words first.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use lockstep_store::StateDir;

use super::Index;
use super::open::{OpenRequest, PersistMode, ScanScope, UpdatePolicy, load};
use super::progress::IndexProgress;
use super::settings::IndexSettings;
use super::storage::{LockHolder, Storage, WriterLock};
use crate::IndexResult;

#[derive(Debug, Clone, Copy, Default)]
pub struct IndexBuildOptions {
    /// Build from scratch, even if there is an index.
    pub anew: bool,
    /// Also parse the facts of all files, not only those that queries need.
    pub facts: bool,
}

#[derive(Debug)]
pub enum IndexBuildOutcome {
    /// The index is up to date.
    Done(Box<Index>),
    /// Another process holds the writer's lock.
    Busy(LockHolder),
}

/// Returns true if the project has a stored index with any settings.
pub fn is_stored(state: &StateDir) -> IndexResult<bool> {
    Ok(Storage::new(state).manifest()?.is_some())
}

/// Takes the writer's lock, so that no other process writes the index while the result is held. Waits at most `timeout` for a
/// process that has it; `None` if that was too short.
pub fn wait_for_writer(state: &StateDir, timeout: Duration) -> IndexResult<Option<WriterLock>> {
    let storage = Storage::new(state);
    let started = Instant::now();
    loop {
        if let Ok(writer) = storage.lock("remove")? {
            return Ok(Some(WriterLock::new(writer)));
        }
        if started.elapsed() >= timeout {
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// Builds or updates the index of the project at `root`.
pub fn build(
    root: &Path,
    state: &StateDir,
    settings: &IndexSettings,
    order: IndexBuildOptions,
    progress: &dyn IndexProgress,
) -> IndexResult<IndexBuildOutcome> {
    let storage = Storage::new(state);
    let writer = match storage.lock("build")? {
        Ok(writer) => writer,
        Err(holder) => return Ok(IndexBuildOutcome::Busy(holder)),
    };
    let loaded = load(&storage, settings)?;
    let loaded = if order.anew { loaded.unusable() } else { loaded };
    let opening = OpenRequest {
        root,
        storage: Some(storage),
        writer: Some(&writer),
        settings,
        effort: UpdatePolicy::Complete,
        sight: ScanScope::All,
        keep: PersistMode::Now,
        progress,
    };
    let mut index = opening.bring_up_to_date(loaded)?;
    if order.facts {
        let start = Instant::now();
        let count = index.fill_facts(&writer, progress)?;
        if count > 0 {
            index.note_facts_time(&writer, start.elapsed())?;
        }
    }
    Ok(IndexBuildOutcome::Done(Box::new(index)))
}
