//! The differences between the directories of a table and those on disk.

use std::collections::{BTreeMap, BTreeSet};

use lockstep_refs::world::parent;
use serde::{Deserialize, Serialize};

use super::super::file_table::{DirectoryRow, FileTable};

/// The differences from the directories of a table.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct DirectoryDiff {
    pub(super) put: BTreeMap<String, DirectoryRow>,
    pub(super) gone: BTreeSet<String>,
}

impl DirectoryDiff {
    /// Returns the differences from the directories of `files` to `all`.
    pub(super) fn between(files: &FileTable, mut all: BTreeMap<String, DirectoryRow>) -> Self {
        let mut removed = BTreeSet::new();
        for (path, known) in files.directory_paths.iter().zip(&files.directories) {
            match all.get(path) {
                Some(present) if present == known => drop(all.remove(path)),
                Some(_) => {}
                None => drop(removed.insert(path.to_owned())),
            }
        }
        Self { put: all, gone: removed }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.put.is_empty() && self.gone.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.put.len() + self.gone.len()
    }
}

/// The directories of a table with the differences found so far. Few of thousands differ.
pub(super) struct DirectoryDiffBuilder<'a> {
    files: &'a FileTable,
    found: DirectoryDiff,
}

impl<'a> DirectoryDiffBuilder<'a> {
    /// Starts without differences.
    pub(super) fn new(files: &'a FileTable) -> Self {
        Self { files, found: DirectoryDiff::default() }
    }

    fn has(&self, path: &str) -> bool {
        let is_known = || self.files.directory_paths.find(path).is_some();
        self.found.put.contains_key(path) || !self.found.gone.contains(path) && is_known()
    }

    /// Records the present state of a directory.
    pub(super) fn put(&mut self, path: &str, directory: DirectoryRow) {
        self.found.gone.remove(path);
        let known = self.files.directory_paths.find(path).map(|at| self.files.directories[at]);
        if known == Some(directory) {
            self.found.put.remove(path);
        } else {
            self.found.put.insert(path.to_owned(), directory);
        }
    }

    pub(super) fn remove(&mut self, path: &str) {
        self.found.put.remove(path);
        if self.files.directory_paths.find(path).is_some() {
            self.found.gone.insert(path.to_owned());
        }
    }

    /// Returns the directories of the table below `path`, removed or not.
    pub(super) fn known_below(&self, path: &str) -> impl Iterator<Item = &'a str> + use<'a> {
        let names = &self.files.directory_paths;
        let start = if path.is_empty() { String::new() } else { format!("{path}/") };
        let first = names.first_after(&start);
        let all = (first..names.len()).map(|at| names.get(at));
        all.take_while(move |known| known.starts_with(&start))
    }

    /// Returns all differences. Directories below a removed one are removed too: it may have been replaced by
    /// a link through which they still seem to exist.
    pub(super) fn finish(mut self) -> DirectoryDiff {
        for removed in self.found.gone.clone() {
            self.known_below(&removed).for_each(|below| self.remove(below));
        }
        for new in self.found.put.keys().cloned().collect::<Vec<_>>() {
            if !new.is_empty() && !self.has(parent(&new)) {
                self.remove(&new);
            }
        }
        self.found
    }
}
