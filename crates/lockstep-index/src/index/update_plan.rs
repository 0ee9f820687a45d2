//! Derives the present file table from a check of the disk. Pure but for listing directories.

mod builder;
mod directories;

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::path::Path;

use lockstep_refs::world::parent;
use serde::{Deserialize, Serialize};

use super::content::ContentClass;
use super::file_table::{ByDirectory, FileRow, FileTable};
use super::scope_walk::{ScopeListing, list, list_level};
use super::settings::ScopeFilter;
use super::stat_scan::ScanDiff;
use super::version::FileVersion;
use builder::TableBuilder;
use directories::{DirectoryDiff, DirectoryDiffBuilder};

/// The maximum number of changed files and directories for an update in place. Larger plans that add or
/// remove entries copy the table, because each insertion moves the rest of it.
const MAX_IN_PLACE_SHIFTS: usize = 16;

/// The changes that update a file table.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct IndexUpdatePlan {
    /// Paths to read, sorted: new files, and known files with another version.
    pub(crate) read: Vec<String>,
    /// Known files that are no longer in scope.
    pub(crate) removed: Vec<u32>,
    /// Known files whose digest is no longer needed.
    settled: Vec<u32>,
    directories: DirectoryDiff,
}

impl IndexUpdatePlan {
    /// Returns true if the plan changes nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.only_settles_stamps() && self.settled.is_empty() && self.directories.is_empty()
    }

    /// Returns true if no file differs. At most, racy times have become old enough to be trusted.
    pub(crate) fn only_settles_stamps(&self) -> bool {
        self.read.is_empty() && self.removed.is_empty()
    }

    /// Returns the number of files and directories in the plan.
    pub(crate) fn size(&self) -> usize {
        self.read.len() + self.removed.len() + self.settled.len() + self.directories.len()
    }

    /// Returns true if entries are added or removed, so that files move in the table.
    pub(crate) fn shifts_positions(&self) -> bool {
        !(self.removed.is_empty() && self.directories.is_empty())
    }

    /// Creates a plan that reads every file.
    pub(crate) fn whole(listing: ScopeListing) -> Self {
        let directories = DirectoryDiff { put: listing.directories, gone: BTreeSet::new() };
        Self { read: listing.files, directories, ..Self::default() }
    }

    /// Creates a plan from the differences in `look`. Changed directories are listed again; all of them if
    /// ignore rules changed.
    pub(crate) fn new(root: &Path, files: &FileTable, look: ScanDiff, filter: &ScopeFilter) -> Self {
        if look.rules_changed {
            return Self::relisted(files, &look, list(root, "", filter));
        }
        let mut changes = PlanBuilder::new(files, &look);
        if !(look.touched.is_empty() && look.gone.is_empty()) {
            let mut directories = DirectoryDiffBuilder::new(files);
            for &directory in &look.gone {
                directories.remove(files.directory_paths.get(directory as usize));
            }
            for &directory in &look.touched {
                let path = files.directory_paths.get(directory as usize);
                changes.list_again(root, path, filter, &mut directories);
            }
            changes.plan.directories = directories.finish();
            changes.drop_orphans();
        }
        changes.plan.settled = look.settled;
        changes.finish()
    }

    /// Compares a listing of the complete tree with the table. Unchanged files are not read.
    fn relisted(files: &FileTable, look: &ScanDiff, listing: ScopeListing) -> Self {
        let mut changes = PlanBuilder::new(files, look);
        let mut listed = listing.files.iter().peekable();
        for (file, path) in (0_u32..).zip(files.paths.iter()) {
            while let Some(new) = listed.next_if(|listed| listed.as_str() < path) {
                changes.plan.read.push(new.clone());
            }
            if listed.next_if(|listed| *listed == path).is_none() {
                changes.drop(file);
            }
        }
        changes.plan.read.extend(listed.cloned());
        changes.plan.directories = DirectoryDiff::between(files, listing.directories);
        changes.plan.settled.clone_from(&look.settled);
        changes.finish()
    }

    /// The table as of now. `read` are the files of [`IndexUpdatePlan::read`] as they were read, the documents from `first` on.
    pub(crate) fn apply(
        &self,
        mut old: FileTable,
        read: &[Option<(FileVersion, ContentClass)>],
        first: u32,
    ) -> FileTable {
        if !self.shifts_positions() || self.size() <= MAX_IN_PLACE_SHIFTS {
            self.apply_in_place(&mut old, read, first);
            return old;
        }
        self.apply_anew(&old, read, first)
    }

    /// Applies the changes one by one.
    fn apply_in_place(
        &self,
        files: &mut FileTable,
        read: &[Option<(FileVersion, ContentClass)>],
        first: u32,
    ) {
        for file in &self.settled {
            if let Some(record) = files.records.get_mut(*file as usize) {
                record.version.digest = 0;
            }
        }
        // In reverse order, so that earlier indices stay valid.
        for file in self.removed.iter().rev().map(|file| *file as usize) {
            if file < files.len() {
                files.remove(file);
            }
        }
        self.directories.gone.iter().for_each(|path| files.remove_directory(path));
        self.directories.put.iter().for_each(|(path, directory)| files.put_directory(path, *directory));
        for (path, (document, read)) in self.read.iter().zip((first..).zip(read)) {
            let Some(directory) = files.directory_paths.find(parent(path)).map(number) else { continue };
            match (files.paths.find(path), *read) {
                (Some(place), None) => files.remove(place),
                (None, None) => {}
                (known, Some((version, state))) => {
                    let record = FileRow { version, document, state, directory };
                    match known {
                        Some(place) => files.records[place] = record,
                        None => files.insert(path, record),
                    }
                }
            }
        }
    }

    fn apply_anew(
        &self,
        old: &FileTable,
        read: &[Option<(FileVersion, ContentClass)>],
        first: u32,
    ) -> FileTable {
        let mut table = TableBuilder::new(old, &self.directories);
        let mut fresh = self.read.iter().zip((first..).zip(read)).peekable();
        let places = self.read.iter().filter_map(|path| old.paths.find(path).map(number));
        let mut stops: Vec<u32> = places.chain(self.removed.iter().copied()).collect();
        stops.extend_from_slice(&self.settled);
        stops.extend(self.read.iter().map(|path| number(old.paths.first_after(path))));
        stops.sort_unstable();
        stops.dedup();
        let mut done = 0;
        // Entries between the changes stay as they are.
        for stop in stops.into_iter().filter(|stop| (*stop as usize) < old.len()) {
            table.keep(old, done..stop as usize);
            done = stop as usize + 1;
            let path = old.paths.get(stop as usize);
            while let Some((path, (document, read))) = fresh.next_if(|(new, _)| new.as_str() < path) {
                table.add_read(path, document, *read);
            }
            if let Some((path, (document, read))) = fresh.next_if(|(new, _)| *new == path) {
                table.add_read(path, document, *read);
            } else if self.removed.binary_search(&stop).is_err() {
                let mut record = old.records[stop as usize];
                if self.settled.binary_search(&stop).is_ok() {
                    record.version.digest = 0;
                }
                table.add(path, record);
            }
        }
        table.keep(old, done..old.len());
        for (path, (document, read)) in fresh {
            table.add_read(path, document, *read);
        }
        table.files
    }
}

