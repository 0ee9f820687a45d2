//! The index as input of reference resolution.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use lockstep_refs::facts::{Declaration, Facts};
use lockstep_refs::work::Work;
use lockstep_refs::world::{FileId, World, base, words};
use rayon::prelude::*;

use super::Index;
use super::compaction::documents;
use super::content::{self, ContentClass};
use super::sorted_table::{CorruptTable, SortedTable};
use super::tokenizer::number_of;

impl World for Index {
    fn find(&self, path: &str) -> Option<FileId> {
        self.files.paths.find(path).map(id)
    }

    fn path(&self, file: FileId) -> &str {
        self.files.paths.get(file.0 as usize)
    }

    fn files(&self) -> Vec<FileId> {
        (0..self.files.len()).map(id).collect()
    }

    fn directory(&self, path: &str) -> Vec<FileId> {
        let Some(directory) = self.files.directory_paths.find(path) else { return Vec::new() };
        let by_directory = self.by_directory.get_or_init(|| self.files.by_directory());
        by_directory.of(directory).iter().copied().map(FileId).collect()
    }

    fn named(&self, basename: &str) -> Vec<FileId> {
        if self.by_name.get().is_none() && self.named_asked.fetch_add(1, Ordering::Relaxed) < FEW_NAMES {
            let paths = &self.files.paths;
            let ending = paths.ending_in(basename);
            return ending.filter(|at| is_named(paths.get(*at), basename)).map(id).collect();
        }
        let by_name = self.by_name.get_or_init(|| {
            let numbered = self.files.paths.iter().zip(0_u32..);
            let mut by_name: Vec<_> =
                numbered.map(|(path, file)| (number_of(base(path).as_bytes()), file)).collect();
            by_name.sort_unstable();
            by_name
        });
        let number = number_of(basename.as_bytes());
        let start = by_name.partition_point(|(known, _)| *known < number);
        let same = by_name[start..].iter().take_while(|(known, _)| *known == number);
        let files = same.map(|(_, file)| FileId(*file));
        files.filter(|file| is_named(self.path(*file), basename)).collect()
    }

    fn containing(&self, name: &str) -> Vec<FileId> {
        if self.is_expired() {
            return Vec::new();
        }
        let mut found: Option<Vec<u32>> = None;
        for word in words(name) {
            let Ok(files) = self.files_with(number_of(word.as_bytes())) else {
                // A word that cannot be looked up may be in any file.
                self.damaged.store(true, Ordering::Relaxed);
                continue;
            };
            found = Some(match found {
                None => files.to_vec(),
                Some(found) => found.into_iter().filter(|file| files.binary_search(file).is_ok()).collect(),
            });
        }
        let found = found.unwrap_or_else(|| self.texts().collect());
        found.into_iter().map(FileId).collect()
    }

    fn text(&self, file: FileId) -> Option<Arc<str>> {
        let at = file.0 as usize;
        if self.texts.known(at).is_none() && self.is_expired_for_texts() {
            return None;
        }
        self.texts.get(at)?.get_or_init(|| self.read(file.0).0).clone()
    }

    fn facts(&self, file: FileId) -> Option<Arc<Facts>> {
        let at = file.0 as usize;
        if self.known_facts.known(at).is_none() && self.is_expired() {
            return None;
        }
        self.known_facts.get(at)?.get_or_init(|| self.find_facts(file.0)).clone()
    }

    fn read_text_uncached(&self, file: FileId) -> Option<Arc<str>> {
        self.files.records.get(file.0 as usize)?;
        let known = self.texts.known(file.0 as usize);
        known.cloned().unwrap_or_else(|| self.read(file.0).0)
    }

    fn parse_facts_uncached(&self, file: FileId) -> Option<Arc<Facts>> {
        self.files.records.get(file.0 as usize)?;
        let known = self.known_facts.known(file.0 as usize);
        known.cloned().unwrap_or_else(|| if self.is_expired() { None } else { self.find_facts_once(file.0) })
    }

