//! Facts of files: loaded if the index has them, otherwise parsed and stored for later.
//!
//! Stored facts belong to a document, which is one version of one file. Only a process whose manifest is
//! still the one on disk writes them, so they cannot be attributed to another content.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock, PoisonError};
use std::time::Duration;

use lockstep_refs::facts::{Declaration, Facts, outline_length};
use lockstep_refs::language;
use lockstep_refs::work::Work;
use lockstep_refs::world::{FileId, World as _};
use rayon::prelude::*;

use super::Index;
use super::commit::ManifestCommit;
use super::compaction::put_documents;
use super::content::ContentClass;
use super::postings::Postings;
use super::progress::{IndexPhase, IndexProgress};
use super::sorted_table::{CorruptTable, TableWriter};
use super::storage::{IndexFileKind, IndexWriter};
use super::tokenizer::{self, each_word};
use crate::{IndexError, IndexResult};

/// The number of bytes of facts per table when all files are parsed. Tables that are already written survive
/// a kill.
const BYTES_PER_TABLE: usize = 24 << 20;

/// The number of files that are parsed between two checks of the table's size.
const FILES_PER_ROUND: usize = 1_024;

/// The layout of the tables. Tables of another one are not used.
///
/// Facts are stored by the number of their document. Behind them, a table lists the documents that contain a name outside their uses, by
/// the hash of the name, the documents that declare a name, by the kind of the declaration, the package of each document, all its
/// documents, and those whose facts are complete. So the files that define a name are found without reading their facts.
pub(crate) const LAYOUT: u32 = 5;

/// This bit distinguishes names from documents.
const NAME: u64 = 1 << tokenizer::HASH_BITS;

/// The key of the list of documents that declare a name.
fn declared(declaration: Declaration, name: &str) -> u64 {
    let kind =
        Declaration::ALL.iter().position(|candidate| *candidate == declaration).unwrap_or_default() as u64;
    (kind + 2) << tokenizer::HASH_BITS | tokenizer::number_of(name.as_bytes())
}

/// The key of the package that a document declares.
fn package_of(document: u32) -> u64 {
    PACKAGE << tokenizer::HASH_BITS | u64::from(document)
}

/// The kind of the keys of packages. Those of declarations are smaller.
const PACKAGE: u64 = Declaration::ALL.len() as u64 + 2;

/// Returns the document if a key belongs to a single one, and not to a list of documents.
pub(super) fn document_of(key: u64) -> Option<u32> {
    let of_kind = key >> tokenizer::HASH_BITS;
    let number = if of_kind == PACKAGE { key & !(PACKAGE << tokenizer::HASH_BITS) } else { key };
    u32::try_from(number).ok()
}

/// The key of the list of documents whose facts are complete.
const COMPLETE: u64 = u64::MAX - 1;

/// The key of the list of all documents.
const ALL: u64 = u64::MAX;

/// EncodedFacts facts of a document.
struct EncodedFacts {
    document: u32,
    bytes: Vec<u8>,
    /// The keys of the names in them, without those of uses.
    names: BTreeSet<u64>,
    package: Option<Box<str>>,
    is_complete: bool,
}

