//! Builds a file table from another one: copies unchanged ranges, and inserts the changes between them.

use std::ops::Range;

use lockstep_refs::world::parent;

use super::super::content::ContentClass;
use super::super::file_table::{DirectoryRow, FileRow, FileTable, PackedStrings};
use super::super::version::FileVersion;
use super::directories::DirectoryDiff;
use super::number;

/// A file table that is being built in the order of paths.
pub(super) struct TableBuilder {
    pub(super) files: FileTable,
    /// The new positions of the directories; `None` if they did not move.
    moved: Option<Vec<Option<u32>>>,
    /// The directory of the file that was added last.
    last: Option<usize>,
}

impl TableBuilder {
    pub(super) fn new(old: &FileTable, changed: &DirectoryDiff) -> Self {
        let mut files = FileTable {
            paths: PackedStrings::with_capacity_of(&old.paths),
            records: Vec::with_capacity(old.len() + 1),
            ..FileTable::default()
        };
        let mut put = changed.put.iter().peekable();
        let mut add = |path: &str, directory: DirectoryRow| {
            files.directory_paths.push(path);
            files.directories.push(directory);
        };
        for (path, known) in old.directory_paths.iter().zip(&old.directories) {
            while let Some((path, directory)) = put.next_if(|(new, _)| new.as_str() < path) {
                add(path, *directory);
            }
            match put.next_if(|(new, _)| *new == path) {
                Some((path, directory)) => add(path, *directory),
                None if changed.gone.contains(path) => {}
                None => add(path, *known),
            }
        }
        put.for_each(|(path, directory)| add(path, *directory));
        let moved = (files.directory_paths != old.directory_paths).then(|| {
            let find = |path: &str| files.directory_paths.find(path).map(number);
            old.directory_paths.iter().map(find).collect()
        });
        Self { files, moved, last: None }
    }

    /// Copies a range of unchanged files.
    pub(super) fn keep(&mut self, old: &FileTable, range: Range<usize>) {
        if self.moved.is_some() {
            range.for_each(|file| self.add(old.paths.get(file), old.records[file]));
        } else {
            self.files.paths.push_all(&old.paths, range.clone());
            self.files.records.extend_from_slice(&old.records[range]);
        }
    }

    /// Adds a file. A file whose directory was removed is left out.
    pub(super) fn add(&mut self, path: &str, record: FileRow) {
        let directory = match &self.moved {
            Some(moved) => moved.get(record.directory as usize).copied().flatten(),
            None => Some(record.directory),
        };
        if let Some(directory) = directory {
            self.push(path, FileRow { directory, ..record });
        }
    }

    pub(super) fn add_read(&mut self, path: &str, document: u32, read: Option<(FileVersion, ContentClass)>) {
        let Some((version, state)) = read else { return };
        let parent = parent(path);
        // Adjacent paths are mostly in the same directory.
        let names = &self.files.directory_paths;
        let at = self.last.filter(|last| names.get(*last) == parent).or_else(|| names.find(parent));
        self.last = at;
        if let Some(directory) = at.map(number) {
            self.push(path, FileRow { version, document, directory, state });
        }
    }

    fn push(&mut self, path: &str, record: FileRow) {
        self.files.paths.push(path);
        self.files.records.push(record);
    }
}
