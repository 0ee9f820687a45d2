//! The amendments behind a record, in `.lockstep/map/amendments`: what small updates changed since the record was written. Appended to, each amendment
//! behind its length and a check. The file names the record it belongs to: amendments behind another one are none.

use std::fs;
use std::io;
use std::path::Path;

use lockstep_map::digest::digest;
use lockstep_map::record::{Amendment, Record};

use super::append::append;

/// So many bytes of amendments are sooner written again and again than a record.
const MOST_BYTES: u64 = 256 << 10;

/// Amendments in which entries come or go move all that are known.
const MOST_MOVES: usize = 8;

/// What stands before each amendment: its length and its check.
const HEAD: usize = 12;

/// The amendments behind the present record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Amendments {
    /// Whose they are.
    record: u64,
    /// Where the last whole one ends; zero where there is none.
    end: u64,
    /// How many moved entries.
    moves: usize,
}

impl Amendments {
    /// Makes the amendments at `path` from a record; `None` where they cannot be made.
    pub(super) fn made(path: &Path, record: Record, identity: u64) -> Option<(Record, Self)> {
        let bytes = fs::read(path).unwrap_or_default();
        let (amendments, end) = whole(&bytes, identity);
        let (record, moves) = record.after(&amendments)?;
        Some((record, Self { record: identity, end: end as u64, moves }))
    }

    /// Whether one more is sooner appended than a new record written.
    pub(super) fn has_room(&self, amendment: &Amendment, bytes: &[u8]) -> bool {
        self.end + bytes.len() as u64 <= MOST_BYTES
            && self.moves + usize::from(!amendment.moves.is_empty()) <= MOST_MOVES
    }

    /// Appends one.
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

/// The amendments of a record that are whole, and where the last one ends.
fn whole(bytes: &[u8], record: u64) -> (Vec<&[u8]>, usize) {
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

    #[test]
    fn what_is_whole_and_of_this_record_counts() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("amendments");
        let mut amendments = Amendments { record: 7, end: 0, moves: 0 };
        amendments.append(&path, b"one").unwrap();
        amendments.end = fs::metadata(&path).unwrap().len();
        amendments.append(&path, b"second").unwrap();
        let bytes = fs::read(&path).unwrap();
        assert_eq!(whole(&bytes, 7), (vec![b"one".as_slice(), b"second"], bytes.len()));
        assert_eq!(whole(&bytes, 8), (vec![], 0));
        for cut in 0..bytes.len() {
            let (whole, end) = whole(&bytes[..cut], 7);
            assert_eq!(whole.len(), usize::from(cut as u64 >= amendments.end), "{cut}");
            assert_eq!(end as u64, if whole.is_empty() { 0 } else { amendments.end });
        }
        fs::write(&path, &bytes[..bytes.len() - 2]).unwrap();
        amendments.append(&path, b"2").unwrap();
        assert_eq!(whole(&fs::read(&path).unwrap(), 7).0, [b"one".as_slice(), b"2"]);
    }
}
