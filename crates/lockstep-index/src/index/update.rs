//! From what a look at the disk showed to a file table as of now. Pure but for listing directories.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;

use lockstep_refs::world::parent;
use serde::{Deserialize, Serialize};

use super::content::State;
use super::files::{ByDirectory, Directory, Files, Names, Record};
use super::listing::{Listing, list};
use super::look::Look;
use super::settings::Filter;
use super::version::Version;

/// What must be done to bring a file table up to date.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Plan {
    /// Paths to read, sorted: new files, and known ones with another version.
    pub(crate) read: Vec<String>,
    /// Known files that are no longer in scope.
    pub(crate) dropped: Vec<u32>,
    /// Known files whose digest is no longer needed.
    settled: Vec<u32>,
    /// Directories that are not as they are known.
    directories: Directories,
}

/// How directories differ from those of a table.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
struct Directories {
    /// New ones, and those of which something else is known now.
    put: BTreeMap<String, Directory>,
    gone: BTreeSet<String>,
}

impl Directories {
    /// How `all` differ from those of `files`.
    fn between(files: &Files, mut all: BTreeMap<String, Directory>) -> Self {
        let mut gone = BTreeSet::new();
        for (path, known) in files.directory_paths.iter().zip(&files.directories) {
            match all.get(path) {
                Some(present) if present == known => drop(all.remove(path)),
                Some(_) => {}
                None => drop(gone.insert(path.to_owned())),
            }
        }
        Self { put: all, gone }
    }

    fn is_empty(&self) -> bool {
        self.put.is_empty() && self.gone.is_empty()
    }
}

impl Plan {
    /// Whether nothing in the table would change.
    pub(crate) fn is_empty(&self) -> bool {
        self.is_settling() && self.settled.is_empty() && self.directories.is_empty()
    }

    /// Whether no file differs: at most times have become old enough to be trusted.
    pub(crate) fn is_settling(&self) -> bool {
        self.read.is_empty() && self.dropped.is_empty()
    }

    /// How many files and directories it is about.
    pub(crate) fn size(&self) -> usize {
        let directories = self.directories.put.len() + self.directories.gone.len();
        self.read.len() + self.dropped.len() + self.settled.len() + directories
    }

    /// Whether something came or went, so that files have other places in the table.
    pub(crate) fn moves(&self) -> bool {
        !(self.dropped.is_empty() && self.directories.is_empty())
    }

    /// Everything is new.
    pub(crate) fn whole(listing: Listing) -> Self {
        let directories = Directories { put: listing.directories, gone: BTreeSet::new() };
        Self { read: listing.files, directories, ..Self::default() }
    }

    /// What `look` found, with the directories it found touched listed again; with all of them where rules changed.
    pub(crate) fn new(root: &Path, files: &Files, look: Look, filter: &Filter) -> Self {
        if look.rules_changed {
            return Self::relisted(files, &look, list(root, "", None, filter));
        }
        let mut changes = Changes::new(files, &look);
        if !(look.touched.is_empty() && look.gone.is_empty()) {
            let known =
                files.directory_paths.iter().map(str::to_owned).zip(files.directories.iter().copied());
            let mut directories: BTreeMap<String, Directory> = known.collect();
            for &directory in &look.gone {
                directories.remove(files.directory_paths.get(directory as usize));
            }
            for &directory in &look.touched {
                let path = files.directory_paths.get(directory as usize);
                changes.list_again(root, path, filter, &mut directories);
            }
            changes.drop_orphans(&mut directories);
            changes.plan.directories = Directories::between(files, directories);
        }
        changes.plan.settled = look.settled;
        changes.finish()
    }

    /// As if everything were new, but what is known and unchanged is not read.
    fn relisted(files: &Files, look: &Look, listing: Listing) -> Self {
        let mut changes = Changes::new(files, look);
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
        changes.plan.directories = Directories::between(files, listing.directories);
        changes.plan.settled.clone_from(&look.settled);
        changes.finish()
    }

