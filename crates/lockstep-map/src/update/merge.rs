//! Assembles the new record, and finds the entries that differ in the document.

use std::collections::{BTreeSet, HashSet};

use jiff::civil::Date;
use lockstep_refs::world::base;

use super::scan::{FileScan, ResolvedFile};
use super::{CorruptRecord, FileChanges, MapUpdateInput, RecordMatching, TraceSource, TraceWrite};
use crate::record::{EntrySpan, MapRecord, MapRecordDelta, Renumbering, TraceRange};
use crate::short_names::short_names;

/// The number of unused bytes that does not trigger compaction.
const SLACK: u64 = 1 << 20;

pub(super) struct RecordBuilder {
    record: MapRecord,
    changed_entries: HashSet<u32>,
    moves: Renumbering,
    touched: HashSet<u32>,
    appended: Vec<u8>,
    today: Date,
}

pub(super) struct BuiltRecord {
    pub(super) record: MapRecord,
    pub(super) answers: TraceWrite,
    pub(super) changed_entries: HashSet<u32>,
    pub(super) amendment: MapRecordDelta,
}

impl RecordBuilder {
    /// The former entries in their new places, with new ones for new files.
    pub(super) fn new(old: MapRecord, plan: &RecordMatching, present: &MapUpdateInput<'_>) -> Self {
        let mut record = old;
        let (mut changed_entries, mut touched) = (HashSet::new(), HashSet::new());
        let today = present.today;
        let moves = plan.moves();
        if !moves.is_empty() {
            for removed in &plan.removed {
                changed_entries
                    .extend(record.refs(*removed).iter().filter_map(|to| plan.after[*to as usize]));
            }
            changed_entries.extend(record.renumber(&moves).expect("a plan moves the entries that there are"));
            for at in &moves.added {
                let entry = &mut record.entries[*at as usize];
                entry.path = present.world.path(present.files[*at as usize].0).into();
                entry.updated = today;
            }
            touched.extend(&moves.added);
        }
        // A clock that was set back is no reason to claim the future.
        for (at, entry) in (0_u32..).zip(&mut record.entries).filter(|(_, entry)| entry.updated > today) {
            entry.updated = today;
            entry.block = EntrySpan::default();
            touched.insert(at);
        }
        Self { record, changed_entries, moves, touched, appended: Vec::new(), today }
    }

    /// Applies the findings, and returns the result.
    pub(super) fn finish(
        mut self,
        present: &MapUpdateInput<'_>,
        scans: Vec<(usize, FileScan)>,
        resolved: Vec<(usize, ResolvedFile)>,
        answers: &dyn TraceSource,
        changes: &FileChanges,
    ) -> Result<BuiltRecord, CorruptRecord> {
        for to in resolved.iter().flat_map(|(_, resolved)| &resolved.read) {
            if !std::mem::replace(&mut self.record.entries[*to as usize].text_was_read, true) {
                self.touched.insert(*to);
            }
        }
        let mut scans = scans.into_iter().peekable();
        for (at, fresh) in resolved {
            while let Some((at, scanned)) = scans.next_if(|(scanned, _)| *scanned < at) {
                self.scanned(at, scanned, present.files[at].1);
            }
            let offered = match scans.next_if(|(scanned, _)| *scanned == at) {
                Some((at, scanned)) => self.scanned(at, scanned, present.files[at].1),
                None => {
                    let known = self.record.entries[at].answers;
                    known.offered(&known.whole(answers).ok_or(CorruptRecord)?).collect()
                }
            };
            self.resolved(at, fresh, &offered)?;
        }
        for (at, scanned) in scans {
            self.scanned(at, scanned, present.files[at].1);
        }
        self.name(changes);
        self.assembled(answers)
    }

    /// Stores the scan of a file; returns its exported words.
    fn scanned(&mut self, at: usize, scanned: FileScan, version: u64) -> Vec<u32> {
        self.touched.extend(u32::try_from(at).ok());
        let entry = &mut self.record.entries[at];
        if entry.content != scanned.content {
            entry.updated = self.today;
            self.changed_entries.extend(u32::try_from(at).ok());
        }
        entry.version = version;
        (entry.content, entry.interface, entry.names) = (scanned.content, scanned.interface, scanned.names);
        scanned.offered
    }

