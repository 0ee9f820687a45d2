//! The watch list of a cache: where to look to know that a build would write the same again.
//!
//! It has one look for everything that the build looked at, and one for the cache file. None can be spared: a file that is
//! edited in place changes its own times and those of no directory. What makes a look cheap is that paths are relative to
//! directories that are opened once, that stamps are compared together by one digest, and that nothing is read.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::path::Path;

use blake3::{Hash, Hasher};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, openat, statat};
use rustix::io::Errno;

use crate::record::{Look, Record};
use lockstep_store::stamp::Stamp;

/// First line of the list. Another digit is another format, which holds for nothing.
const FIRST: &str = "lockstep session cache watch 1";

/// From this many looks on, opening their directory pays.
const WORTH_OPENING: usize = 3;

/// The list for a build's record, and for the file `target` that it wrote. `None` where something cannot be told by its
/// stamp: it could not be used, or is too young.
pub(crate) fn list(record: &Record, target: &str, written: &Stamp) -> Option<String> {
    let mut groups: BTreeMap<&str, Vec<(Kind, &str, Stamp)>> = BTreeMap::new();
    for (path, look) in &record.looks {
        let (kind, stamp) = match look {
            Look::File(_, stamp) => (Kind::File, *stamp),
            Look::Directory(stamp) => (Kind::Directory, *stamp),
            Look::Absent => (Kind::Absent, Stamp::default()),
            Look::Unusable(_) => return None,
            // Not on disk; whoever asks compares it.
            Look::Value(_) => continue,
        };
        groups.entry(directory_of(path, kind)).or_default().push((kind, path, stamp));
    }
    let mut alone: Vec<_> =
        groups.extract_if(.., |_, looks| looks.len() < WORTH_OPENING).flat_map(|(_, looks)| looks).collect();
    alone.extend(groups.remove("").unwrap_or_default());
    alone.push((Kind::File, target, *written));
    let (mut digest, mut lines) = (Hasher::new(), String::new());
    for (dir, looks) in std::iter::once(("", alone)).chain(groups) {
        if !dir.is_empty() {
            push(&mut lines, IN, dir);
        }
        for (kind, path, stamp) in looks {
            if kind != Kind::Absent && stamp == Stamp::default() {
                return None;
            }
            let below = path.strip_prefix(dir).unwrap_or(path);
            push(&mut lines, kind.word(), if dir.is_empty() { path } else { below.trim_start_matches('/') });
            digest.update(&stamp.bytes());
        }
    }
    Some(format!("{FIRST}\n{}\n{lines}", digest.finalize().to_hex()))
}

fn push(lines: &mut String, word: &str, path: &str) {
    lines.extend([word, "\t", path, "\n"]);
}

/// The word of a line that names the directory of the following ones.
const IN: &str = "in";

/// What is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    File,
    Directory,
    Absent,
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Directory => "directory",
            Self::Absent => "absent",
        }
    }
}

/// The directory to look from: so far up that the folders of many skills share it.
fn directory_of(path: &str, kind: Kind) -> &str {
    let parent = |path: &str| path.rfind('/').unwrap_or(0);
    let dir = &path[..parent(path)];
    match kind {
        Kind::File => &dir[..parent(dir)],
        Kind::Directory => dir,
        // The directory may be absent too.
        Kind::Absent => "",
    }
}

/// Whether everything on the list, below `root`, is certainly as it was.
pub(crate) fn holds(list: &str, root: &Path) -> bool {
    let Some((digest, lines)) = opened(list) else { return false };
    looked(lines, root).is_some_and(|now| now == digest)
}

fn opened(list: &str) -> Option<(Hash, &str)> {
    let (digest, lines) = list.strip_prefix(FIRST)?.strip_prefix('\n')?.split_once('\n')?;
    Some((Hash::from_hex(digest).ok()?, lines))
}

/// The digest of what is there now; `None` where something is not what it was, whatever its stamp.
fn looked(lines: &str, root: &Path) -> Option<Hash> {
    let root = directory(CWD, root)?;
    let mut inner: Option<OwnedFd> = None;
    let mut digest = Hasher::new();
    for line in lines.lines() {
        let (word, path) = line.split_once('\t')?;
        let from = inner.as_ref().unwrap_or(&root);
        let stamp = match word {
            IN => {
                inner = Some(directory(&root, Path::new(path))?);
                continue;
            }
            "file" => stamped(from, path, FileType::RegularFile)?,
            "directory" => stamped(from, path, FileType::Directory)?,
            "absent" => absent(from, path).then(Stamp::default)?,
            _ => return None,
        };
        digest.update(&stamp.bytes());
    }
    Some(digest.finalize())
}

fn directory(from: impl std::os::fd::AsFd, path: &Path) -> Option<OwnedFd> {
    openat(from, path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).ok()
}

fn stamped(from: &OwnedFd, path: &str, kind: FileType) -> Option<Stamp> {
    let stat = statat(from, path, AtFlags::empty()).ok()?;
    (FileType::from_raw_mode(stat.st_mode) == kind).then(|| Stamp::of_stat(&stat))
}

/// A dangling link is not found either when it is followed, but it is something.
fn absent(from: &OwnedFd, path: &str) -> bool {
    statat(from, path, AtFlags::SYMLINK_NOFOLLOW)
        .is_err_and(|errno| matches!(errno, Errno::NOENT | Errno::NOTDIR))
}
