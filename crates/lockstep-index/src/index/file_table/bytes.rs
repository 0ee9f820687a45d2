//! Encoding of the file table. The table has megabytes and is decoded at the start of every query, so it is
//! read in chunks that fit the processor's caches.

use std::io::Read;

use lockstep_text::bytes::ByteReader;

use super::super::codec::{check, checker, sum};
use super::super::content::ContentClass;
use super::super::version::FileVersion;
use super::{DirectoryRow, FileRow, FileTable, PackedStrings};

const MAGIC: &[u8; 8] = b"LSFILES1";

const RECORD: usize = 41;

const DIRECTORY: usize = 28;

/// Size of the checksum at the end, in bytes.
const SUM: u64 = 8;

/// The number of items that are decoded at a time.
const CHUNK: usize = 4_096;

impl FileTable {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(64 + self.records.len() * 120);
        out.extend_from_slice(MAGIC);
        put_names(&mut out, &self.paths);
        for record in &self.records {
            put_version(&mut out, &record.version);
            out.extend_from_slice(&record.document.to_le_bytes());
            out.extend_from_slice(&record.directory.to_le_bytes());
            out.push(record.state.byte());
        }
        put_names(&mut out, &self.directory_paths);
        for directory in &self.directories {
            out.extend_from_slice(&directory.changed.to_le_bytes());
            out.extend_from_slice(&directory.inode.to_le_bytes());
            out.extend_from_slice(&directory.rules.to_le_bytes());
            out.extend_from_slice(&directory.unnameable.to_le_bytes());
        }
        let sum = check(&out);
        out.extend_from_slice(&sum.to_le_bytes());
        out
    }

    /// Reads the table from a file of `length` bytes. `None` if it is damaged or of another format.
    pub(crate) fn read(source: &mut dyn Read, length: u64) -> Option<Self> {
        let mut source = FileTableReader { source, left: length.checked_sub(SUM)?, checked: checker() };
        if source.array::<8>()? != *MAGIC {
            return None;
        }
        let paths = source.names()?;
        let records = source.each::<RECORD, _>(paths.len(), record)?;
        let directory_paths = source.names()?;
        let directories = source.each::<DIRECTORY, _>(directory_paths.len(), directory)?;
        let fits = records.iter().all(|record| (record.directory as usize) < directories.len());
        source.end()?;
        fits.then_some(Self { paths, records, directory_paths, directories })
    }
}

/// A file that is being read sequentially.
struct FileTableReader<'s> {
    source: &'s mut dyn Read,
    /// The number of bytes left before the checksum.
    left: u64,
    checked: blake3::Hasher,
}

impl FileTableReader<'_> {
    fn fill(&mut self, bytes: &mut [u8]) -> Option<()> {
        self.left = self.left.checked_sub(bytes.len() as u64)?;
        self.source.read_exact(bytes).ok()?;
        self.checked.update(bytes);
        Some(())
    }

    fn array<const BYTES: usize>(&mut self) -> Option<[u8; BYTES]> {
        let mut bytes = [0; BYTES];
        self.fill(&mut bytes)?;
        Some(bytes)
    }

    /// Reads a count of items of `each` bytes. Returns `None` if the remaining bytes are too few for it, so
    /// that a damaged count allocates nothing.
    fn count(&mut self, each: u64) -> Option<usize> {
        let count = u64::from_le_bytes(self.array()?);
        usize::try_from(count).ok().filter(|_| count <= self.left / each)
    }

    /// Reads `count` items of a fixed size.
    fn each<const BYTES: usize, T>(
        &mut self,
        count: usize,
        convert: impl Fn(&[u8; BYTES]) -> Option<T>,
    ) -> Option<Vec<T>> {
        if count as u64 > self.left / BYTES as u64 {
            return None;
        }
        // With room for one new item.
        let mut all = Vec::with_capacity(count + 1);
        let mut buffer = vec![0; count.min(CHUNK) * BYTES];
        while all.len() < count {
            let bytes = buffer.get_mut(..CHUNK.min(count - all.len()) * BYTES)?;
            self.fill(bytes)?;
            for bytes in bytes.as_chunks::<BYTES>().0 {
                all.push(convert(bytes)?);
            }
        }
        Some(all)
    }

    fn names(&mut self) -> Option<PackedStrings> {
        let (count, length) = (self.count(4)?, self.count(1)?);
        let ends = self.each::<4, _>(count, |end| Some(u32::from_le_bytes(*end)))?;
        if length as u64 > self.left {
            return None;
        }
        let mut text = vec![0; length];
        self.fill(&mut text)?;
        let text = String::from_utf8(text).ok()?;
        let fits = ends.is_sorted()
            && ends.last().map_or(0, |end| *end as usize) == length
            && ends.iter().all(|end| text.is_char_boundary(*end as usize));
        fits.then_some(PackedStrings { text, ends })
    }

    /// Returns `None` unless all bytes were read and the checksum matches.
    fn end(self) -> Option<()> {
        let mut stored_sum = [0; SUM as usize];
        self.source.read_exact(&mut stored_sum).ok()?;
        (self.left == 0 && u64::from_le_bytes(stored_sum) == sum(&self.checked)).then_some(())
    }
}

fn put_names(out: &mut Vec<u8>, names: &PackedStrings) {
    out.extend_from_slice(&(names.ends.len() as u64).to_le_bytes());
    out.extend_from_slice(&(names.text.len() as u64).to_le_bytes());
    names.ends.iter().for_each(|end| out.extend_from_slice(&end.to_le_bytes()));
    out.extend_from_slice(names.text.as_bytes());
}

fn put_version(out: &mut Vec<u8>, version: &FileVersion) {
    for number in [version.size, version.changed.cast_unsigned(), version.inode, version.digest] {
        out.extend_from_slice(&number.to_le_bytes());
    }
}

fn record(bytes: &[u8; RECORD]) -> Option<FileRow> {
    let mut bytes = ByteReader(bytes);
    let version =
        FileVersion { size: bytes.u64()?, changed: bytes.i64()?, inode: bytes.u64()?, digest: bytes.u64()? };
    let (document, directory) = (bytes.u32()?, bytes.u32()?);
    let state = ContentClass::from_byte(*bytes.take(1)?.first()?)?;
    Some(FileRow { version, document, directory, state })
}

fn directory(bytes: &[u8; DIRECTORY]) -> Option<DirectoryRow> {
    let mut bytes = ByteReader(bytes);
    Some(DirectoryRow {
        changed: bytes.i64()?,
        inode: bytes.u64()?,
        rules: bytes.u64()?,
        unnameable: bytes.u32()?,
    })
}
