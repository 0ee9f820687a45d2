//! The record of a map: the state of every file between two runs, so that the next run checks only changes.
//! Losing it costs only time.
//!
//! It has three pieces. The record proper has paths, versions, references and dates, and is replaced as a
//! unit. Small updates ([`MapRecordDelta`]) are appended to it. Query results of each file ([`TraceRange`]) are
//! rarely needed: their file is append-only, and the record stores the position of each piece.

mod delta;
mod encoding;
mod renumber;
mod row;

pub use delta::MapRecordDelta;
pub use renumber::Renumbering;

use std::borrow::Cow;
use std::ops::Range;

use jiff::civil::Date;
use lockstep_refs::entity::EntityKind;

use crate::fast_hash::short;
use crate::shared_str::{IndexRange, SharedStr};
use crate::update::TraceSource;
use crate::view::SizeLimit;

#[derive(Debug, Clone)]
pub struct MapRecord {
    pub about: MapMetadata,
    /// Every file with an entry, sorted by path.
    pub entries: Vec<MapRecordEntry>,
    /// The references of all entries; see [`MapRecord::refs`]. One list is read in one piece, and shifted places
    /// are updated in one pass.
    referenced: Vec<u32>,
}

/// The same of every entry, wherever in the list its references are.
impl PartialEq for MapRecord {
    fn eq(&self, other: &Self) -> bool {
        let is_same = |at: usize| {
            let (one, another) = (&self.entries[at], &other.entries[at]);
            self.refs(at) == other.refs(at) && MapRecordEntry { refs: one.refs, ..another.clone() } == *one
        };
        let count = self.entries.len();
        self.about == other.about && count == other.entries.len() && (0..count).all(is_same)
    }
}

impl Eq for MapRecord {}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MapMetadata {
    /// A digest of the inputs of references besides the files: the program, the scope, aliases.
    pub settings: u64,
    /// The number under which the next run is recorded: one that dies halfway is recorded once.
    pub next_run: u64,
    /// The day of the last full scan.
    pub full: Date,
    /// The day of the last update.
    pub incremental: Date,
    pub scope: String,
    /// The checked-out commit; empty if unknown.
    pub commit: String,
    /// The size limit of the document. Another limit results in another document.
    pub limit: Option<SizeLimit>,
    /// The document as it was written last.
    pub written: DocumentStamp,
    pub answers: u32,
    /// The number of valid bytes in the file.
    pub answer_bytes: u64,
}

/// The stamp that distinguishes the written document from an edited one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DocumentStamp {
    /// Size in bytes.
    pub size: u64,
    /// The `ctime` in nanoseconds since 1970; zero if it is racy.
    pub changed: u64,
    pub inode: u64,
    pub digest: u64,
}

/// The stored state of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MapRecordEntry {
    pub path: SharedStr,
    /// The number of bytes at the end of the path that are its short name.
    pub name_bytes: u32,
    /// The version on disk; a file with another one is scanned.
    pub version: u64,
    /// A digest of its content, which changes with the content.
    pub content: u64,
    /// A fingerprint of its exports. If it changes, files that queried them must be resolved again.
    pub interface: u64,
    /// The day it was last scanned because it changed.
    pub updated: Date,
    /// Set if the resolution of another file read its text.
    pub text_was_read: bool,
    /// True if the file had changed in each of the last runs when the document was written.
    pub changed_every_run: bool,
    /// The position of its lines in the document.
    pub block: EntrySpan,
    /// The position of its references in the list of all.
    refs: IndexRange,
    /// The names it has in a framework, or from the project.
    pub names: Vec<(EntityKind, Box<str>)>,
    /// The position of its query results.
    pub answers: TraceRange,
}

/// The position of an entry's lines in the document, in bytes from the first entry; empty if unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EntrySpan {
    pub start: u32,
    pub bytes: u32,
}

/// The position of a piece in the file of query results: the sorted numbers of the queries of a file, then
/// those of the words that it exports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TraceRange {
    offset: u32,
    asked: u32,
    offered: u32,
    check: u32,
}

