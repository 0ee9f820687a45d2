//! Checks whether the disk matches the file table, without walking the tree: known files by their versions,
//! new and deleted ones by the times of known directories.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use lockstep_fs::{Dir, FileKind, Links, now};
use lockstep_refs::world::{base, parent};

use super::content;
use super::file_table::{ByDirectory, FileTable};
use super::ignore_rules;
use super::version::FileVersion;
use crate::parallelism;

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ScanDiff {
    /// Files with another version.
    pub(crate) changed: Vec<u32>,
    /// Files that were deleted, alone or with their directory.
    pub(crate) vanished: Vec<u32>,
    /// Files whose time was racy and is now old enough to be trusted.
    pub(crate) settled: Vec<u32>,
    /// Directories with added or removed entries.
    pub(crate) touched: Vec<u32>,
    pub(crate) gone: Vec<u32>,
    /// Set if ignore rules changed, so that everything must be listed again.
    pub(crate) rules_changed: bool,
}

impl ScanDiff {
    pub(crate) fn is_as_before(&self) -> bool {
        *self == Self::default()
    }

    fn sort(&mut self) {
        for list in
            [&mut self.changed, &mut self.vanished, &mut self.settled, &mut self.touched, &mut self.gone]
        {
            list.sort_unstable();
        }
    }

    fn append(&mut self, mut other: Self) {
        self.changed.append(&mut other.changed);
        self.vanished.append(&mut other.vanished);
        self.settled.append(&mut other.settled);
        self.touched.append(&mut other.touched);
        self.gone.append(&mut other.gone);
        self.rules_changed |= other.rules_changed;
    }
}

/// The number of files per thread. For fewer, starting a thread takes longer.
const FILES_PER_THREAD: usize = 2_000;

/// The number of directories per task of a thread.
const BATCH: usize = 8;

/// Directories with fewer files are not opened: opening and closing take longer than the longer paths.
const WORTH_OPENING: usize = 3;

/// Checks every file of the table, on as many threads as there are cores. Sets `outdated` as soon as it finds
/// a difference.
pub(crate) fn scan(root: &Path, files: &FileTable, limit: u64, outdated: &AtomicBool) -> ScanDiff {
    let by_directory = files.by_directory();
    let helpers = parallelism::extra_threads(files.len() / FILES_PER_THREAD);
    let next = AtomicUsize::new(0);
    let opened = open_root(root);
    let eye = StatScanner { root, base: opened.as_ref(), files, limit };
    let work = || {
        let mut look = ScanDiff::default();
        loop {
            let start = next.fetch_add(BATCH, Ordering::Relaxed);
            let end = (start + BATCH).min(files.directories.len());
            if start >= end {
                return look;
            }
            (start..end).for_each(|directory| eye.look_at(directory, &by_directory, &mut look));
            if !look.is_as_before() {
                outdated.store(true, Ordering::Relaxed);
            }
        }
    };
    let mut look = std::thread::scope(|scope| {
        let helpers: Vec<_> = (0..helpers).map(|_| scope.spawn(work)).collect();
        let mut look = work();
        for helper in helpers {
            look.append(helper.join().expect("looking at files does not panic"));
        }
        look
    });
    look.sort();
    look
}

/// Checks only some paths, known or not, with the directories they are in, and everything below those that
/// are directories.
///
/// The table keeps its state for all other paths, so the next full check finds their changes.
pub(crate) fn scan_paths(root: &Path, files: &FileTable, limit: u64, paths: &HashSet<String>) -> ScanDiff {
    let opened = open_root(root);
    let eye = StatScanner { root, base: opened.as_ref(), files, limit };
    let mut look = ScanDiff::default();
    let names = &files.directory_paths;
    let given: Vec<&str> =
        paths.iter().map(String::as_str).filter(|path| names.find(path).is_some()).collect();
    let mut below = BTreeSet::new();
    if !given.is_empty() {
        let by_directory = files.by_directory();
        let is_below = |path: &str| given.iter().any(|given| is_in(path, given));
        below.extend((0..names.len()).filter(|directory| is_below(names.get(*directory))));
        below.iter().for_each(|directory| eye.look_at(*directory, &by_directory, &mut look));
    }
    let above: BTreeSet<usize> = paths.iter().filter_map(|path| nearest(files, path)).collect();
    for directory in above.difference(&below) {
        eye.look_at_directory(*directory, 0, &mut look);
    }
    let known = paths.iter().filter_map(|path| files.paths.find(path));
    for file in known.filter(|file| !below.contains(&(files.records[*file].directory as usize))) {
        let number = u32::try_from(file).expect("files are numbered with 32 bits");
        eye.look_at_file(number, None, &mut look);
    }
    look.sort();
    look
}

