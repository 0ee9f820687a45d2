//! Indexes of trees without set-up. They are kept in the user's cache directory, one directory for each tree: private, bounded in
//! size, the least recently used removed first.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use lockstep_fs::{ensure_private_dir, is_own, mode_of, no_follow, set_mode};
use lockstep_store::{StateDir, StoreError};

use crate::index::wait_for_writer;
use crate::{IndexError, IndexResult};

/// The directory of the trees' directories.
const TREES: &str = "trees";
/// The file in a tree's directory that names its root. Its modification time is that of the last use.
const ROOT: &str = "root";
/// The prefix of a directory that is being removed.
const REMOVED: &str = ".removed-";

/// The largest size of all indexes together, and their largest number. The index in use is never removed.
#[derive(Debug, Clone, Copy)]
pub struct CacheBounds {
    pub bytes: u64,
    pub trees: usize,
}

impl Default for CacheBounds {
    fn default() -> Self {
        Self { bytes: 1 << 30, trees: 64 }
    }
}

/// `$XDG_CACHE_HOME/lockstep`, or `~/.cache/lockstep`. Its directories are 0700, its files 0600.
#[derive(Debug, Clone)]
pub struct UserCache {
    path: PathBuf,
}

impl UserCache {
    /// The directory at `path`, which need not exist.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Returns the directory for the index of the tree at `root` and notes its use. Its name is a digest of the root's path, so
    /// that nothing in the tree decides it. Fails for a cache inside the tree, and for a directory that is a link, belongs to
    /// another user or can be written by others.
    pub fn directory_of(&self, root: &Path, bounds: CacheBounds) -> IndexResult<StateDir> {
        let root = root.canonicalize().map_err(IndexError::io("look at", root))?;
        if nearest(&self.path).is_none_or(|path| path.starts_with(&root)) {
            return Err(refused(&self.path, "it is inside the tree that is indexed"));
        }
        let trees = self.path.join(TREES);
        let own = trees.join(&blake3::hash(root.as_os_str().as_encoded_bytes()).to_hex()[..32]);
        for directory in [&self.path, &trees, &own] {
            make_private(directory)?;
        }
        note_use(&own.join(ROOT), &root).map_err(IndexError::io("write", &own.join(ROOT)))?;
        remove_unused(&trees, &own, bounds);
        Ok(StateDir::at(own))
    }
}

/// The real path of a directory that need not exist: that of its nearest ancestor that does, and the rest.
fn nearest(path: &Path) -> Option<PathBuf> {
    let found = path.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)));
    let (above, real) = found?;
    Some(real.join(path.strip_prefix(above).ok()?))
}

fn refused(path: &Path, why: &'static str) -> IndexError {
    StoreError::UnsafePath { path: path.to_owned(), why }.into()
}

/// Creates a private directory, or checks one that exists.
fn make_private(path: &Path) -> IndexResult {
    // A link is refused below, wherever it points.
    ensure_private_dir(path, true).map_err(IndexError::io("create", path))?;
    let meta = fs::symlink_metadata(path).map_err(IndexError::io("look at", path))?;
    if !meta.is_dir() {
        return Err(refused(path, "it must be a directory, not a link or a file"));
    }
    if !is_own(&meta) {
        return Err(refused(path, "it belongs to someone else"));
    }
    if mode_of(&meta) & 0o022 != 0 {
        return Err(refused(path, "others can write it"));
    }
    if mode_of(&meta) & 0o055 != 0 {
        set_mode(path, 0o700).map_err(IndexError::io("make private", path))?;
    }
    Ok(())
}

fn note_use(path: &Path, root: &Path) -> io::Result<()> {
    let mut file = no_follow().append(true).create(true).open(path)?;
    if file.metadata()?.len() == 0 {
        file.write_all(root.as_os_str().as_encoded_bytes())?;
    }
    file.set_modified(SystemTime::now())
}

struct TreeIndex {
    path: PathBuf,
    used: SystemTime,
    bytes: u64,
}

/// Removes the least recently used indexes until the others and `own` are within the bounds. An index that cannot be removed, or
/// that another process is writing, stays until the next time.
fn remove_unused(trees: &Path, own: &Path, bounds: CacheBounds) {
    let mut entries = Vec::new();
    for entry in fs::read_dir(trees).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_name().as_encoded_bytes().starts_with(REMOVED.as_bytes()) {
            let _ = fs::remove_dir_all(&path);
        } else if path != own && entry.file_type().is_ok_and(|file_type| file_type.is_dir()) {
            let used = fs::metadata(path.join(ROOT)).and_then(|meta| meta.modified());
            let bytes = size(&path);
            entries.push(TreeIndex { path, used: used.unwrap_or(SystemTime::UNIX_EPOCH), bytes });
        }
    }
    entries.sort_by(|a, b| (b.used, &b.path).cmp(&(a.used, &a.path)));
    let mut left = bounds.bytes.saturating_sub(size(own));
    for (at, tree) in entries.iter().enumerate() {
        let fits = tree.bytes <= left && at + 1 < bounds.trees;
        left = if fits { left - tree.bytes } else { 0 };
        if !fits {
            remove(trees, &tree.path);
        }
    }
}

fn size(tree: &Path) -> u64 {
    let entries = fs::read_dir(tree.join("index")).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.metadata().ok()).map(|meta| meta.len()).sum()
}

