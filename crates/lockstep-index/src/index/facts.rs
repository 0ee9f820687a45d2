//! Facts of files: loaded if the index has them, otherwise parsed and stored for later.
//!
//! Stored facts belong to a document, which is one version of one file. Only a process whose manifest is
//! still the one on disk writes them, so they cannot be attributed to another content.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use lockstep_refs::facts::{Facts, Outline};
use lockstep_refs::language;
use lockstep_refs::world::{FileId, World as _};
use rayon::prelude::*;

use super::Index;
use super::content::State;
use super::keep::Edition;
use super::progress::{Phase, Progress};
use super::storage::{Part, Writer};
use super::table::TableWriter;
use crate::IndexError;

/// The number of bytes of facts per table when all files are parsed. Tables that are already written survive
/// a kill.
const BYTES_PER_TABLE: usize = 24 << 20;

/// The number of files that are parsed between two checks of the table's size.
const ROUND: usize = 1_024;

/// Encoded facts: the document they belong to, and their bytes.
type Encoded = (u32, Vec<u8>);

impl Index {
    /// Returns the facts of a file, from the tables or by parsing its text.
    pub(super) fn find_facts(&self, file: u32) -> Option<Arc<Facts>> {
        let (facts, is_new) = self.facts_by(file, || self.text(FileId(file)))?;
        // Only facts of the known version may be stored for it.
        if is_new && !self.differs(file) && !self.moved.load(Ordering::Relaxed) {
            self.parsed.lock().unwrap_or_else(PoisonError::into_inner).push(file);
        }
        Some(facts)
    }

    /// Like [`Index::find_facts`], but caches neither facts nor text.
    pub(super) fn find_facts_once(&self, file: u32) -> Option<Arc<Facts>> {
        Some(self.facts_by(file, || self.text_once(FileId(file)))?.0)
    }

    /// Returns the facts of a file. The boolean is true if they were parsed.
    fn facts_by(&self, file: u32, text: impl FnOnce() -> Option<Arc<str>>) -> Option<(Arc<Facts>, bool)> {
        let record = &self.files.records[file as usize];
        let differs = self.differs(file);
        if record.state != State::Text && !differs {
            return None;
        }
        if !differs && let Some(facts) = self.kept_facts(record.document) {
            return Some((Arc::new(facts), false));
        }
        let facts = language::facts(self.files.paths.get(file as usize), &text()?);
        Some((Arc::new(facts), true))
    }

