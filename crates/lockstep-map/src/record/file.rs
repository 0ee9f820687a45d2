//! The record as bytes: a column for everything that is known of each file, so that reading it is copying.

use std::io;
use std::sync::Arc;

use jiff::civil::Date;
use lockstep_refs::entity::EntityKind;

use super::{About, Answers, Block, Entry, Record, Written};
use crate::digest::{Digester, STEP, digest};
use crate::encode::{In, Out, date};
use crate::piece::{Span, Text};
use crate::view::Limit;

const MAGIC: &[u8; 8] = b"LSMAP\0\0\x02";

const KINDS: [EntityKind; 6] = [
    EntityKind::Path,
    EntityKind::Skill,
    EntityKind::Agent,
    EntityKind::Command,
    EntityKind::Named,
    EntityKind::Alias,
];

/// So many entries are made to bytes before these go where they belong: what stays in the processor's caches costs no memory.
const CHUNK: usize = 4_096;

/// Bytes on their way to `sink`.
struct Stream<'s> {
    out: Out,
    digester: Digester,
    sink: &'s mut dyn FnMut(&[u8]) -> io::Result<()>,
}

impl Stream<'_> {
    /// Puts something for each entry.
    fn column(&mut self, entries: &[Entry], mut put: impl FnMut(&mut Out, &Entry)) -> io::Result<()> {
        for chunk in entries.chunks(CHUNK) {
            chunk.iter().for_each(|entry| put(&mut self.out, entry));
            self.spill()?;
        }
        Ok(())
    }

    /// Gives away what can be digested.
    fn spill(&mut self) -> io::Result<()> {
        let whole = self.out.0.len() / STEP * STEP;
        self.digester.add(&self.out.0[..whole]);
        (self.sink)(&self.out.0[..whole])?;
        self.out.0.drain(..whole);
        Ok(())
    }
}

impl Record {
    /// As bytes.
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
        let mut stream = Stream { out: Out(MAGIC.to_vec()), digester: Digester::default(), sink };
        let entries = &self.entries;
        stream.out.count(entries.len());
        let mut end = 0;
        stream.column(entries, |out, entry| {
            end += entry.path.len();
            out.count(end);
        })?;
        stream.column(entries, |out, entry| out.0.extend_from_slice(entry.path.as_bytes()))?;
        let mut end = 0;
        stream.column(entries, |out, entry| {
            end += entry.refs.len();
            out.count(end);
        })?;
        stream.column(entries, |out, entry| {
            self.referenced[entry.refs.range()].iter().for_each(|to| out.u32(*to));
        })?;
        stream.column(entries, |out, entry| out.u32(entry.name_bytes))?;
        stream.column(entries, |out, entry| out.u64(entry.version))?;
        stream.column(entries, |out, entry| out.u64(entry.content))?;
        stream.column(entries, |out, entry| out.u64(entry.interface))?;
        stream.column(entries, |out, entry| out.date(entry.updated))?;
        stream.column(entries, put_flags)?;
        stream.column(entries, |out, entry| out.u32(entry.block.bytes))?;
        stream.column(entries, |out, entry| entry.answers.encode(out))?;
        put_names(&mut stream.out, entries);
        let length = stream.out.0.len().next_multiple_of(STEP);
        stream.out.0.resize(length, 0);
        stream.spill()?;
        let Stream { mut out, mut digester, sink } = stream;
        self.about.encode(&mut out);
        digester.add(&out.0);
        out.u64(digester.finish());
        sink(&out.0)
    }

    /// From bytes; `None` where they are damaged, or of another program.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let (body, check) = bytes.split_last_chunk::<8>()?;
        let mut bytes = In(body.strip_prefix(MAGIC)?);
        if digest(body) != u64::from_le_bytes(*check) {
            return None;
        }
        let (entries, referenced) = entries(&mut bytes)?;
        let read = body.len() - bytes.0.len();
        bytes.take(read.next_multiple_of(STEP) - read)?;
        let about = About::decode(&mut bytes)?;
        bytes.0.is_empty().then_some(Self { about, entries, referenced })
    }
}

