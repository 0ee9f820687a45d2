//! A sorted table in one immutable file: numbers and what belongs to each, looked up without loading it.
//!
//! ```text
//! MAGIC  block*  block_index  footer
//! block  = (key delta, length, payload)*         keys ascend
//! block_index  = (first key, offset, length, check)*   one per block
//! footer = block_index offset, blocks, check of the block_index, MAGIC
//! ```
//!
//! A lookup reads the block_index once and then one block. Every byte that is read is checked against a digest, so that a file
//! that a power failure damaged is noticed and not believed: nothing needs to be synced.

use std::fs::File;
use std::io::{self, Write};
use std::sync::OnceLock;

use lockstep_fs::PositionedIo as _;
use lockstep_text::bytes::{ByteReader, put_varint};

use super::codec::check;

const MAGIC: &[u8; 8] = b"LSTABLE1";
const FOOTER: usize = 32;
const FENCE_ENTRY: usize = 28;

/// The size at which a block is closed. A lookup reads one block.
const BLOCK: usize = 4096;

/// The error for a table that is damaged or cannot be read.
#[derive(Debug)]
pub(crate) struct CorruptTable;

impl From<io::Error> for CorruptTable {
    fn from(_: io::Error) -> Self {
        Self
    }
}

/// Writes a table. Keys must ascend.
pub(crate) struct TableWriter<W> {
    out: W,
    offset: u64,
    block: Vec<u8>,
    first: u64,
    last: u64,
    block_index: Vec<u8>,
    blocks: u64,
}

impl<W: Write> TableWriter<W> {
    pub(crate) fn new(mut out: W) -> io::Result<Self> {
        out.write_all(MAGIC)?;
        let offset = MAGIC.len() as u64;
        Ok(Self { out, offset, block: Vec::new(), first: 0, last: 0, block_index: Vec::new(), blocks: 0 })
    }

    pub(crate) fn put(&mut self, key: u64, payload: &[u8]) -> io::Result<()> {
        if self.block.is_empty() {
            (self.first, self.last) = (key, key);
        }
        debug_assert!(key >= self.last, "keys ascend");
        put_varint(&mut self.block, key.wrapping_sub(self.last));
        put_varint(&mut self.block, payload.len() as u64);
        self.block.extend_from_slice(payload);
        self.last = key;
        if self.block.len() >= BLOCK { self.close_block() } else { Ok(()) }
    }

    fn close_block(&mut self) -> io::Result<()> {
        if self.block.is_empty() {
            return Ok(());
        }
        let length = u32::try_from(self.block.len()).map_err(io::Error::other)?;
        self.block_index.extend_from_slice(&self.first.to_le_bytes());
        self.block_index.extend_from_slice(&self.offset.to_le_bytes());
        self.block_index.extend_from_slice(&length.to_le_bytes());
        self.block_index.extend_from_slice(&check(&self.block).to_le_bytes());
        self.out.write_all(&self.block)?;
        self.offset += u64::from(length);
        self.blocks += 1;
        self.block.clear();
        Ok(())
    }

    /// Appends the blocks of a part: a table without its block_index, whose keys are greater than all keys so far.
    pub(crate) fn append(&mut self, part: &TableSegment) -> io::Result<()> {
        self.close_block()?;
        let mut block_index = ByteReader(&part.block_index);
        while let Some(entry) = BlockIndexEntry::read(&mut block_index) {
            let entry = BlockIndexEntry { offset: entry.offset + self.offset, ..entry };
            entry.write(&mut self.block_index);
            self.blocks += 1;
        }
        self.out.write_all(&part.blocks)?;
        self.offset += part.blocks.len() as u64;
        Ok(())
    }

    pub(crate) fn finish(mut self) -> io::Result<W> {
        self.close_block()?;
        self.out.write_all(&self.block_index)?;
        self.out.write_all(&self.offset.to_le_bytes())?;
        self.out.write_all(&self.blocks.to_le_bytes())?;
        self.out.write_all(&check(&self.block_index).to_le_bytes())?;
        self.out.write_all(MAGIC)?;
        self.out.flush()?;
        Ok(self.out)
    }
}

/// A range of a table that is built in parallel to others.
pub(crate) struct TableSegment {
    blocks: Vec<u8>,
    block_index: Vec<u8>,
}

impl TableSegment {
    /// Creates a part from the entries that `fill` writes. Its offsets start at zero.
    pub(crate) fn new(fill: impl FnOnce(&mut TableWriter<Vec<u8>>) -> io::Result<()>) -> io::Result<Self> {
        let mut writer = TableWriter {
            out: Vec::new(),
            offset: 0,
            block: Vec::new(),
            first: 0,
            last: 0,
            block_index: Vec::new(),
            blocks: 0,
        };
        fill(&mut writer)?;
        writer.close_block()?;
        Ok(Self { blocks: writer.out, block_index: writer.block_index })
    }
}

