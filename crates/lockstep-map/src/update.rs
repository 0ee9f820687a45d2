//! Updates a record: finds changes, affected references, and resolves them.
//!
//! A build is an update of a record without entries, so both produce the same map. An update scans few files
//! for two reasons. References by imports and symbols stay valid until a query result of their resolution
//! changes (`question`). References in text stay valid until a file whose name occurs there is added or
//! deleted.

mod invalidation;
mod merge;
mod scan;

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use jiff::civil::Date;
use lockstep_refs::entity::{Aliases, Names};
use lockstep_refs::world::{FileId, World};
use rayon::prelude::*;

use crate::record::{MapRecord, MapRecordDelta, Renumbering};
use crate::recording_snapshot::{ExportedWords, ScopeView};
use invalidation::Invalidation;
use merge::{BuiltRecord, RecordBuilder};
use scan::{FileScan, ResolvedFile, resolve, scan};

pub struct MapUpdateInput<'a> {
    pub world: &'a (dyn World + Sync),
    /// The files with an entry, sorted by path, with their versions.
    pub files: &'a [(FileId, u64)],
    /// Paths of files to resolve again in any case.
    pub again: &'a HashSet<String>,
    pub aliases: &'a Aliases,
    pub today: Date,
    /// Called with the numbers of finished files and of all files.
    pub progress: &'a (dyn Fn(usize, usize) + Sync),
}

#[derive(Debug)]
pub struct MapUpdate {
    /// The new record. Positions of query results are set; properties of the document are not.
    pub record: MapRecord,
    pub changes: FileChanges,
    /// The change of the file of query results.
    pub answers: TraceWrite,
    pub resolved: usize,
    /// The number of files that were changed, new or deleted: if zero, the record is unchanged.
    pub rescanned: usize,
    /// The contents that removed files had, in their order.
    pub deleted_digests: Vec<u64>,
    /// The places of entries that differ in the document.
    pub changed_entries: HashSet<u32>,
    /// The delta to the old record. It does not cover query results in a new file.
    pub amendment: MapRecordDelta,
}

/// The changes since the last run, each sorted by path.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileChanges {
    pub added: Vec<String>,
    pub removed: Vec<String>,
    /// Files with another content.
    pub modified: Vec<String>,
}

impl FileChanges {
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.modified.is_empty()
    }
}

/// The data to write to the file of query results.
#[derive(Debug, PartialEq, Eq)]
pub enum TraceWrite {
    /// Append these bytes after the valid ones.
    Append(Vec<u8>),
    /// These bytes, in a file of their own.
    Replace(Vec<u8>),
}

/// The file of query results does not match the record: everything must be scanned again.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("the record of the map is damaged")]
pub struct CorruptRecord;

/// The stored query results. Most updates need few of them, or none.
pub trait TraceSource: Sync {
    /// These bytes of it; `None` if it has fewer, or cannot be read.
    fn read(&self, range: Range<u64>) -> Option<Cow<'_, [u8]>>;
}

/// Brings a record up to date with the files.
pub fn update(
    old: MapRecord,
    present: &MapUpdateInput<'_>,
    answers: &dyn TraceSource,
) -> Result<MapUpdate, CorruptRecord> {
    let plan = RecordMatching::new(&old, present);
    let scans = plan.scans(present);
    let mut changed = Vec::new();
    let mut changes = FileChanges {
        removed: plan.removed.iter().map(|at| old.entries[*at].path.to_string()).collect(),
        ..FileChanges::default()
    };
    for (at, scanned) in &scans {
        let path = present.world.path(present.files[*at].0).to_owned();
        match plan.before[*at].map(|before| &old.entries[before as usize]) {
            None => changes.added.push(path),
            Some(before) if before.content != scanned.content => changes.modified.push(path),
            // Another version of the same content.
            Some(_) => continue,
        }
        changed.push(*at);
    }
    let offers = CurrentExportedWords { plan: &plan, old: &old, scans: &scans, answers };
    let terrain = ScopeView::new(present.world, present.files, &offers);
    let mut resolve_again: HashSet<usize> = changed.iter().copied().collect();
    resolve_again.extend(plan.again.iter().copied());
    if !old.entries.is_empty() {
        Invalidation { old: &old, plan: &plan, scans: &scans, present, terrain: &terrain, answers }
            .add_to(&mut resolve_again)?;
    }
    let names = plan.names(&old, &scans, present);
    let mut order: Vec<usize> = resolve_again.into_iter().collect();
    order.sort_unstable();
    let keep = order.len() <= FEW;
    let done = AtomicUsize::new(0);
    let resolved: Vec<(usize, ResolvedFile)> = in_parallel(&order, |at| {
        let resolved = resolve(&terrain, present.world, &names, present.files[at].0, keep);
        (present.progress)(done.fetch_add(1, Ordering::Relaxed) + 1, order.len());
        (at, resolved)
    });
    let rescanned = plan.unknown.len() + plan.removed.len();
    let deleted_digests = plan.removed.iter().map(|at| old.entries[*at].content).collect();
    let resolved_count = resolved.len();
    let BuiltRecord { record, answers, changed_entries, amendment } =
        RecordBuilder::new(old, &plan, present).finish(present, scans, resolved, answers, &changes)?;
    let resolved = resolved_count;
    Ok(MapUpdate {
        record,
        changes,
        answers,
        resolved,
        rescanned,
        deleted_digests,
        changed_entries,
        amendment,
    })
}