fn number(file: usize) -> u32 {
    u32::try_from(file).expect("files are numbered with 32 bits")
}

struct PlanBuilder<'a> {
    files: &'a FileTable,
    by_directory: OnceCell<ByDirectory>,
    plan: IndexUpdatePlan,
}

impl<'a> PlanBuilder<'a> {
    fn new(files: &'a FileTable, look: &ScanDiff) -> Self {
        let read = look.changed.iter().map(|file| files.paths.get(*file as usize).to_owned()).collect();
        let plan = IndexUpdatePlan { read, removed: look.vanished.clone(), ..IndexUpdatePlan::default() };
        Self { files, by_directory: OnceCell::new(), plan }
    }

    fn files_of(&self, directory: usize) -> &[u32] {
        self.by_directory.get_or_init(|| self.files.by_directory()).of(directory)
    }

    fn drop(&mut self, file: u32) {
        self.plan.removed.push(file);
    }

    /// Lists one known directory again, including new trees in it.
    fn list_again(
        &mut self,
        root: &Path,
        path: &str,
        filter: &ScopeFilter,
        directories: &mut DirectoryDiffBuilder<'_>,
    ) {
        let listing = list_level(root, path, filter);
        let Some(now) = listing.directories.get(path) else {
            directories.remove(path);
            return;
        };
        directories.put(path, *now);
        let here = listing.files.iter().filter(|file| parent(file) == path);
        self.plan.read.extend(here.filter(|file| self.files.paths.find(file).is_none()).cloned());
        // A known file that became something else, such as a directory or a pipe, is no longer listed.
        if let Some(directory) = self.files.directory_paths.find(path) {
            let is_listed =
                |file: &str| listing.files.binary_search_by(|listed| listed.as_str().cmp(file)).is_ok();
            let known = self.files_of(directory).iter().copied();
            let removed: Vec<u32> =
                known.filter(|file| !is_listed(self.files.paths.get(*file as usize))).collect();
            self.plan.removed.extend(removed);
        }
        // Removed subdirectories, which may not have been checked themselves. `finish` removes everything
        // below them.
        let here = directories.known_below(path).filter(|known| !known.is_empty() && parent(known) == path);
        for removed in here.filter(|known| !listing.directories.contains_key(*known)) {
            directories.remove(removed);
        }
        for below in listing.directories.keys().filter(|below| below.as_str() != path) {
            if self.files.directory_paths.find(below).is_none() {
                let mut tree = list(root, below, filter);
                self.plan.read.append(&mut tree.files);
                tree.directories.iter().for_each(|(path, directory)| directories.put(path, *directory));
            }
        }
    }

