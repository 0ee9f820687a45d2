//! Reads many files and collects their words, for builds and updates of the index.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::compaction::put_documents;
use super::content::{self, ContentClass};
use super::progress::{IndexPhase, IndexProgress};
use super::sorted_table::{TableSegment, TableWriter};
use super::tokenizer::{HASH_BITS, SeenWords, each_word};
use super::version::FileVersion;

/// The number of pairs of word and file per table. A pair takes eight bytes while the table is built.
const PAIRS_PER_TABLE: usize = 12_000_000;

/// The number of files that are read between two checks of the number of pairs.
const FILES_PER_ROUND: usize = 8_192;

/// The number of files per task of a thread.
const BATCH: usize = 256;

/// The number of files from which reading in parallel is faster.
const WORTH_THREADS: usize = 16;

/// The number of buckets, by the highest bits of a word's hash. A bucket fits into the processor's caches
/// when it is sorted.
const HEAPS: usize = 256;
const LOW_BITS: u32 = HASH_BITS - HEAPS.trailing_zeros();

/// The result of reading files.
#[derive(Debug, Default)]
pub(crate) struct WordTables {
    /// In the order of the paths; `None` for a file that no longer exists.
    pub(crate) files: Vec<Option<(FileVersion, ContentClass)>>,
    /// Tables that map words to documents.
    pub(crate) tables: Vec<Vec<u8>>,
    /// The number of files that were not read before the deadline.
    pub(crate) skipped: usize,
}

/// Reads the files at `paths` (sorted, relative to the root). They get the document numbers from `first` on.
pub(crate) fn index_words<P: AsRef<str> + Sync>(
    root: &Path,
    paths: &[P],
    first: u32,
    limit: u64,
    progress: &dyn IndexProgress,
) -> io::Result<WordTables> {
    let mut harvest = WordTables::default();
    let mut batches: Vec<HashBuckets> = Vec::new();
    let done = AtomicUsize::new(0);
    for (round, chunk) in paths.chunks(FILES_PER_ROUND).enumerate() {
        let first = first + u32::try_from(round * FILES_PER_ROUND).map_err(io::Error::other)?;
        let read = |reader: &mut WordReader, (at, chunk): (usize, &[P])| {
            let chunk = if progress.is_cancelled() { &[] } else { chunk };
            if progress.is_out_of_time() {
                return WordBatch::skipped(chunk.len());
            }
            let batch = reader.read(root, chunk, first + u32::try_from(at * BATCH).unwrap_or(0), limit);
            let count = done.fetch_add(chunk.len(), Ordering::Relaxed) + chunk.len();
            progress.report(IndexPhase::Words, count, paths.len());
            batch
        };
        let read: Vec<WordBatch> = match chunk.len() {
            // For a few files, starting threads would take longer.
            0..WORTH_THREADS => vec![read(&mut WordReader::default(), (0, chunk))],
            _ => chunk.par_chunks(BATCH).enumerate().map_init(WordReader::default, read).collect(),
        };
        if progress.is_cancelled() {
            return Err(io::Error::new(io::ErrorKind::Interrupted, "nobody waits for it any more"));
        }
        for batch in read {
            harvest.skipped += batch.skipped;
            harvest.files.extend(batch.files);
            batches.push(batch.heaps);
        }
        if batches.iter().map(HashBuckets::len).sum::<usize>() > PAIRS_PER_TABLE {
            harvest.tables.push(table(&std::mem::take(&mut batches))?);
        }
    }
    if batches.iter().any(|heaps| heaps.len() > 0) {
        harvest.tables.push(table(&batches)?);
    }
    Ok(harvest)
}

/// Pairs of word and document: the lower half of the word's hash in the high bits, the document's number in
/// the low bits.
#[derive(Debug)]
struct HashBuckets(Vec<Vec<u64>>);

impl HashBuckets {
    fn len(&self) -> usize {
        self.0.iter().map(Vec::len).sum()
    }
}

struct WordBatch {
    files: Vec<Option<(FileVersion, ContentClass)>>,
    heaps: HashBuckets,
    /// The number of files that were not read.
    skipped: usize,
}

impl WordBatch {
    /// A batch of files that were not read: the index does not have them.
    fn skipped(files: usize) -> Self {
        Self { files: vec![None; files], heaps: HashBuckets(vec![Vec::new(); HEAPS]), skipped: files }
    }
}

/// Buffers that a thread reuses from file to file.
#[derive(Default)]
struct WordReader {
    buffer: Vec<u8>,
    seen: SeenWords,
}

impl WordReader {
    fn read<P: AsRef<str>>(&mut self, root: &Path, paths: &[P], first: u32, limit: u64) -> WordBatch {
        let mut heaps = vec![Vec::new(); HEAPS];
        let mut files = Vec::with_capacity(paths.len());
        for (document, path) in (first..).zip(paths) {
            let content = content::read(&root.join(path.as_ref()), limit, &mut self.buffer);
            files.push(content.as_ref().map(|content| {
                (content.version, content.text.as_ref().err().copied().unwrap_or(ContentClass::Text))
            }));
            let Some(Ok(text)) = content.map(|content| content.text) else { continue };
            self.seen.start_document();
            each_word(text.as_bytes(), |word| {
                if self.seen.is_first(word) {
                    let heap = usize::try_from(word >> LOW_BITS).unwrap_or(0) % HEAPS;
                    heaps[heap].push((word << (64 - LOW_BITS)) | u64::from(document));
                }
            });
        }
        WordBatch { files, heaps: HashBuckets(heaps), skipped: 0 }
    }
}

/// Sorts the pairs into a table.
fn table(batches: &[HashBuckets]) -> io::Result<Vec<u8>> {
    let part = |heap: usize| {
        let mut pairs: Vec<u64> = batches.iter().flat_map(|batch| batch.0[heap].iter().copied()).collect();
        pairs.sort_unstable();
        TableSegment::new(|part| put_words(part, heap, &pairs))
    };
    let parts = if batches.len() > 1 {
        (0..HEAPS).into_par_iter().map(part).collect::<io::Result<Vec<TableSegment>>>()?
    } else {
        (0..HEAPS).map(part).collect::<io::Result<Vec<TableSegment>>>()?
    };
    let mut writer = TableWriter::new(Vec::new())?;
    for part in &parts {
        writer.append(part)?;
    }
    writer.finish()
}

fn document_of(pair: u64) -> u32 {
    u32::try_from(pair & u64::from(u32::MAX)).expect("the upper half is cut off")
}

fn put_words(part: &mut TableWriter<Vec<u8>>, heap: usize, pairs: &[u64]) -> io::Result<()> {
    let mut documents = Vec::new();
    for of_word in pairs.chunk_by(|a, b| a >> (64 - LOW_BITS) == b >> (64 - LOW_BITS)) {
        documents.clear();
        put_documents(&mut documents, of_word.iter().map(|pair| document_of(*pair)));
        let word = ((heap as u64) << LOW_BITS) | (of_word[0] >> (64 - LOW_BITS));
        part.put(word, &documents)?;
    }
    Ok(())
}
