//! The file table: every file and directory in scope, with the version the index knows. Read whole, in one piece.
//!
//! Files are sorted by path, so that a file's number is its place in every sorted answer.

use std::cmp::Ordering;
use std::ops::Range;

use memchr::memmem;
use serde::{Deserialize, Serialize};

use super::codec::{Bytes, check};
use super::content::{State, Unseen};
use super::version::Version;

const MAGIC: &[u8; 8] = b"LSFILES1";

/// What is known of one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Record {
    pub(crate) version: Version,
    /// The number of this version of this file in the tables of words and facts; never used again for another.
    pub(crate) document: u32,
    /// Its place among the directories.
    pub(crate) directory: u32,
    pub(crate) state: State,
}

/// Strings behind each other in one piece of memory.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Names {
    text: String,
    ends: Vec<u32>,
}

impl Names {
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn get(&self, at: usize) -> &str {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        &self.text[start..self.ends[at] as usize]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|at| self.get(at))
    }

    pub(crate) fn push(&mut self, name: &str) {
        self.text.push_str(name);
        self.ends.push(u32::try_from(self.text.len()).expect("no project has 4 GB of paths"));
    }

    /// Puts a name before the one at `at`.
    fn insert(&mut self, at: usize, name: &str) {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        let length = u32::try_from(name.len()).expect("no path has 4 GB");
        self.text.insert_str(start as usize, name);
        self.ends[at..].iter_mut().for_each(|end| *end += length);
        self.ends.insert(at, start + length);
    }

    fn remove(&mut self, at: usize) {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        let end = self.ends.remove(at);
        self.text.replace_range(start as usize..end as usize, "");
        self.ends[at..].iter_mut().for_each(|later| *later -= end - start);
    }

    /// Without a name, and with room for these and one more.
    pub(crate) fn with_capacity_of(others: &Self) -> Self {
        const ONE_MORE: usize = 128;
        let text = String::with_capacity(others.text.len() + ONE_MORE);
        Self { text, ends: Vec::with_capacity(others.len() + 1) }
    }

    /// Appends some of `others`.
    pub(crate) fn push_all(&mut self, others: &Self, range: Range<usize>) {
        let Some(last) = range.end.checked_sub(1).filter(|last| *last >= range.start) else { return };
        let start = range.start.checked_sub(1).map_or(0, |before| others.ends[before]);
        let here = u32::try_from(self.text.len()).expect("no project has 4 GB of paths");
        self.text.push_str(&others.text[start as usize..others.ends[last] as usize]);
        self.ends.extend(others.ends[range].iter().map(|end| end - start + here));
    }

    /// The place of the first of sorted names that comes after `name`.
    pub(crate) fn first_after(&self, name: &str) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            if self.get(middle) <= name { low = middle + 1 } else { high = middle }
        }
        low
    }

    /// Where `name` is, in sorted names.
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            match self.get(middle).cmp(name) {
                Ordering::Equal => return Some(middle),
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// The places of names that end in `end`, in their order.
    pub(crate) fn ending_in<'s>(&'s self, end: &'s str) -> impl Iterator<Item = usize> + 's {
        let (finder, text) = (memmem::Finder::new(end), self.text.as_bytes());
        let mut from = 0;
        // One may begin within another that goes on into the next name.
        let found = std::iter::from_fn(move || {
            let at = from + finder.find(text.get(from..)?)?;
            from = at + 1;
            Some(at)
        });
        found.filter_map(move |at| {
            let stop = u32::try_from(at + end.len()).ok()?;
            let place = self.ends.binary_search(&stop).ok()?;
            self.get(place).ends_with(end).then_some(place)
        })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        put_count(out, self.ends.len());
        put_count(out, self.text.len());
        self.ends.iter().for_each(|end| out.extend_from_slice(&end.to_le_bytes()));
        out.extend_from_slice(self.text.as_bytes());
    }

    fn decode(bytes: &mut Bytes<'_>) -> Option<Self> {
        let (count, length) = (count(bytes, 4)?, count(bytes, 1)?);
        let (ends, _) = bytes.take(count.checked_mul(4)?)?.as_chunks::<4>();
        let ends: Vec<u32> = ends.iter().map(|end| u32::from_le_bytes(*end)).collect();
        let text = std::str::from_utf8(bytes.take(length)?).ok()?.to_owned();
        let fits = ends.is_sorted()
            && ends.last().map_or(0, |end| *end as usize) == length
            && ends.iter().all(|end| text.is_char_boundary(*end as usize));
        fits.then_some(Self { text, ends })
    }
}

