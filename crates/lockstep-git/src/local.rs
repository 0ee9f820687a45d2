//! A repository read from its own files, in this process.
//!
//! Hooks start no process, so they cannot run the `git` program. This module reads the few things they need:
//! the checked-out commit, a file of a commit, and the list of tracked files. It covers loose objects, packs,
//! alternates, linked worktrees, submodules and both object formats. A repository with another reference
//! storage, a split index or a missing object is reported as unreadable, never as empty.

mod index;
mod objects;
mod pack;
mod reflog;
mod status;

use index::TrackedList;

pub use index::TrackedFile;
pub use status::{DiskFile, LocalStatus};

use std::path::{Path, PathBuf};

use objects::{Objects, Oid};

/// A repository around a directory, read without the `git` program.
#[derive(Debug)]
pub struct LocalRepository {
    /// The directory of this working tree: `HEAD` and `index` are here.
    git: PathBuf,
    /// The directory shared by all working trees: references and objects are here.
    common: PathBuf,
    /// The path from the top of the working tree to the directory, with a trailing slash unless it is empty.
    prefix: String,
    objects: Objects,
}

/// A file of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Blob {
    Content(Vec<u8>),
    /// The commit has no file of that path.
    Absent,
    /// An object is missing, damaged or too large.
    Unreadable,
}

impl LocalRepository {
    /// Finds the repository that `directory` is in. Returns `None` outside of any.
    pub fn discover(directory: &Path) -> Option<Self> {
        // A link may point to a directory with other parents than the link's.
        let real = directory.canonicalize();
        let directory = real.as_deref().unwrap_or(directory);
        let top = directory.ancestors().find(|top| top.join(".git").exists())?;
        let prefix = lockstep_text::path_text(directory.strip_prefix(top).ok()?)?;
        let prefix = if prefix.is_empty() { String::new() } else { format!("{prefix}/") };
        let git = git_directory(&top.join(".git"))?;
        let common = lockstep_fs::read_to_string(git.join("commondir"))
            .map_or_else(|_| git.clone(), |to| git.join(to.trim_end()));
        let objects = Objects::new(&common.join("objects"));
        Some(Self { git, common, prefix, objects })
    }

    /// Returns the id of the checked-out commit; `None` before the first commit, or where it cannot be read.
    pub fn head(&self) -> Option<String> {
        self.resolve("HEAD", 0)
    }

    /// Returns the file at `path`, relative to the directory, in a commit.
    pub fn file(&self, commit: &str, path: &str) -> Blob {
        let Some(commit) = Oid::from_hex(commit) else { return Blob::Unreadable };
        self.find(&commit, &format!("{}{path}", self.prefix)).unwrap_or(Blob::Unreadable)
    }

    /// Returns the tracked files below the directory, sorted by path; `None` if the list cannot be read.
    pub fn tracked(&self) -> Option<Vec<TrackedFile>> {
        self.list().map(|list| list.files)
    }

    /// Returns the paths of tracked files that belong into the working tree and are not `known`; `None` if the
    /// list cannot be read.
    pub fn tracked_besides(&self, known: impl Fn(&str) -> bool) -> Option<Vec<String>> {
        let list = self.list()?;
        let is_unknown = |path: &&str| !known(path) && !list.omits(path);
        Some(list.files.iter().map(|file| file.path.as_str()).filter(is_unknown).map(str::to_owned).collect())
    }

    fn list(&self) -> Option<TrackedList> {
        index::read(&self.git.join("index"), self.oid_length(), &self.prefix)
    }

    /// Returns true if `content` is the content that git recorded for a tracked file.
    pub fn is_recorded(&self, file: &TrackedFile, content: &[u8]) -> bool {
        self.objects.blob(&file.id).is_some_and(|blob| blob == content)
    }

    fn oid_length(&self) -> usize {
        self.head().map_or(20, |head| head.len() / 2)
    }

    fn find(&self, commit: &Oid, path: &str) -> Option<Blob> {
        let mut tree = self.objects.tree_of(commit)?;
        let mut parts = path.split('/').peekable();
        while let Some(name) = parts.next() {
            let Some(entry) = self.objects.entry(&tree, name)? else { return Some(Blob::Absent) };
            match (parts.peek(), entry.is_tree) {
                (Some(_), true) => tree = entry.id,
                (None, false) => return self.objects.blob(&entry.id).map(Blob::Content),
                _ => return Some(Blob::Absent),
            }
        }
        None
    }

    fn resolve(&self, name: &str, depth: usize) -> Option<String> {
        const MAX_DEPTH: usize = 5;
        let loose = [&self.git, &self.common]
            .into_iter()
            .find_map(|dir| lockstep_fs::read_to_string(dir.join(name)).ok());
        match loose {
            Some(text) => match text.trim_end().strip_prefix("ref: ") {
                Some(target) if depth < MAX_DEPTH => self.resolve(target, depth + 1),
                Some(_) => None,
                None => Oid::from_hex(text.trim_end()).map(|_| text.trim_end().to_owned()),
            },
            None => {
                let packed = lockstep_fs::read_to_string(self.common.join("packed-refs")).ok()?;
                let id = packed.lines().find_map(|line| line.strip_suffix(name)?.strip_suffix(' '))?;
                Oid::from_hex(id).map(|_| id.to_owned())
            }
        }
    }
}

/// Returns the git directory: `.git` itself, or the target of the file of that name (a linked worktree, a
/// submodule).
fn git_directory(git: &Path) -> Option<PathBuf> {
    if git.is_dir() {
        return Some(git.to_owned());
    }
    let text = lockstep_fs::read_to_string(git).ok()?;
    Some(git.parent()?.join(text.trim_end().strip_prefix("gitdir: ")?))
}
