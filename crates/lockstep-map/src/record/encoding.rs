//! The record as bytes, in the order in which they are needed, so that they are read piece by piece, each in the processor's caches when it is
//! looked at, and most of them straight to where they stay.
//!
//! ```text
//! head   MAGIC, how many entries, bytes of paths, references, bytes of the end
//! paths  behind each other
//! refs   the places of what entries reference, behind each other
//! rows   one for each entry; see `row`
//! end    names, what is known about the map, a digest of everything before
//! ```
//!
//! Each part but the last is filled up to a multiple of what a digest takes at once.

use std::io::{self, Read};
use std::sync::Arc;

use lockstep_refs::entity::EntityKind;

use super::row::{self, ROW, RowReader};
use super::{DocumentStamp, MapMetadata, MapRecord, MapRecordEntry};
use crate::codec::{ByteReader, ByteWriter, put_date, read_date};
use crate::fast_hash::{Digester, STEP};
use crate::view::SizeLimit;

const MAGIC: &[u8; 8] = b"LSMAP\0\0\x03";

const KINDS: [EntityKind; 6] = [
    EntityKind::Path,
    EntityKind::Skill,
    EntityKind::Agent,
    EntityKind::Command,
    EntityKind::Named,
    EntityKind::Alias,
];

/// The number of entries that are encoded or decoded at a time.
const CHUNK: usize = 4_096;

/// A stream of bytes to `sink`.
struct RecordWriter<'s> {
    out: ByteWriter,
    digester: Digester,
    sink: &'s mut dyn FnMut(&[u8]) -> io::Result<()>,
}

impl RecordWriter<'_> {
    /// Writes something for each entry, with padding at the end.
    fn part(&mut self, count: usize, mut put: impl FnMut(&mut ByteWriter, usize)) -> io::Result<()> {
        for start in (0..count).step_by(CHUNK) {
            (start..count.min(start + CHUNK)).for_each(|at| put(&mut self.out, at));
            self.spill()?;
        }
        let length = self.out.0.len().next_multiple_of(STEP);
        self.out.0.resize(length, 0);
        self.spill()
    }

    /// Writes the bytes that can be digested.
    fn spill(&mut self) -> io::Result<()> {
        let whole = self.out.0.len() / STEP * STEP;
        self.digester.add(&self.out.0[..whole]);
        (self.sink)(&self.out.0[..whole])?;
        self.out.0.drain(..whole);
        Ok(())
    }
}

struct RecordHeader {
    entries: usize,
    path_bytes: usize,
    refs: usize,
    end_bytes: usize,
}

impl RecordHeader {
    const BYTES: usize = STEP;

    fn encode(&self, out: &mut ByteWriter) {
        out.0.extend_from_slice(MAGIC);
        [self.entries, self.path_bytes, self.refs, self.end_bytes]
            .into_iter()
            .for_each(|value| out.count(value));
    }

    /// `None` if a file of so many bytes has no such head.
    fn decode(bytes: &[u8; Self::BYTES], length: u64) -> Option<Self> {
        let mut bytes = ByteReader(bytes.strip_prefix(MAGIC)?);
        let mut next = || usize::try_from(bytes.u32()?).ok();
        let head = Self { entries: next()?, path_bytes: next()?, refs: next()?, end_bytes: next()? };
        let parts = [head.path_bytes, head.refs.checked_mul(4)?, head.entries.checked_mul(ROW)?];
        let parts = parts.map(|bytes| bytes.next_multiple_of(STEP));
        let all = Self::BYTES + parts.iter().sum::<usize>() + head.end_bytes + CHECK;
        (u64::try_from(all).ok()? == length).then_some(head)
    }
}

/// The size of the digest at the end.
const CHECK: usize = 8;

