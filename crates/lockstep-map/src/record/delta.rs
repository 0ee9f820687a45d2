//! An amendment of a record: the delta of one update, as bytes. Some are stored behind the record and applied
//! by each reader, so an update of one file does not rewrite the record.

use super::encoding::{put_names_of, take_names_of};
use super::renumber::Renumbering;
use super::row::{flags, put_flags};
use super::{EntrySpan, MapMetadata, MapRecord, MapRecordEntry, TraceRange};
use crate::codec::{ByteReader, ByteWriter, put_date, read_date};

/// The changes of one update, by places of entries.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MapRecordDelta {
    /// Which entries came and went.
    pub moves: Renumbering,
    /// Changed entries, by their present indices, including new ones.
    pub touched: Vec<u32>,
}

impl MapRecordDelta {
    pub fn mark_changed(&mut self, places: impl IntoIterator<Item = u32>) {
        self.touched.extend(places);
        self.touched.sort_unstable();
        self.touched.dedup();
    }

    /// Encodes the delta with the record's new values.
    pub fn encode(&self, record: &MapRecord) -> Vec<u8> {
        let mut out = ByteWriter::default();
        record.about.encode(&mut out);
        for places in [&self.moves.removed, &self.moves.added] {
            out.count(places.len());
            places.iter().for_each(|place| out.u32(*place));
        }
        out.count(self.touched.len());
        for place in &self.touched {
            let is_new = self.moves.added.binary_search(place).is_ok();
            out.u32(*place);
            put_entry(&mut out, record, *place as usize, is_new);
        }
        out.0
    }
}

impl MapRecord {
    /// The record after amendments of which the first was made from it, each other from the one before; with how many of them moved entries.
    /// `None` if the bytes are those of no such amendments.
    pub fn apply_deltas(self, amendments: &[&[u8]]) -> Option<(Self, usize)> {
        let mut record = self;
        let mut moving = 0;
        for amendment in amendments {
            moving += usize::from(record.take(amendment)?);
        }
        if !amendments.is_empty() {
            record.order_blocks()?;
        }
        Some((record, moving))
    }

    /// Applies an amendment, except for block starts. Returns true if it moved entries.
    fn take(&mut self, amendment: &[u8]) -> Option<bool> {
        let mut bytes = ByteReader(amendment);
        self.about = MapMetadata::decode(&mut bytes)?;
        let moves = Renumbering { removed: take_places(&mut bytes)?, added: take_places(&mut bytes)? };
        if !moves.is_empty() {
            self.renumber(&moves)?;
        }
        let count = self.entries.len();
        for _ in 0..bytes.count()? {
            let place = bytes.u32()?;
            let is_new = moves.added.binary_search(&place).is_ok();
            let refs = take_entry(&mut bytes, self.entries.get_mut(place as usize)?, is_new)?;
            if refs.iter().any(|to| *to as usize >= count) {
                return None;
            }
            self.set_refs(place as usize, &refs);
        }
        bytes.0.is_empty().then_some(!moves.is_empty())
    }

    /// Tells where blocks start from how many bytes they have.
    fn order_blocks(&mut self) -> Option<()> {
        let mut start = 0_u32;
        for entry in &mut self.entries {
            entry.block.start = start;
            start = start.checked_add(entry.block.bytes)?;
        }
        Some(())
    }
}

fn take_places(bytes: &mut ByteReader<'_>) -> Option<Vec<u32>> {
    let count = bytes.count()?;
    let places: Vec<u32> =
        bytes.fixed_width::<4>(count)?.iter().map(|place| u32::from_le_bytes(*place)).collect();
    places.is_sorted_by(|a, b| a < b).then_some(places)
}

fn put_entry(out: &mut ByteWriter, record: &MapRecord, place: usize, is_new: bool) {
    let (entry, refs) = (&record.entries[place], record.refs(place));
    if is_new {
        out.text(&entry.path);
    }
    out.u32(entry.name_bytes);
    [entry.version, entry.content, entry.interface].into_iter().for_each(|value| out.u64(value));
    put_date(out, entry.updated);
    put_flags(out, entry);
    out.u32(entry.block.bytes);
    out.count(refs.len());
    refs.iter().for_each(|to| out.u32(*to));
    entry.answers.encode(out);
    put_names_of(out, entry);
}

/// Reads the data of an entry. Its references are returned.
fn take_entry(bytes: &mut ByteReader<'_>, entry: &mut MapRecordEntry, is_new: bool) -> Option<Vec<u32>> {
    if is_new {
        entry.path = bytes.text()?.into();
    }
    entry.name_bytes = bytes.u32()?;
    (entry.version, entry.content, entry.interface) = (bytes.u64()?, bytes.u64()?, bytes.u64()?);
    entry.updated = read_date(bytes)?;
    (entry.text_was_read, entry.changed_every_run) = flags(bytes.u8()?);
    entry.block = EntrySpan { start: 0, bytes: bytes.u32()? };
    let count = bytes.count()?;
    let refs = bytes.fixed_width::<4>(count)?.iter().map(|to| u32::from_le_bytes(*to)).collect();
    entry.answers = TraceRange::decode(bytes)?;
    entry.names = take_names_of(bytes)?;
    Some(refs)
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;
    use proptest::prelude::*;

    use super::*;

    fn record(paths: &[&str]) -> MapRecord {
        let mut record = MapRecord::empty(date(2026, 2, 14));
        let count = u32::try_from(paths.len()).unwrap();
        for (at, path) in (0_u32..).zip(paths) {
            record.push_minimal(path, &[(at + 1) % count]);
        }
        record
    }

    #[test]
    fn a_step_makes_of_the_former_record_the_present_one() {
        let former = record(&["a", "c", "d", "e"]);
        let mut present = record(&["a", "b", "c", "e"]);
        present.set_refs(0, &[2]);
        present.set_refs(2, &[]);
        present.set_refs(3, &[0]);
        present.entries[1].names = vec![(lockstep_refs::entity::EntityKind::Skill, "s".into())];
        present.entries[3].changed_every_run = true;
        present.about.next_run = 9;
        present.set_entry_sizes(&[1, 2, 3, 4]);
        let moves = Renumbering { removed: vec![2], added: vec![1] };
        let amendment = MapRecordDelta { moves, touched: vec![0, 1, 2, 3] }.encode(&present);
        assert_eq!(former.clone().apply_deltas(&[&amendment]), Some((present.clone(), 1)));
        present.entries[1].version = 5;
        let second = MapRecordDelta { touched: vec![1], ..MapRecordDelta::default() }.encode(&present);
        assert_eq!(former.apply_deltas(&[&amendment, &second]), Some((present, 1)));
    }

    #[test]
    fn a_step_of_another_record_is_none() {
        let former = record(&["a", "c"]);
        for (moves, touched) in [
            (Renumbering { removed: vec![2], added: vec![] }, vec![]),
            (Renumbering { removed: vec![], added: vec![3] }, vec![]),
            (Renumbering { removed: vec![0, 1], added: vec![] }, vec![1]),
        ] {
            let amendment = MapRecordDelta { moves, touched }.encode(&former);
            assert_eq!(former.clone().apply_deltas(&[&amendment]), None);
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<bool>()) {
            let former = record(&["a", "c", "d"]);
            let moves = Renumbering { removed: vec![1], added: vec![1] };
            let mut amendment = MapRecordDelta { moves, touched: vec![0, 1] }.encode(&former);
            let at = at.index(amendment.len());
            amendment[at] = byte;
            if cut {
                amendment.truncate(at);
            }
            let _ = former.apply_deltas(&[&amendment]);
        }
    }
}
