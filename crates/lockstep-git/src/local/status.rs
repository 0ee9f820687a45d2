//! Differences between the files on disk and the checked-out commit.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::index::TrackedList;
use super::objects::Oid;
use super::{LocalRepository, TrackedFile};

/// More directories of a commit are not read: a hook has no time for it.
const MAX_TREES: usize = 3_000;

/// Larger files are not compared by content.
const MAX_BYTES: u64 = 4 << 20;

/// With more files, contents alone are not compared, because a hook has no time for it.
const MAX_COMPARED_FILES: usize = 2_000;

/// Returns true if the contents differ in line ends only: git may convert them at the checkout.
fn is_same_text(a: &[u8], b: &[u8]) -> bool {
    fn lines(content: &[u8]) -> impl Iterator<Item = &[u8]> {
        content.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line))
    }
    (a.contains(&b'\r') || b.contains(&b'\r')) && lines(a).eq(lines(b))
}

#[derive(Debug, Clone)]
pub struct DiskFile {
    /// Relative to the directory of the repository.
    pub path: String,
    /// Size in bytes.
    pub size: u64,
    /// In nanoseconds since 1970.
    pub mtime: i64,
    pub inode: u64,
}

/// The difference between a file and the checked-out commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LocalStatus {
    /// The commit has it with another content.
    Modified,
    /// The commit does not have it.
    Added,
    /// The commit has it, the disk does not.
    Deleted,
}

impl LocalRepository {
    /// Returns the files that differ from the checked-out commit, sorted by path. `files` are those on disk below `root`, the
    /// directory of this repository. Returns `None` if git's files cannot be read, or there is no commit.
    pub fn status(&self, root: &Path, files: &[DiskFile]) -> Option<Vec<(String, LocalStatus)>> {
        self.status_since(&self.head()?, root, files)
    }

    /// Returns the files that differ from a commit, as [`Self::status`] does for the one that is checked out.
    pub fn status_since(
        &self,
        commit: &str,
        root: &Path,
        files: &[DiskFile],
    ) -> Option<Vec<(String, LocalStatus)>> {
        // A list in another form is of no use. Then contents are compared.
        let list = match self.list() {
            Some(list) => list,
            None if files.len() <= MAX_COMPARED_FILES => TrackedList::default(),
            None => return None,
        };
        let commit = Oid::from_hex(commit)?;
        let tree = self.objects.tree_of(&commit)?;
        let tracked: BTreeMap<&str, &TrackedFile> =
            list.files.iter().map(|file| (file.path.as_str(), file)).collect();
        // Usually nothing is staged, and the list names the contents of the commit.
        let committed: BTreeMap<String, Oid> = if list.tree.as_ref() == Some(&tree) {
            tracked.iter().map(|(path, file)| ((*path).to_owned(), file.id.clone())).collect()
        } else {
            self.files_of(tree)?
        };
        let mut found = BTreeMap::new();
        for file in files {
            let status = match committed.get(&file.path) {
                None => LocalStatus::Added,
                Some(id) if self.is_same(root, file, tracked.get(file.path.as_str()).copied(), id) => {
                    continue;
                }
                Some(_) => LocalStatus::Modified,
            };
            found.insert(file.path.clone(), status);
        }
        let on_disk: std::collections::HashSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
        for path in committed.keys().filter(|path| !on_disk.contains(path.as_str())) {
            // A tracked file that an ignore rule leaves out is still there. One that a sparse checkout leaves out never was.
            if fs::symlink_metadata(root.join(path)).is_err() && !list.omits(path) {
                found.insert(path.clone(), LocalStatus::Deleted);
            }
        }
        Some(found.into_iter().collect())
    }

    fn is_same(&self, root: &Path, file: &DiskFile, tracked: Option<&TrackedFile>, id: &Oid) -> bool {
        let recorded = tracked.filter(|tracked| tracked.id == *id);
        if recorded.is_some_and(|tracked| tracked.has_stamp(file.size, file.mtime, file.inode)) {
            return true;
        }
        if file.size > MAX_BYTES {
            return recorded.is_some_and(|tracked| tracked.mtime == file.mtime);
        }
        let content = lockstep_fs::read(root.join(&file.path)).ok();
        content.is_some_and(|content| {
            self.objects.blob(id).is_some_and(|blob| blob == content || is_same_text(&blob, &content))
        })
    }

    /// Returns every file of a tree below the directory.
    fn files_of(&self, tree: Oid) -> Option<BTreeMap<String, Oid>> {
        let mut files = BTreeMap::new();
        let mut trees = vec![(String::new(), tree)];
        let mut read = 0;
        while let Some((path, tree)) = trees.pop() {
            read += 1;
            if read > MAX_TREES {
                return None;
            }
            for (name, entry) in self.objects.entries(&tree)? {
                let Ok(name) = String::from_utf8(name) else { continue };
                let path = format!("{path}{name}");
                if entry.is_tree {
                    let below = format!("{path}/");
                    // Only entries on the path to the directory, or below it.
                    if below.starts_with(&self.prefix) || self.prefix.starts_with(&below) {
                        trees.push((below, entry.id));
                    }
                } else if entry.is_file
                    && let Some(path) = path.strip_prefix(&self.prefix)
                {
                    files.insert(path.to_owned(), entry.id);
                }
            }
        }
        Some(files)
    }
}