impl MapRecord {
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let written = self.write(&mut |chunk| {
            bytes.extend_from_slice(chunk);
            Ok(())
        });
        written.expect("memory takes everything");
        bytes
    }

    /// Gives its bytes to `sink`, piece by piece.
    pub fn write(&self, sink: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        let entries = &self.entries;
        let mut end = ByteWriter::default();
        put_names(&mut end, entries);
        self.about.encode(&mut end);
        let head = RecordHeader {
            entries: entries.len(),
            path_bytes: entries.iter().map(|entry| entry.path.len()).sum(),
            refs: entries.iter().map(|entry| entry.refs.len()).sum(),
            end_bytes: end.0.len(),
        };
        let mut stream = RecordWriter { out: ByteWriter::default(), digester: Digester::default(), sink };
        stream.part(1, |out, _| head.encode(out))?;
        stream.part(entries.len(), |out, at| out.0.extend_from_slice(entries[at].path.as_bytes()))?;
        stream.part(entries.len(), |out, at| self.refs(at).iter().for_each(|to| out.u32(*to)))?;
        let mut ends = row::RowEnds::default();
        stream.part(entries.len(), |out, at| ends.put(out, &entries[at]))?;
        let RecordWriter { mut digester, sink, .. } = stream;
        digester.add(&end.0);
        end.u64(digester.finish());
        sink(&end.0)
    }

    /// Reads a record from a file of `length` bytes, with its identity. Returns `None` if it is damaged or
    /// from another version.
    pub fn read(source: &mut dyn Read, length: u64) -> Option<(Self, u64)> {
        let mut source = RecordReader { source, digester: Digester::default() };
        let mut head = [0; RecordHeader::BYTES];
        source.fill(&mut head)?;
        let head = RecordHeader::decode(&head, length)?;
        let paths = Arc::new(String::from_utf8(source.bytes(head.path_bytes)?).ok()?);
        let referenced = source.refs(head.refs, head.entries)?;
        let mut rows = RowReader::new(&paths, referenced.len());
        // With room for a few that are new.
        let mut entries = Vec::with_capacity(head.entries + 16);
        let mut buffer = vec![0; CHUNK.min(head.entries) * ROW];
        while entries.len() < head.entries {
            let count = CHUNK.min(head.entries - entries.len());
            let bytes = buffer.get_mut(..count * ROW)?;
            source.fill(bytes)?;
            for row in bytes.as_chunks::<ROW>().0 {
                entries.push(rows.entry(row)?);
            }
        }
        let mut end = vec![0; head.end_bytes];
        source.fill(&mut end)?;
        let mut end = ByteReader(&end);
        take_names(&mut end, &mut entries)?;
        let about = MapMetadata::decode(&mut end)?;
        let check = source.check()?;
        end.0.is_empty().then_some((Self { about, entries, referenced }, check))
    }
}

/// A file that is being read from its beginning.
struct RecordReader<'s> {
    source: &'s mut dyn Read,
    digester: Digester,
}

impl RecordReader<'_> {
    fn fill(&mut self, bytes: &mut [u8]) -> Option<()> {
        self.source.read_exact(bytes).ok()?;
        self.digester.add(bytes);
        Some(())
    }

    /// Reads a part of this many bytes, and its padding.
    fn bytes(&mut self, count: usize) -> Option<Vec<u8>> {
        let mut bytes = vec![0; count.next_multiple_of(STEP)];
        self.fill(&mut bytes)?;
        bytes.truncate(count);
        Some(bytes)
    }

    /// Reads `count` indices of entries, each below `entries`.
    fn refs(&mut self, count: usize, entries: usize) -> Option<Vec<u32>> {
        // With room for a few that are new.
        let mut refs = Vec::with_capacity(count + 1_024);
        let mut left = (count * 4).next_multiple_of(STEP);
        let mut buffer = vec![0; left.min(CHUNK * ROW)];
        while left > 0 {
            let bytes = buffer.get_mut(..left.min(CHUNK * ROW))?;
            self.fill(bytes)?;
            refs.extend(bytes.as_chunks::<4>().0.iter().map(|to| u32::from_le_bytes(*to)));
            left -= bytes.len();
        }
        refs.truncate(count);
        refs.iter().all(|to| (*to as usize) < entries).then_some(refs)
    }

    /// Returns the digest at the end if it matches the content.
    fn check(self) -> Option<u64> {
        let mut check = [0; CHECK];
        self.source.read_exact(&mut check).ok()?;
        let check = u64::from_le_bytes(check);
        (check == self.digester.finish()).then_some(check)
    }
}

impl MapMetadata {
    pub(super) fn encode(&self, out: &mut ByteWriter) {
        out.u64(self.settings);
        out.u64(self.next_run);
        put_date(out, self.full);
        put_date(out, self.incremental);
        out.text(&self.scope);
        out.text(&self.commit);
        let limit =
            self.limit.map_or([0, 0], |limit| [limit.lines, limit.bytes.map_or(0, |bytes| bytes + 1)]);
        limit.into_iter().for_each(|value| out.u64(value as u64));
        let written = self.written;
        [written.size, written.changed, written.inode, written.digest]
            .into_iter()
            .for_each(|value| out.u64(value));
        out.u32(self.answers);
        out.u64(self.answer_bytes);
    }

