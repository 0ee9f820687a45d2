//! The deltas of a record, in `.lockstep/map/amendments`: changes of small updates since the record was
//! written.
//!
//! The file is append-only; each delta follows its length and a checksum. The file names its record: deltas
//! of another record are ignored.

use std::io;
use std::path::Path;

use lockstep_map::fast_hash::digest;
use lockstep_map::record::{MapRecord, MapRecordDelta};

use super::append::append;

/// The maximum size of the deltas in bytes. Above it, writing a new record is cheaper.
const MAX_LOG_BYTES: u64 = 256 << 10;

/// The maximum number of deltas that add or remove entries, because each moves all known entries.
const MAX_MOVES: usize = 8;

/// The size of a delta's header: its length and checksum.
const HEAD: usize = 12;

/// The amendments behind the present record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DeltaLog {
    record: u64,
    /// The end of the last complete delta; zero if there is none.
    end: u64,
    /// The number of deltas that moved entries.
    moves: usize,
}

impl DeltaLog {
    /// Makes the amendments at `path` from a record; `None` if they cannot be made.
    pub(super) fn replay(path: &Path, record: MapRecord, identity: u64) -> Option<(MapRecord, Self)> {
        let bytes = lockstep_fs::read_up_to(path, lockstep_fs::MAX_STATE_BYTES).unwrap_or_default();
        let (amendments, end) = valid_deltas(&bytes, identity);
        let (record, moves) = record.apply_deltas(&amendments)?;
        Some((record, Self { record: identity, end: end as u64, moves }))
    }

    /// Returns true if appending another delta is cheaper than writing a record.
    pub(super) fn has_room(&self, amendment: &MapRecordDelta, bytes: &[u8]) -> bool {
        self.end + bytes.len() as u64 <= MAX_LOG_BYTES
            && self.moves + usize::from(!amendment.moves.is_empty()) <= MAX_MOVES
    }

    pub(super) fn append(&self, path: &Path, amendment: &[u8]) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(amendment.len() + HEAD + 8);
        if self.end == 0 {
            bytes.extend_from_slice(&self.record.to_le_bytes());
        }
        let length = u32::try_from(amendment.len()).map_err(io::Error::other)?;
        bytes.extend_from_slice(&length.to_le_bytes());
        bytes.extend_from_slice(&check(self.record, amendment).to_le_bytes());
        bytes.extend_from_slice(amendment);
        append(path, self.end, &bytes)
    }
}

/// Returns the complete deltas of a record, and the end of the last one.
fn valid_deltas(bytes: &[u8], record: u64) -> (Vec<&[u8]>, usize) {
    let mut amendments = Vec::new();
    let Some((_, mut rest)) =
        bytes.split_first_chunk::<8>().filter(|(first, _)| **first == record.to_le_bytes())
    else {
        return (amendments, 0);
    };
    while let Some((length, after)) = rest.split_first_chunk::<4>()
        && let Some((sum, after)) = after.split_first_chunk::<8>()
        && let Some((amendment, after)) = after.split_at_checked(u32::from_le_bytes(*length) as usize)
        && check(record, amendment) == u64::from_le_bytes(*sum)
    {
        amendments.push(amendment);
        rest = after;
    }
    let end = if amendments.is_empty() { 0 } else { bytes.len() - rest.len() };
    (amendments, end)
}

fn check(record: u64, amendment: &[u8]) -> u64 {
    digest(amendment) ^ record
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn only_complete_deltas_of_this_record_are_replayed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("amendments");
        let mut amendments = DeltaLog { record: 7, end: 0, moves: 0 };
        amendments.append(&path, b"one").unwrap();
        amendments.end = fs::metadata(&path).unwrap().len();
        amendments.append(&path, b"second").unwrap();
        let bytes = fs::read(&path).unwrap();
        assert_eq!(valid_deltas(&bytes, 7), (vec![b"one".as_slice(), b"second"], bytes.len()));
        assert_eq!(valid_deltas(&bytes, 8), (vec![], 0));
        for cut in 0..bytes.len() {
            let (whole, end) = valid_deltas(&bytes[..cut], 7);
            assert_eq!(whole.len(), usize::from(cut as u64 >= amendments.end), "{cut}");
            assert_eq!(end as u64, if whole.is_empty() { 0 } else { amendments.end });
        }
        fs::write(&path, &bytes[..bytes.len() - 2]).unwrap();
        amendments.append(&path, b"2").unwrap();
        assert_eq!(valid_deltas(&fs::read(&path).unwrap(), 7).0, [b"one".as_slice(), b"2"]);
    }
}