    /// The table as of now. `read` are the files of [`Plan::read`] as they were read, the documents from `first` on.
    pub(crate) fn apply(&self, old: Files, read: &[Option<(Version, State)>], first: u32) -> Files {
        match self.in_place(&old, read) {
            Some(places) => self.apply_in_place(old, &places, read, first),
            None => self.apply_anew(&old, read, first),
        }
    }

    /// The places of the files that were read, where nothing came or went.
    fn in_place(&self, old: &Files, read: &[Option<(Version, State)>]) -> Option<Vec<usize>> {
        if self.moves() || read.iter().any(Option::is_none) {
            return None;
        }
        self.read.iter().map(|path| old.paths.find(path)).collect()
    }

    fn apply_in_place(
        &self,
        mut files: Files,
        places: &[usize],
        read: &[Option<(Version, State)>],
        first: u32,
    ) -> Files {
        for file in &self.settled {
            if let Some(record) = files.records.get_mut(*file as usize) {
                record.version.digest = 0;
            }
        }
        for (place, (document, read)) in places.iter().zip((first..).zip(read)) {
            let record = &mut files.records[*place];
            if let Some((version, state)) = *read {
                *record = Record { version, document, state, directory: record.directory };
            }
        }
        files
    }

    fn apply_anew(&self, old: &Files, read: &[Option<(Version, State)>], first: u32) -> Files {
        let mut table = TableBuilder::new(old, &self.directories);
        let mut fresh = self.read.iter().zip((first..).zip(read)).peekable();
        let places = self.read.iter().filter_map(|path| old.paths.find(path).map(number));
        let mut stops: Vec<u32> = places.chain(self.dropped.iter().copied()).collect();
        stops.extend_from_slice(&self.settled);
        stops.extend(self.read.iter().map(|path| number(old.paths.first_after(path))));
        stops.sort_unstable();
        stops.dedup();
        let mut done = 0;
        // Between what changed, everything is as it was.
        for stop in stops.into_iter().filter(|stop| (*stop as usize) < old.len()) {
            table.keep(old, done..stop as usize);
            done = stop as usize + 1;
            let path = old.paths.get(stop as usize);
            while let Some((path, (document, read))) = fresh.next_if(|(new, _)| new.as_str() < path) {
                table.add_read(path, document, *read);
            }
            if let Some((path, (document, read))) = fresh.next_if(|(new, _)| *new == path) {
                table.add_read(path, document, *read);
            } else if self.dropped.binary_search(&stop).is_err() {
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

/// A plan in the making.
struct Changes<'a> {
    files: &'a Files,
    by_directory: ByDirectory,
    plan: Plan,
}

impl<'a> Changes<'a> {
    fn new(files: &'a Files, look: &Look) -> Self {
        let read = look.changed.iter().map(|file| files.paths.get(*file as usize).to_owned()).collect();
        let by_directory = files.by_directory();
        Self { files, by_directory, plan: Plan { read, dropped: look.vanished.clone(), ..Plan::default() } }
    }

    fn drop(&mut self, file: u32) {
        self.plan.dropped.push(file);
    }

    /// Lists one known directory again; whole trees that are new in it too.
    fn list_again(
        &mut self,
        root: &Path,
        path: &str,
        filter: &Filter,
        directories: &mut BTreeMap<String, Directory>,
    ) {
        let listing = list(root, path, Some(1), filter);
        let Some(now) = listing.directories.get(path) else {
            directories.remove(path);
            return;
        };
        directories.insert(path.to_owned(), *now);
        let here = listing.files.iter().filter(|file| parent(file) == path);
        self.plan.read.extend(here.filter(|file| self.files.paths.find(file).is_none()).cloned());
        // A known file that is something else now, a directory or a pipe, is no longer listed.
        if let Some(directory) = self.files.directory_paths.find(path) {
            let is_listed =
                |file: &str| listing.files.binary_search_by(|listed| listed.as_str().cmp(file)).is_ok();
            let known = self.by_directory.of(directory).iter();
            self.plan.dropped.extend(known.filter(|file| !is_listed(self.files.paths.get(**file as usize))));
        }
        // Those that went: nobody may have looked at them by themselves. What is below them goes as what has nothing above it.
        let start = if path.is_empty() { String::new() } else { format!("{path}/") };
        let below = directories.range(start.clone()..).take_while(|(known, _)| known.starts_with(&start));
        let here = below.filter(|(known, _)| !known.is_empty() && parent(known) == path);
        let gone = here.filter(|(known, _)| !listing.directories.contains_key(*known));
        let gone: Vec<String> = gone.map(|(known, _)| known.clone()).collect();
        for gone in &gone {
            directories.remove(gone);
        }
        for below in listing.directories.keys().filter(|below| below.as_str() != path) {
            if self.files.directory_paths.find(below).is_none() {
                let mut tree = list(root, below, None, filter);
                self.plan.read.append(&mut tree.files);
                directories.append(&mut tree.directories);
            }
        }
    }

    /// Drops directories above which one is gone, perhaps replaced by a link through which they still seem to be there, and
    /// the files of all that are gone.
    fn drop_orphans(&mut self, directories: &mut BTreeMap<String, Directory>) {
        let all: Vec<String> = directories.keys().cloned().collect();
        for path in all {
            if !path.is_empty() && !directories.contains_key(parent(&path)) {
                directories.remove(&path);
            }
        }
        for (directory, path) in self.files.directory_paths.iter().enumerate() {
            if !directories.contains_key(path) {
                self.plan.dropped.extend_from_slice(self.by_directory.of(directory));
            }
        }
    }

    fn finish(mut self) -> Plan {
        let dropped = &mut self.plan.dropped;
        dropped.sort_unstable();
        dropped.dedup();
        let is_dropped = |path: &str| {
            self.files.paths.find(path).is_some_and(|file| dropped.binary_search(&number(file)).is_ok())
        };
        let read = &mut self.plan.read;
        read.sort_unstable();
        read.dedup();
        read.retain(|path| !is_dropped(path));
        self.plan
    }
}

/// A file table in the making, its paths in order.
struct TableBuilder {
    files: Files,
    /// Where the directories of old records are now; `None` where all are where they were.
    moved: Option<Vec<Option<u32>>>,
    /// The directory of the file that was added last.
    last: Option<usize>,
}

impl TableBuilder {
    fn new(old: &Files, changed: &Directories) -> Self {
        let mut files = Files {
            paths: Names::with_capacity_of(&old.paths),
            records: Vec::with_capacity(old.len() + 1),
            ..Files::default()
        };
        let mut put = changed.put.iter().peekable();
        let mut add = |path: &str, directory: Directory| {
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

    /// Files that are as they were.
    fn keep(&mut self, old: &Files, range: Range<usize>) {
        if self.moved.is_some() {
            range.for_each(|file| self.add(old.paths.get(file), old.records[file]));
        } else {
            self.files.paths.push_all(&old.paths, range.clone());
            self.files.records.extend_from_slice(&old.records[range]);
        }
    }

    /// A file whose directory is gone is gone with it.
    fn add(&mut self, path: &str, record: Record) {
        let directory = match &self.moved {
            Some(moved) => moved.get(record.directory as usize).copied().flatten(),
            None => Some(record.directory),
        };
        if let Some(directory) = directory {
            self.push(path, Record { directory, ..record });
        }
    }

    fn add_read(&mut self, path: &str, document: u32, read: Option<(Version, State)>) {
        let Some((version, state)) = read else { return };
        let parent = parent(path);
        // Neighbours in the order of paths are mostly neighbours in the tree.
        let names = &self.files.directory_paths;
        let at = self.last.filter(|last| names.get(*last) == parent).or_else(|| names.find(parent));
        self.last = at;
        if let Some(directory) = at.map(number) {
            self.push(path, Record { version, document, directory, state });
        }
    }

    fn push(&mut self, path: &str, record: Record) {
        self.files.paths.push(path);
        self.files.records.push(record);
    }
}
