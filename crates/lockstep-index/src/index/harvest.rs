//! Reads many files and collects their words, for builds and updates of the index.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::content::{self, State};
use super::merge::put_documents;
use super::progress::{Phase, Progress};
use super::table::{Part, TableWriter};
use super::version::Version;
use super::words::{HASH_BITS, Seen, each_word};

/// The number of pairs of word and file per table. A pair takes eight bytes while the table is built.
const PAIRS_PER_TABLE: usize = 12_000_000;

/// The number of files that are read between two checks of the number of pairs.
const ROUND: usize = 8_192;

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
pub(crate) struct Harvest {
    /// In the order of the paths; `None` for a file that no longer exists.
    pub(crate) files: Vec<Option<(Version, State)>>,
    /// Tables that map words to documents.
    pub(crate) tables: Vec<Vec<u8>>,
    /// The number of files that were not read before the deadline.
    pub(crate) skipped: usize,
}

/// Reads the files at `paths` (sorted, relative to the root). They get the document numbers from `first` on.
pub(crate) fn harvest<P: AsRef<str> + Sync>(
    root: &Path,
    paths: &[P],
    first: u32,
    limit: u64,
    progress: &dyn Progress,
) -> io::Result<Harvest> {
    let mut harvest = Harvest::default();
    let mut batches: Vec<Heaps> = Vec::new();
    let done = AtomicUsize::new(0);
    for (round, chunk) in paths.chunks(ROUND).enumerate() {
        let first = first + u32::try_from(round * ROUND).map_err(io::Error::other)?;
        let read = |reader: &mut Reader, (at, chunk): (usize, &[P])| {
            let chunk = if progress.is_abandoned() { &[] } else { chunk };
            if progress.is_out_of_time() {
                return Batch::skipped(chunk.len());
            }
            let batch = reader.read(root, chunk, first + u32::try_from(at * BATCH).unwrap_or(0), limit);
            let count = done.fetch_add(chunk.len(), Ordering::Relaxed) + chunk.len();
            progress.report(Phase::Words, count, paths.len());
            batch
        };
        let read: Vec<Batch> = match chunk.len() {
            // For a few files, starting threads would take longer.
            0..WORTH_THREADS => vec![read(&mut Reader::default(), (0, chunk))],
            _ => chunk.par_chunks(BATCH).enumerate().map_init(Reader::default, read).collect(),
        };
        if progress.is_abandoned() {
            return Err(io::Error::new(io::ErrorKind::Interrupted, "nobody waits for it any more"));
        }
        for batch in read {
            harvest.skipped += batch.skipped;
            harvest.files.extend(batch.files);
            batches.push(batch.heaps);
        }
        if batches.iter().map(Heaps::len).sum::<usize>() > PAIRS_PER_TABLE {
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
struct Heaps(Vec<Vec<u64>>);

impl Heaps {
    fn len(&self) -> usize {
        self.0.iter().map(Vec::len).sum()
    }
}

struct Batch {
    files: Vec<Option<(Version, State)>>,
    heaps: Heaps,
    /// The number of files that were not read.
    skipped: usize,
}

impl Batch {
    /// A batch of files that were not read: the index does not have them.
    fn skipped(files: usize) -> Self {
        Self { files: vec![None; files], heaps: Heaps(vec![Vec::new(); HEAPS]), skipped: files }
    }
}

/// Buffers that a thread reuses from file to file.
#[derive(Default)]
struct Reader {
    buffer: Vec<u8>,
    seen: Seen,
}

impl Reader {
    fn read<P: AsRef<str>>(&mut self, root: &Path, paths: &[P], first: u32, limit: u64) -> Batch {
        let mut heaps = vec![Vec::new(); HEAPS];
        let mut files = Vec::with_capacity(paths.len());
        for (document, path) in (first..).zip(paths) {
            let content = content::read(&root.join(path.as_ref()), limit, &mut self.buffer);
            files.push(
                content.as_ref().map(|content| (content.version, content.text.err().unwrap_or(State::Text))),
            );
            let Some(Ok(text)) = content.map(|content| content.text) else { continue };
            self.seen.forget();
            each_word(text.as_bytes(), |word| {
                if self.seen.is_first(word) {
                    let heap = usize::try_from(word >> LOW_BITS).unwrap_or(0) % HEAPS;
                    heaps[heap].push((word << (64 - LOW_BITS)) | u64::from(document));
                }
            });
        }
        Batch { files, heaps: Heaps(heaps), skipped: 0 }
    }
}

/// Sorts the pairs into a table.
fn table(batches: &[Heaps]) -> io::Result<Vec<u8>> {
    let part = |heap: usize| {
        let mut pairs: Vec<u64> = batches.iter().flat_map(|batch| batch.0[heap].iter().copied()).collect();
        pairs.sort_unstable();
        Part::new(|part| put_words(part, heap, &pairs))
    };
    let parts = if batches.len() > 1 {
        (0..HEAPS).into_par_iter().map(part).collect::<io::Result<Vec<Part>>>()?
    } else {
        (0..HEAPS).map(part).collect::<io::Result<Vec<Part>>>()?
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
