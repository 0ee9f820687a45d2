//! The index: which words stand in which files, and what a parser saw in each. Queried without loading it, brought up to date
//! in place.
//!
//! On disk in `.lockstep/index/`, or in memory for a project that has no state directory: nothing is written where nobody
//! asked. Format, versions and crash safety are told in `docs/design/002-index.md`. References are not kept: see
//! [`lockstep_refs`].
//!
//! [`Index::open`] looks at the disk first. What differs is read anew where it is little, so that the answers are those of
//! this moment; otherwise they are those of the index and say so ([`Index::condition`]).

mod amendment;
mod build;
mod codec;
mod content;
mod early;
mod facts;
mod files;
mod harvest;
mod keep;
mod listing;
mod look;
mod manifest;
mod merge;
mod open;
mod progress;
mod revision;
mod rules;
mod settings;
mod stats;
mod storage;
mod table;
mod update;
mod verify;
mod version;
mod words;
mod world;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use lockstep_refs::facts::Facts;
use lockstep_refs::slots::Slots;
use serde::Serialize;

use files::{ByDirectory, Documents, Files};
use manifest::Manifest;
use open::Unkept;
use storage::Storage;
use table::Table;

pub use build::{Built, Order, build, is_stored, wait_for_writer};
pub use content::Unseen;
pub use open::{Effort, Home, Sight};
pub use progress::{Phase, Progress, Unwatched};
pub use settings::{MAX_FILE_BYTES, Settings};
pub use stats::Stats;
pub use storage::{Holder, WriterLock};
pub use verify::{Verdict, verify};

/// How long after the deadline texts are still read.
const TIME_FOR_TEXTS: Duration = Duration::from_millis(500);

/// An index as of one moment.
#[derive(Debug)]
pub struct Index {
    root: PathBuf,
    /// Where it is kept; `None` for one that is only in memory.
    storage: Option<Storage>,
    settings: Settings,
    manifest: Manifest,
    /// Whether the manifest is the one on disk.
    kept: bool,
    /// What is to be written, where that was put off.
    unkept: Option<Unkept>,
    files: Files,
    words: Vec<Table>,
    facts: Vec<Table>,
    documents: OnceLock<Documents>,
    /// Files that the disk has otherwise than the index, sorted; where there were too many to read them.
    differing: Vec<u32>,
    /// How many files differ, are new or gone.
    behind: usize,
    /// How many of them were not read because the time was over.
    skipped: usize,
    /// When the time for questions is over: afterwards no further file is read or parsed.
    deadline: Option<Instant>,
    /// Whether a question was left unanswered because of that.
    expired: AtomicBool,
    /// Whether a file was found changed after the look at the disk.
    moved: AtomicBool,
    /// Whether the look that goes on while it is asked has found something changed.
    outdated: AtomicBool,
    /// Whether a part of the index could not be believed.
    damaged: AtomicBool,
    by_directory: OnceLock<ByDirectory>,
    by_name: OnceLock<Vec<(u64, u32)>>,
    /// How often a file was asked for by its name.
    named_asked: AtomicUsize,
    texts: Slots<Option<Arc<str>>>,
    known_facts: Slots<Option<Arc<Facts>>>,
    /// Files whose facts were parsed and are not kept yet.
    parsed: Mutex<Vec<u32>>,
    /// The facts, as they are kept, of files that were found changed or gone when it was opened, by path.
    replaced: Vec<(String, Vec<u8>)>,
}

/// What an answer is worth.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Condition {
    /// Whether the answers given so far are those of the files on disk.
    pub fresh: bool,
    /// How many files the index is behind: changed, new or gone.
    pub behind: usize,
    /// The commit that is checked out; `None` where it cannot be told cheaply.
    pub commit: Option<String>,
    /// How often the index was changed.
    pub generation: u64,
    /// When the index was last changed, in nanoseconds since 1970.
    pub written_at: i64,
    /// How many files are in scope.
    pub files: usize,
    /// How many of them could not be looked into.
    pub unseen: Unseen,
}

impl Index {
    /// What the answers given so far are worth. To be asked last: a file may change while questions are answered.
    pub fn condition(&self) -> Condition {
        Condition {
            fresh: self.behind == 0 && !self.moved.load(Ordering::Relaxed),
            behind: self.behind,
            commit: revision::head(&self.root),
            generation: self.manifest.generation,
            written_at: self.manifest.written_at,
            files: self.files.len(),
            unseen: self.files.unseen(),
        }
    }

    /// Whether the look that goes on while it is asked has found something changed: it will be asked again.
    pub fn is_outdated(&self) -> bool {
        self.outdated.load(Ordering::Relaxed)
    }

    /// How many files it does not have because the time was over before they were read.
    pub fn skipped(&self) -> usize {
        self.skipped
    }

    /// Whether the time was over before everything that was asked for could be read and parsed: answers may be incomplete.
    pub fn has_expired(&self) -> bool {
        self.expired.load(Ordering::Relaxed)
    }

    /// Whether no further text is read: a little later, so that the lines of places that were found can still be shown.
    fn is_expired_for_texts(&self) -> bool {
        let is_over = self.deadline.is_some_and(|deadline| Instant::now() >= deadline + TIME_FOR_TEXTS);
        if is_over {
            self.expired.store(true, Ordering::Relaxed);
        }
        is_over
    }

    /// Whether the time is over. Files that are not in memory yet are then treated as unreadable.
    fn is_expired(&self) -> bool {
        let is_over = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if is_over {
            self.expired.store(true, Ordering::Relaxed);
        }
        is_over
    }

    /// What it is of.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Whether a part of the index was found damaged. Answers are right all the same, only slower.
    pub fn is_damaged(&self) -> bool {
        self.damaged.load(Ordering::Relaxed)
    }
}
