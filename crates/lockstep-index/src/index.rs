//! The index: the words, definitions, imports and uses of every file. It is queried without being loaded, and
//! updated in place.
//!
//! It is stored in `.lockstep/index/`, or in memory for a project without a state directory.
//! `docs/design/002-index.md` describes its format, versions and crash safety. References are not stored: see
//! [`lockstep_refs`].
//!
//! [`Index::open`] first compares the index with the disk. A few changed files are read again, so that
//! answers match the disk. If there are many, answers come from the stored index, and [`Index::condition`]
//! says so.

mod build;
mod codec;
mod commit;
mod compaction;
mod content;
mod delta;
mod facts;
mod file_table;
mod git_head;
mod ignore_rules;
mod manifest;
mod open;
mod postings;
mod progress;
mod scope_walk;
mod settings;
mod snapshot;
mod sorted_table;
mod speculative;
mod stat_scan;
mod stats;
mod storage;
mod tokenizer;
mod update_plan;
mod verify;
mod version;
mod word_indexer;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use lockstep_refs::facts::Facts;
use lockstep_refs::lazy_array::LazyArray;
use serde::Serialize;

use file_table::{ByDirectory, FileTable, LiveDocuments};
use manifest::Manifest;
use open::PendingUpdate;
use postings::Postings;
use sorted_table::SortedTable;
use storage::Storage;

pub use build::{IndexBuildOptions, IndexBuildOutcome, build, is_stored, wait_for_writer};
pub use content::SkippedFiles;
pub use open::{IndexLocation, ScanScope, UpdatePolicy};
pub use progress::{IndexPhase, IndexProgress, NoProgress};
pub use settings::{IndexSettings, MAX_FILE_BYTES};
pub use stats::IndexStats;
pub use storage::{LockHolder, WriterLock};
pub use verify::{VerifyResult, verify};

/// The time after the deadline in which texts are still read.
const TIME_FOR_TEXTS: Duration = Duration::from_millis(500);

#[derive(Debug)]
pub struct Index {
    root: PathBuf,
    /// The directory of the index; `None` if it is only in memory.
    storage: Option<Storage>,
    settings: IndexSettings,
    manifest: Manifest,
    /// Set if the manifest equals the one on disk.
    kept: bool,
    /// The update that is not written yet, if writing was deferred.
    unkept: Option<PendingUpdate>,
    files: FileTable,
    words: Vec<SortedTable>,
    facts: Vec<SortedTable>,
    documents: OnceLock<LiveDocuments>,
    /// The files that contain a word, by its hash.
    with_words: Postings,
    /// The files whose stored facts contain a word outside their uses, by its hash.
    with_names: Postings,
    /// The files with stored facts, sorted.
    with_facts: OnceLock<Vec<u32>>,
    /// The files with stored facts that are complete, sorted.
    with_complete_facts: OnceLock<Vec<u32>>,
    /// The texts whose present facts are not stored, sorted.
    without_facts: OnceLock<Vec<u32>>,
    /// Files that differ from the index, sorted. Only set if there were too many to read them.
    differing: Vec<u32>,
    /// The number of changed, new and deleted files.
    behind: usize,
    /// The number of changed files that were not read before the deadline.
    skipped: usize,
    /// The deadline for queries. After it, no further file is read or parsed.
    deadline: Option<Instant>,
    /// Set if a query was incomplete because of the deadline.
    expired: AtomicBool,
    /// Set if a file changed after the disk was checked.
    moved: AtomicBool,
    /// Set if the check that runs in parallel to the query has found a change.
    outdated: AtomicBool,
    /// Set if a part of the index is damaged.
    damaged: AtomicBool,
    by_directory: OnceLock<ByDirectory>,
    by_name: OnceLock<Vec<(u64, u32)>>,
    /// The number of lookups by file name.
    named_asked: AtomicUsize,
    texts: LazyArray<Option<Arc<str>>>,
    known_facts: LazyArray<Option<Arc<Facts>>>,
    /// Files whose facts were parsed and are not stored yet.
    parsed: Mutex<Vec<u32>>,
    /// The stored facts of files that were found changed or deleted when the index was opened, by path.
    replaced: Vec<(String, Vec<u8>)>,
}

/// Freshness of an answer: whether it matches the files on disk, and which files were skipped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct IndexFreshness {
    /// True if the answers so far match the files on disk.
    pub fresh: bool,
    /// The number of files that changed, were added or were deleted since the last update.
    pub behind: usize,
    /// The commit that is checked out; `None` if finding it would be expensive.
    pub commit: Option<String>,
    /// The number of updates of the index.
    pub generation: u64,
    /// The time of the last change of the index, in nanoseconds since 1970.
    pub written_at: i64,
    pub files: usize,
    /// The number of files that could not be read, by reason.
    pub unseen: SkippedFiles,
}

impl Index {
    /// Returns the freshness of the answers so far. Call it last: a file may change while queries run.
    pub fn condition(&self) -> IndexFreshness {
        IndexFreshness {
            fresh: self.behind == 0 && !self.moved.load(Ordering::Relaxed),
            behind: self.behind,
            commit: git_head::head(&self.root),
            generation: self.manifest.generation,
            written_at: self.manifest.written_at,
            files: self.files.len(),
            unseen: self.files.unseen(),
        }
    }

    /// Returns true if the parallel check has found a change. The query will be repeated.
    pub fn is_outdated(&self) -> bool {
        self.outdated.load(Ordering::Relaxed)
    }

    /// The number of files that are missing because they were not read before the deadline.
    pub fn skipped(&self) -> usize {
        self.skipped
    }

    /// Returns true if the deadline passed before all requested files were read and parsed. Answers may be
    /// incomplete.
    pub fn has_expired(&self) -> bool {
        self.expired.load(Ordering::Relaxed)
    }

    /// Returns true if no further text is read: a little later, so that the lines of places that were found can still be shown.
    fn is_expired_for_texts(&self) -> bool {
        let is_over = self.deadline.is_some_and(|deadline| Instant::now() >= deadline + TIME_FOR_TEXTS);
        if is_over {
            self.expired.store(true, Ordering::Relaxed);
        }
        is_over
    }

    /// Returns true if the time is over. Files that are not in memory yet are then treated as unreadable.
    fn is_expired(&self) -> bool {
        let is_over = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if is_over {
            self.expired.store(true, Ordering::Relaxed);
        }
        is_over
    }

    pub fn settings(&self) -> &IndexSettings {
        &self.settings
    }

    /// Returns true if a part of the index is damaged. Answers are correct nevertheless, but slower.
    pub fn is_damaged(&self) -> bool {
        self.damaged.load(Ordering::Relaxed)
    }
}
