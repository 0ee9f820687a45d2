//! Opens an index: loads it from disk, then updates it from the files, within the given effort.

use std::collections::HashSet;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Mutex, OnceLock};
use std::time::Instant;

use lockstep_refs::lazy_array::LazyArray;
use lockstep_store::StateDir;

use super::commit::ManifestCommit;
use super::delta::FileTableDelta;
use super::file_table::FileTable;
use super::manifest::Manifest;
use super::postings::Postings;
use super::progress::IndexProgress;
use super::scope_walk::list;
use super::settings::IndexSettings;
use super::sorted_table::{SortedTable, TableSource};
use super::stat_scan::{ScanDiff, scan, scan_paths};
use super::storage::{IndexFileKind, IndexWriter, Storage};
use super::update_plan::IndexUpdatePlan;
use super::word_indexer::{WordTables, index_words};
use super::{Index, ignore_rules};
use crate::{IndexError, IndexResult};
use lockstep_fs::now;

#[derive(Debug, Clone, Copy)]
pub enum IndexLocation<'a> {
    Project(&'a StateDir),
    /// In memory only. Nothing is written.
    Memory,
}

impl IndexLocation<'_> {
    pub(super) fn storage(self) -> Option<Storage> {
        match self {
            Self::Project(state) => Some(Storage::new(state)),
            Self::Memory => None,
        }
    }
}

/// The work that may be done before a query is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UpdatePolicy {
    /// A few changed files are read. If there are many, the index stays outdated and reports that. A missing
    /// index is not built.
    Bounded,
    /// Read all changed files, or build the index.
    Complete,
}

/// The files that are checked when an index is opened.
#[derive(Debug, Clone, Copy)]
pub enum ScanScope<'a> {
    All,
    /// These paths, relative to the root, and their directories. Answers about other files are as of the last
    /// full check.
    Paths(&'a HashSet<String>),
}

/// The number of changed files up to which they are read before a quick answer.
const MAX_INLINE_UPDATES: usize = 300;

/// The number of attempts to read a manifest whose files are being replaced.
const MANIFEST_READ_RETRIES: usize = 20;

impl Index {
    /// Opens the index of the project at `root` and updates it. `None` if there is none and building it
    /// exceeds `effort`.
    pub fn open(
        root: &Path,
        home: IndexLocation<'_>,
        settings: &IndexSettings,
        effort: UpdatePolicy,
        progress: &dyn IndexProgress,
    ) -> IndexResult<Option<Self>> {
        let storage = home.storage();
        let loaded = load_from(storage.as_ref(), settings)?;
        if loaded.base.is_none() && effort == UpdatePolicy::Bounded {
            return Ok(None);
        }
        let (sight, keep) = (ScanScope::All, PersistMode::Now);
        let opening = OpenRequest { root, storage, writer: None, settings, effort, sight, keep, progress };
        opening.bring_up_to_date(loaded).map(Some)
    }

    /// Like [`Index::open_or_build`], but a small update is written to disk only when [`Index::persist_facts`]
    /// is called. Files outside `sight` stay as they are indexed.
    pub fn open_deferred(
        root: &Path,
        home: IndexLocation<'_>,
        settings: &IndexSettings,
        sight: ScanScope<'_>,
        progress: &dyn IndexProgress,
    ) -> IndexResult<Self> {
        let storage = home.storage();
        let loaded = load_from(storage.as_ref(), settings)?;
        let (effort, keep) = (UpdatePolicy::Complete, PersistMode::Deferred);
        OpenRequest { root, storage, writer: None, settings, effort, sight, keep, progress }
            .bring_up_to_date(loaded)
    }

    /// Opens the index of the project at `root`, builds it if it is missing, and updates it.
    pub fn open_or_build(
        root: &Path,
        home: IndexLocation<'_>,
        settings: &IndexSettings,
        progress: &dyn IndexProgress,
    ) -> IndexResult<Self> {
        let opened = Self::open(root, home, settings, UpdatePolicy::Complete, progress)?;
        Ok(opened.expect("with whole effort an index is built"))
    }
}

/// The data read from disk.
#[derive(Debug)]
pub(super) struct StoredIndex {
    pub(super) manifest: Manifest,
    pub(super) files: FileTable,
    pub(super) words: Vec<SortedTable>,
    pub(super) facts: Vec<SortedTable>,
    /// The stored facts of files that were found changed or deleted, by path.
    pub(super) replaced: Vec<(String, Vec<u8>)>,
}