    pub(super) fn decode(bytes: &mut ByteReader<'_>) -> Option<Self> {
        Some(Self {
            settings: bytes.u64()?,
            next_run: bytes.u64()?,
            full: read_date(bytes)?,
            incremental: read_date(bytes)?,
            scope: bytes.text()?.to_owned(),
            commit: bytes.text()?.to_owned(),
            limit: {
                let (lines, most) =
                    (usize::try_from(bytes.u64()?).ok()?, usize::try_from(bytes.u64()?).ok()?);
                (lines > 0).then(|| SizeLimit { lines, bytes: most.checked_sub(1) })
            },
            written: DocumentStamp {
                size: bytes.u64()?,
                changed: bytes.u64()?,
                inode: bytes.u64()?,
                digest: bytes.u64()?,
            },
            answers: bytes.u32()?,
            answer_bytes: bytes.u64()?,
        })
    }
}

/// The names of the few that have some.
fn put_names(out: &mut ByteWriter, entries: &[MapRecordEntry]) {
    let named =
        || (0_u32..).zip(entries).flat_map(|(at, entry)| entry.names.iter().map(move |name| (at, name)));
    out.count(named().count());
    for (at, (kind, name)) in named() {
        out.u32(at);
        put_name(out, *kind, name);
    }
}

fn put_name(out: &mut ByteWriter, kind: EntityKind, name: &str) {
    let kind = KINDS.iter().position(|known| *known == kind).unwrap_or(0);
    out.0.push(u8::try_from(kind).unwrap_or(0));
    out.text(name);
}

fn take_name(bytes: &mut ByteReader<'_>) -> Option<(EntityKind, Box<str>)> {
    let kind = *KINDS.get(usize::from(bytes.u8()?))?;
    Some((kind, bytes.text()?.into()))
}

pub(super) fn put_names_of(out: &mut ByteWriter, entry: &MapRecordEntry) {
    out.count(entry.names.len());
    entry.names.iter().for_each(|(kind, name)| put_name(out, *kind, name));
}

pub(super) fn take_names_of(bytes: &mut ByteReader<'_>) -> Option<Vec<(EntityKind, Box<str>)>> {
    (0..bytes.count()?).map(|_| take_name(bytes)).collect()
}

fn take_names(bytes: &mut ByteReader<'_>, entries: &mut [MapRecordEntry]) -> Option<()> {
    for _ in 0..bytes.count()? {
        let at = bytes.u32()? as usize;
        entries.get_mut(at)?.names.push(take_name(bytes)?);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;
    use proptest::prelude::*;

    use super::*;
    use crate::record::TraceRange;

    fn decoded(bytes: &[u8]) -> Option<MapRecord> {
        MapRecord::read(&mut &*bytes, bytes.len() as u64).map(|(record, _)| record)
    }

    fn records() -> impl Strategy<Value = MapRecord> {
        let paths = proptest::collection::btree_set("[a-zé/]{1,9}", 0..9);
        (paths, any::<[u64; 4]>(), any::<bool>()).prop_map(|(paths, numbers, flag)| {
            let mut record = MapRecord::empty(date(2026, 2, 14));
            record.about.scope = ".claude/".to_owned();
            record.about.written.digest = numbers[3];
            record.about.limit = flag.then_some(SizeLimit { lines: 300, bytes: Some(15_360) });
            let count = u32::try_from(paths.len()).unwrap();
            for (at, path) in (0_u32..).zip(paths) {
                let mut piece = Vec::new();
                let entry = MapRecordEntry {
                    name_bytes: u32::try_from(path.len()).unwrap(),
                    path: path.into(),
                    version: numbers[0],
                    content: numbers[1],
                    interface: numbers[2],
                    updated: date(2025, 12, 31),
                    text_was_read: flag,
                    changed_every_run: !flag,
                    names: flag.then(|| (EntityKind::Skill, "name".into())).into_iter().collect(),
                    answers: TraceRange::put(&mut piece, 8, &[1, 2], &[at]).unwrap(),
                    ..MapRecordEntry::empty()
                };
                record.push(entry, &(0..count).filter(|to| *to % 3 == at % 3).collect::<Vec<_>>());
            }
            record
        })
    }

    proptest! {
        #[test]
        fn map_state_round_trips(record in records()) {
            prop_assert_eq!(decoded(&record.encode()), Some(record));
        }

        #[test]
        fn damage_is_noticed(record in records(), at in any::<prop::sample::Index>(), bit in 0..8_u32) {
            let mut bytes = record.encode();
            let at = at.index(bytes.len());
            bytes[at] ^= 1_u8 << bit;
            prop_assert_eq!(decoded(&bytes), None);
            bytes.truncate(at);
            prop_assert_eq!(decoded(&bytes), None);
        }
    }
}
