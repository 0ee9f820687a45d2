//! The list of tracked files, `.git/index`: versions 2 to 4.

use std::fs;
use std::path::Path;

use lockstep_fs::FileStamp;

use super::objects::Oid;

/// A tracked file with its stamp from git's index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrackedFile {
    /// Relative to the directory of the repository.
    pub path: String,
    /// In nanoseconds since 1970.
    pub mtime: i64,
    /// The lower 32 bits of it.
    pub size: u32,
    /// The lower 32 bits of it.
    pub inode: u32,
    /// True if git wrote the list so shortly after the file that the stamp proves nothing.
    pub is_racy: bool,
    pub(crate) id: Oid,
}

impl TrackedFile {
    /// Returns true if a file with this stamp is certainly the one git recorded.
    pub fn has_stamp(&self, size: u64, mtime: i64, inode: u64) -> bool {
        // Both counters are cut to 32 bits by the format.
        let low = |number: u64| u32::try_from(number & u64::from(u32::MAX)).unwrap_or_default();
        !self.is_racy && self.mtime == mtime && self.size == low(size) && self.inode == low(inode)
    }
}

/// Other types are symbolic links and submodules.
const FILE_TYPE: u32 = 0o170_000;
const REGULAR: u32 = 0o100_000;
const DIRECTORY: u32 = 0o040_000;

/// The flag of a file that a sparse checkout leaves out of the working tree.
const SKIP_WORKTREE: u16 = 0x4000;

#[derive(Debug, Default)]
pub(super) struct TrackedList {
    pub(super) files: Vec<TrackedFile>,
    /// The files, and with a trailing slash the directories, that a sparse checkout leaves out of the working tree.
    pub(super) omitted: Vec<String>,
    /// The tree of all tracked files, if git has cached it.
    pub(super) tree: Option<Oid>,
}

impl TrackedList {
    /// Returns true if a sparse checkout leaves the file out of the working tree.
    pub(super) fn omits(&self, path: &str) -> bool {
        self.omitted.iter().any(|left| left == path || left.ends_with('/') && path.starts_with(left.as_str()))
    }
}

/// Reads the list at `path`, with the files below `prefix`; `None` if it is missing, damaged or split into two files.
pub(super) fn read(path: &Path, oid: usize, prefix: &str) -> Option<TrackedList> {
    let bytes = lockstep_fs::read_up_to(path, lockstep_fs::MAX_STATE_BYTES).ok()?;
    let written = FileStamp::from(&fs::metadata(path).ok()?).mtime;
    let body = bytes.get(..bytes.len().checked_sub(oid)?)?;
    let mut reader = Reader { bytes: body, at: 0 };
    if reader.take(4)? != b"DIRC" {
        return None;
    }
    let version = reader.number()?;
    if !(2..=4).contains(&version) {
        return None;
    }
    let count = reader.number()?;
    let mut list = TrackedList::default();
    let mut name = Vec::new();
    for _ in 0..count {
        let entry = reader.entry(version, oid, &mut name)?;
        let below = std::str::from_utf8(&name).ok().and_then(|name| name.strip_prefix(prefix));
        if let Some(path) = below.filter(|_| entry.is_omitted) {
            list.omitted.push(path.to_owned());
        }
        if let Some(path) = below.filter(|_| entry.is_file) {
            let Entry { mtime, size, inode, id, .. } = entry;
            list.files.push(TrackedFile {
                path: path.to_owned(),
                mtime,
                size,
                inode,
                is_racy: mtime >= written,
                id,
            });
        }
    }
    while let Some((name, content)) = reader.extension() {
        match name {
            // Most entries are in another file.
            b"link" => return None,
            b"TREE" => list.tree = root_tree(content, oid),
            _ => {}
        }
    }
    Some(list)
}

fn nanos(seconds: i64, nanos: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(nanos)
}

struct Entry {
    mtime: i64,
    size: u32,
    inode: u32,
    id: Oid,
    is_file: bool,
    /// A sparse checkout leaves it out of the working tree.
    is_omitted: bool,
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let taken = self.bytes.get(self.at..self.at.checked_add(count)?)?;
        self.at += count;
        Some(taken)
    }

    fn number(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.take(4)?.try_into().ok()?))
    }

    /// Reads an entry. `name` is the path of the entry before, and becomes that of this one.
    fn entry(&mut self, version: u32, oid: usize, name: &mut Vec<u8>) -> Option<Entry> {
        let start = self.at;
        let mut fields = [0; 10];
        for field in &mut fields {
            *field = self.number()?;
        }
        let [_, _, seconds, fraction, _, inode, mode, _, _, size] = fields;
        let id = Oid(self.take(oid)?.to_vec());
        let flags = u16::from_be_bytes(self.take(2)?.try_into().ok()?);
        let mut extended = 0;
        if flags & 0x4000 != 0 {
            extended = u16::from_be_bytes(self.take(2)?.try_into().ok()?);
        }
        if version == 4 {
            let keep = name.len().checked_sub(self.varint()?)?;
            name.truncate(keep);
        } else {
            name.clear();
        }
        let end = self.bytes.get(self.at..)?.iter().position(|byte| *byte == 0)?;
        name.extend_from_slice(self.take(end)?);
        if version == 4 {
            self.take(1)?;
        } else {
            // Entries are padded with one to eight zeros.
            let length = self.at - start;
            self.take(8 - length % 8)?;
        }
        // A file in the middle of a merge has three entries and no recorded content.
        let stage = flags >> 12 & 3;
        Some(Entry {
            mtime: nanos(seconds.into(), fraction.into()),
            size,
            inode,
            id,
            is_file: mode & FILE_TYPE == REGULAR && stage == 0,
            is_omitted: mode & FILE_TYPE == DIRECTORY || extended & SKIP_WORKTREE != 0,
        })
    }

    fn varint(&mut self) -> Option<usize> {
        let mut byte = self.take(1)?[0];
        let mut number = usize::from(byte & 0x7f);
        while byte & 0x80 != 0 {
            byte = self.take(1)?[0];
            number = (number.checked_add(1)? << 7) | usize::from(byte & 0x7f);
        }
        Some(number)
    }

    fn extension(&mut self) -> Option<(&'a [u8], &'a [u8])> {
        let name = self.take(4)?;
        let length = self.number()?;
        Some((name, self.take(usize::try_from(length).ok()?)?))
    }
}

/// Reads the first entry of the extension `TREE`, which describes the top directory: its empty name, the
/// number of its files and directories, and its tree. A negative number means that the tree is unknown.
fn root_tree(extension: &[u8], oid: usize) -> Option<Oid> {
    let rest = extension.strip_prefix(b"\0")?;
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    if rest.starts_with(b"-") {
        return None;
    }
    Some(Oid(rest.get(end + 1..end + 1 + oid)?.to_vec()))
}