impl StoredIndex {
    fn empty(settings: &IndexSettings) -> Self {
        Self {
            manifest: Manifest::empty(settings),
            files: FileTable::default(),
            words: Vec::new(),
            facts: Vec::new(),
            replaced: Vec::new(),
        }
    }

    /// Returns the stored facts of the files that a plan changes; none for a large plan, where they are not
    /// needed.
    fn facts_of(&self, plan: &IndexUpdatePlan) -> Vec<(String, Vec<u8>)> {
        if plan.read.len() + plan.removed.len() > MAX_INLINE_UPDATES {
            return Vec::new();
        }
        let read = plan.read.iter().filter_map(|path| self.files.paths.find(path));
        let dropped = plan.removed.iter().map(|file| *file as usize);
        let known = read.chain(dropped).filter_map(|file| {
            let document = u64::from(self.files.records.get(file)?.document);
            let bytes = self.facts.iter().rev().find_map(|table| table.get(document).ok().flatten())?;
            Some((self.files.paths.get(file).to_owned(), bytes))
        });
        known.collect()
    }
}

#[derive(Debug, Default)]
pub(super) struct LoadResult {
    /// `None` if there is no usable index.
    pub(super) base: Option<StoredIndex>,
    pub(super) found: Option<Manifest>,
}

impl LoadResult {
    /// Returns the same without the usable base.
    pub(super) fn unusable(self) -> Self {
        Self { base: None, ..self }
    }
}

/// Loads the index, if one is stored on disk.
pub(super) fn load_from(storage: Option<&Storage>, settings: &IndexSettings) -> IndexResult<LoadResult> {
    storage.map_or_else(|| Ok(LoadResult::default()), |storage| load(storage, settings))
}

pub(super) fn load(storage: &Storage, settings: &IndexSettings) -> IndexResult<LoadResult> {
    let mut loaded = LoadResult::default();
    for _ in 0..MANIFEST_READ_RETRIES {
        loaded.found = storage.manifest()?;
        let ours = loaded.found.clone().filter(|manifest| manifest.is_compatible(settings));
        let Some(manifest) = ours else { break };
        match load_parts(storage, manifest.without_foreign_facts()) {
            Ok(base) => {
                loaded.base = base;
                break;
            }
            // A writer has replaced the manifest and removed the files of the previous one.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(_) => break,
        }
    }
    Ok(loaded)
}

fn load_parts(storage: &Storage, manifest: Manifest) -> io::Result<Option<StoredIndex>> {
    let tables = |part, numbers: &[u32]| {
        numbers.iter().map(|number| storage.table(part, *number)).collect::<io::Result<Vec<_>>>()
    };
    let words = tables(IndexFileKind::Words, &manifest.words)?;
    let facts = tables(IndexFileKind::Facts, &manifest.facts)?;
    let Some(mut files) = storage.files(manifest.files)? else { return Ok(None) };
    for amendment in &manifest.amendments {
        files = amendment.apply(files);
    }
    Ok(Some(StoredIndex { manifest, files, words, facts, replaced: Vec::new() }))
}

pub(super) struct OpenRequest<'a> {
    pub(super) root: &'a Path,
    pub(super) storage: Option<Storage>,
    /// The lock, if it is already held.
    pub(super) writer: Option<&'a IndexWriter>,
    pub(super) settings: &'a IndexSettings,
    pub(super) effort: UpdatePolicy,
    pub(super) sight: ScanScope<'a>,
    pub(super) keep: PersistMode,
    pub(super) progress: &'a dyn IndexProgress,
}

/// The time at which an update is written to disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PersistMode {
    Now,
    /// Together with the facts, if the update is small.
    Deferred,
}

/// An update that is only in memory so far.
#[derive(Debug)]
pub(super) struct PendingUpdate {
    /// New tables of words. They are the last ones of the index.
    words: Vec<Vec<u8>>,
    /// The delta from the file table on disk, if it is a single small one.
    amendment: Option<FileTableDelta>,
    found: Option<Manifest>,
}

impl PendingUpdate {
    /// Returns true if the update is based on the manifest `present`.
    pub(super) fn is_after(&self, present: Option<&Manifest>) -> bool {
        present.is_some() && present == self.found.as_ref()
    }
}

/// The result of a check of the disk.
#[derive(Debug)]
pub(super) struct ScanOutcome {
    pub(super) look: ScanDiff,
    /// The ignore rules outside of the tree.
    outside_rules: u64,
}

