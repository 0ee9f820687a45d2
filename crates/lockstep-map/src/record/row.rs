//! The fixed-size row of one entry.

use std::sync::Arc;

use jiff::civil::Date;

use super::{EntrySpan, MapRecordEntry, TraceRange};
use crate::codec::{ByteReader, ByteWriter, date, put_date};
use crate::shared_str::{IndexRange, SharedStr};

/// The number of bytes of a row.
pub(super) const ROW: usize = 64;

/// The ends of the paths and references of the rows so far, in the lists of all.
#[derive(Debug, Default)]
pub(super) struct RowEnds {
    path: usize,
    refs: usize,
}

impl RowEnds {
    /// Puts the row of the next entry.
    pub(super) fn put(&mut self, out: &mut ByteWriter, entry: &MapRecordEntry) {
        self.path += entry.path.len();
        self.refs += entry.refs.len();
        out.count(self.path);
        out.count(self.refs);
        out.u32(entry.name_bytes);
        out.u32(entry.block.bytes);
        [entry.version, entry.content, entry.interface].into_iter().for_each(|value| out.u64(value));
        put_date(out, entry.updated);
        put_flags(out, entry);
        out.0.extend_from_slice(&[0; 3]);
        entry.answers.encode(out);
    }
}

/// Reads entries from rows, one after the other.
pub(super) struct RowReader<'a> {
    paths: &'a Arc<String>,
    refs: usize,
    path_start: u32,
    ref_start: u32,
    block_start: u32,
    /// The day of the last entry, since most were scanned on the same day.
    day: ([u8; 4], Option<Date>),
}

impl<'a> RowReader<'a> {
    /// With these paths, and so many references.
    pub(super) fn new(paths: &'a Arc<String>, refs: usize) -> Self {
        Self { paths, refs, path_start: 0, ref_start: 0, block_start: 0, day: ([0; 4], None) }
    }

    /// Decodes the next entry without names, or returns `None` if the row is invalid.
    pub(super) fn entry(&mut self, row: &[u8; ROW]) -> Option<MapRecordEntry> {
        let mut row = ByteReader(row);
        let (path_end, ref_end, name_bytes) = (row.u32()?, row.u32()?, row.u32()?);
        let block = EntrySpan { start: self.block_start, bytes: row.u32()? };
        let (version, content, interface) = (row.u64()?, row.u64()?, row.u64()?);
        let day = *row.take(4)?.first_chunk()?;
        if self.day.1.is_none() || self.day.0 != day {
            self.day = (day, Some(date(day)?));
        }
        let (text_was_read, changed_every_run) = flags(row.u8()?);
        row.take(3)?;
        let entry = MapRecordEntry {
            path: SharedStr::part(self.paths, self.path_start, path_end)?,
            name_bytes,
            version,
            content,
            interface,
            updated: self.day.1?,
            text_was_read,
            changed_every_run,
            block,
            refs: IndexRange::of(self.ref_start, ref_end, self.refs)?,
            names: Vec::new(),
            answers: TraceRange::decode(&mut row)?,
        };
        (self.path_start, self.ref_start) = (path_end, ref_end);
        self.block_start = self.block_start.checked_add(block.bytes)?;
        Some(entry)
    }
}

pub(super) fn put_flags(out: &mut ByteWriter, entry: &MapRecordEntry) {
    out.0.push(u8::from(entry.text_was_read) | u8::from(entry.changed_every_run) << 1);
}

/// Decodes the flags for a read text and a hot file.
pub(super) fn flags(byte: u8) -> (bool, bool) {
    (byte & 1 != 0, byte & 2 != 0)
}

impl TraceRange {
    pub(super) fn encode(&self, out: &mut ByteWriter) {
        [self.offset, self.asked, self.offered, self.check].into_iter().for_each(|value| out.u32(value));
    }

    pub(super) fn decode(bytes: &mut ByteReader<'_>) -> Option<Self> {
        Some(Self { offset: bytes.u32()?, asked: bytes.u32()?, offered: bytes.u32()?, check: bytes.u32()? })
    }
}