#[derive(Debug, Clone, Copy)]
struct BlockIndexEntry {
    first: u64,
    offset: u64,
    length: u32,
    check: u64,
}

impl BlockIndexEntry {
    fn read(bytes: &mut ByteReader<'_>) -> Option<Self> {
        Some(Self { first: bytes.u64()?, offset: bytes.u64()?, length: bytes.u32()?, check: bytes.u64()? })
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.first.to_le_bytes());
        out.extend_from_slice(&self.offset.to_le_bytes());
        out.extend_from_slice(&self.length.to_le_bytes());
        out.extend_from_slice(&self.check.to_le_bytes());
    }
}

/// The bytes of a table.
#[derive(Debug)]
pub(crate) enum TableSource {
    Memory(Vec<u8>),
    File(File, u64),
}

impl TableSource {
    pub(crate) fn file(file: File) -> io::Result<Self> {
        let length = file.metadata()?.len();
        Ok(Self::File(file, length))
    }

    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::Memory(bytes) => bytes.len() as u64,
            Self::File(_, length) => *length,
        }
    }

    fn read(&self, offset: u64, length: usize) -> Result<Vec<u8>, CorruptTable> {
        // A damaged length must not allocate more than the file has.
        if offset.checked_add(length as u64).is_none_or(|end| end > self.len()) {
            return Err(CorruptTable);
        }
        match self {
            Self::Memory(bytes) => {
                let at = usize::try_from(offset).map_err(|_| CorruptTable)?;
                Ok(bytes[at..at + length].to_vec())
            }
            Self::File(file, _) => {
                let mut bytes = vec![0; length];
                file.read_exact_at(&mut bytes, offset)?;
                Ok(bytes)
            }
        }
    }
}

/// A table that is open for reading.
#[derive(Debug)]
pub(crate) struct SortedTable {
    source: TableSource,
    block_index: OnceLock<Option<Vec<BlockIndexEntry>>>,
}

impl SortedTable {
    pub(crate) fn new(source: TableSource) -> Self {
        Self { source, block_index: OnceLock::new() }
    }

    pub(crate) fn len(&self) -> u64 {
        self.source.len()
    }

    fn block_index(&self) -> Result<&[BlockIndexEntry], CorruptTable> {
        self.block_index.get_or_init(|| self.read_fence().ok()).as_deref().ok_or(CorruptTable)
    }

    fn read_fence(&self) -> Result<Vec<BlockIndexEntry>, CorruptTable> {
        let end = self.source.len().checked_sub(FOOTER as u64).ok_or(CorruptTable)?;
        let footer = self.source.read(end, FOOTER)?;
        let mut footer = ByteReader(&footer);
        let offset = footer.u64().ok_or(CorruptTable)?;
        let blocks = footer.u64().ok_or(CorruptTable)?;
        let sum = footer.u64().ok_or(CorruptTable)?;
        let expected = usize::try_from(blocks).ok().and_then(|blocks| blocks.checked_mul(FENCE_ENTRY));
        let length =
            usize::try_from(end.checked_sub(offset).ok_or(CorruptTable)?).map_err(|_| CorruptTable)?;
        if footer.0 != MAGIC || expected != Some(length) {
            return Err(CorruptTable);
        }
        let bytes = self.source.read(offset, length)?;
        if check(&bytes) != sum {
            return Err(CorruptTable);
        }
        let mut bytes = ByteReader(&bytes);
        Ok(std::iter::from_fn(|| BlockIndexEntry::read(&mut bytes)).collect())
    }

    fn block(&self, entry: &BlockIndexEntry) -> Result<Vec<u8>, CorruptTable> {
        let block = self.source.read(entry.offset, entry.length as usize)?;
        if check(&block) == entry.check { Ok(block) } else { Err(CorruptTable) }
    }

    pub(crate) fn get(&self, key: u64) -> Result<Option<Vec<u8>>, CorruptTable> {
        let block_index = self.block_index()?;
        let Some(at) = block_index.partition_point(|entry| entry.first <= key).checked_sub(1) else {
            return Ok(None);
        };
        let block = self.block(&block_index[at])?;
        let mut found = None;
        walk(&block_index[at], &block, |known, payload| {
            if known == key {
                found = Some(payload.to_vec());
            }
            known < key
        })?;
        Ok(found)
    }
}