impl EncodedFacts {
    fn new(document: u32, facts: &Facts) -> Option<Self> {
        let mut names = BTreeSet::new();
        facts.each_string(&mut |text| {
            each_word(text.as_bytes(), |name| {
                names.insert(NAME | name);
            });
        });
        facts.each_declaration(&mut |declaration, name| {
            names.insert(declared(declaration, name));
        });
        let bytes = postcard::to_stdvec(facts).ok()?;
        let package = facts.package.clone();
        Some(Self { document, bytes, names, package, is_complete: facts.is_complete() })
    }
}

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
        Some(self.facts_by(file, || self.read_text_uncached(FileId(file)))?.0)
    }

    /// Returns the facts of a file. The boolean is true if they were parsed.
    fn facts_by(&self, file: u32, text: impl FnOnce() -> Option<Arc<str>>) -> Option<(Arc<Facts>, bool)> {
        let record = &self.files.records[file as usize];
        let differs = self.differs(file);
        if record.state != ContentClass::Text && !differs {
            return None;
        }
        if !differs && let Some(facts) = self.kept_facts(record.document) {
            return Some((Arc::new(facts), false));
        }
        let facts = language::facts(self.files.paths.get(file as usize), &text()?);
        Some((Arc::new(facts), true))
    }

    /// Returns the package in a file's stored facts. `None` if there is none, or the facts are decoded already or not stored.
    pub(super) fn stored_package(&self, file: FileId) -> Option<Box<str>> {
        let record = self.files.records.get(file.0 as usize)?;
        let is_known = self.known_facts.known(file.0 as usize).is_some();
        if is_known || record.state != ContentClass::Text || self.differs(file.0) || self.is_expired() {
            return None;
        }
        let package = self.stored(package_of(record.document))?;
        Some(String::from_utf8(package).ok()?.into())
    }

    /// Returns the files whose facts are stored, sorted.
    pub(super) fn files_with_facts(&self) -> &[u32] {
        self.with_facts
            .get_or_init(|| self.undamaged(self.listed_files(&self.facts, ALL)).unwrap_or_default())
    }

    /// Returns the files whose facts are stored and complete, sorted.
    pub(super) fn files_with_complete_facts(&self) -> &[u32] {
        self.with_complete_facts
            .get_or_init(|| self.undamaged(self.listed_files(&self.facts, COMPLETE)).unwrap_or_default())
    }

    /// Returns the files whose stored facts contain a name outside their uses, sorted. `None` if that cannot be read.
    pub(super) fn files_naming(&self, name: u64) -> Option<Arc<[u32]>> {
        self.undamaged(self.with_names.get(name, || self.listed_files(&self.facts, NAME | name)))
    }

    /// Returns the files whose stored facts declare a name, sorted. `None` if that cannot be read.
    pub(super) fn files_declaring(&self, name: &str, declaration: Declaration) -> Option<Arc<[u32]>> {
        let key = declared(declaration, name);
        self.undamaged(self.with_names.get(key, || self.listed_files(&self.facts, key)))
    }

    /// Returns the texts whose present facts are not stored, sorted.
    pub(super) fn files_without_facts(&self) -> &[u32] {
        self.without_facts.get_or_init(|| {
            let stored = self.files_with_facts();
            self.texts().filter(|file| self.differs(*file) || stored.binary_search(file).is_err()).collect()
        })
    }

    /// Notes that a part of the index is damaged if a lookup failed.
    fn undamaged<T>(&self, found: Result<T, CorruptTable>) -> Option<T> {
        if found.is_err() {
            self.damaged.store(true, Ordering::Relaxed);
        }
        found.ok()
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
        let found = self.stored(u64::from(document));
        Work::count_facts_read(found.as_deref().map_or(0, outline_length));
        found
    }

    /// Returns the latest payload of a key in the tables of facts.
    fn stored(&self, key: u64) -> Option<Vec<u8>> {
        self.facts.iter().rev().find_map(|table| self.undamaged(table.get(key)).flatten())
    }

    /// Returns the facts of a file before this process found it changed or deleted. `None` if it did not
    /// change, or its facts were not stored.
    pub fn old_facts(&self, path: &str) -> Option<Facts> {
        let (_, bytes) = self.replaced.iter().find(|(known, _)| known == path)?;
        postcard::from_bytes(bytes).ok()
    }

    /// Stores the facts that were parsed since the index was opened, and an update that was deferred. If a
    /// part of the index is damaged, invalidates it, so that the next process rebuilds it.
    ///
    /// It never waits: if another process is writing, or has already written, nothing is stored. Returns the
    /// number of stored facts.
    pub fn persist_facts(&mut self) -> IndexResult<usize> {
        let parsed = std::mem::take(self.parsed.get_mut().unwrap_or_else(PoisonError::into_inner));
        let nothing = parsed.is_empty() && !self.is_damaged() && self.unkept.is_none();
        let may_write = self.kept || self.unkept.is_some();
        let Some(storage) = self.storage.as_ref().filter(|_| may_write && !nothing) else { return Ok(0) };
        let Ok(writer) = storage.lock("keep facts")? else { return Ok(0) };
        if self.is_damaged() {
            let present = writer.manifest()?;
            let is_ours = self.unkept.as_ref().map_or(
                present.as_ref().is_some_and(|candidate| candidate.same_readable_content(&self.manifest)),
                |unkept| unkept.is_after(present.as_ref()),
            );
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
            EncodedFacts::new(self.files.records[*file as usize].document, facts)
        });
        let encoded: Vec<EncodedFacts> = known.collect();
        self.write_facts(&writer, encoded)
    }

    /// Parses every file without stored facts, and stores them in batches.
    pub(super) fn fill_facts(
        &mut self,
        writer: &IndexWriter,
        progress: &dyn IndexProgress,
    ) -> IndexResult<usize> {
        let texts: Vec<u32> = self.texts().collect();
        let stored = self.files_with_facts();
        let missing: Vec<u32> =
            texts.into_iter().filter(|file| stored.binary_search(file).is_err()).collect();
        let mut encoded: Vec<EncodedFacts> = Vec::new();
        let (mut bytes, mut done, mut stored_count) = (0, 0, 0);
        for round in missing.chunks(FILES_PER_ROUND) {
            if progress.is_parsing_over() {
                break;
            }
            let encode = |file: &u32| if progress.is_parsing_over() { None } else { self.encoded(*file) };
            let parsed: Vec<EncodedFacts> = round.par_iter().filter_map(encode).collect();
            bytes += parsed.iter().map(|candidate| candidate.bytes.len()).sum::<usize>();
            encoded.extend(parsed);
            done += round.len();
            progress.report(IndexPhase::Facts, done, missing.len());
            if bytes > BYTES_PER_TABLE {
                stored_count += self.write_facts(writer, std::mem::take(&mut encoded))?;
                bytes = 0;
            }
        }
        Ok(stored_count + self.write_facts(writer, encoded)?)
    }

    /// Parses a file if it still has the known version.
    fn encoded(&self, file: u32) -> Option<EncodedFacts> {
        let (text, is_known) = self.read(file);
        let path = self.files.paths.get(file as usize);
        let facts = language::facts(path, &text.filter(|_| is_known)?);
        EncodedFacts::new(self.files.records[file as usize].document, &facts)
    }

    /// Records the time it took to parse all facts.
    pub(super) fn note_facts_time(&mut self, writer: &IndexWriter, took: Duration) -> IndexResult {
        if let Some(mut edition) = ManifestCommit::begin_after(writer, Some(&self.manifest), &self.manifest)?
        {
            let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
            edition.set_build_micros([self.manifest.build_micros[0], micros]);
            self.manifest = edition.publish()?;
        }
        Ok(())
    }

    fn write_facts(&mut self, writer: &IndexWriter, mut encoded: Vec<EncodedFacts>) -> IndexResult<usize> {
        if encoded.is_empty() {
            return Ok(0);
        }
        let Some(mut edition) = ManifestCommit::begin_after(writer, Some(&self.manifest), &self.manifest)?
        else {
            return Ok(0);
        };
        encoded.sort_unstable_by_key(|candidate| candidate.document);
        let table = table(&encoded).map_err(IndexError::io("index", &self.root))?;
        let documents = self.documents.get_or_init(|| self.files.documents());
        edition.add(IndexFileKind::Facts, &mut self.facts, table, |document| documents.has(document))?;
        self.with_names = Postings::default();
        (self.with_facts, self.with_complete_facts) = (OnceLock::new(), OnceLock::new());
        self.without_facts = OnceLock::new();
        self.manifest = edition.publish()?;
        Ok(encoded.len())
    }
}

fn table(encoded: &[EncodedFacts]) -> std::io::Result<Vec<u8>> {
    let mut writer = TableWriter::new(Vec::new())?;
    let mut names: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
    for EncodedFacts { document, bytes, names: of_document, .. } in encoded {
        writer.put(u64::from(*document), bytes)?;
        of_document.iter().for_each(|name| names.entry(*name).or_default().push(*document));
    }
    for (key, documents) in names {
        put_list(&mut writer, key, documents)?;
    }
    for candidate in encoded {
        if let Some(package) = &candidate.package {
            writer.put(package_of(candidate.document), package.as_bytes())?;
        }
    }
    let complete = encoded
        .iter()
        .filter(|candidate| candidate.is_complete)
        .map(|candidate| candidate.document)
        .collect();
    let all = encoded.iter().map(|candidate| candidate.document).collect();
    put_list(&mut writer, COMPLETE, complete)?;
    put_list(&mut writer, ALL, all)?;
    writer.finish()
}

fn put_list(writer: &mut TableWriter<Vec<u8>>, key: u64, documents: Vec<u32>) -> std::io::Result<()> {
    let mut payload = Vec::new();
    put_documents(&mut payload, documents.into_iter());
    writer.put(key, &payload)
}