    fn resolved(&mut self, at: usize, fresh: ResolvedFile, offered: &[u32]) -> Result<(), CorruptRecord> {
        self.touched.extend(u32::try_from(at).ok());
        let refs = self.record.refs(at);
        if *refs != *fresh.refs {
            let (before, now): (BTreeSet<u32>, BTreeSet<u32>) =
                (refs.iter().copied().collect(), fresh.refs.iter().copied().collect());
            self.changed_entries.extend(before.symmetric_difference(&now));
            self.changed_entries.extend(u32::try_from(at).ok());
            self.record.set_refs(at, &fresh.refs);
        }
        let put = TraceRange::put(&mut self.appended, self.record.about.answer_bytes, &fresh.asked, offered);
        self.record.entries[at].answers = put.ok_or(CorruptRecord)?;
        Ok(())
    }

    /// Gives short names to the files that need others: those with the basename of a file that came or went.
    fn name(&mut self, changes: &FileChanges) {
        let mut bases: Vec<&str> =
            changes.added.iter().chain(&changes.removed).map(|path| base(path)).collect();
        if bases.is_empty() {
            return;
        }
        bases.sort_unstable();
        bases.dedup();
        let entries = &mut self.record.entries;
        let is_concerned = |at: &usize| bases.binary_search(&base(&entries[*at].path)).is_ok();
        let concerned: Vec<usize> = (0..entries.len()).filter(is_concerned).collect();
        let paths: Vec<&str> = concerned.iter().map(|at| &*entries[*at].path).collect();
        let lengths: Vec<usize> = short_names(&paths).into_iter().map(str::len).collect();
        let mut is_renamed = vec![false; entries.len()];
        for (at, length) in concerned.into_iter().zip(lengths) {
            let length = u32::try_from(length).unwrap_or(u32::MAX);
            if entries[at].name_bytes != length {
                entries[at].name_bytes = length;
                is_renamed[at] = true;
                self.touched.extend(u32::try_from(at).ok());
            }
        }
        // A new short name changes the entries of all neighbours.
        for (at, refs) in (0_u32..).zip(self.record.all_refs()) {
            if is_renamed[at as usize] {
                self.changed_entries.extend(refs);
            }
            if refs.iter().any(|to| is_renamed[*to as usize]) {
                self.changed_entries.insert(at);
            }
        }
    }

    fn assembled(self, answers: &dyn TraceSource) -> Result<BuiltRecord, CorruptRecord> {
        let Self { mut record, changed_entries, moves, touched, appended, .. } = self;
        let live: u64 = record.entries.iter().map(|entry| entry.answers.bytes() as u64).sum();
        record.about.answer_bytes += appended.len() as u64;
        let is_wasteful = record.about.answer_bytes > 2 * live + SLACK;
        let answers = match is_wasteful {
            true => TraceWrite::Replace(compact(&mut record, answers, &appended)?),
            false => TraceWrite::Append(appended),
        };
        let mut touched: Vec<u32> = touched.into_iter().collect();
        touched.sort_unstable();
        Ok(BuiltRecord { record, answers, changed_entries, amendment: MapRecordDelta { moves, touched } })
    }
}

/// Returns the valid query results, concatenated.
fn compact(
    record: &mut MapRecord,
    answers: &dyn TraceSource,
    appended: &[u8],
) -> Result<Vec<u8>, CorruptRecord> {
    let before = record.about.answer_bytes.checked_sub(appended.len() as u64).ok_or(CorruptRecord)?;
    let mut all = answers.read(0..before).ok_or(CorruptRecord)?.into_owned();
    all.extend_from_slice(appended);
    let mut out = Vec::new();
    for entry in &mut record.entries {
        let piece = entry.answers.within(&all, 0).ok_or(CorruptRecord)?;
        entry.answers = entry.answers.moved(&mut out, piece).ok_or(CorruptRecord)?;
    }
    record.about.answer_bytes = out.len() as u64;
    Ok(out)
}