impl OpenRequest<'_> {
    pub(super) fn bring_up_to_date(self, loaded: LoadResult) -> IndexResult<Index> {
        let LoadResult { base, found } = loaded;
        let Some(base) = base else { return self.build(found) };
        let seen = self.look(&base.files, &base.manifest, &AtomicBool::default());
        self.catch_up(base, found, seen)
    }

    /// Returns the differences between the disk and a table. Sets `outdated` as soon as it finds one.
    pub(super) fn look(&self, files: &FileTable, manifest: &Manifest, outdated: &AtomicBool) -> ScanOutcome {
        let limit = self.settings.max_file_bytes;
        let outside_rules = ignore_rules::outside(self.root);
        let mut look = match self.sight {
            ScanScope::All => scan(self.root, files, limit, outdated),
            ScanScope::Paths(paths) => scan_paths(self.root, files, limit, paths),
        };
        look.rules_changed |= manifest.outside_rules != outside_rules;
        ScanOutcome { look, outside_rules }
    }

    /// Updates the index by the differences that a check found.
    pub(super) fn catch_up(
        self,
        base: StoredIndex,
        found: Option<Manifest>,
        seen: ScanOutcome,
    ) -> IndexResult<Index> {
        let ScanOutcome { look, outside_rules } = seen;
        if look.is_as_before() {
            return Ok(self.opened(base, true));
        }
        let plan = IndexUpdatePlan::new(self.root, &base.files, look, &self.settings.filter(self.root)?);
        if plan.is_empty() && base.manifest.outside_rules == outside_rules {
            return Ok(self.opened(base, true));
        }
        if self.effort == UpdatePolicy::Bounded && plan.read.len() > MAX_INLINE_UPDATES {
            return Ok(self.behind(base, &plan));
        }
        self.update(base, found, plan, outside_rules, None)
    }

    fn build(self, found: Option<Manifest>) -> IndexResult<Index> {
        let start = Instant::now();
        let outside_rules = ignore_rules::outside(self.root);
        let plan = IndexUpdatePlan::whole(list(self.root, "", &self.settings.filter(self.root)?));
        let base = StoredIndex::empty(self.settings);
        self.update(base, found, plan, outside_rules, Some(start))
    }

    /// Executes a plan and saves the result. `building` is the start time of a full build.
    fn update(
        self,
        mut base: StoredIndex,
        found: Option<Manifest>,
        plan: IndexUpdatePlan,
        outside_rules: u64,
        building: Option<Instant>,
    ) -> IndexResult<Index> {
        base.manifest.outside_rules = outside_rules;
        let is_small = building.is_none() && plan.read.len() + plan.removed.len() <= MAX_INLINE_UPDATES;
        let (tables, amendment, skipped) = self.apply(&mut base, plan)?;
        if skipped > 0 {
            // The index on disk must not lose files that were not read.
            base.words.extend(tables.into_iter().map(|bytes| SortedTable::new(TableSource::Memory(bytes))));
            base.manifest.written_at = now();
            return Ok(Index { behind: skipped, skipped, ..self.opened(base, false) });
        }
        let amendment = is_small.then_some(amendment);
        if let Some(start) = building {
            base.manifest.build_micros = [u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX), 0];
        }
        if self.keep == PersistMode::Deferred && is_small && self.storage.is_some() {
            base.words
                .extend(tables.iter().map(|bytes| SortedTable::new(TableSource::Memory(bytes.clone()))));
            base.manifest.written_at = now();
            let unkept = Some(PendingUpdate { words: tables, amendment, found });
            return Ok(Index { unkept, ..self.opened(base, false) });
        }
        let is_stored = self.keep(&mut base, tables, amendment, found.as_ref())?;
        Ok(self.opened(base, is_stored))
    }

    /// Reads the plan's files into new tables of words, and updates the file table by the returned delta. The
    /// last number is the files that were not read because the deadline passed.
    fn apply(
        &self,
        base: &mut StoredIndex,
        plan: IndexUpdatePlan,
    ) -> IndexResult<(Vec<Vec<u8>>, FileTableDelta, usize)> {
        let first = base.manifest.next_document;
        let limit = self.settings.max_file_bytes;
        let WordTables { files, tables, skipped } =
            index_words(self.root, &plan.read, first, limit, self.progress)
                .map_err(IndexError::io("index", self.root))?;
        base.replaced = base.facts_of(&plan);
        base.manifest.next_document += u32::try_from(plan.read.len()).unwrap_or(u32::MAX);
        let amendment = FileTableDelta { plan, read: files, first };
        base.files = amendment.apply(std::mem::take(&mut base.files));
        Ok((tables, amendment, skipped))
    }

    /// Writes the update if no other process is writing or has written. In either case this process has the
    /// update in memory. An unwritable disk is no reason to fail a query.
    fn keep(
        &self,
        base: &mut StoredIndex,
        new: Vec<Vec<u8>>,
        amendment: Option<FileTableDelta>,
        found: Option<&Manifest>,
    ) -> IndexResult<bool> {
        let own;
        let writer = match (self.writer, &self.storage) {
            (Some(writer), _) => Some(writer),
            (None, Some(storage)) => {
                own = storage.lock("update").ok().and_then(Result::ok);
                own.as_ref()
            }
            (None, None) => None,
        };
        let edition = match writer {
            Some(writer) => ManifestCommit::begin_after(writer, found, &base.manifest)?,
            None => None,
        };
        let Some(edition) = edition else {
            base.words.extend(new.into_iter().map(|bytes| SortedTable::new(TableSource::Memory(bytes))));
            base.manifest.written_at = now();
            return Ok(false);
        };
        match write(edition, (&base.files, amendment), &mut base.words, new) {
            Ok(manifest) => {
                base.manifest = manifest;
                Ok(true)
            }
            // An explicit build fails if it cannot be written.
            Err(error) if self.writer.is_some() => Err(error),
            Err(_) => Ok(false),
        }
    }

    pub(super) fn opened(&self, base: StoredIndex, is_stored: bool) -> Index {
        let StoredIndex { manifest, files, words, facts, replaced } = base;
        let count = files.len();
        Index {
            root: self.root.to_owned(),
            storage: self.storage.clone(),
            settings: self.settings.clone(),
            manifest,
            kept: is_stored,
            unkept: None,
            files,
            words,
            facts,
            documents: OnceLock::new(),
            with_words: Postings::default(),
            with_names: Postings::default(),
            with_facts: OnceLock::new(),
            with_complete_facts: OnceLock::new(),
            without_facts: OnceLock::new(),
            differing: Vec::new(),
            behind: 0,
            skipped: 0,
            deadline: self.progress.deadline(),
            expired: AtomicBool::new(false),
            moved: AtomicBool::new(false),
            outdated: AtomicBool::new(false),
            damaged: AtomicBool::new(false),
            by_directory: OnceLock::new(),
            by_name: OnceLock::new(),
            named_asked: AtomicUsize::new(0),
            texts: LazyArray::new(count),
            known_facts: LazyArray::new(count),
            parsed: Mutex::default(),
            replaced,
        }
    }

    fn behind(self, base: StoredIndex, plan: &IndexUpdatePlan) -> Index {
        let known = plan.read.iter().filter_map(|path| base.files.paths.find(path));
        let mut differing: Vec<u32> = known.filter_map(|file| u32::try_from(file).ok()).collect();
        differing.extend_from_slice(&plan.removed);
        differing.sort_unstable();
        let behind = plan.read.len() + plan.removed.len();
        Index { differing, behind, ..self.opened(base, true) }
    }
}

