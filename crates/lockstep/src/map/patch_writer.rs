//! Writes a document that mostly equals the former one: copied in chunks that fit the processor's caches, and
//! verified on the way.

use std::fs::File;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::Path;

use lockstep_fs::{mode_of, set_file_mode, temporary_builder};
use lockstep_map::fast_hash::Digester;
use lockstep_map::incremental_render::{DocumentChunk, DocumentPatch};
use lockstep_map::record::DocumentStamp;

use super::document_file::{is_stamp_of, stamp};

/// The number of bytes that are copied at a time; a multiple of a digest's step.
pub(super) const CHUNK: usize = 1 << 18;

/// Replaces the file at `path` by the patched document, through a file in `staging`, and returns its digest.
/// `None` if the file is no longer `former`, or must be replaced in another way.
///
/// Not synced: after a crash one of both versions exists in full. A document damaged by a power failure
/// differs from the record, and the next update rebuilds it.
pub(super) fn write_patched(
    staging: &Path,
    path: &Path,
    drawing: &DocumentPatch,
    former: &DocumentStamp,
) -> io::Result<Option<u64>> {
    let source = lockstep_fs::open(path)?;
    let meta = source.metadata()?;
    let is_trusted = is_stamp_of(&stamp(&meta), former);
    let mode = mode_of(&meta);
    let mut temporary = temporary_builder(mode).tempfile_in(staging)?;
    let mut source = ChunkReader::new(source, !is_trusted);
    let mut target = ChunkWriter::new(temporary.as_file_mut());
    for piece in &drawing.pieces {
        match piece {
            DocumentChunk::New(text) => target.put(text.as_bytes())?,
            DocumentChunk::Reused(range) => {
                source.copy_until(range.start, |_| Ok(()))?;
                source.copy_until(range.end, |bytes| target.put(bytes))?;
            }
        }
    }
    source.copy_until(u64::MAX, |_| Ok(()))?;
    let digest = target.finish()?;
    let is_former = match source.digester {
        Some(digester) => digester.finish() == former.digest,
        None => is_stamp_of(&stamp(&source.file.metadata()?), former),
    };
    if !is_former {
        return Ok(None);
    }
    // The umask restricted the requested mode.
    set_file_mode(temporary.as_file(), mode)?;
    match temporary.persist(path) {
        Ok(_) => Ok(Some(digest)),
        Err(error) if error.error.kind() == ErrorKind::CrossesDevices => Ok(None),
        Err(error) => Err(error.error),
    }
}

/// Reads the next chunk of a file, in as few calls as possible; a smaller one only at the end.
pub(super) fn read_chunk(file: &mut File, buffer: &mut Vec<u8>) -> io::Result<()> {
    buffer.resize(CHUNK, 0);
    let mut read = 0;
    while read < CHUNK {
        match file.read(&mut buffer[read..]) {
            Ok(0) => break,
            Ok(more) => read += more,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    buffer.truncate(read);
    Ok(())
}

/// A file that is read from its beginning to its end.
struct ChunkReader {
    file: File,
    buffer: Vec<u8>,
    /// The consumed bytes of the buffer.
    passed: usize,
    /// The position in the file.
    at: u64,
    /// Present if only the content can identify the file.
    digester: Option<Digester>,
}

impl ChunkReader {
    fn new(file: File, is_digested: bool) -> Self {
        let digester = is_digested.then(Digester::default);
        Self { file, buffer: Vec::with_capacity(CHUNK), passed: 0, at: 0, digester }
    }

    /// Passes everything up to `end`, or up to the end of the file, to `take`.
    fn copy_until(&mut self, end: u64, mut take: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        while self.at < end {
            if self.passed == self.buffer.len() && !self.fill()? {
                return Ok(());
            }
            let rest = &self.buffer[self.passed..];
            let wanted = usize::try_from(end - self.at).unwrap_or(usize::MAX).min(rest.len());
            take(&rest[..wanted])?;
            self.passed += wanted;
            self.at += wanted as u64;
        }
        Ok(())
    }

    /// Reads the next chunk. Returns true if there was one.
    fn fill(&mut self) -> io::Result<bool> {
        let was_last = self.at > 0 && self.buffer.len() < CHUNK;
        self.passed = 0;
        if was_last {
            self.buffer.clear();
        } else {
            read_chunk(&mut self.file, &mut self.buffer)?;
            if let Some(digester) = &mut self.digester {
                digester.add(&self.buffer);
            }
        }
        Ok(!self.buffer.is_empty())
    }
}

/// A file that is written from its beginning.
struct ChunkWriter<'f> {
    file: &'f mut File,
    buffer: Vec<u8>,
    digester: Digester,
}

impl<'f> ChunkWriter<'f> {
    fn new(file: &'f mut File) -> Self {
        Self { file, buffer: Vec::with_capacity(CHUNK), digester: Digester::default() }
    }

    fn put(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(CHUNK - self.buffer.len()));
            self.buffer.extend_from_slice(now);
            bytes = later;
            if self.buffer.len() == CHUNK {
                self.flush()?;
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.digester.add(&self.buffer);
        self.file.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    fn finish(mut self) -> io::Result<u64> {
        self.flush()?;
        Ok(self.digester.finish())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use lockstep_map::fast_hash::digest;

    use super::*;

    #[test]
    fn patched_document_is_written_completely_or_not_at_all() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("map.md");
        // Around the ends of chunks.
        for size in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 77] {
            let former: Vec<u8> = (0..size).map(|at| (at % 251) as u8).collect();
            let (half, end) = (size as u64 / 2, size as u64);
            let pieces = vec![
                DocumentChunk::New("head".to_owned()),
                DocumentChunk::Reused(0..half),
                DocumentChunk::New("x".repeat(CHUNK)),
                DocumentChunk::Reused(half + (end - half).min(3)..end),
            ];
            let drawing = DocumentPatch { pieces, blocks: Vec::new() };
            let unchanged = half as usize..(half + (end - half).min(3)) as usize;
            let expected = [
                b"head".as_slice(),
                &former[..unchanged.start],
                &vec![b'x'; CHUNK],
                &former[unchanged.end..],
            ]
            .concat();
            for is_trusted in [false, true] {
                fs::write(&path, &former).unwrap();
                let now = stamp(&fs::metadata(&path).unwrap());
                let (this, other) = match is_trusted {
                    // By its time, and where that cannot be trusted, by its content.
                    true => (now, DocumentStamp { changed: now.changed ^ 1, ..now }),
                    false => {
                        let this = DocumentStamp { digest: digest(&former), changed: 0, ..now };
                        (this, DocumentStamp { digest: digest(&former) ^ 1, ..this })
                    }
                };
                assert_eq!(write_patched(dir.path(), &path, &drawing, &other).unwrap(), None);
                assert_eq!(fs::read(&path).unwrap(), former, "it was not what was drawn on");
                assert_eq!(
                    write_patched(dir.path(), &path, &drawing, &this).unwrap(),
                    Some(digest(&expected))
                );
                assert_eq!(fs::read(&path).unwrap(), expected);
            }
        }
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing is left behind");
    }
}