    /// Applies `read` to the outline of a file's stored facts. `None` if the facts are decoded already or not stored.
    pub(super) fn with_outline<T>(&self, file: FileId, read: impl FnOnce(Outline<'_>) -> T) -> Option<T> {
        let record = self.files.records.get(file.0 as usize)?;
        let is_known = self.known_facts.known(file.0 as usize).is_some();
        if is_known || record.state != State::Text || self.differs(file.0) || self.is_expired() {
            return None;
        }
        Outline::new(&self.facts_bytes(record.document)?).map(read)
    }

    fn kept_facts(&self, document: u32) -> Option<Facts> {
        let bytes = self.facts_bytes(document)?;
        let facts = postcard::from_bytes(&bytes).ok();
        if facts.is_none() {
            self.damaged.store(true, Ordering::Relaxed);
        }
        facts
    }

    pub(super) fn facts_bytes(&self, document: u32) -> Option<Vec<u8>> {
        self.facts.iter().rev().find_map(|table| {
            table.get(u64::from(document)).unwrap_or_else(|_| {
                self.damaged.store(true, Ordering::Relaxed);
                None
            })
        })
    }

    /// Returns the facts of a file before this process found it changed or deleted. `None` if it did not
    /// change, or its facts were not stored.
    pub fn former_facts(&self, path: &str) -> Option<Facts> {
        let (_, bytes) = self.replaced.iter().find(|(known, _)| known == path)?;
        postcard::from_bytes(bytes).ok()
    }

    /// Stores the facts that were parsed since the index was opened, and an update that was deferred. If a
    /// part of the index is damaged, invalidates it, so that the next process rebuilds it.
    ///
    /// It never waits: if another process is writing, or has already written, nothing is stored. Returns the
    /// number of stored facts.
    pub fn keep_parsed(&mut self) -> Result<usize, IndexError> {
        let parsed = std::mem::take(self.parsed.get_mut().unwrap_or_else(PoisonError::into_inner));
        let nothing = parsed.is_empty() && !self.is_damaged() && self.unkept.is_none();
        let may_write = self.kept || self.unkept.is_some();
        let Some(storage) = self.storage.as_ref().filter(|_| may_write && !nothing) else { return Ok(0) };
        let Ok(writer) = storage.lock("keep facts")? else { return Ok(0) };
        if self.is_damaged() {
            let present = writer.manifest()?;
            let is_ours = self
                .unkept
                .as_ref()
                .map_or(present.as_ref().is_some_and(|it| it.reads_as(&self.manifest)), |unkept| {
                    unkept.is_after(present.as_ref())
                });
            if is_ours {
                writer.discard()?;
            }
            return Ok(0);
        }
        self.keep_update(&writer)?;
        if !self.kept {
            return Ok(0);
        }
        let known = parsed.iter().filter_map(|file| {
            let facts = self.known_facts.known(*file as usize)?.as_ref()?;
            Some((self.files.records[*file as usize].document, postcard::to_stdvec(&**facts).ok()?))
        });
        let encoded: Vec<Encoded> = known.collect();
        self.write_facts(&writer, encoded)
    }

    /// Parses every file without stored facts, and stores them in batches.
    pub(super) fn fill_facts(
        &mut self,
        writer: &Writer,
        progress: &dyn Progress,
    ) -> Result<usize, IndexError> {
        let texts: Vec<u32> = self.texts().collect();
        let missing = |file: &u32| self.facts_bytes(self.files.records[*file as usize].document).is_none();
        let missing: Vec<u32> = texts.into_par_iter().filter(missing).collect();
        let mut encoded: Vec<Encoded> = Vec::new();
        let (mut bytes, mut done, mut kept) = (0, 0, 0);
        for round in missing.chunks(ROUND) {
            if progress.is_parsing_over() {
                break;
            }
            let encode = |file: &u32| if progress.is_parsing_over() { None } else { self.encoded(*file) };
            let parsed: Vec<Encoded> = round.par_iter().filter_map(encode).collect();
            bytes += parsed.iter().map(|(_, bytes)| bytes.len()).sum::<usize>();
            encoded.extend(parsed);
            done += round.len();
            progress.report(Phase::Facts, done, missing.len());
            if bytes > BYTES_PER_TABLE {
                kept += self.write_facts(writer, std::mem::take(&mut encoded))?;
                bytes = 0;
            }
        }
        Ok(kept + self.write_facts(writer, encoded)?)
    }

    /// Parses a file if it still has the known version.
    fn encoded(&self, file: u32) -> Option<Encoded> {
        let (text, is_known) = self.read(file);
        let path = self.files.paths.get(file as usize);
        let facts = language::facts(path, &text.filter(|_| is_known)?);
        Some((self.files.records[file as usize].document, postcard::to_stdvec(&facts).ok()?))
    }

    /// Records the time it took to parse all facts.
    pub(super) fn note_facts_time(&mut self, writer: &Writer, took: Duration) -> Result<(), IndexError> {
        if let Some(mut edition) = Edition::after(writer, Some(&self.manifest), &self.manifest)? {
            let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
            edition.set_build_micros([self.manifest.build_micros[0], micros]);
            self.manifest = edition.publish()?;
        }
        Ok(())
    }

    fn write_facts(&mut self, writer: &Writer, mut encoded: Vec<Encoded>) -> Result<usize, IndexError> {
        if encoded.is_empty() {
            return Ok(0);
        }
        let Some(mut edition) = Edition::after(writer, Some(&self.manifest), &self.manifest)? else {
            return Ok(0);
        };
        encoded.sort_unstable_by_key(|(document, _)| *document);
        let table = table(&encoded).map_err(IndexError::io("index", &self.root))?;
        let documents = self.documents.get_or_init(|| self.files.documents());
        edition.add(Part::Facts, &mut self.facts, table, |document| documents.has(document))?;
        self.manifest = edition.publish()?;
        Ok(encoded.len())
    }
}

fn table(encoded: &[Encoded]) -> std::io::Result<Vec<u8>> {
    let mut writer = TableWriter::new(Vec::new())?;
    for (document, bytes) in encoded {
        writer.put(u64::from(*document), bytes)?;
    }
    writer.finish()
}
