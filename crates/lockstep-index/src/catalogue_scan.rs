//! Builds a catalogue: from the complete tree, or from an older catalogue by comparing stamps.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use ignore::{DirEntry, WalkState};
use lockstep_fs::{Dir, Links, now};

use crate::catalogue::{Catalogue, CataloguedDirectory};
use crate::parallelism;
use crate::scope::{is_rule_file, walk_around};
use crate::stamp::{CatalogueStamp, digest};

/// Directories by path, while a catalogue is being built.
type DirectoryMap = BTreeMap<PathBuf, CataloguedDirectory>;

/// Builds a catalogue of the complete tree.
pub(crate) fn build(root: &Path) -> Catalogue {
    let taken_at = now();
    let directories = list_all(root, taken_at);
    Catalogue { taken_at, accounts_read: 0, directories: directories.into_values().collect() }
}

/// The result of comparing the disk with an older catalogue.
pub(crate) enum ScanResult {
    /// Nothing changed since the older catalogue.
    Unchanged {
        /// The time of the check.
        taken_at: i64,
    },
    Changed(Catalogue),
}

impl ScanResult {
    /// Returns the present catalogue. `old` is the one that was compared.
    pub(crate) fn catalogue(self, old: &Catalogue) -> Catalogue {
        match self {
            Self::Unchanged { taken_at } => {
                Catalogue { taken_at, accounts_read: 0, directories: old.directories.clone() }
            }
            Self::Changed(catalogue) => catalogue,
        }
    }
}

/// Builds a new catalogue from an older one: known files by their stamps, new and deleted ones by the times
/// of known directories. The result equals that of [`build`].
pub(crate) fn refresh(root: &Path, old: &Catalogue) -> ScanResult {
    let taken_at = now();
    let looked = look(root, old, taken_at);
    if looked.is_empty() {
        return ScanResult::Unchanged { taken_at };
    }
    if looked.iter().any(|(_, look)| look.rules_changed) {
        return ScanResult::Changed(build(root));
    }
    let mut directories: DirectoryMap =
        old.directories.iter().map(|known| (known.path.clone(), known.clone())).collect();
    let mut relist = Vec::new();
    for (known, look) in looked {
        match look.now {
            DirectoryStatus::Changed(files) => {
                directories
                    .insert(known.path.clone(), CataloguedDirectory { files: files.into(), ..known.clone() });
            }
            DirectoryStatus::Touched => {
                directories.remove(&known.path);
                relist.push(&known.path);
            }
            DirectoryStatus::Gone => drop(directories.remove(&known.path)),
        }
    }
    for path in relist {
        list_again(root, path, old, taken_at, &mut directories);
        if new_rules(old.directory(path), directories.get(path)) {
            return ScanResult::Changed(build(root));
        }
    }
    let directories = directories.into_values().collect();
    ScanResult::Changed(Catalogue { taken_at, accounts_read: 0, directories })
}

struct CheckedDirectory {
    now: DirectoryStatus,
    rules_changed: bool,
}

enum DirectoryStatus {
    /// No entry was added, but files have other stamps, or were deleted without a change of the directory's
    /// time.
    Changed(Vec<(OsString, CatalogueStamp)>),
    /// Entries were added or removed, so the directory must be listed.
    Touched,
    Gone,
}

/// The number of files per thread. For fewer, starting a thread takes longer.
const FILES_PER_THREAD: usize = 2_000;

/// The number of directories per task of a thread.
const BATCH: usize = 8;

/// Checks all known directories, on as many threads as there are cores, and returns those that differ.
/// Unchanged directories, which are nearly all, need no memory.
fn look<'a>(
    root: &Path,
    old: &'a Catalogue,
    taken_at: i64,
) -> Vec<(&'a CataloguedDirectory, CheckedDirectory)> {
    let helpers = parallelism::extra_threads(old.len() / FILES_PER_THREAD);
    let next = AtomicUsize::new(0);
    let work = || {
        let mut differing = Vec::new();
        while let Some(batch) = old.directories.chunks(BATCH).nth(next.fetch_add(1, Ordering::Relaxed)) {
            for known in batch {
                differing.extend(look_at(root, known, taken_at).map(|look| (known, look)));
            }
        }
        differing
    };
    std::thread::scope(|scope| {
        let helpers: Vec<_> = (0..helpers).map(|_| scope.spawn(work)).collect();
        let mut differing = work();
        for helper in helpers {
            differing.extend(helper.join().expect("looking at files does not panic"));
        }
        differing
    })
}