/// Iterates over a table in the order of its keys.
pub(crate) struct TableCursor<'a> {
    table: &'a SortedTable,
    blocks: std::slice::Iter<'a, BlockIndexEntry>,
    block: Vec<u8>,
    at: usize,
    key: u64,
}

impl<'a> TableCursor<'a> {
    pub(crate) fn new(table: &'a SortedTable) -> Result<Self, CorruptTable> {
        Ok(Self { table, blocks: table.block_index()?.iter(), block: Vec::new(), at: 0, key: 0 })
    }

    /// Returns the next key with its payload.
    pub(crate) fn next(&mut self) -> Result<Option<(u64, Vec<u8>)>, CorruptTable> {
        if self.at == self.block.len() {
            let Some(entry) = self.blocks.next() else { return Ok(None) };
            self.block = self.table.block(entry)?;
            (self.at, self.key) = (0, entry.first);
        }
        let mut bytes = ByteReader(&self.block[self.at..]);
        self.key = self.key.wrapping_add(bytes.varint().ok_or(CorruptTable)?);
        let payload = bytes.chunk().ok_or(CorruptTable)?.to_vec();
        self.at = self.block.len() - bytes.0.len();
        Ok(Some((self.key, payload)))
    }
}

/// Visits the entries of a block until `visit` returns false.
fn walk(
    entry: &BlockIndexEntry,
    block: &[u8],
    mut visit: impl FnMut(u64, &[u8]) -> bool,
) -> Result<(), CorruptTable> {
    let mut bytes = ByteReader(block);
    let mut key = entry.first;
    while !bytes.is_empty() {
        key = key.wrapping_add(bytes.varint().ok_or(CorruptTable)?);
        let payload = bytes.chunk().ok_or(CorruptTable)?;
        if !visit(key, payload) {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn written(content: &BTreeMap<u64, Vec<u8>>) -> Vec<u8> {
        let mut writer = TableWriter::new(Vec::new()).unwrap();
        content.iter().for_each(|(key, payload)| writer.put(*key, payload).unwrap());
        writer.finish().unwrap()
    }

    fn content() -> impl Strategy<Value = BTreeMap<u64, Vec<u8>>> {
        // Some payloads are larger than a block.
        let payload = prop_oneof![
            9 => proptest::collection::vec(any::<u8>(), 0..40),
            1 => proptest::collection::vec(any::<u8>(), 3000..6000),
        ];
        proptest::collection::btree_map(prop_oneof![any::<u64>(), 0..50_u64], payload, 0..40)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn inserted_keys_are_found(content in content(), other in any::<u64>()) {
            let table = SortedTable::new(TableSource::Memory(written(&content)));
            for (key, payload) in &content {
                prop_assert_eq!(table.get(*key).unwrap(), Some(payload.clone()));
            }
            prop_assert_eq!(table.get(other).unwrap(), content.get(&other).cloned());
            let mut all = BTreeMap::new();
            let mut cursor = TableCursor::new(&table).unwrap();
            while let Some((key, payload)) = cursor.next().unwrap() {
                all.insert(key, payload);
            }
            prop_assert_eq!(all, content);
        }

        #[test]
        fn parts_make_one_table(content in content(), at in any::<u64>()) {
            let mut writer = TableWriter::new(Vec::new()).unwrap();
            for range in [content.range(..at), content.range(at..)] {
                let part = TableSegment::new(|part| {
                    range.into_iter().try_for_each(|(key, payload)| part.put(*key, payload))
                }).unwrap();
                writer.append(&part).unwrap();
            }
            let table = SortedTable::new(TableSource::Memory(writer.finish().unwrap()));
            for (key, payload) in &content {
                prop_assert_eq!(table.get(*key).unwrap(), Some(payload.clone()));
            }
        }

        /// Damage causes an error, or does not affect the queried keys: never a different answer, never a
        /// panic.
        #[test]
        fn damage_gives_no_other_answer(
            content in content(), at in any::<prop::sample::Index>(), bit in 0..8_u32, cut in any::<bool>(),
        ) {
            let mut bytes = written(&content);
            let at = at.index(bytes.len());
            if cut { bytes.truncate(at) } else { bytes[at] ^= 1_u8 << bit }
            let table = SortedTable::new(TableSource::Memory(bytes));
            for (key, payload) in &content {
                if let Ok(found) = table.get(*key) {
                    prop_assert_eq!(found.as_ref(), Some(payload));
                }
            }
        }

        #[test]
        fn any_bytes_are_parsed_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let table = SortedTable::new(TableSource::Memory(bytes));
            let _ = table.get(7);
            let mut cursor = TableCursor::new(&table);
            while cursor.as_mut().is_ok_and(|cursor| matches!(cursor.next(), Ok(Some(_)))) {}
        }
    }
}