/// Up to this many files are held in memory between scan and resolution.
const FEW: usize = 300;

/// Runs on all cores if there is enough work for threads.
fn in_parallel<T: Send>(items: &[usize], work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    if items.len() < 16 {
        return items.iter().map(|item| work(*item)).collect();
    }
    items.par_iter().map(|item| work(*item)).collect()
}

/// The relation of stored entries and current files.
pub(crate) struct RecordMatching {
    /// The former entry of each file.
    before: Vec<Option<u32>>,
    /// The file of each former entry.
    after: Vec<Option<u32>>,
    /// Entries of deleted files.
    removed: Vec<usize>,
    unknown: Vec<usize>,
    /// Files to resolve again on request.
    again: Vec<usize>,
}

impl RecordMatching {
    fn new(old: &MapRecord, present: &MapUpdateInput<'_>) -> Self {
        let mut plan = Self {
            before: Vec::with_capacity(present.files.len()),
            after: vec![None; old.entries.len()],
            removed: Vec::new(),
            unknown: Vec::new(),
            again: Vec::new(),
        };
        let place = |path: &String| {
            let by_path = |(file, _): &(FileId, u64)| present.world.path(*file).cmp(path);
            present.files.binary_search_by(by_path).ok()
        };
        plan.again.extend(present.again.iter().filter_map(place));
        plan.again.sort_unstable();
        let mut again = plan.again.iter().peekable();
        let mut former = 0_usize;
        for (at, (file, version)) in present.files.iter().enumerate() {
            let path = present.world.path(*file);
            while old.entries.get(former).is_some_and(|entry| &*entry.path < path) {
                plan.removed.push(former);
                former += 1;
            }
            let same = old.entries.get(former).filter(|entry| &*entry.path == path);
            plan.before.push(same.and_then(|_| u32::try_from(former).ok()));
            let is_asked_for = again.next_if_eq(&&at).is_some();
            if is_asked_for || same.is_none_or(|entry| entry.version != *version) {
                plan.unknown.push(at);
            }
            if same.is_some() {
                plan.after[former] = u32::try_from(at).ok();
                former += 1;
            }
        }
        plan.removed.extend(former..old.entries.len());
        plan
    }

    /// Returns the added and removed entries.
    fn moves(&self) -> Renumbering {
        let places = |places: &mut dyn Iterator<Item = usize>| {
            places.map(|at| u32::try_from(at).expect("places have 32 bits")).collect()
        };
        let new = self.before.iter().enumerate().filter(|(_, before)| before.is_none());
        Renumbering {
            removed: places(&mut self.removed.iter().copied()),
            added: places(&mut new.map(|(at, _)| at)),
        }
    }

    /// Scans the files that need it, in their order.
    fn scans(&self, present: &MapUpdateInput<'_>) -> Vec<(usize, FileScan)> {
        let keep = self.unknown.len() <= FEW;
        in_parallel(&self.unknown, |at| (at, scan(present, present.files[at].0, keep)))
    }

    fn scanned(scans: &[(usize, FileScan)], at: usize) -> Option<&FileScan> {
        scans.binary_search_by_key(&at, |(scanned, _)| *scanned).ok().map(|found| &scans[found].1)
    }

    fn names(&self, old: &MapRecord, scans: &[(usize, FileScan)], present: &MapUpdateInput<'_>) -> Names {
        let mut all = Vec::new();
        for (at, before) in self.before.iter().enumerate() {
            let names = match (Self::scanned(scans, at), before) {
                (Some(scanned), _) => &scanned.names,
                (None, Some(before)) => &old.entries[*before as usize].names,
                (None, None) => continue,
            };
            all.extend(names.iter().map(|(kind, name)| (present.files[at].0, *kind, name.clone())));
        }
        Names::from_entities(all)
    }
}

/// The present exports of files, as words.
struct CurrentExportedWords<'a> {
    plan: &'a RecordMatching,
    old: &'a MapRecord,
    scans: &'a [(usize, FileScan)],
    answers: &'a dyn TraceSource,
}

impl ExportedWords for CurrentExportedWords<'_> {
    fn has(&self, entry: usize, word: u32) -> bool {
        if let Some(scanned) = RecordMatching::scanned(self.scans, entry) {
            return scanned.offered.binary_search(&word).is_ok();
        }
        let before = self.plan.before[entry].map(|before| self.old.entries[before as usize].answers);
        before.is_some_and(|answers| answers.offers(self.answers, word))
    }
}