/// Checks a directory. `None` if nothing changed.
fn look_at(root: &Path, known: &CataloguedDirectory, taken_at: i64) -> Option<CheckedDirectory> {
    let absent = CheckedDirectory { now: DirectoryStatus::Gone, rules_changed: has_rules(known) };
    let path = root.join(&known.path);
    let Ok(dir) = Dir::open(&path, Links::Refuse) else { return Some(absent) };
    let Ok(own) = dir.own_entry() else { return Some(absent) };
    let touched = own.stamp.mtime != known.mtime;
    let mut rules_changed = false;
    let mut fresh = None;
    for (at, (name, before)) in known.files.iter().enumerate() {
        // In a touched directory only the rule files matter here: the rest is listed anyway.
        if touched && !is_rule_file(name) {
            continue;
        }
        let now = dir.entry(name, Links::Refuse).ok();
        let now = now.map(|now| carry_over_stamp(&path, name, before, now.stamp.into(), taken_at));
        rules_changed |= is_rule_file(name) && now.is_none_or(|now| !before.same(&now));
        if fresh.is_none() && now != Some(*before) {
            fresh = Some(known.files[..at].to_vec());
        }
        // A file that was deleted without a change of its directory's time is noticed here.
        if let (Some(fresh), Some(now)) = (&mut fresh, now) {
            fresh.push((name.clone(), now));
        }
    }
    let now = if touched { DirectoryStatus::Touched } else { DirectoryStatus::Changed(fresh?) };
    Some(CheckedDirectory { now, rules_changed })
}

/// Returns the new stamp of a known file, with a digest if its time cannot be trusted.
fn carry_over_stamp(
    dir: &Path,
    name: &OsStr,
    before: &CatalogueStamp,
    now: CatalogueStamp,
    taken_at: i64,
) -> CatalogueStamp {
    let racy = now.is_racy(taken_at);
    if !racy && (before.digest == 0 || before.identity() != now.identity()) {
        return now;
    }
    let digest = digest(&dir.join(name), now.size);
    // The content is unchanged, and its time is now old enough to show any later write, so no digest is
    // needed.
    if !racy && digest == before.digest { now } else { CatalogueStamp { digest, ..now } }
}

fn has_rules(directory: &CataloguedDirectory) -> bool {
    directory.files.iter().any(|(name, _)| is_rule_file(name))
}

/// Returns true if a directory without ignore rules has some now.
fn new_rules(old: Option<&CataloguedDirectory>, new: Option<&CataloguedDirectory>) -> bool {
    new.is_some_and(has_rules) && !old.is_some_and(has_rules)
}

/// Lists one known directory again, including new trees in it.
fn list_again(root: &Path, path: &Path, old: &Catalogue, taken_at: i64, directories: &mut DirectoryMap) {
    let at = root.join(path);
    for (found, mut directory) in list_below(root, &at, Some(1), taken_at) {
        if found == path {
            let doubtful = |name: &OsStr| old.get(&path.join(name)).filter(|before| before.digest != 0);
            for (name, stamp) in
                Arc::make_mut(&mut directory.files).iter_mut().filter(|(_, stamp)| stamp.digest == 0)
            {
                *stamp = doubtful(name)
                    .map_or(*stamp, |before| carry_over_stamp(&at, name, &before, *stamp, taken_at));
            }
            directories.insert(found, directory);
        } else if old.directory(&found).is_none() {
            directories.append(&mut list_below(root, &root.join(&found), None, taken_at));
        }
    }
}

/// Lists the scope of the complete tree, on as many threads as there are cores. Unreadable entries are left
/// out.
fn list_all(root: &Path, taken_at: i64) -> DirectoryMap {
    let found = Mutex::new(Vec::new());
    let repositories = Repositories::default();
    walk_around(root, repositories.collector()).build_parallel().run(|| {
        let mut batch = RefreshBatch { entries: Vec::new(), all: &found };
        Box::new(move |entry| {
            if let Ok(entry) = entry {
                batch.entries.extend(stamped(root, &entry, taken_at));
            }
            WalkState::Continue
        })
    });
    let found = found.into_inner().expect("no walker panics while it adds its batch");
    gathered(found.into_iter().chain(repositories.entries(root)))
}

/// Lists the scope below `start`, `depth` levels deep. Runs on this thread: there is little to list, and the
/// threads of a parallel walker wait for each other by sleeping.
fn list_below(root: &Path, start: &Path, depth: Option<usize>, taken_at: i64) -> DirectoryMap {
    let repositories = Repositories::default();
    let entries =
        walk_around(start, repositories.collector()).max_depth(depth).build().filter_map(Result::ok);
    let found: Vec<_> = entries.filter_map(|entry| stamped(root, &entry, taken_at)).collect();
    gathered(found.into_iter().chain(repositories.entries(root)))
}

