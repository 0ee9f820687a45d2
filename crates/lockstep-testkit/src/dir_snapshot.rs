//! A snapshot of a directory, in every respect that a program could have changed.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Every file below a directory with its type, mode, link count, size, modification time and content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirSnapshot(BTreeMap<PathBuf, String>);

impl DirSnapshot {
    /// Takes a snapshot of `root`, by relative path.
    pub fn of(root: &Path) -> Self {
        let mut listing = Self(BTreeMap::new());
        listing.add(root, Path::new(""));
        listing
    }

    fn add(&mut self, root: &Path, path: &Path) {
        let at = root.join(path);
        let Ok(meta) = fs::symlink_metadata(&at) else {
            self.0.insert(path.to_owned(), "gone".to_owned());
            return;
        };
        let what = if meta.is_dir() {
            "directory".to_owned()
        } else if meta.is_symlink() {
            format!("link to {:?}", fs::read_link(&at).unwrap_or_default())
        } else if meta.is_file() {
            let content = fs::read(&at).map(|bytes| blake3::hash(&bytes).to_hex()[..8].to_owned());
            format!("{} bytes {}", meta.len(), content.unwrap_or_else(|error| error.to_string()))
        } else {
            "special".to_owned()
        };
        let (mode, links) = (meta.mode() & 0o7777, if meta.is_dir() { 1 } else { meta.nlink() });
        let entry = format!("{mode:04o} {links} {}.{:09} {what}", meta.mtime(), meta.mtime_nsec());
        self.0.insert(path.to_owned(), entry);
        if meta.is_dir() {
            for entry in fs::read_dir(&at).into_iter().flatten().flatten() {
                self.add(root, &path.join(entry.file_name()));
            }
        }
    }

    /// Without the tree at `path`.
    pub fn without(mut self, path: impl AsRef<Path>) -> Self {
        self.0.retain(|at, _| !at.starts_with(&path));
        self
    }

    /// Removes the content of state directories, and the times of the directories that have one: for tests in
    /// which Lockstep may only write its state.
    pub fn without_state(mut self) -> Self {
        self.0.retain(|at, _| !at.components().any(|part| part.as_os_str() == ".lockstep"));
        for (path, entry) in &mut self.0 {
            if path.file_name() == Some(OsStr::new("project")) {
                "the project".clone_into(entry);
            }
        }
        self
    }

    /// Fails the test with every difference unless `other` is the same.
    #[track_caller]
    pub fn assert_eq(&self, other: &Self, when: &str) {
        let paths: std::collections::BTreeSet<_> = self.0.keys().chain(other.0.keys()).collect();
        let mut differences = String::new();
        for path in paths {
            let (before, after) = (self.0.get(path), other.0.get(path));
            if before != after {
                differences.push_str(&format!("{}: {before:?} became {after:?}\n", path.display()));
            }
        }
        assert!(differences.is_empty(), "{when}, something on disk changed:\n{differences}");
    }
}

impl fmt::Display for DirSnapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|(path, entry)| writeln!(f, "  {}  {entry}", path.display()))
    }
}
