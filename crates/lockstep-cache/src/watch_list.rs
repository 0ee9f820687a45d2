//! The watch list of a cache: the paths to check to know that a build would write the same.
//!
//! It has an entry for every path that the build checked, and one for the cache file. None can be omitted:
//! editing a file in place changes its own times and those of no directory. Checks are cheap because paths
//! are relative to directories that are opened once, nothing is read, and the list has the format of the
//! system call: each path ends with a zero byte and follows its expected stamp.

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::path::Path;

use lockstep_fs::{Dir, FileKind, FileStamp, Links, is_absent};

use crate::build_record::{BuildRecord, TrackedInput};

/// The beginning of the list. Another digit is another format, which is ignored.
const FIRST: &[u8] = b"lockstep session cache watch 2\n";

/// The number of checks from which opening and closing their directory takes less time than its name in each
/// of them.
const WORTH_OPENING: usize = 8;

const STAMP: usize = 32;

/// The expected kind; the first byte of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WatchKind {
    File,
    Directory,
    Absent,
    /// The base directory of the following entries.
    BaseDir,
}

impl WatchKind {
    fn byte(self) -> u8 {
        match self {
            Self::File => b'F',
            Self::Directory => b'D',
            Self::Absent => b'A',
            Self::BaseDir => b'I',
        }
    }

    fn of_byte(byte: u8) -> Option<Self> {
        [Self::File, Self::Directory, Self::Absent, Self::BaseDir]
            .into_iter()
            .find(|kind| kind.byte() == byte)
    }
}

/// Returns the list for a build's record and the file `target` that it wrote. `None` if a stamp is not
/// reliable: the path could not be used, or its time is racy.
pub(crate) fn encode_watch_list(record: &BuildRecord, target: &str, written: &FileStamp) -> Option<Vec<u8>> {
    let mut groups: BTreeMap<&str, Vec<(WatchKind, &str, FileStamp)>> = BTreeMap::new();
    for (path, look) in &record.looks {
        let (kind, stamp) = match look {
            TrackedInput::File(_, stamp) => (WatchKind::File, *stamp),
            TrackedInput::Directory(stamp) => (WatchKind::Directory, *stamp),
            TrackedInput::Absent => (WatchKind::Absent, FileStamp::default()),
            TrackedInput::Unusable(_) => return None,
            // Not on disk; the caller compares it.
            TrackedInput::Value(_) => continue,
        };
        groups.entry(directory_of(path, kind)).or_default().push((kind, path, stamp));
    }
    let mut alone: Vec<_> =
        groups.extract_if(.., |_, looks| looks.len() < WORTH_OPENING).flat_map(|(_, looks)| looks).collect();
    alone.extend(groups.remove("").unwrap_or_default());
    alone.push((WatchKind::File, target, *written));
    let mut list = FIRST.to_vec();
    for (dir, looks) in std::iter::once(("", alone)).chain(groups) {
        if !dir.is_empty() {
            push(&mut list, WatchKind::BaseDir, &FileStamp::default(), dir);
        }
        for (kind, path, stamp) in looks {
            if kind != WatchKind::Absent && stamp == FileStamp::default() {
                return None;
            }
            let below = path.strip_prefix(dir).unwrap_or(path);
            let below = if dir.is_empty() { path } else { below.trim_start_matches('/') };
            push(&mut list, kind, &stamp, below);
        }
    }
    Some(list)
}

fn push(list: &mut Vec<u8>, kind: WatchKind, stamp: &FileStamp, path: &str) {
    list.push(kind.byte());
    list.extend_from_slice(&stamp.to_bytes());
    list.extend_from_slice(path.as_bytes());
    list.push(0);
}