    /// Drops the files of removed directories.
    fn drop_orphans(&mut self) {
        let removed = self.plan.directories.gone.iter();
        let known = removed.filter_map(|path| self.files.directory_paths.find(path));
        let files: Vec<u32> = known.flat_map(|directory| self.files_of(directory)).copied().collect();
        self.plan.removed.extend(files);
    }

    fn finish(mut self) -> IndexUpdatePlan {
        let removed = &mut self.plan.removed;
        removed.sort_unstable();
        removed.dedup();
        let is_dropped = |path: &str| {
            self.files.paths.find(path).is_some_and(|file| removed.binary_search(&number(file)).is_ok())
        };
        let read = &mut self.plan.read;
        read.sort_unstable();
        read.dedup();
        read.retain(|path| !is_dropped(path));
        self.plan
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::file_table::DirectoryRow;
    use super::*;

    /// Returns the version and state of a file, derived from a number.
    fn read_of(number: u64) -> Option<(FileVersion, ContentClass)> {
        let version = FileVersion { size: number, changed: 1, inode: number, digest: number };
        (!number.is_multiple_of(5)).then_some((version, ContentClass::Text))
    }

    fn table(paths: &BTreeSet<String>) -> FileTable {
        let mut directories = DirectoryDiff::default();
        for path in paths {
            directories
                .put
                .insert(parent(path).to_owned(), DirectoryRow { inode: 1, ..DirectoryRow::default() });
        }
        let plan = IndexUpdatePlan {
            read: paths.iter().cloned().collect(),
            directories,
            ..IndexUpdatePlan::default()
        };
        let read: Vec<_> = (1..).step_by(5).map(read_of).take(paths.len()).collect();
        plan.apply_anew(&FileTable::default(), &read, 0)
    }

    fn paths() -> impl Strategy<Value = BTreeSet<String>> {
        proptest::collection::btree_set("([ab]/){0,2}[a-cé]{1,2}", 0..14)
    }

    proptest! {
        /// An update in place and a copy give the same table, for any files and directories added, removed or
        /// changed.
        #[test]
        fn a_table_changed_in_place_equals_a_rebuilt_one(
            known in paths(), now in paths(), gone in "[ab]", numbers in any::<[u8; 3]>(),
        ) {
            let old = table(&known);
            let place = |byte: u8| u32::from(byte) % (number(old.len()) + 1);
            let mut directories = DirectoryDiff::default();
            let is_gone = |path: &str| path == gone || path.starts_with(&format!("{gone}/"));
            for path in now.iter().filter(|path| !is_gone(parent(path))) {
                let directory = DirectoryRow { inode: u64::from(numbers[0]), ..DirectoryRow::default() };
                directories.put.insert(parent(path).to_owned(), directory);
            }
            directories.gone = old.directory_paths.iter().filter(|path| is_gone(path)).map(str::to_owned).collect();
            let removed = vec![place(numbers[1])];
            let is_dropped = |path: &String| old.paths.find(path).is_some_and(|at| removed == [number(at)]);
            let plan = IndexUpdatePlan {
                read: now.iter().filter(|path| !is_dropped(path)).cloned().collect(),
                settled: vec![place(numbers[2])],
                removed: removed.clone(),
                directories,
            };
            let read: Vec<_> = (1..).map(read_of).take(plan.read.len()).collect();
            let mut in_place = old.clone();
            plan.apply_in_place(&mut in_place, &read, 100);
            prop_assert_eq!(in_place, plan.apply_anew(&old, &read, 100));
        }
    }
}