impl MapRecord {
    /// Returns a record without entries: everything must be scanned.
    pub fn empty(today: Date) -> Self {
        let about = MapMetadata {
            settings: 0,
            next_run: 0,
            full: today,
            incremental: today,
            scope: String::new(),
            commit: String::new(),
            limit: None,
            written: DocumentStamp::default(),
            answers: 0,
            answer_bytes: 0,
        };
        Self { about, entries: Vec::new(), referenced: Vec::new() }
    }

    /// The places of the entries that the one at `at` references, sorted.
    pub fn refs(&self, at: usize) -> &[u32] {
        &self.referenced[self.entries[at].refs.range()]
    }

    pub(crate) fn set_refs(&mut self, at: usize, refs: &[u32]) {
        let known = self.entries[at].refs.first(refs.len());
        if known.len() == refs.len() {
            self.referenced[known.range()].copy_from_slice(refs);
            self.entries[at].refs = known;
        } else {
            self.entries[at].refs = IndexRange::append_to(&mut self.referenced, refs);
        }
    }

    /// The references of each entry, in their order.
    pub(crate) fn all_refs(&self) -> impl Iterator<Item = &[u32]> {
        self.entries.iter().map(|entry| &self.referenced[entry.refs.range()])
    }

    /// Which entries reference each one, sorted.
    pub fn incoming_references(&self) -> Vec<Vec<u32>> {
        let mut counts = vec![0_usize; self.entries.len()];
        self.all_refs().flatten().for_each(|to| counts[*to as usize] += 1);
        let mut referring: Vec<Vec<u32>> = counts.into_iter().map(Vec::with_capacity).collect();
        for (from, refs) in (0_u32..).zip(self.all_refs()) {
            refs.iter().for_each(|to| referring[*to as usize].push(from));
        }
        referring
    }

    /// Stores the length of each entry in the document; an empty slice means unknown. Returns the entries
    /// with a new length.
    pub fn set_entry_sizes(&mut self, blocks: &[u32]) -> Vec<u32> {
        let (mut start, mut other) = (0, Vec::new());
        for (at, entry) in (0_u32..).zip(&mut self.entries) {
            let bytes = blocks.get(at as usize).copied().unwrap_or(0);
            if entry.block.bytes != bytes {
                other.push(at);
            }
            entry.block = EntrySpan { start, bytes };
            start += bytes;
        }
        other
    }

    pub fn find(&self, path: &str) -> Option<usize> {
        self.entries.binary_search_by(|entry| (*entry.path).cmp(path)).ok()
    }
}

impl MapRecordEntry {
    /// Returns an entry without data.
    pub(crate) fn empty() -> Self {
        Self {
            path: "".into(),
            name_bytes: 0,
            version: 0,
            content: 0,
            interface: 0,
            updated: Date::ZERO,
            text_was_read: false,
            changed_every_run: false,
            block: EntrySpan::default(),
            refs: IndexRange::default(),
            names: Vec::new(),
            answers: TraceRange::default(),
        }
    }

    pub fn name(&self) -> &str {
        let start = self.path.len().checked_sub(self.name_bytes as usize);
        start.and_then(|start| self.path.get(start..)).unwrap_or(&self.path)
    }
}

impl TraceRange {
    /// Appends a piece to bytes of which `before` are on disk already.
    pub(crate) fn put(out: &mut Vec<u8>, before: u64, asked: &[u32], offered: &[u32]) -> Option<Self> {
        let start = out.len();
        asked.iter().chain(offered).for_each(|number| out.extend_from_slice(&number.to_le_bytes()));
        Some(Self {
            offset: u32::try_from((before + start as u64) / 4).ok()?,
            asked: u32::try_from(asked.len()).ok()?,
            offered: u32::try_from(offered.len()).ok()?,
            check: short(&out[start..]),
        })
    }

    /// The same piece in another place.
    pub(crate) fn moved(self, out: &mut Vec<u8>, piece: &[u8]) -> Option<Self> {
        let offset = u32::try_from(out.len() / 4).ok()?;
        out.extend_from_slice(piece);
        Some(Self { offset, ..self })
    }

