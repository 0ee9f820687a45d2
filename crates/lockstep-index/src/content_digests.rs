//! A snapshot: the digest of every file in scope at one moment. Comparing two snapshots shows the changes
//! between them, regardless of their author.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use ignore::{DirEntry, WalkState};
use lockstep_fs::{FileStamp, now};
use serde::{Deserialize, Serialize};

use crate::scope::walk;
use crate::stamp::CatalogueStamp;

/// Larger files are compared by size and time instead of content.
pub const MAX_DIGESTED_BYTES: u64 = 8 << 20;

/// The digests of all files in scope at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ContentDigests {
    taken_at: i64,
    files: BTreeMap<String, FileDigest>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct FileDigest {
    size: u64,
    mtime: i64,
    /// The inode's change time, which programs cannot set. Zero in snapshots of older versions.
    #[serde(default)]
    ctime: i64,
    inode: u64,
    digest: String,
}

impl ContentDigests {
    /// Takes a snapshot of the tree at `root`. Files with the same stamp as in `older` are not read again.
    /// Files whose names are not UTF-8 are left out.
    pub fn take(root: &Path, older: Option<&Self>) -> Self {
        let taken_at = now();
        let found: Mutex<BTreeMap<String, FileDigest>> = Mutex::default();
        walk(root).build_parallel().run(|| {
            Box::new(|entry| {
                if let Some((path, entry)) = entry.ok().and_then(|entry| look(root, &entry, older)) {
                    found.lock().expect("no walker panics").insert(path, entry);
                }
                WalkState::Continue
            })
        });
        Self { taken_at, files: found.into_inner().expect("no walker panics") }
    }

    /// Returns the digest of a file. `None` if it is not in scope.
    pub fn digest(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(|entry| entry.digest.as_str())
    }

    pub fn size(&self, path: &str) -> Option<u64> {
        self.files.get(path).map(|entry| entry.size)
    }

    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Returns the files that differ in `later`, or exist in only one of the snapshots.
    pub fn diff_paths<'a>(&'a self, later: &'a Self) -> Vec<&'a str> {
        let removed = self.paths().filter(|path| later.digest(path).is_none());
        let other = later.paths().filter(|path| later.digest(path) != self.digest(path));
        let mut changed: Vec<&str> = removed.chain(other).collect();
        changed.sort_unstable();
        changed
    }
}

fn look(root: &Path, entry: &DirEntry, older: Option<&ContentDigests>) -> Option<(String, FileDigest)> {
    let kind = entry.file_type()?;
    if kind.is_dir() {
        return None;
    }
    let path = lockstep_text::path_text(entry.path().strip_prefix(root).ok()?)?;
    let meta = entry.path().symlink_metadata().ok()?;
    let file = FileStamp::from(&meta);
    let (stamp, ctime) = (CatalogueStamp::from(file), file.ctime);
    let known = older.and_then(|older| {
        let known = older.files.get(&path)?;
        let same = (known.size, known.mtime, known.ctime, known.inode)
            == (stamp.size, stamp.mtime, ctime, stamp.inode);
        (same && !stamp.is_racy(older.taken_at)).then(|| known.digest.clone())
    });
    let digest = known.unwrap_or_else(|| digest_of(entry.path(), &stamp, kind.is_symlink(), meta.is_file()));
    Some((path, FileDigest { size: stamp.size, mtime: stamp.mtime, ctime, inode: stamp.inode, digest }))
}

fn digest_of(path: &Path, stamp: &CatalogueStamp, link: bool, plain: bool) -> String {
    if link {
        let target: PathBuf = fs::read_link(path).unwrap_or_default();
        return format!("link:{}", target.display());
    }
    let by_stat = || format!("stat:{}:{}", stamp.size, stamp.mtime);
    if !plain || stamp.size > MAX_DIGESTED_BYTES {
        return by_stat();
    }
    let mut content = Vec::new();
    match lockstep_fs::open(path).and_then(|file| file.take(MAX_DIGESTED_BYTES + 1).read_to_end(&mut content))
    {
        Ok(_) => digest(&content),
        Err(_) => by_stat(),
    }
}

pub fn digest(content: &[u8]) -> String {
    blake3::hash(content).to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use lockstep_fs::symlink;
    use std::fs::File;
    use std::time::{Duration, SystemTime};

    use super::*;

    #[test]
    fn every_kind_of_difference_between_two_snapshots_is_reported() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        let write = |name: &str, text: &str| fs::write(root.join(name), text).unwrap();
        fs::create_dir(root.join("sub")).unwrap();
        for name in ["same", "touched", "edited", "gone", "sub/deep", ".hidden"] {
            write(name, name);
        }
        write(".gitignore", "ignored\n");
        symlink("same", root.join("link")).unwrap();
        // Ensures that no time is racy.
        std::thread::sleep(Duration::from_millis(60));
        let before = ContentDigests::take(root, None);
        let restored: ContentDigests =
            serde_json::from_str(&serde_json::to_string(&before).unwrap()).unwrap();
        assert_eq!(restored, before);
        write("edited", "EDITED");
        // The modification time stays the same: only the content differs.
        let time = fs::metadata(root.join("same")).unwrap().modified().unwrap();
        File::open(root.join("edited")).unwrap().set_modified(time).unwrap();
        File::open(root.join("touched"))
            .unwrap()
            .set_modified(SystemTime::now() + Duration::from_secs(9))
            .unwrap();
        fs::remove_file(root.join("gone")).unwrap();
        fs::remove_file(root.join("link")).unwrap();
        symlink("touched", root.join("link")).unwrap();
        write("sub/new", "x");
        write("ignored", "x");
        let after = ContentDigests::take(root, Some(&before));
        assert_eq!(before.diff_paths(&after), ["edited", "gone", "link", "sub/new"]);
        assert_eq!(after, ContentDigests { taken_at: after.taken_at, ..ContentDigests::take(root, None) });
        assert_eq!(after.digest("edited"), Some(digest(b"EDITED").as_str()));
        assert_eq!(after.size("gone"), None);
    }
}
