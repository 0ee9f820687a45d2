//! The file table: every file and directory in scope, with its known version. It is read in one piece.
//!
//! Files are sorted by path, so that file numbers are in the order of answers.

mod bytes;
mod names;

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use super::content::{ContentClass, SkippedFiles};
use super::version::FileVersion;
pub(crate) use names::PackedStrings;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct FileRow {
    pub(crate) version: FileVersion,
    /// The number of this version of this file in the tables of words and facts. Numbers are never reused.
    pub(crate) document: u32,
    pub(crate) directory: u32,
    pub(crate) state: ContentClass,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct DirectoryRow {
    /// The time of the last added or removed entry, in nanoseconds; zero if the directory must be listed
    /// again.
    pub(crate) changed: i64,
    pub(crate) inode: u64,
    /// The digest of its ignore rules; zero if there are none.
    pub(crate) rules: u64,
    /// The number of files whose names are not UTF-8.
    pub(crate) unnameable: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct FileTable {
    pub(crate) paths: PackedStrings,
    pub(crate) records: Vec<FileRow>,
    pub(crate) directory_paths: PackedStrings,
    pub(crate) directories: Vec<DirectoryRow>,
}

impl FileTable {
    pub(crate) fn len(&self) -> usize {
        self.records.len()
    }

    pub(crate) fn unseen(&self) -> SkippedFiles {
        let mut unseen = SkippedFiles::default();
        self.records.iter().for_each(|record| unseen.count(record.state));
        unseen.unnameable = self.directories.iter().map(|directory| directory.unnameable as usize).sum();
        unseen
    }

    /// Returns the files of each directory, sorted by path.
    pub(crate) fn by_directory(&self) -> ByDirectory {
        let mut ends = vec![0_u32; self.directories.len()];
        self.records.iter().for_each(|record| ends[record.directory as usize] += 1);
        let mut sum = 0;
        for end in &mut ends {
            // First the start of the directory's files. Each file increments it, so that it finally is their
            // end.
            sum += std::mem::replace(end, sum);
        }
        let mut files = vec![0_u32; self.records.len()];
        for (file, record) in (0_u32..).zip(&self.records) {
            let at = &mut ends[record.directory as usize];
            files[*at as usize] = file;
            *at += 1;
        }
        ByDirectory { files, ends }
    }

    /// Adds a new file if its directory is in the table.
    pub(crate) fn insert(&mut self, path: &str, record: FileRow) {
        let at = self.paths.first_after(path);
        self.paths.insert(at, path);
        self.records.insert(at, record);
    }

    /// Removes a file. The numbers of later files change.
    pub(crate) fn remove(&mut self, file: usize) {
        self.paths.remove(file);
        self.records.remove(file);
    }

    pub(crate) fn put_directory(&mut self, path: &str, directory: DirectoryRow) {
        if let Some(at) = self.directory_paths.find(path) {
            self.directories[at] = directory;
            return;
        }
        let at = self.directory_paths.first_after(path);
        self.directory_paths.insert(at, path);
        self.directories.insert(at, directory);
        let later = self.records.iter_mut().filter(|record| record.directory as usize >= at);
        later.for_each(|record| record.directory += 1);
    }

    pub(crate) fn remove_directory(&mut self, path: &str) {
        let Some(removed) = self.directory_paths.find(path) else { return };
        self.directory_paths.remove(removed);
        self.directories.remove(removed);
        for file in (0..self.len()).rev() {
            match (self.records[file].directory as usize).cmp(&removed) {
                Ordering::Less => {}
                Ordering::Equal => self.remove(file),
                Ordering::Greater => self.records[file].directory -= 1,
            }
        }
    }

    pub(crate) fn documents(&self) -> LiveDocuments {
        let numbered = self.records.iter().zip(0_u32..);
        let mut documents: Vec<(u32, u32)> = numbered.map(|(record, file)| (record.document, file)).collect();
        // After a build they are sorted, and later mostly sorted, which makes this sort cheap.
        documents.sort();
        LiveDocuments(documents)
    }
}

/// The file of each document, sorted by document.
#[derive(Debug)]
pub(crate) struct LiveDocuments(Vec<(u32, u32)>);

impl LiveDocuments {
    /// Returns the file that has this document as its present version.
    pub(crate) fn file_of(&self, document: u32) -> Option<u32> {
        let at = self.0.binary_search_by_key(&document, |(document, _)| *document).ok()?;
        Some(self.0[at].1)
    }

    /// Returns true if the document is the present version of a file.
    pub(crate) fn has(&self, document: u32) -> bool {
        self.file_of(document).is_some()
    }
}

#[derive(Debug)]
pub(crate) struct ByDirectory {
    files: Vec<u32>,
    ends: Vec<u32>,
}

impl ByDirectory {
    pub(crate) fn of(&self, directory: usize) -> &[u32] {
        let start = directory.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        &self.files[start..self.ends[directory] as usize]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(bytes: &[u8]) -> Option<FileTable> {
        FileTable::read(&mut &*bytes, bytes.len() as u64)
    }

    fn files() -> impl Strategy<Value = FileTable> {
        let paths = proptest::collection::btree_set("[a-zé/]{1,12}", 0..12);
        (paths, any::<[u64; 4]>(), 0..5_u8).prop_map(|(set, numbers, state)| {
            let mut files = FileTable::default();
            for path in &set {
                files.paths.push(path);
                files.directory_paths.push(path);
                files.directories.push(DirectoryRow {
                    changed: 7,
                    inode: numbers[1],
                    rules: 5,
                    unnameable: 1,
                });
                files.records.push(FileRow {
                    version: FileVersion {
                        size: numbers[0],
                        changed: numbers[1].cast_signed(),
                        inode: numbers[2],
                        digest: numbers[3],
                    },
                    document: 3,
                    directory: u32::try_from(files.records.len() / 2).unwrap(),
                    state: ContentClass::from_byte(state).unwrap(),
                });
            }
            files
        })
    }

    proptest! {
        #[test]
        fn file_table_round_trips(files in files()) {
            prop_assert_eq!(read(&files.encode()), Some(files));
        }

        #[test]
        fn damage_is_noticed(files in files(), at in any::<prop::sample::Index>(), bit in 0..8_u32) {
            let mut bytes = files.encode();
            let at = at.index(bytes.len());
            bytes[at] ^= 1_u8 << bit;
            prop_assert_eq!(read(&bytes), None);
            bytes.truncate(at);
            prop_assert_eq!(read(&bytes), None);
        }

        #[test]
        fn files_are_found_by_path_and_directory(files in files()) {
            for (at, path) in files.paths.iter().enumerate() {
                prop_assert_eq!(files.paths.find(path), Some(at));
            }
            prop_assert_eq!(files.paths.find("nowhere!"), None);
            for end in files.paths.iter().flat_map(|path| path.char_indices().map(|(at, _)| &path[at..])) {
                let expected = files.paths.iter().enumerate().filter(|(_, path)| path.ends_with(end));
                prop_assert!(files.paths.ending_in(end).eq(expected.map(|(at, _)| at)));
            }
            let by_directory = files.by_directory();
            for at in 0..files.directories.len() {
                let expected: Vec<_> = (0_u32..)
                    .zip(&files.records)
                    .filter(|(_, record)| record.directory as usize == at)
                    .map(|(file, _)| file)
                    .collect();
                prop_assert_eq!(by_directory.of(at), expected);
            }
        }
    }
}