    fn package(&self, file: FileId) -> Option<Box<str>> {
        match self.stored_package(file) {
            Some(package) => Some(package),
            None => self.facts(file)?.package.clone(),
        }
    }

    fn may_define(&self, file: FileId, name: &str) -> bool {
        let is_listed = |files: &[u32]| files.binary_search(&file.0).is_ok();
        let is_named = |word: &str| {
            let files = self.files_naming(number_of(word.as_bytes()));
            files.is_none_or(|files| is_listed(&files))
        };
        self.differs(file.0) || !is_listed(self.files_with_complete_facts()) || words(name).all(is_named)
    }

    fn declaring(&self, name: &str, declaration: Declaration) -> Vec<FileId> {
        if self.is_expired() {
            return Vec::new();
        }
        let Some(listed) = self.files_declaring(name, declaration) else { return self.containing(name) };
        let unlisted = self.files_without_facts();
        let mut files: Vec<u32> = listed.to_vec();
        if !unlisted.is_empty() {
            files.retain(|file| !self.differs(*file));
            let may_declare = |file: &u32| unlisted.binary_search(file).is_ok() && !self.differs(*file);
            match unlisted.len() <= FEW_UNLISTED {
                true => files.extend(unlisted.iter().filter(|file| !self.differs(**file))),
                false => {
                    files.extend(self.containing(name).into_iter().map(|file| file.0).filter(may_declare))
                }
            }
            files.extend(&self.differing);
            files.sort_unstable();
        }
        files.into_iter().map(FileId).collect()
    }

    fn prepare(&self, files: &[FileId]) {
        let is_new = |file: &&FileId| {
            (file.0 as usize) < self.files.len() && self.known_facts.known(file.0 as usize).is_none()
        };
        let new: Vec<FileId> = files.iter().filter(is_new).copied().collect();
        // For a few files, starting threads would take longer.
        if new.len() >= WORTH_THREADS {
            let work = new.into_par_iter().map(|file| {
                let before = Work::of_thread();
                // They are searched, so their uses are needed too.
                let _ = self.facts(file).map(|facts| facts.uses.len());
                (rayon::current_thread_index(), Work::of_thread().since(before))
            });
            // A thread counts its own work.
            let here = rayon::current_thread_index();
            let elsewhere = work.collect::<Vec<_>>().into_iter().filter(|(thread, _)| *thread != here);
            elsewhere.for_each(|(_, work)| work.add());
        }
    }
}

/// The number of lookups up to which scanning all paths is faster than sorting them by name.
const FEW_NAMES: usize = 100;

fn is_named(path: &str, basename: &str) -> bool {
    let above = path.strip_suffix(basename);
    !basename.contains('/') && above.is_some_and(|above| above.is_empty() || above.ends_with('/'))
}

/// The number of files without stored facts up to which all of them are candidates, instead of those that contain a name.
const FEW_UNLISTED: usize = 16;

/// The number of files from which parsing in parallel is faster.
const WORTH_THREADS: usize = 8;

fn id(file: usize) -> FileId {
    FileId(u32::try_from(file).expect("files are numbered with 32 bits"))
}

impl Index {
    /// Returns the version of every text file, in the order of paths. A different number means that the file
    /// must be read again.
    pub fn versions(&self) -> impl Iterator<Item = (FileId, u64)> {
        self.texts().map(|file| (FileId(file), self.files.records[file as usize].version.number()))
    }

    /// Returns true if the settings take a file, whatever git's rules say.
    pub fn takes(&self, path: &str) -> bool {
        let path = Path::new(path);
        let directories = path.ancestors().skip(1).filter(|directory| !directory.as_os_str().is_empty());
        self.settings.filter(&self.root).is_ok_and(|filter| {
            filter.takes(path, false)
                && directories.into_iter().all(|directory| filter.takes(directory, true))
        })
    }