/// The nested repositories that a walk has left out.
#[derive(Default)]
struct Repositories(Arc<Mutex<Vec<PathBuf>>>);

impl Repositories {
    fn collector(&self) -> impl Fn(&Path) + Send + Sync + 'static {
        let paths = Arc::clone(&self.0);
        move |path| paths.lock().expect("no walker panics").push(path.to_owned())
    }

    fn entries(self, root: &Path) -> impl Iterator<Item = (PathBuf, ScannedEntry)> {
        let paths = std::mem::take(&mut *self.0.lock().expect("no walker panics"));
        paths.into_iter().filter_map(move |path| {
            let relative = path.strip_prefix(root).ok()?;
            Some((relative.parent()?.to_owned(), ScannedEntry::Repository(relative.file_name()?.to_owned())))
        })
    }
}

fn gathered(found: impl IntoIterator<Item = (PathBuf, ScannedEntry)>) -> DirectoryMap {
    let mut directories = DirectoryMap::new();
    for (path, entry) in found {
        match entry {
            ScannedEntry::Directory(mtime) => {
                let directory = directories.entry(path.clone()).or_default();
                (directory.path, directory.mtime) = (path, mtime);
            }
            ScannedEntry::File(name, stamp) => {
                Arc::make_mut(&mut directories.entry(path).or_default().files).push((name, stamp));
            }
            ScannedEntry::Link(name, stamp) => {
                let directory = directories.entry(path).or_default();
                directory.unread.push(name.clone());
                Arc::make_mut(&mut directory.files).push((name, stamp));
            }
            ScannedEntry::Repository(name) => directories.entry(path).or_default().unread.push(name),
        }
    }
    for directory in directories.values_mut() {
        directory.unread.sort();
        Arc::make_mut(&mut directory.files).sort_by(|(a, _), (b, _)| a.cmp(b));
    }
    directories
}

/// The findings of one walker, merged into `all` when it ends.
struct RefreshBatch<'a> {
    entries: Vec<(PathBuf, ScannedEntry)>,
    all: &'a Mutex<Vec<(PathBuf, ScannedEntry)>>,
}

impl Drop for RefreshBatch<'_> {
    fn drop(&mut self) {
        if let Ok(mut all) = self.all.lock() {
            all.append(&mut self.entries);
        }
    }
}

enum ScannedEntry {
    /// With its trusted time, or zero.
    Directory(i64),
    File(OsString, CatalogueStamp),
    Link(OsString, CatalogueStamp),
    Repository(OsString),
}