    /// Which bytes of the file it is.
    pub(crate) fn range(self) -> Range<u64> {
        let start = u64::from(self.offset) * 4;
        start..start + self.bytes() as u64
    }

    pub(crate) fn bytes(self) -> usize {
        (self.asked as usize + self.offered as usize) * 4
    }

    /// Reads the piece from the file, or returns `None` if it is damaged.
    pub(crate) fn whole(self, file: &dyn TraceSource) -> Option<Cow<'_, [u8]>> {
        file.read(self.range()).filter(|piece| short(piece) == self.check)
    }

    /// Returns the piece in a part of the file that begins at `start`, or `None` if it is damaged.
    pub(crate) fn within(self, part: &[u8], start: u64) -> Option<&[u8]> {
        let range = self.range();
        let at = |place: u64| usize::try_from(place.checked_sub(start)?).ok();
        part.get(at(range.start)?..at(range.end)?).filter(|piece| short(piece) == self.check)
    }

    /// Returns the queries of a complete piece.
    pub(crate) fn asked(self, piece: &[u8]) -> impl Iterator<Item = u32> {
        numbers(&piece[..self.asked as usize * 4])
    }

    /// Returns the exported words of a complete piece.
    pub(crate) fn offered(self, piece: &[u8]) -> impl Iterator<Item = u32> {
        numbers(&piece[self.asked as usize * 4..])
    }

    /// Returns true if the file exports the word. Does not verify the bytes.
    pub(crate) fn offers(self, file: &dyn TraceSource, word: u32) -> bool {
        let range = self.range();
        let piece = file.read(range.start + u64::from(self.asked) * 4..range.end).unwrap_or_default();
        let (offered, _) = piece.as_chunks::<4>();
        offered.binary_search_by(|number| u32::from_le_bytes(*number).cmp(&word)).is_ok()
    }
}

fn numbers(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes.as_chunks::<4>().0.iter().map(|number| u32::from_le_bytes(*number))
}

#[cfg(test)]
impl MapRecord {
    /// With one more entry, which references these.
    pub(crate) fn push(&mut self, entry: MapRecordEntry, refs: &[u32]) {
        self.entries.push(entry);
        self.set_refs(self.entries.len() - 1, refs);
    }

    /// Adds an entry with only its path and its references.
    pub(crate) fn push_minimal(&mut self, path: &str, refs: &[u32]) {
        let entry = MapRecordEntry {
            path: path.into(),
            name_bytes: u32::try_from(path.len()).unwrap(),
            version: 1,
            content: 1,
            interface: 1,
            updated: jiff::civil::date(2026, 2, 1),
            ..MapRecordEntry::empty()
        };
        self.push(entry, refs);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Held(Vec<u8>);

    impl TraceSource for Held {
        fn read(&self, range: Range<u64>) -> Option<Cow<'_, [u8]>> {
            let range = usize::try_from(range.start).ok()?..usize::try_from(range.end).ok()?;
            self.0.get(range).map(Cow::Borrowed)
        }
    }

    #[test]
    fn answers_are_found_where_they_were_put_and_damage_is_noticed() {
        let mut file = vec![0; 4];
        let answers = TraceRange::put(&mut file, 0, &[3, 5], &[7, 9]).unwrap();
        let held_file = Held(file.clone());
        let piece = answers.whole(&held_file).unwrap();
        assert_eq!(answers.asked(&piece).collect::<Vec<_>>(), [3, 5]);
        assert_eq!(answers.offered(&piece).collect::<Vec<_>>(), [7, 9]);
        assert!(answers.offers(&held_file, 9) && !answers.offers(&held_file, 3));
        assert_eq!(answers.within(&file[4..], 4), Some(&*piece));
        assert_eq!(answers.within(&file[8..], 8), None);
        file[6] ^= 1;
        assert_eq!(answers.within(&file, 0), None);
        assert_eq!(answers.whole(&Held(file[..8].to_vec())), None);
        assert_eq!(answers.whole(&Held(file)), None);
    }
}