/// Returns the directory for relative checks: high enough that the folders of many skills share it.
fn directory_of(path: &str, kind: WatchKind) -> &str {
    let parent = |path: &str| path.rfind('/').unwrap_or(0);
    let dir = &path[..parent(path)];
    match kind {
        WatchKind::File => &dir[..parent(dir)],
        WatchKind::Directory => dir,
        // The directory may be absent too.
        WatchKind::Absent | WatchKind::BaseDir => "",
    }
}

/// Returns true if every entry, below `root`, is certainly unchanged.
pub(crate) fn is_current(list: &[u8], root: &Path) -> bool {
    let root = Dir::open(root, Links::Follow);
    list.strip_prefix(FIRST)
        .zip(root.ok())
        .is_some_and(|(entries, root)| check_entries(entries, &root).is_some())
}

/// Returns `None` as soon as an entry has changed, or the list is invalid.
fn check_entries(mut entries: &[u8], root: &Dir) -> Option<()> {
    let mut inner: Option<Dir> = None;
    while let Some((kind, rest)) = entries.split_first() {
        let (stamp, rest) = rest.split_first_chunk::<STAMP>()?;
        let path = CStr::from_bytes_until_nul(rest).ok()?;
        entries = &rest[path.count_bytes() + 1..];
        let from = inner.as_ref().unwrap_or(root);
        let holds = match WatchKind::of_byte(*kind)? {
            WatchKind::BaseDir => {
                inner = Some(root.open_below(path, Links::Follow).ok()?);
                true
            }
            WatchKind::File => has_stamp(from, path, FileKind::Regular, stamp),
            WatchKind::Directory => has_stamp(from, path, FileKind::Directory, stamp),
            // A dangling link is not found either when it is followed, but it is something.
            WatchKind::Absent => from.entry(path, Links::Refuse).is_err_and(|error| is_absent(&error)),
        };
        holds.then_some(())?;
    }
    Some(())
}

fn has_stamp(from: &Dir, path: &CStr, kind: FileKind, stamp: &[u8; STAMP]) -> bool {
    from.entry(path, Links::Follow).is_ok_and(|entry| entry.kind == kind && entry.stamp.to_bytes() == *stamp)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_list_holds_until_something_changes_and_a_damaged_one_never() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        fs::create_dir_all(root.join("skills")).unwrap();
        let mut record = BuildRecord::default();
        let look = |path: &str| FileStamp::from(&fs::metadata(root.join(path)).unwrap());
        for number in 0..2 * WORTH_OPENING {
            let path = format!("skills/s{number}/SKILL.md");
            fs::create_dir(root.join(format!("skills/s{number}"))).unwrap();
            fs::write(root.join(&path), "x").unwrap();
            record.looks.insert(path.clone(), TrackedInput::File(blake3::hash(b"x"), look(&path)));
        }
        fs::write(root.join("cache.md"), "y").unwrap();
        record.looks.insert("skills".to_owned(), TrackedInput::Directory(look("skills")));
        record.looks.insert("none.md".to_owned(), TrackedInput::Absent);
        let list = encode_watch_list(&record, "cache.md", &look("cache.md")).unwrap();
        assert!(is_current(&list, root));
        // A list cut between two entries is a shorter list with another key; one cut elsewhere is invalid.
        let ends: Vec<usize> =
            (FIRST.len()..list.len()).filter(|at| list[..*at].ends_with(b".md\0")).collect();
        for cut in (FIRST.len() + 1..list.len()).filter(|cut| !ends.contains(cut)) {
            let is_whole = list[cut - 1] == 0 && list[..cut].ends_with(b"skills\0");
            assert!(is_whole || !is_current(&list[..cut], root), "cut at {cut}");
        }
        assert!(!is_current(&list[1..], root));
        fs::write(root.join("none.md"), "z").unwrap();
        assert!(!is_current(&list, root));
        fs::remove_file(root.join("none.md")).unwrap();
        assert!(is_current(&list, root));
        fs::write(root.join("skills/s3/SKILL.md"), "zz").unwrap();
        assert!(!is_current(&list, root));
    }
}