/// What is known of one directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Directory {
    /// When something last came into it or went, in nanoseconds; zero where it must be listed again.
    pub(crate) changed: i64,
    pub(crate) inode: u64,
    /// The ignore rules in it; zero where there are none.
    pub(crate) rules: u64,
    /// Files in it whose names are no UTF-8.
    pub(crate) unnameable: u32,
}

/// The whole table.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Files {
    pub(crate) paths: Names,
    pub(crate) records: Vec<Record>,
    pub(crate) directory_paths: Names,
    pub(crate) directories: Vec<Directory>,
}

impl Files {
    pub(crate) fn len(&self) -> usize {
        self.records.len()
    }

    pub(crate) fn unseen(&self) -> Unseen {
        let mut unseen = Unseen::default();
        self.records.iter().for_each(|record| unseen.count(record.state));
        unseen.unnameable = self.directories.iter().map(|directory| directory.unnameable as usize).sum();
        unseen
    }

    /// The files of each directory, sorted by path.
    pub(crate) fn by_directory(&self) -> ByDirectory {
        let mut ends = vec![0_u32; self.directories.len()];
        self.records.iter().for_each(|record| ends[record.directory as usize] += 1);
        let mut sum = 0;
        for end in &mut ends {
            // Where its files begin; each file moves it on by one, so that in the end it is where they end.
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

    /// Adds a file that is not there yet, where its directory is known.
    pub(crate) fn insert(&mut self, path: &str, record: Record) {
        let at = self.paths.first_after(path);
        self.paths.insert(at, path);
        self.records.insert(at, record);
    }

    /// Takes a file out; those behind it have other places from then on.
    pub(crate) fn remove(&mut self, file: usize) {
        self.paths.remove(file);
        self.records.remove(file);
    }

    /// What is known of a directory, new or not.
    pub(crate) fn put_directory(&mut self, path: &str, directory: Directory) {
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

    /// Takes a directory out, and the files in it.
    pub(crate) fn remove_directory(&mut self, path: &str) {
        let Some(gone) = self.directory_paths.find(path) else { return };
        self.directory_paths.remove(gone);
        self.directories.remove(gone);
        for file in (0..self.len()).rev() {
            match (self.records[file].directory as usize).cmp(&gone) {
                Ordering::Less => {}
                Ordering::Equal => self.remove(file),
                Ordering::Greater => self.records[file].directory -= 1,
            }
        }
    }

    /// The documents of all files.
    pub(crate) fn documents(&self) -> Documents {
        let numbered = self.records.iter().zip(0_u32..);
        let mut documents: Vec<(u32, u32)> = numbered.map(|(record, file)| (record.document, file)).collect();
        // After a build they are in order, and later most still are, of which this sort makes use.
        documents.sort();
        Documents(documents)
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(64 + self.records.len() * 120);
        out.extend_from_slice(MAGIC);
        self.paths.encode(&mut out);
        for record in &self.records {
            put_version(&mut out, &record.version);
            out.extend_from_slice(&record.document.to_le_bytes());
            out.extend_from_slice(&record.directory.to_le_bytes());
            out.push(record.state.byte());
        }
        self.directory_paths.encode(&mut out);
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

    /// `None` where the bytes are damaged or of another format.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let (body, sum) = bytes.split_last_chunk::<8>()?;
        if check(body) != u64::from_le_bytes(*sum) {
            return None;
        }
        let mut bytes = Bytes(body);
        if bytes.take(MAGIC.len())? != MAGIC {
            return None;
        }
        let paths = Names::decode(&mut bytes)?;
        let (chunks, _) = bytes.take(paths.len().checked_mul(RECORD)?)?.as_chunks::<RECORD>();
        let mut records = Vec::with_capacity(chunks.len());
        for chunk in chunks {
            records.push(record(chunk)?);
        }
        let directory_paths = Names::decode(&mut bytes)?;
        let directories =
            (0..directory_paths.len()).map(|_| directory(&mut bytes)).collect::<Option<Vec<_>>>()?;
        let fits = records.iter().all(|record| (record.directory as usize) < directories.len());
        fits.then_some(Self { paths, records, directory_paths, directories })
    }
}

/// The file of each document, sorted by document.
#[derive(Debug)]
pub(crate) struct Documents(Vec<(u32, u32)>);

impl Documents {
    /// The file of which a document is the present version.
    pub(crate) fn file_of(&self, document: u32) -> Option<u32> {
        let at = self.0.binary_search_by_key(&document, |(document, _)| *document).ok()?;
        Some(self.0[at].1)
    }

    /// Whether it is the present version of a file.
    pub(crate) fn has(&self, document: u32) -> bool {
        self.file_of(document).is_some()
    }
}

/// The files of each directory.
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

fn put_count(out: &mut Vec<u8>, count: usize) {
    out.extend_from_slice(&(count as u64).to_le_bytes());
}

/// A count of things of `each` bytes: what cannot follow is not allocated for.
fn count(bytes: &mut Bytes<'_>, each: usize) -> Option<usize> {
    usize::try_from(bytes.u64()?).ok().filter(|count| *count <= bytes.0.len() / each)
}

fn put_version(out: &mut Vec<u8>, version: &Version) {
    for number in [version.size, version.changed.cast_unsigned(), version.inode, version.digest] {
        out.extend_from_slice(&number.to_le_bytes());
    }
}

/// What [`record`] takes.
const RECORD: usize = 41;

fn record(bytes: &[u8; RECORD]) -> Option<Record> {
    let mut bytes = Bytes(bytes);
    let version =
        Version { size: bytes.u64()?, changed: bytes.i64()?, inode: bytes.u64()?, digest: bytes.u64()? };
    let (document, directory) = (bytes.u32()?, bytes.u32()?);
    let state = State::from_byte(*bytes.take(1)?.first()?)?;
    Some(Record { version, document, directory, state })
}

fn directory(bytes: &mut Bytes<'_>) -> Option<Directory> {
    Some(Directory {
        changed: bytes.i64()?,
        inode: bytes.u64()?,
        rules: bytes.u64()?,
        unnameable: bytes.u32()?,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn files() -> impl Strategy<Value = Files> {
        let paths = proptest::collection::btree_set("[a-zé/]{1,12}", 0..12);
        (paths, any::<[u64; 4]>(), 0..6_u8).prop_map(|(set, numbers, state)| {
            let mut files = Files::default();
            for path in &set {
                files.paths.push(path);
                files.directory_paths.push(path);
                files.directories.push(Directory { changed: 7, inode: numbers[1], rules: 5, unnameable: 1 });
                files.records.push(Record {
                    version: Version {
                        size: numbers[0],
                        changed: numbers[1].cast_signed(),
                        inode: numbers[2],
                        digest: numbers[3],
                    },
                    document: 3,
                    directory: u32::try_from(files.records.len() / 2).unwrap(),
                    state: State::from_byte(state).unwrap(),
                });
            }
            files
        })
    }

    proptest! {
        #[test]
        fn what_is_kept_is_read_back(files in files()) {
            prop_assert_eq!(Files::decode(&files.encode()), Some(files));
        }

        #[test]
        fn damage_is_noticed(files in files(), at in any::<prop::sample::Index>(), bit in 0..8_u32) {
            let mut bytes = files.encode();
            let at = at.index(bytes.len());
            bytes[at] ^= 1_u8 << bit;
            prop_assert_eq!(Files::decode(&bytes), None);
            bytes.truncate(at);
            prop_assert_eq!(Files::decode(&bytes), None);
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