/// What tells the bytes of a record from those of any other; `None` where there are too few.
pub fn identity(bytes: &[u8]) -> Option<u64> {
    bytes.last_chunk().map(|check| u64::from_le_bytes(*check))
}

impl About {
    pub(super) fn encode(&self, out: &mut Out) {
        out.u64(self.settings);
        out.u64(self.next_run);
        out.date(self.full);
        out.date(self.incremental);
        out.text(&self.scope);
        out.text(&self.commit);
        let limit =
            self.limit.map_or([0, 0], |limit| [limit.lines, limit.bytes.map_or(0, |bytes| bytes + 1)]);
        limit.into_iter().for_each(|it| out.u64(it as u64));
        let written = self.written;
        [written.size, written.changed, written.inode, written.digest].into_iter().for_each(|it| out.u64(it));
        out.u32(self.answers);
        out.u64(self.answer_bytes);
    }

    pub(super) fn decode(bytes: &mut In<'_>) -> Option<Self> {
        Some(Self {
            settings: bytes.u64()?,
            next_run: bytes.u64()?,
            full: bytes.date()?,
            incremental: bytes.date()?,
            scope: bytes.text()?.to_owned(),
            commit: bytes.text()?.to_owned(),
            limit: {
                let (lines, most) =
                    (usize::try_from(bytes.u64()?).ok()?, usize::try_from(bytes.u64()?).ok()?);
                (lines > 0).then(|| Limit { lines, bytes: most.checked_sub(1) })
            },
            written: Written {
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
fn put_names(out: &mut Out, entries: &[Entry]) {
    let named = || (0_u32..).zip(entries).flat_map(|(at, entry)| entry.names.iter().map(move |it| (at, it)));
    out.count(named().count());
    for (at, (kind, name)) in named() {
        out.u32(at);
        put_name(out, *kind, name);
    }
}

fn put_name(out: &mut Out, kind: EntityKind, name: &str) {
    let kind = KINDS.iter().position(|known| *known == kind).unwrap_or(0);
    out.0.push(u8::try_from(kind).unwrap_or(0));
    out.text(name);
}

fn take_name(bytes: &mut In<'_>) -> Option<(EntityKind, Box<str>)> {
    let kind = *KINDS.get(usize::from(bytes.u8()?))?;
    Some((kind, bytes.text()?.into()))
}

/// The names of one entry.
pub(super) fn put_names_of(out: &mut Out, entry: &Entry) {
    out.count(entry.names.len());
    entry.names.iter().for_each(|(kind, name)| put_name(out, *kind, name));
}

pub(super) fn take_names_of(bytes: &mut In<'_>) -> Option<Vec<(EntityKind, Box<str>)>> {
    (0..bytes.count()?).map(|_| take_name(bytes)).collect()
}

pub(super) fn put_flags(out: &mut Out, entry: &Entry) {
    out.0.push(u8::from(entry.is_read) | u8::from(entry.is_hot) << 1);
}

/// Whether it is read, and whether it is hot.
pub(super) fn flags(byte: u8) -> (bool, bool) {
    (byte & 1 != 0, byte & 2 != 0)
}

impl Answers {
    pub(super) fn encode(&self, out: &mut Out) {
        [self.offset, self.asked, self.offered, self.check].into_iter().for_each(|it| out.u32(it));
    }

    pub(super) fn decode(bytes: &mut In<'_>) -> Option<Self> {
        Some(Self { offset: bytes.u32()?, asked: bytes.u32()?, offered: bytes.u32()?, check: bytes.u32()? })
    }
}

/// The entries, and what they reference.
fn entries(bytes: &mut In<'_>) -> Option<(Vec<Entry>, Vec<u32>)> {
    let count = bytes.count()?;
    let path_ends = bytes.column::<4>(count)?;
    let length = path_ends.last().map_or(0, |end| u32::from_le_bytes(*end) as usize);
    let paths: Arc<str> = std::str::from_utf8(bytes.take(length)?).ok()?.into();
    let ref_ends = bytes.column::<4>(count)?;
    let refs = ref_ends.last().map_or(0, |end| u32::from_le_bytes(*end) as usize);
    let refs = bytes.column::<4>(refs)?;
    // With room for a few that are new.
    let mut referenced = Vec::with_capacity(refs.len() + 1_024);
    referenced.extend(refs.iter().map(|to| u32::from_le_bytes(*to)));
    if referenced.iter().any(|to| *to as usize >= count) {
        return None;
    }
    let name_bytes = bytes.column::<4>(count)?;
    let (versions, contents) = (bytes.column::<8>(count)?, bytes.column::<8>(count)?);
    let (interfaces, days) = (bytes.column::<8>(count)?, bytes.column::<4>(count)?);
    let (marks, blocks) = (bytes.column::<1>(count)?, bytes.column::<4>(count)?);
    let answers = bytes.column::<16>(count)?;
    // With room for a few that are new.
    let mut entries = Vec::with_capacity(count + 16);
    let (mut path_start, mut ref_start, mut block_start) = (0, 0, 0_u32);
    // Most were scanned on the same day.
    let mut day: ([u8; 4], Option<Date>) = ([0; 4], None);
    for at in 0..count {
        let (path_end, ref_end) = (u32::from_le_bytes(path_ends[at]), u32::from_le_bytes(ref_ends[at]));
        let block = Block { start: block_start, bytes: u32::from_le_bytes(blocks[at]) };
        if day.1.is_none() || day.0 != days[at] {
            day = (days[at], Some(date(days[at])?));
        }
        let (is_read, is_hot) = flags(marks[at][0]);
        entries.push(Entry {
            path: Text::part(&paths, path_start, path_end)?,
            name_bytes: u32::from_le_bytes(name_bytes[at]),
            version: u64::from_le_bytes(versions[at]),
            content: u64::from_le_bytes(contents[at]),
            interface: u64::from_le_bytes(interfaces[at]),
            updated: day.1?,
            is_read,
            is_hot,
            block,
            refs: Span::of(ref_start, ref_end, referenced.len())?,
            names: Vec::new(),
            answers: Answers::decode(&mut In(&answers[at]))?,
        });
        (path_start, ref_start) = (path_end, ref_end);
        block_start = block_start.checked_add(block.bytes)?;
    }
    take_names(bytes, &mut entries)?;
    Some((entries, referenced))
}

fn take_names(bytes: &mut In<'_>, entries: &mut [Entry]) -> Option<()> {
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

    fn records() -> impl Strategy<Value = Record> {
        let paths = proptest::collection::btree_set("[a-zé/]{1,9}", 0..9);
        (paths, any::<[u64; 4]>(), any::<bool>()).prop_map(|(paths, numbers, flag)| {
            let mut record = Record::empty(date(2026, 2, 14));
            record.about.scope = ".claude/".to_owned();
            record.about.written.digest = numbers[3];
            record.about.limit = flag.then_some(Limit { lines: 300, bytes: Some(15_360) });
            let count = u32::try_from(paths.len()).unwrap();
            for (at, path) in (0_u32..).zip(paths) {
                let mut piece = Vec::new();
                let entry = Entry {
                    name_bytes: u32::try_from(path.len()).unwrap(),
                    path: path.into(),
                    version: numbers[0],
                    content: numbers[1],
                    interface: numbers[2],
                    updated: date(2025, 12, 31),
                    is_read: flag,
                    is_hot: !flag,
                    names: flag.then(|| (EntityKind::Skill, "name".into())).into_iter().collect(),
                    answers: Answers::put(&mut piece, 8, &[1, 2], &[at]).unwrap(),
                    ..Entry::empty()
                };
                record.push(entry, &(0..count).filter(|to| *to % 3 == at % 3).collect::<Vec<_>>());
            }
            record
        })
    }

    proptest! {
        #[test]
        fn what_is_kept_is_read_back(record in records()) {
            prop_assert_eq!(Record::decode(&record.encode()), Some(record));
        }

        #[test]
        fn damage_is_noticed(record in records(), at in any::<prop::sample::Index>(), bit in 0..8_u32) {
            let mut bytes = record.encode();
            let at = at.index(bytes.len());
            bytes[at] ^= 1_u8 << bit;
            prop_assert_eq!(Record::decode(&bytes), None);
            bytes.truncate(at);
            prop_assert_eq!(Record::decode(&bytes), None);
        }
    }
}