/// Returns true if a path is the directory or below it.
fn is_in(path: &str, directory: &str) -> bool {
    let rest = path.strip_prefix(directory);
    directory.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns the known directory of a path, or its nearest known ancestor.
fn nearest(files: &FileTable, path: &str) -> Option<usize> {
    let mut above = parent(path);
    loop {
        match files.directory_paths.find(above) {
            Some(directory) => return Some(directory),
            None if above.is_empty() => return None,
            None => above = parent(above),
        }
    }
}

/// Opens the root, because relative paths are shorter. If it cannot be opened, no file exists.
fn open_root(root: &Path) -> Option<Dir> {
    Dir::open(root, Links::Follow).ok()
}

struct StatScanner<'a> {
    root: &'a Path,
    base: Option<&'a Dir>,
    files: &'a FileTable,
    limit: u64,
}

impl StatScanner<'_> {
    /// Checks a directory and the files in it.
    fn look_at(&self, directory: usize, by_directory: &ByDirectory, look: &mut ScanDiff) {
        let files = by_directory.of(directory);
        match self.look_at_directory(directory, files.len(), look) {
            Some(opened) => files.iter().for_each(|file| self.look_at_file(*file, opened.as_ref(), look)),
            None => look.vanished.extend_from_slice(files),
        }
    }

    /// Checks a directory, and opens it if enough files in it are checked next. `None` if it was deleted.
    fn look_at_directory(&self, directory: usize, files: usize, look: &mut ScanDiff) -> Option<Option<Dir>> {
        let number = u32::try_from(directory).expect("directories are numbered with 32 bits");
        let known = self.files.directories[directory];
        let relative = self.files.directory_paths.get(directory);
        let Some((opened, now)) = self.directory(relative, files) else {
            look.gone.push(number);
            look.rules_changed |= known.rules != 0;
            return None;
        };
        let touched = (now.changed, now.inode) != (known.changed, known.inode);
        if touched || known.rules != 0 {
            let path = self.root.join(relative);
            // `git init` was run in the directory, so it is another repository now.
            look.rules_changed |=
                touched && !relative.is_empty() && path.join(".git").symlink_metadata().is_ok();
            look.rules_changed |= ignore_rules::of_directory(&path) != known.rules;
        }
        if touched {
            look.touched.push(number);
        }
        Some(opened)
    }

    /// Checks a file, relative to its directory if that is open.
    fn look_at_file(&self, file: u32, directory: Option<&Dir>, look: &mut ScanDiff) {
        let path = self.files.paths.get(file as usize);
        let entry = match directory {
            Some(dir) => dir.entry(base(path), Links::Refuse).ok(),
            None => self.base.and_then(|root| root.entry(path, Links::Refuse).ok()),
        };
        match entry {
            Some(entry) => self.compare(file, &entry.stamp.into(), look),
            None => look.vanished.push(file),
        }
    }

    /// Returns a directory's version, and opens the directory if that is cheaper for this many files. `None`
    /// if it was deleted or is no longer a directory.
    fn directory(&self, relative: &str, files: usize) -> Option<(Option<Dir>, FileVersion)> {
        let base = self.base?;
        let path = if relative.is_empty() { "." } else { relative };
        if files < WORTH_OPENING {
            let entry = base.entry(path, Links::Refuse).ok()?;
            return (entry.kind == FileKind::Directory).then(|| (None, entry.stamp.into()));
        }
        let dir = base.open_below(path, Links::Refuse).ok()?;
        let entry = dir.own_entry().ok()?;
        Some((Some(dir), entry.stamp.into()))
    }

    fn compare(&self, file: u32, present: &FileVersion, look: &mut ScanDiff) {
        let known = &self.files.records[file as usize].version;
        if !known.matches_metadata(present) {
            look.changed.push(file);
        } else if known.digest != 0 {
            self.read_again(file, known, look);
        }
    }

    /// Compares the content of a file. Another content under the same time is a second write within one tick
    /// of the clock.
    fn read_again(&self, file: u32, known: &FileVersion, look: &mut ScanDiff) {
        let path = self.root.join(self.files.paths.get(file as usize));
        let mut buffer = Vec::new();
        let content = content::read(&path, self.limit, &mut buffer);
        let present = content.map(|content| content.version).unwrap_or_default();
        if !known.matches_content(&present, &buffer) {
            look.changed.push(file);
        } else if !known.is_racy(now()) {
            look.settled.push(file);
        }
    }
}