    /// Returns the paths of the symbolic links in scope.
    pub fn links(&self) -> impl Iterator<Item = &str> {
        let records = self.files.records.iter().enumerate();
        records
            .filter(|(_, record)| record.state == ContentClass::Link)
            .map(|(file, _)| self.files.paths.get(file))
    }

    /// Returns the files in scope whose content could not be read, with the reason. Symbolic links are left
    /// out.
    pub fn unread_files(&self) -> Vec<(String, &'static str)> {
        let records = self.files.records.iter().enumerate();
        let over = self.unparsable_files().into_iter().map(|path| (path, "over the limits of the parser"));
        records
            .filter_map(|(file, record)| {
                let reason = match record.state {
                    ContentClass::Text | ContentClass::Link => return None,
                    ContentClass::Binary => "binary",
                    ContentClass::TooLarge => "too large",
                    ContentClass::Unreadable => "unreadable",
                };
                Some((self.files.paths.get(file).to_owned(), reason))
            })
            .chain(over)
            .collect()
    }

    /// Returns the files that an answer needed since the index was opened, and that exceed the budget of the parser.
    pub fn unparsable_files(&self) -> Vec<String> {
        let is_over = |file: &usize| matches!(self.known_facts.known(*file), Some(Some(facts)) if facts.is_unparsable());
        (0..self.files.len()).filter(is_over).map(|file| self.files.paths.get(file).to_owned()).collect()
    }

    /// Returns the files that an answer needed since the index was opened, and of which a limit kept some places from being read.
    pub fn partly_read_files(&self) -> Vec<String> {
        let is_partly =
            |file: &usize| matches!(self.known_facts.known(*file), Some(Some(facts)) if facts.omitted > 0);
        (0..self.files.len()).filter(is_partly).map(|file| self.files.paths.get(file).to_owned()).collect()
    }

    pub(super) fn texts(&self) -> impl Iterator<Item = u32> {
        let numbered = self.files.records.iter().zip(0_u32..);
        numbered.filter(|(record, _)| record.state == ContentClass::Text).map(|(_, file)| file)
    }

    /// Returns the files that contain a word, sorted.
    fn files_with(&self, word: u64) -> Result<Arc<[u32]>, CorruptTable> {
        self.with_words.get(word, || self.listed_files(&self.words, word))
    }

    /// Returns the present files that tables list for a key, sorted.
    pub(super) fn listed_files(&self, tables: &[SortedTable], key: u64) -> Result<Vec<u32>, CorruptTable> {
        let present = self.documents.get_or_init(|| self.files.documents());
        let mut files = Vec::new();
        for table in tables {
            if let Some(payload) = table.get(key)? {
                files.extend(
                    documents(&payload)
                        .ok_or(CorruptTable)?
                        .into_iter()
                        .filter_map(|candidate| present.file_of(candidate)),
                );
            }
        }
        files.sort_unstable();
        files.dedup();
        Ok(files)
    }

    /// Returns true if the file is known to differ from the index.
    pub(super) fn differs(&self, file: u32) -> bool {
        self.differing.binary_search(&file).is_ok()
    }

    /// Reads a text from disk. The boolean is true if it matches the index. If it does not, the answers are
    /// no longer of one moment, and the condition says so.
    pub(super) fn read(&self, file: u32) -> (Option<Arc<str>>, bool) {
        let record = &self.files.records[file as usize];
        if record.state != ContentClass::Text && !self.differs(file) {
            return (None, true);
        }
        let path = self.root.join(self.files.paths.get(file as usize));
        let mut buffer = Vec::new();
        let read = content::read(&path, self.settings.max_file_bytes, &mut buffer);
        let version = read.as_ref().map(|content| content.version).unwrap_or_default();
        let text = read.and_then(|content| content.text.ok()).map(|text| Arc::from(&*text));
        let is_known = record.version.matches_content(&version, &buffer);
        if !is_known {
            self.moved.store(true, Ordering::Relaxed);
        }
        (text, is_known)
    }
}
