//! The directory of an index: numbered files that never change, a manifest that is replaced, and the writer's
//! lock.

use std::fs;
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use lockstep_fs::FileLock;
use lockstep_store::StateDir;

use super::file_table::FileTable;
use super::manifest::Manifest;
use super::sorted_table::{SortedTable, TableSource};
use crate::{IndexError, IndexResult};

const MANIFEST: &str = "manifest";
const LOCK: &str = "writer.lock";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IndexFileKind {
    Files,
    Words,
    Facts,
}

impl IndexFileKind {
    const ALL: [Self; 3] = [Self::Files, Self::Words, Self::Facts];

    fn extension(self) -> &'static str {
        match self {
            Self::Files => "files",
            Self::Words => "words",
            Self::Facts => "facts",
        }
    }
}

/// The directory of an index, in the state directory of a project.
#[derive(Debug, Clone)]
pub(crate) struct Storage {
    state: StateDir,
}

impl Storage {
    pub(crate) fn new(state: &StateDir) -> Self {
        Self { state: state.clone() }
    }

    fn path(&self, part: IndexFileKind, number: u32) -> PathBuf {
        self.state.index().join(format!("{number}.{}", part.extension()))
    }

    /// Returns the present manifest. `None` if it is missing, damaged or of another format.
    pub(crate) fn manifest(&self) -> IndexResult<Option<Manifest>> {
        let path = self.state.index().join(MANIFEST);
        match lockstep_fs::read(&path) {
            Ok(bytes) => Ok(Manifest::decode(&bytes)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(IndexError::io("read", &path)(error)),
        }
    }

    /// Reads the file table of a manifest. `None` if it is damaged.
    pub(crate) fn files(&self, number: u32) -> io::Result<Option<FileTable>> {
        let mut file = lockstep_fs::open(self.path(IndexFileKind::Files, number))?;
        let length = file.metadata()?.len();
        Ok(FileTable::read(&mut file, length))
    }

    pub(crate) fn table(&self, part: IndexFileKind, number: u32) -> io::Result<SortedTable> {
        Ok(SortedTable::new(TableSource::file(lockstep_fs::open(self.path(part, number))?)?))
    }

    /// Acquires the writer's lock, or returns its holder. The lock ends with its process.
    pub(crate) fn lock(&self, what: &str) -> IndexResult<Result<IndexWriter, LockHolder>> {
        let path = self.state.ensure_dir("index")?.join(LOCK);
        match FileLock::acquire(&path, Duration::ZERO).map_err(IndexError::io("lock", &path))? {
            Some(lock) => {
                lock.set_note(&format!("{} {what}\n", std::process::id()));
                Ok(Ok(IndexWriter { storage: self.clone(), _lock: lock }))
            }
            None => Ok(Err(LockHolder::read(&FileLock::note(&path)))),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockHolder {
    /// The process, if it wrote a note.
    pub process: Option<u32>,
    /// Its activity: `build` or `update`.
    pub what: String,
}

impl LockHolder {
    fn read(note: &str) -> Self {
        let (process, what) = note.trim().split_once(' ').unwrap_or(("", "update"));
        Self { process: process.parse().ok(), what: what.to_owned() }
    }
}

/// The writer's lock of an index, held by a process that does not write it.
#[derive(Debug)]
pub struct WriterLock {
    _writer: IndexWriter,
}

impl WriterLock {
    pub(crate) fn new(writer: IndexWriter) -> Self {
        Self { _writer: writer }
    }
}

/// The writer's lock and the directory that it protects.
#[derive(Debug)]
pub(crate) struct IndexWriter {
    storage: Storage,
    _lock: FileLock,
}

impl IndexWriter {
    /// Returns the present manifest, like [`Storage::manifest`].
    pub(crate) fn manifest(&self) -> IndexResult<Option<Manifest>> {
        self.storage.manifest()
    }

    pub(crate) fn table(&self, part: IndexFileKind, number: u32) -> Option<SortedTable> {
        self.storage.table(part, number).ok()
    }

    /// Writes a numbered file. It is not read until a manifest names it.
    pub(crate) fn put(&self, part: IndexFileKind, number: u32, bytes: &[u8]) -> IndexResult {
        let path = self.storage.path(part, number);
        let created = lockstep_fs::no_follow().create_new(true).write(true).open(&path);
        created.and_then(|mut file| file.write_all(bytes)).map_err(IndexError::io("write", &path))
    }

    /// Returns the first number above all existing files, including unnamed ones, which may still be read.
    pub(crate) fn next_free_number(&self) -> u32 {
        let entries = fs::read_dir(self.storage.state.index()).into_iter().flatten().flatten();
        let numbers = entries.filter_map(|entry| Some(numbered(entry.file_name().to_str()?)?.0));
        numbers.max().map_or(1, |number| number.saturating_add(1))
    }

    /// Replaces the manifest atomically, then removes the files that it does not name. It is not synced:
    /// files damaged by a power failure fail their checksums and are rebuilt.
    pub(crate) fn replace(&self, manifest: &Manifest) -> IndexResult {
        let dir = self.storage.state.index();
        lockstep_fs::replace_unsynced(&dir.join(MANIFEST), &manifest.encode())?;
        self.remove_unreferenced(&dir, manifest);
        Ok(())
    }

    /// Removes the manifest, so that the next reader finds no index.
    pub(crate) fn discard(&self) -> IndexResult {
        let path = self.storage.state.index().join(MANIFEST);
        lockstep_fs::remove_if_present(&path).map(drop).map_err(IndexError::io("remove", &path))
    }

    /// Removes numbered files that no manifest names: those of older manifests, and of writers that were
    /// killed. A reader of an older manifest finds them missing and reads the new manifest. Files that cannot
    /// be removed are left for the next time.
    fn remove_unreferenced(&self, dir: &Path, manifest: &Manifest) {
        for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let Some((number, part)) = name.to_str().and_then(numbered) else { continue };
            let named = match part {
                IndexFileKind::Files => manifest.files == number,
                IndexFileKind::Words => manifest.words.contains(&number),
                IndexFileKind::Facts => manifest.facts.contains(&number),
            };
            if !named {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

fn numbered(name: &str) -> Option<(u32, IndexFileKind)> {
    let (number, extension) = name.split_once('.')?;
    let part = IndexFileKind::ALL.into_iter().find(|part| part.extension() == extension)?;
    Some((number.parse().ok()?, part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_released_lock_is_free_although_its_file_is_still_open() {
        let dir = tempfile::tempdir().unwrap();
        let storage = Storage::new(&StateDir::for_project(dir.path()));
        let writer = storage.lock("build").unwrap().unwrap();
        assert_eq!(storage.lock("update").unwrap().unwrap_err().what, "build");
        // A child process that is being started has such a copy.
        let copy = writer._lock.file().try_clone().unwrap();
        drop(writer);
        assert!(storage.lock("update").unwrap().is_ok());
        drop(copy);
    }
}
