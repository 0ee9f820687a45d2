//! Finds files whose references a change may affect, besides the changed files.

use std::collections::HashSet;

use lockstep_refs::entity::EntityKind;
use lockstep_refs::text::path_candidates;
use lockstep_refs::world::{base, parent};
use rayon::prelude::*;

use super::{CorruptRecord, FileScan, MapUpdateInput, RecordMatching, TraceSource};
use crate::query::ResolutionQuery;
use crate::record::{MapRecord, MapRecordEntry, TraceRange};
use crate::recording_snapshot::ScopeView;

pub(super) struct Invalidation<'a> {
    pub(super) old: &'a MapRecord,
    pub(super) plan: &'a RecordMatching,
    pub(super) scans: &'a [(usize, FileScan)],
    pub(super) present: &'a MapUpdateInput<'a>,
    pub(super) terrain: &'a ScopeView<'a>,
    pub(super) answers: &'a dyn TraceSource,
}

#[derive(Debug, Default)]
struct ChangedQueries {
    /// Questions with other answers.
    questions: HashSet<u32>,
    /// Paths that came or went.
    paths: Vec<String>,
    /// Names that came or went.
    names: Vec<Box<str>>,
}

impl Invalidation<'_> {
    pub(super) fn add_to(&self, files: &mut HashSet<usize>) -> Result<(), CorruptRecord> {
        let touched = self.touched()?;
        self.add_askers(&touched.questions, files)?;
        let mut add = |found: Vec<lockstep_refs::world::FileId>| {
            files.extend(found.into_iter().filter_map(|file| Some(self.terrain.entry(file)? as usize)));
        };
        for path in &touched.paths {
            add(path_candidates(self.present.world, path));
        }
        for name in &touched.names {
            add(self.present.world.containing(name));
        }
        Ok(())
    }

    fn touched(&self) -> Result<ChangedQueries, CorruptRecord> {
        let mut touched = ChangedQueries::default();
        for at in &self.plan.removed {
            let entry = &self.old.entries[*at];
            touched.came_or_went(&entry.path, &self.offered(entry)?);
            touched.names.extend(entry.names.iter().map(|(_, name)| name.clone()));
        }
        for (at, scanned) in self.scans {
            let path = self.present.world.path(self.present.files[*at].0);
            match self.plan.before[*at].map(|before| &self.old.entries[before as usize]) {
                None => {
                    touched.came_or_went(path, &scanned.offered);
                    touched.names.extend(scanned.names.iter().map(|(_, name)| name.clone()));
                }
                Some(before) if before.content != scanned.content => {
                    self.modified(&mut touched, before, scanned)?;
                }
                Some(_) => {}
            }
        }
        Ok(touched)
    }

    fn modified(
        &self,
        touched: &mut ChangedQueries,
        before: &MapRecordEntry,
        now: &FileScan,
    ) -> Result<(), CorruptRecord> {
        if before.text_was_read {
            touched.questions.insert(ResolutionQuery::Text(&before.path).number());
        }
        if before.interface != now.interface {
            touched.questions.insert(ResolutionQuery::Interface(&before.path).number());
            let former: HashSet<u32> = self.offered(before)?.into_iter().collect();
            let present: HashSet<u32> = now.offered.iter().copied().collect();
            let other = former.symmetric_difference(&present);
            touched.questions.extend(other.map(|word| ResolutionQuery::Word(*word).number()));
        }
        let is_in = |names: &[(EntityKind, Box<str>)], name: &(EntityKind, Box<str>)| names.contains(name);
        let removed = before.names.iter().filter(|name| !is_in(&now.names, name));
        let new = now.names.iter().filter(|name| !is_in(&before.names, name));
        touched.names.extend(removed.chain(new).map(|(_, name)| name.clone()));
        Ok(())
    }

    /// Returns the words that an entry exported.
    fn offered(&self, entry: &MapRecordEntry) -> Result<Vec<u32>, CorruptRecord> {
        let piece = entry.answers.whole(self.answers).ok_or(CorruptRecord)?;
        Ok(entry.answers.offered(&piece).collect())
    }

    /// Adds the files whose resolution made one of these queries.
    fn add_askers(&self, questions: &HashSet<u32>, files: &mut HashSet<usize>) -> Result<(), CorruptRecord> {
        if questions.is_empty() {
            return Ok(());
        }
        let askers = QueryReaders { filter: QueryFilter::new(questions), questions, answers: self.answers };
        let known = |(at, before): (usize, &Option<u32>)| {
            before.map(|before| (at, self.old.entries[before as usize].answers))
        };
        let batch = |number: usize| -> Result<Vec<usize>, CorruptRecord> {
            let first = number * BATCH;
            let batch = self.plan.before.iter().enumerate().skip(first).take(BATCH);
            askers.among(batch.filter_map(known).collect())
        };
        let batches = self.plan.before.len().div_ceil(BATCH);
        let found: Vec<Vec<usize>> = match batches < WORTH_THREADS {
            true => (0..batches).map(batch).collect::<Result<_, _>>()?,
            false => (0..batches).into_par_iter().map(batch).collect::<Result<_, _>>()?,
        };
        files.extend(found.into_iter().flatten());
        Ok(())
    }
}

