//! The record of a build, in `.lockstep/cache/inputs`: its inputs with their stamps, and the digest of the
//! written file.
//!
//! It identifies a changed input, and lets a hook verify with a few hundred `stat` calls, and no read, that
//! nothing changed. If it is missing or damaged, everything is read and compared with the hash in the cache.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use blake3::Hash;
use lockstep_fs::{Dir, FileKind, FileStamp, Links, is_absent};

use crate::inputs::{BuildInputs, InputState};

/// First and last line of the file. Another digit is another format, which is read as "no record".
const FIRST: &str = "lockstep session cache inputs 1";
const LAST: &str = "end";

/// The file's name in the cache's state directory.
pub(crate) const FILE: &str = "inputs";

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct BuildRecord {
    /// The digest of the cache file's bytes.
    pub(crate) written: Option<Hash>,
    pub(crate) looks: BTreeMap<String, TrackedInput>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TrackedInput {
    /// A file, and its content's digest.
    File(Hash, FileStamp),
    Directory(FileStamp),
    /// A place where nothing was.
    Absent,
    /// A path that could not be used; it is always checked again.
    Unusable(String),
    /// A value that is not a file.
    Value(Hash),
}

impl TrackedInput {
    /// Returns true if `path`, relative to the directory `root`, is certainly unchanged.
    fn is_unchanged(&self, root: &Dir, path: &str) -> bool {
        let is_still = |kind, stamp: &FileStamp| {
            root.entry(path, Links::Follow)
                .is_ok_and(|entry| entry.kind == kind && stamp.is_still(entry.stamp))
        };
        match self {
            Self::File(_, stamp) => is_still(FileKind::Regular, stamp),
            Self::Directory(stamp) => is_still(FileKind::Directory, stamp),
            // Not followed: a dangling link is not found when it is, but it is something.
            Self::Absent => root.entry(path, Links::Refuse).is_err_and(|error| is_absent(&error)),
            Self::Unusable(_) => false,
            Self::Value(_) => true,
        }
    }
}

/// Returns true if everything in the record `text` is certainly unchanged, below `root` and among `values`,
/// and the cache file has the digest `written`.
///
/// Reads no file and builds nothing: every hook does this.
pub(crate) fn all_unchanged(
    text: &str,
    root: &Path,
    values: &BTreeMap<String, TrackedInput>,
    written: Hash,
) -> bool {
    let Ok(root) = Dir::open(root, Links::Follow) else { return false };
    let Some(lines) = body(text) else { return false };
    let (mut same, mut seen) = (false, 0);
    for line in lines.lines() {
        match parsed(line) {
            Some(RecordLine::Written(digest)) => same = digest == written,
            Some(RecordLine::TrackedInput(path, look @ TrackedInput::Value(_))) => {
                if values.get(path) != Some(&look) {
                    return false;
                }
                seen += 1;
            }
            Some(RecordLine::TrackedInput(path, look)) if look.is_unchanged(&root, path) => {}
            _ => return false,
        }
    }
    same && seen == values.len()
}

impl BuildRecord {
    /// Returns the inputs among the checked paths.
    pub(crate) fn inputs(&self) -> BuildInputs {
        let mut inputs = BuildInputs::default();
        for (path, look) in &self.looks {
            match look {
                TrackedInput::File(digest, _) | TrackedInput::Value(digest) => {
                    inputs.insert(path.clone(), InputState::Bytes(*digest))
                }
                TrackedInput::Unusable(why) => inputs.insert(path.clone(), InputState::Unusable(why.clone())),
                TrackedInput::Directory(_) | TrackedInput::Absent => {}
            }
        }
        inputs
    }

    pub(crate) fn encode(&self) -> String {
        let mut out = format!("{FIRST}\n");
        if let Some(written) = &self.written {
            out += &format!("written\t{}\n", written.to_hex());
        }
        for (path, look) in &self.looks {
            let line = match look {
                TrackedInput::File(digest, stamp) => {
                    writeln!(out, "file\t{path}\t{}\t{}", digest.to_hex(), numbers(stamp))
                }
                TrackedInput::Directory(stamp) => writeln!(out, "directory\t{path}\t{}", numbers(stamp)),
                TrackedInput::Absent => writeln!(out, "absent\t{path}"),
                TrackedInput::Unusable(why) => writeln!(out, "unusable\t{path}\t{why}"),
                TrackedInput::Value(digest) => writeln!(out, "value\t{path}\t{}", digest.to_hex()),
            };
            line.expect("a string takes everything");
        }
        out + LAST + "\n"
    }

    /// The record in a file's text; `None` if it is damaged or of another format.
    pub(crate) fn decode(text: &str) -> Option<Self> {
        let mut record = Self::default();
        for line in body(text)?.lines() {
            match parsed(line)? {
                RecordLine::Written(digest) => record.written = Some(digest),
                RecordLine::TrackedInput(path, look) => {
                    record.looks.insert(path.to_owned(), look);
                }
            }
        }
        Some(record)
    }
}

enum RecordLine<'a> {
    Written(Hash),
    TrackedInput(&'a str, TrackedInput),
}

/// The lines between the first and the last.
fn body(text: &str) -> Option<&str> {
    text.strip_prefix(FIRST)?.strip_prefix('\n')?.strip_suffix("end\n")
}

fn parsed(line: &str) -> Option<RecordLine<'_>> {
    let mut fields = line.split('\t');
    let (kind, path) = (fields.next()?, fields.next()?);
    let look = match kind {
        "written" => return Some(RecordLine::Written(Hash::from_hex(path).ok()?)),
        "file" => TrackedInput::File(Hash::from_hex(fields.next()?).ok()?, stamp(&mut fields)?),
        "directory" => TrackedInput::Directory(stamp(&mut fields)?),
        "absent" => TrackedInput::Absent,
        "unusable" => TrackedInput::Unusable(fields.next()?.to_owned()),
        "value" => TrackedInput::Value(Hash::from_hex(fields.next()?).ok()?),
        _ => return None,
    };
    Some(RecordLine::TrackedInput(path, look))
}

fn numbers(stamp: &FileStamp) -> String {
    format!("{}\t{}\t{}\t{}", stamp.size, stamp.mtime, stamp.ctime, stamp.inode)
}

fn stamp<'a>(fields: &mut impl Iterator<Item = &'a str>) -> Option<FileStamp> {
    Some(FileStamp {
        size: fields.next()?.parse().ok()?,
        mtime: fields.next()?.parse().ok()?,
        ctime: fields.next()?.parse().ok()?,
        inode: fields.next()?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn build_record_round_trips_and_detects_corruption() {
        let digest = blake3::hash(b"x");
        let stamp = FileStamp { size: 1, mtime: -2, ctime: 3, inode: 4 };
        let looks = [
            ("a b.md", TrackedInput::File(digest, stamp)),
            ("dir", TrackedInput::Directory(stamp)),
            ("gone", TrackedInput::Absent),
            ("broken", TrackedInput::Unusable("it is a directory".into())),
            ("configuration", TrackedInput::Value(digest)),
        ];
        let record = BuildRecord {
            written: Some(digest),
            looks: looks.map(|(path, look)| (path.to_owned(), look)).into(),
        };
        let text = record.encode();
        assert_eq!(BuildRecord::decode(&text).unwrap(), record);
        assert_eq!(record.inputs().iter().count(), 3);
        for cut in 0..text.len() {
            assert_eq!(BuildRecord::decode(&text[..cut]), None, "cut at {cut}");
        }
    }
}
