//! Lists the scope: file names, and directories with the times that later show whether entries were added or
//! removed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use ignore::{DirEntry, WalkState};

use super::file_table::DirectoryRow;
use super::ignore_rules;
use super::settings::ScopeFilter;
use super::version::FileVersion;
use crate::scope::walk;
use lockstep_fs::now;

/// The entries in scope below a directory.
#[derive(Debug, Default)]
pub(crate) struct ScopeListing {
    pub(crate) directories: BTreeMap<String, DirectoryRow>,
    /// Paths, sorted.
    pub(crate) files: Vec<String>,
}

/// Lists the scope below `start` (relative to the root). Unreadable entries are left out.
pub(crate) fn list(root: &Path, start: &str, filter: &ScopeFilter) -> ScopeListing {
    let found = Mutex::new(ListingBuilder::default());
    walk(&absolute(root, start)).build_parallel().run(|| {
        let mut batch = ListingBatch { found: ListingBuilder::default(), all: &found };
        Box::new(move |entry| match entry {
            Ok(entry) => batch.found.add(root, &entry, filter),
            Err(_) => WalkState::Continue,
        })
    });
    found.into_inner().expect("no walker panics while it adds its batch").into_listing()
}

/// Lists the scope in `start` itself; its subdirectories are named, but not read. Runs on this thread: there
/// is little to list, and the threads of a parallel walker wait for each other by sleeping.
pub(crate) fn list_level(root: &Path, start: &str, filter: &ScopeFilter) -> ScopeListing {
    let mut found = ListingBuilder::default();
    for entry in walk(&absolute(root, start)).max_depth(Some(1)).build().filter_map(Result::ok) {
        // A single level has no subtree to skip.
        let _ = found.add(root, &entry, filter);
    }
    found.into_listing()
}

fn absolute(root: &Path, start: &str) -> PathBuf {
    if start.is_empty() { root.to_owned() } else { root.join(start) }
}

#[derive(Debug, Default)]
struct ListingBuilder {
    directories: Vec<(String, DirectoryRow)>,
    files: Vec<String>,
    /// Directories of files whose names are not UTF-8.
    unnameable: Vec<String>,
}

/// The findings of one walker, merged into `all` when it ends.
struct ListingBatch<'a> {
    found: ListingBuilder,
    all: &'a Mutex<ListingBuilder>,
}

impl Drop for ListingBatch<'_> {
    fn drop(&mut self) {
        if let Ok(mut all) = self.all.lock() {
            all.directories.append(&mut self.found.directories);
            all.files.append(&mut self.found.files);
            all.unnameable.append(&mut self.found.unnameable);
        }
    }
}

impl ListingBuilder {
    fn add(&mut self, root: &Path, entry: &DirEntry, filter: &ScopeFilter) -> WalkState {
        let (Ok(relative), Some(kind)) = (entry.path().strip_prefix(root), entry.file_type()) else {
            return WalkState::Continue;
        };
        if !relative.as_os_str().is_empty() && !filter.takes(relative, kind.is_dir()) {
            return WalkState::Skip;
        }
        let Some(path) = lockstep_text::path_text(relative) else {
            let nearest = relative.ancestors().find_map(lockstep_text::path_text).unwrap_or_default();
            if kind.is_file() {
                self.unnameable.push(nearest);
            }
            return WalkState::Continue;
        };
        if kind.is_dir() {
            self.directories.extend(stamped(entry).map(|directory| (path, directory)));
        } else if kind.is_file() || kind.is_symlink() {
            self.files.push(path);
        }
        WalkState::Continue
    }

    fn into_listing(mut self) -> ScopeListing {
        self.files.sort_unstable();
        let mut directories: BTreeMap<String, DirectoryRow> = self.directories.into_iter().collect();
        for path in self.unnameable {
            directories.entry(path).or_default().unnameable += 1;
        }
        // A directory that vanished while it was listed has no time, so it is checked again.
        let mut last = None;
        for file in &self.files {
            let parent = lockstep_refs::world::parent(file);
            // Adjacent paths are mostly in the same directory.
            if last != Some(parent) && !directories.contains_key(parent) {
                directories.insert(parent.to_owned(), DirectoryRow::default());
            }
            last = Some(parent);
        }
        ScopeListing { directories, files: self.files }
    }
}

/// The walker reports a directory before it reads it, so later entries have a later time.
fn stamped(entry: &DirEntry) -> Option<DirectoryRow> {
    let version = FileVersion::of(&entry.metadata().ok()?);
    let changed = if version.is_racy(now()) { 0 } else { version.changed };
    Some(DirectoryRow {
        changed,
        inode: version.inode,
        rules: ignore_rules::of_directory(entry.path()),
        unnameable: 0,
    })
}