/// The number of files per batch: their query results are read in few pieces and stay in the processor cache.
const BATCH: usize = 1_024;

/// Below this number of batches, starting threads takes longer than the work.
const WORTH_THREADS: usize = 4;

/// The distance in bytes up to which two pieces are read together with the bytes between them.
const NEAR: u64 = 4_096;

/// Finds the files that made one of some queries.
struct QueryReaders<'a> {
    filter: QueryFilter,
    questions: &'a HashSet<u32>,
    answers: &'a dyn TraceSource,
}

impl QueryReaders<'_> {
    /// Returns the matching files among those with the given positions of query results.
    fn among(&self, mut files: Vec<(usize, TraceRange)>) -> Result<Vec<usize>, CorruptRecord> {
        files.sort_by_key(|(_, answers)| answers.range().start);
        let mut found = Vec::new();
        for near in files.chunk_by(|(_, one), (_, next)| next.range().start <= one.range().end + NEAR) {
            let (Some((_, first)), Some(end)) =
                (near.first(), near.iter().map(|(_, candidate)| candidate.range().end).max())
            else {
                continue;
            };
            let start = first.range().start;
            let part = self.answers.read(start..end).ok_or(CorruptRecord)?;
            for (at, answers) in near {
                if self.reads_any(*answers, answers.within(&part, start).ok_or(CorruptRecord)?) {
                    found.push(*at);
                }
            }
        }
        Ok(found)
    }

    fn reads_any(&self, answers: TraceRange, piece: &[u8]) -> bool {
        let mut asked = answers.asked(piece).filter(|question| self.filter.may_have(*question));
        asked.any(|question| self.questions.contains(&question))
    }
}
impl ChangedQueries {
    fn came_or_went(&mut self, path: &str, offered: &[u32]) {
        let about = [
            ResolutionQuery::Path(path),
            ResolutionQuery::Named(base(path)),
            ResolutionQuery::Directory(parent(path)),
            ResolutionQuery::Files,
            ResolutionQuery::Interface(path),
            ResolutionQuery::Text(path),
        ];
        self.questions.extend(about.map(ResolutionQuery::number));
        self.questions.extend(offered.iter().map(|word| ResolutionQuery::Word(*word).number()));
        self.paths.push(path.to_owned());
    }
}

/// A filter that quickly rejects numbers that are not in a set: it is queried millions of times.
struct QueryFilter(Vec<u64>);

impl QueryFilter {
    const BITS: u32 = 16;

    fn new(numbers: &HashSet<u32>) -> Self {
        let mut bits = vec![0; 1 << (Self::BITS - 6)];
        for number in numbers {
            let (word, bit) = Self::place(*number);
            bits[word] |= bit;
        }
        Self(bits)
    }

    fn place(number: u32) -> (usize, u64) {
        let at = number >> (32 - Self::BITS);
        ((at >> 6) as usize, 1 << (at & 63))
    }

    fn may_have(&self, number: u32) -> bool {
        let (word, bit) = Self::place(number);
        self.0[word] & bit != 0
    }
}
