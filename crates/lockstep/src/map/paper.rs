//! The document on disk: whether it is still the one that was written, and how another takes its place.

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use lockstep_map::digest::{Digester, digest};
use lockstep_map::record::Written;
use lockstep_map::redraw::Drawing;
use lockstep_store::write_atomically_from;

use super::copy::{self, CHUNK};
use super::place::Place;
use crate::error::{CommandError, Kind};
use crate::project::ActiveProject;

/// A file changed this shortly ago may be changed again within the same tick of the file system's clock.
const RACY_NANOS: u64 = 20_000_000;

/// What became of the document.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Paper {
    /// There is none.
    Missing,
    /// It is as it was written; this is what it is known by now.
    AsWritten(Written),
    /// It is another, or nobody knows what was written: this is its text.
    Other(String),
}

/// Looks at the document; `written` is what is remembered of it.
pub(super) fn look(place: &Place, written: Option<Written>) -> Result<Paper, CommandError> {
    let meta = match fs::symlink_metadata(&place.path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Paper::Missing),
        Err(error) => return Err(unreadable(place, &error.to_string())),
        Ok(meta) if !meta.is_file() => return Err(unreadable(place, "it is a link or no file")),
        Ok(meta) => meta,
    };
    let stamp = stamp(&meta);
    if let Some(written) = written.filter(|written| is_stamp_of(&stamp, written)) {
        return Ok(Paper::AsWritten(written));
    }
    let failed = |error: io::Error| unreadable(place, &error.to_string());
    if let Some(written) = written.filter(|written| written.size == stamp.size)
        && written.digest == digest_of(&place.path).map_err(failed)?
    {
        return Ok(Paper::AsWritten(Written { digest: written.digest, ..trusted(stamp) }));
    }
    let bytes = fs::read(&place.path).map_err(failed)?;
    // What is no UTF-8 is no map either, and is told as such.
    Ok(Paper::Other(String::from_utf8_lossy(&bytes).into_owned()))
}

fn unreadable(place: &Place, why: &str) -> CommandError {
    CommandError::new(Kind::Store, format!("cannot read the map {}: {why}", place.shown))
        .hint("remove it, or name another file in `[map] path`")
}

pub(super) fn stamp(meta: &Metadata) -> Written {
    let changed = meta
        .ctime()
        .cast_unsigned()
        .wrapping_mul(1_000_000_000)
        .wrapping_add(meta.ctime_nsec().cast_unsigned());
    Written { size: meta.len(), changed, inode: meta.ino(), digest: 0 }
}

/// Whether a file with this stamp is what was written, without a look into it.
pub(super) fn is_stamp_of(stamp: &Written, written: &Written) -> bool {
    written.changed != 0 && Written { digest: 0, ..*written } == *stamp
}

/// A stamp by which another content will be noticed: a time that is too young is left out.
fn trusted(stamp: Written) -> Written {
    let is_young = stamp.changed.saturating_add(RACY_NANOS) >= now();
    Written { changed: if is_young { 0 } else { stamp.changed }, ..stamp }
}

/// The digest of a file, which is not held in memory for it.
fn digest_of(path: &Path) -> io::Result<u64> {
    let mut file = File::open(path)?;
    let mut digester = Digester::default();
    let mut buffer = Vec::with_capacity(CHUNK);
    loop {
        copy::read_chunk(&mut file, &mut buffer)?;
        digester.add(&buffer);
        if buffer.len() < CHUNK {
            return Ok(digester.finish());
        }
    }
}

/// Reads from the document.
pub(super) fn former(place: &Place) -> impl Fn(Range<u64>) -> Option<Vec<u8>> + use<> {
    let file = File::open(&place.path).ok();
    move |range| {
        let mut bytes = vec![0; usize::try_from(range.end.checked_sub(range.start)?).ok()?];
        file.as_ref()?.read_exact_at(&mut bytes, range.start).ok()?;
        Some(bytes)
    }
}

/// What takes the place of a document.
pub(super) enum Sheet<'a> {
    /// A text.
    Whole(&'a str),
    /// A drawing on what was written last.
    Drawn(&'a Drawing, Written),
}

/// Puts something in the place of the document, whole or not at all, and gives its stamp; `None` where it was drawn on something
/// that is no longer there. Until it is written, the former one is kept as `.bak` too, where `keep` says so.
pub(super) fn write(
    project: &ActiveProject,
    place: &Place,
    sheet: &Sheet<'_>,
    keep: bool,
) -> Result<Option<Written>, CommandError> {
    let failed = |doing: &str, path: &Path, error: io::Error| {
        CommandError::new(Kind::Store, format!("cannot {doing} {}: {error}", path.display()))
    };
    let parent = place.path.parent().unwrap_or(&project.root);
    let staging = project.state.ensure("map")?;
    fs::create_dir_all(parent).map_err(|error| failed("create", parent, error))?;
    let real = parent.canonicalize().map_err(|error| failed("look at", parent, error))?;
    let root = project.root.canonicalize().map_err(|error| failed("look at", &project.root, error))?;
    if !real.starts_with(&root) {
        let message =
            format!("the map {} is not written: a link on the way leads out of the project", place.shown);
        return Err(CommandError::new(Kind::Store, message).hint("name another file in `[map] path`"));
    }
    let backup = backup(&place.path);
    if keep && place.path.exists() {
        keep_as(&place.path, &backup).map_err(|error| failed("write", &backup, error))?;
    }
    let digest = match sheet {
        Sheet::Whole(text) => {
            write_atomically_from(&staging, &place.path, text.as_bytes(), 0o644)?;
            digest(text.as_bytes())
        }
        Sheet::Drawn(drawing, written) => {
            let drawn = copy::draw(&staging, &place.path, drawing, written);
            match drawn.map_err(|error| failed("write", &place.path, error))? {
                Some(digest) => digest,
                None => return Ok(None),
            }
        }
    };
    // Also one that a killed process left.
    let _ = fs::remove_file(&backup);
    let meta = fs::symlink_metadata(&place.path).map_err(|error| failed("look at", &place.path, error))?;
    Ok(Some(Written { digest, ..trusted(stamp(&meta)) }))
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

fn backup(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".bak");
    PathBuf::from(name)
}

/// Another name for the same file, or where the disk knows no such thing, a copy. The file itself stays where it is.
fn keep_as(path: &Path, backup: &Path) -> io::Result<()> {
    let _ = fs::remove_file(backup);
    fs::hard_link(path, backup).or_else(|_| fs::copy(path, backup).map(drop))
}