impl Index {
    /// Writes an update that is only in memory, like [`OpenRequest::keep`].
    pub(super) fn keep_update(&mut self, writer: &IndexWriter) -> IndexResult {
        let Some(PendingUpdate { words, amendment, found }) = self.unkept.take() else { return Ok(()) };
        let Some(edition) = ManifestCommit::begin_after(writer, found.as_ref(), &self.manifest)? else {
            return Ok(());
        };
        self.words.truncate(self.words.len().saturating_sub(words.len()));
        self.manifest = write(edition, (&self.files, amendment), &mut self.words, words)?;
        self.kept = true;
        Ok(())
    }
}

/// Writes new tables of words and the file table, then the manifest that names them. If it fails, `words` is
/// correct in memory.
fn write(
    mut edition: ManifestCommit<'_>,
    (files, amendment): (&FileTable, Option<FileTableDelta>),
    words: &mut Vec<SortedTable>,
    new: Vec<Vec<u8>>,
) -> IndexResult<Manifest> {
    // Only needed if tables are merged, which is rare.
    let alive = OnceLock::new();
    let is_alive = |document| alive.get_or_init(|| files.documents()).has(document);
    let mut failed = Ok(());
    for bytes in new {
        let part = IndexFileKind::Words;
        if failed.is_ok() {
            failed = edition.add(part, words, bytes, is_alive);
        } else {
            words.push(SortedTable::new(TableSource::Memory(bytes)));
        }
    }
    failed?;
    edition.set_files(files, amendment)?;
    edition.publish()
}