/// Removes an index that no other process is writing. A process that reads it has its files open; the next one finds none.
fn remove(trees: &Path, tree: &Path) {
    let Some(name) = tree.file_name() else { return };
    let Ok(Some(_lock)) = wait_for_writer(&StateDir::at(tree), Duration::ZERO) else { return };
    let mut removed = REMOVED.to_owned();
    removed.push_str(&name.to_string_lossy());
    let removed = trees.join(removed);
    if fs::rename(tree, &removed).is_ok() {
        let _ = fs::remove_dir_all(&removed);
    }
}

#[cfg(test)]
mod tests {
    use lockstep_fs::symlink;

    use super::*;

    const SMALL_BOUNDS: CacheBounds = CacheBounds { bytes: 1000, trees: 3 };

    fn tree(at: &Path, name: &str) -> PathBuf {
        let path = at.join(name);
        fs::create_dir_all(&path).unwrap();
        path
    }

    fn mode(path: &Path) -> u32 {
        mode_of(&fs::symlink_metadata(path).unwrap())
    }

    #[test]
    fn its_directories_are_private_and_named_by_a_digest() {
        let base = tempfile::tempdir().unwrap();
        let cache = UserCache::new(base.path().join("cache/lockstep"));
        let root = tree(base.path(), "a/../b");
        let state = cache.directory_of(&root, SMALL_BOUNDS).unwrap();
        assert_eq!(state.path(), cache.directory_of(&base.path().join("b"), SMALL_BOUNDS).unwrap().path());
        assert_eq!(state.path().parent().unwrap(), base.path().join("cache/lockstep/trees"));
        assert_eq!(
            fs::read_to_string(state.path().join(ROOT)).unwrap(),
            base.path().join("b").to_str().unwrap()
        );
        for path in [base.path().join("cache/lockstep"), state.path().to_owned()] {
            assert_eq!(mode(&path), 0o700);
        }
        assert_eq!(mode(&state.path().join(ROOT)), 0o600);
        set_mode(state.path(), 0o755).unwrap();
        cache.directory_of(&root, SMALL_BOUNDS).unwrap();
        assert_eq!(mode(state.path()), 0o700);
    }

    #[test]
    fn a_directory_that_others_can_change_is_not_used() {
        let base = tempfile::tempdir().unwrap();
        let root = tree(base.path(), "a");
        let path = base.path().join("lockstep");
        let cache = UserCache::new(&path);
        let state = cache.directory_of(&root, SMALL_BOUNDS).unwrap();
        for open in [state.path(), &path.join(TREES), &path] {
            set_mode(open, 0o777).unwrap();
            assert!(
                matches!(
                    cache.directory_of(&root, SMALL_BOUNDS),
                    Err(IndexError::State(StoreError::UnsafePath { .. }))
                ),
                "{open:?}"
            );
            set_mode(open, 0o700).unwrap();
        }
        let elsewhere = tree(base.path(), "elsewhere");
        fs::rename(state.path(), base.path().join("moved")).unwrap();
        symlink(&elsewhere, state.path()).unwrap();
        assert!(matches!(
            cache.directory_of(&root, SMALL_BOUNDS),
            Err(IndexError::State(StoreError::UnsafePath { .. }))
        ));
        assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
    }

    #[test]
    fn nothing_is_written_into_the_tree() {
        let base = tempfile::tempdir().unwrap();
        let root = tree(base.path(), "a");
        let link = base.path().join("link");
        symlink(&root, &link).unwrap();
        for cache in [root.join(".cache/lockstep"), link.join("cache")] {
            assert!(matches!(
                UserCache::new(cache).directory_of(&root, SMALL_BOUNDS),
                Err(IndexError::State(StoreError::UnsafePath { .. }))
            ));
        }
        assert_eq!(fs::read_dir(&root).unwrap().count(), 0);
    }

    #[test]
    fn the_least_recently_used_is_removed_first() {
        let base = tempfile::tempdir().unwrap();
        let cache = UserCache::new(base.path().join("lockstep"));
        let keep = |name: &str, bytes: usize, age: u64| {
            let state = cache.directory_of(&tree(base.path(), name), CacheBounds::default()).unwrap();
            fs::write(state.ensure_dir("index").unwrap().join("1.words"), vec![0; bytes]).unwrap();
            let file = fs::File::options().append(true).open(state.path().join(ROOT)).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
            state
        };
        let (old, young, busy) = (keep("old", 400, 30), keep("young", 400, 20), keep("busy", 10, 40));
        let _lock = wait_for_writer(&busy, Duration::ZERO).unwrap().unwrap();
        let own = keep("own", 500, 50);
        cache.directory_of(&base.path().join("own"), CacheBounds { bytes: 1000, trees: 64 }).unwrap();
        let left = |state: &StateDir| state.path().exists();
        assert!(!left(&old) && left(&young) && left(&own));
        assert!(left(&busy), "another process is writing it");
        cache.directory_of(&base.path().join("own"), CacheBounds { bytes: 1000, trees: 1 }).unwrap();
        assert!(!left(&young) && left(&own));
        assert!(
            !fs::read_dir(base.path().join("lockstep/trees"))
                .unwrap()
                .flatten()
                .any(|entry| { entry.file_name().as_encoded_bytes().starts_with(REMOVED.as_bytes()) })
        );
    }
}