/// Returns the entry's stamp, under the path of its directory; a directory has its own path. `None` for
/// anything else.
fn stamped(root: &Path, entry: &DirEntry, taken_at: i64) -> Option<(PathBuf, ScannedEntry)> {
    let relative = entry.path().strip_prefix(root).ok()?;
    let kind = entry.file_type()?;
    if kind.is_dir() {
        let stamp = CatalogueStamp::of(&entry.metadata().ok()?);
        let mtime = if stamp.is_racy(taken_at) { 0 } else { stamp.mtime };
        Some((relative.to_owned(), ScannedEntry::Directory(mtime)))
    } else if kind.is_file() || kind.is_symlink() {
        let stamp = CatalogueStamp::of(&entry.metadata().ok()?).with_digest_if_racy(entry.path(), taken_at);
        let name = entry.file_name().to_owned();
        let file =
            if kind.is_symlink() { ScannedEntry::Link(name, stamp) } else { ScannedEntry::File(name, stamp) };
        Some((relative.parent()?.to_owned(), file))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::prelude::*;

    use super::*;

    /// A change of the tree. There are few names, so that steps collide.
    #[derive(Debug, Clone)]
    enum RefreshStep {
        Write(String, u8),
        Remove(String),
        RemoveTree(String),
        Rename(String, String),
        Ignore(String),
    }

    fn steps() -> impl Strategy<Value = Vec<RefreshStep>> {
        let dir = prop_oneof![Just(""), Just("d/"), Just("d/e/"), Just("f/")];
        let path = (dir, 0..4_u8).prop_map(|(dir, n)| format!("{dir}x{n}"));
        let step = prop_oneof![
            4 => (path.clone(), any::<u8>()).prop_map(|(path, n)| RefreshStep::Write(path, n)),
            2 => path.clone().prop_map(RefreshStep::Remove),
            1 => prop_oneof![Just("d"), Just("d/e"), Just("f")].prop_map(|d| RefreshStep::RemoveTree(d.to_owned())),
            2 => (path.clone(), path.clone()).prop_map(|(a, b)| RefreshStep::Rename(a, b)),
            1 => prop_oneof![Just("x1\n"), Just("e/\n"), Just("")].prop_map(|r| RefreshStep::Ignore(r.to_owned())),
        ];
        proptest::collection::vec(step, 1..8)
    }

    fn apply(root: &Path, step: &RefreshStep) {
        let at = |path: &str| root.join(path);
        // A step that is impossible in this tree does nothing.
        let _ = match step {
            RefreshStep::Write(path, n) => {
                let _ = fs::create_dir_all(at(path).parent().unwrap());
                fs::write(at(path), [*n])
            }
            RefreshStep::Remove(path) => fs::remove_file(at(path)),
            RefreshStep::RemoveTree(path) => fs::remove_dir_all(at(path)),
            RefreshStep::Rename(from, to) => fs::rename(at(from), at(to)),
            RefreshStep::Ignore(rules) => fs::write(at(".gitignore"), rules),
        };
    }

    /// Returns paths and identities. Digests and untrusted times depend on the moment of the scan.
    fn essence(catalogue: &Catalogue) -> Vec<(PathBuf, (u64, i64, u64))> {
        catalogue
            .directories
            .iter()
            .flat_map(|dir| dir.files.iter().map(|(name, stamp)| (dir.path.join(name), stamp.identity())))
            .collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(80))]

        /// Some rounds wait until times can be trusted, so that both code paths run.
        #[test]
        fn a_refresh_sees_what_a_build_would(
            rounds in proptest::collection::vec((steps(), any::<bool>()), 1..5),
        ) {
            let root = tempfile::tempdir().unwrap();
            let mut catalogue = build(root.path());
            for (steps, settle) in rounds {
                if settle {
                    std::thread::sleep(std::time::Duration::from_millis(21));
                    catalogue = refresh(root.path(), &catalogue).catalogue(&catalogue);
                }
                for step in &steps {
                    apply(root.path(), step);
                }
                catalogue = refresh(root.path(), &catalogue).catalogue(&catalogue);
                prop_assert_eq!(essence(&catalogue), essence(&build(root.path())));
            }
        }
    }

    #[test]
    fn racy_file_is_read_once_more_and_then_trusted() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("a");
        fs::write(&path, "x").unwrap();
        let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
        for aged in [&path, root.path()] {
            fs::File::open(aged).unwrap().set_modified(long_ago).unwrap();
        }
        let settled = build(root.path());
        let stamp = settled.get(Path::new("a")).unwrap();
        assert_eq!(stamp.digest, 0);
        // A directory with a trusted time is checked, one without is listed.
        for mtime in [settled.directories[0].mtime, 0] {
            for content in ["x", "y"] {
                // Another content under the same stamp is a second write within one tick of the clock.
                let before = CatalogueStamp { digest: digest(&path, 1) ^ u64::from(content == "y"), ..stamp };
                let mut young = settled.clone();
                young.directories[0].mtime = mtime;
                young.set(Path::new("a"), before);
                let now = refresh(root.path(), &young).catalogue(&young);
                let seen = now.get(Path::new("a")).unwrap();
                assert_eq!((before.same(&seen), seen.digest == 0), (content == "x", content == "x"));
                let next = refresh(root.path(), &now);
                assert_eq!(matches!(next, ScanResult::Unchanged { .. }), content == "x");
            }
        }
    }

    #[test]
    fn foreign_repositories_git_and_state_are_not_in_it() {
        let root = tempfile::tempdir().unwrap();
        for file in [
            ".git/config",
            ".lockstep/x",
            "sub/.git/config",
            "sub/a",
            "wt/.git",
            "wt/b",
            ".claude/c",
            "d",
            "j/src-changes-s.log",
        ] {
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        lockstep_fs::symlink("/", root.path().join("loop")).unwrap();
        let catalogue = build(root.path());
        let paths: Vec<_> = essence(&catalogue).into_iter().map(|(path, _)| path).collect();
        assert_eq!(paths, ["d", "loop", ".claude/c"].map(PathBuf::from));
        let unread: Vec<_> = catalogue.unread_places().collect();
        assert_eq!(unread, ["loop", "sub", "wt"].map(PathBuf::from));
    }
}
