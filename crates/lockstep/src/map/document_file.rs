//! The document on disk: detects changes since it was written, and replaces it.

use std::fs::{self, Metadata};
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::path::Path;

use lockstep_fs::{FileStamp, PositionedIo as _, RACY_NANOS, write_atomically_from};
use lockstep_map::document::is_generated;
use lockstep_map::fast_hash::{Digester, digest};
use lockstep_map::incremental_render::DocumentPatch;
use lockstep_map::record::DocumentStamp;
use lockstep_store::confine;

use super::patch_writer::{self, CHUNK};
use super::settings::MapSettings;
use crate::error::{CommandError, CommandResult};
use crate::project::ActiveProject;

/// The name of the former document in `.lockstep/map` while a new one is written.
const BACKUP: &str = "codebase-map.md.bak";

#[derive(Debug, PartialEq, Eq)]
pub(super) enum DocumentState {
    Missing,
    /// Unchanged since it was written; this is its current stamp.
    Unmodified(DocumentStamp),
    /// Changed, or unknown: this is its text.
    Modified(String),
}

/// Reads the state of the document; `written` is its saved state.
pub(super) fn read_state(
    place: &MapSettings,
    written: Option<DocumentStamp>,
) -> CommandResult<DocumentState> {
    let meta = match fs::symlink_metadata(&place.path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(DocumentState::Missing),
        Err(error) => return Err(unreadable(place, &error.to_string())),
        Ok(meta) if !meta.is_file() => return Err(unreadable(place, "it is a link or no file")),
        Ok(meta) => meta,
    };
    let stamp = stamp(&meta);
    if let Some(written) = written.filter(|written| is_stamp_of(&stamp, written)) {
        return Ok(DocumentState::Unmodified(written));
    }
    let failed = |error: io::Error| unreadable(place, &error.to_string());
    if let Some(written) = written.filter(|written| written.size == stamp.size)
        && written.digest == digest_of(&place.path).map_err(failed)?
    {
        return Ok(DocumentState::Unmodified(DocumentStamp {
            digest: written.digest,
            ..without_racy_time(stamp)
        }));
    }
    let bytes = lockstep_fs::read_up_to(&place.path, lockstep_fs::MAX_STATE_BYTES).map_err(failed)?;
    // Text that is not UTF-8 is not a map, and the check reports it.
    let text = String::from_utf8_lossy(&bytes).into_owned();
    if place.is_configured && !text.is_empty() && !is_generated(&text) {
        return Err(CommandError::store(format!(
            "{} is not a codebase map; it is not replaced",
            place.shown
        ))
        .hint("move it away, or name another file in `[map] path`"));
    }
    Ok(DocumentState::Modified(text))
}

fn unreadable(place: &MapSettings, why: &str) -> CommandError {
    CommandError::store(format!("cannot read the map {}: {why}", place.shown))
        .hint("remove it, or name another file in `[map] path`")
}

pub(super) fn stamp(meta: &Metadata) -> DocumentStamp {
    let FileStamp { size, ctime, inode, .. } = FileStamp::from(meta);
    DocumentStamp { size, changed: ctime.cast_unsigned(), inode, digest: 0 }
}

/// Returns true if a file with this stamp is the written one, without reading it.
pub(super) fn is_stamp_of(stamp: &DocumentStamp, written: &DocumentStamp) -> bool {
    written.changed != 0 && DocumentStamp { digest: 0, ..*written } == *stamp
}

/// A stamp that changes with the content: a racy time is omitted.
fn without_racy_time(stamp: DocumentStamp) -> DocumentStamp {
    let is_young = stamp.changed.cast_signed() >= lockstep_fs::now() - RACY_NANOS;
    DocumentStamp { changed: if is_young { 0 } else { stamp.changed }, ..stamp }
}

/// The digest of a file, which is not held in memory for it.
fn digest_of(path: &Path) -> io::Result<u64> {
    let mut file = lockstep_fs::open(path)?;
    let mut digester = Digester::default();
    let mut buffer = Vec::with_capacity(CHUNK);
    loop {
        patch_writer::read_chunk(&mut file, &mut buffer)?;
        digester.add(&buffer);
        if buffer.len() < CHUNK {
            return Ok(digester.finish());
        }
    }
}

/// Reads from the document.
pub(super) fn range_reader(place: &MapSettings) -> impl Fn(Range<u64>) -> Option<Vec<u8>> + use<> {
    let file = lockstep_fs::open(&place.path).ok();
    move |range| {
        let mut bytes = vec![0; usize::try_from(range.end.checked_sub(range.start)?).ok()?];
        file.as_ref()?.read_exact_at(&mut bytes, range.start).ok()?;
        Some(bytes)
    }
}

pub(super) enum NewDocument<'a> {
    Full(&'a str),
    /// A patch of the document that was written last.
    Patched(&'a DocumentPatch, DocumentStamp),
}

/// Replaces the document atomically and returns its stamp. `None` if the drawing was based on a document that
/// has changed.
///
/// With `keep`, the old document stays in `.lockstep/map` until the new one is written.
pub(super) fn write(
    project: &ActiveProject,
    place: &MapSettings,
    new: &NewDocument<'_>,
    keep: bool,
) -> CommandResult<Option<DocumentStamp>> {
    let failed = |doing: &str, path: &Path, error: io::Error| {
        CommandError::store(format!("cannot {doing} {}: {error}", path.display()))
    };
    let parent = place.path.parent().unwrap_or(&project.root);
    if let Err(refusal) = confine(&project.root, parent) {
        let message = format!(
            "the map {} is not written: a link on the way points outside the project, or elsewhere in it: {refusal}",
            place.shown
        );
        return Err(CommandError::store(message).hint("name another file in `[map] path`"));
    }
    let staging = project.state.ensure_dir("map")?;
    fs::create_dir_all(parent).map_err(|error| failed("create", parent, error))?;
    let backup = staging.join(BACKUP);
    if keep && place.path.exists() {
        link_backup(&place.path, &backup).map_err(|error| failed("write", &backup, error))?;
    }
    let digest = match new {
        NewDocument::Full(text) => {
            write_atomically_from(&staging, &place.path, text.as_bytes(), 0o644)?;
            digest(text.as_bytes())
        }
        NewDocument::Patched(drawing, written) => {
            let drawn = patch_writer::write_patched(&staging, &place.path, drawing, written);
            match drawn.map_err(|error| failed("write", &place.path, error))? {
                Some(digest) => digest,
                None => return Ok(None),
            }
        }
    };
    // Also one that a killed process left.
    let _ = fs::remove_file(&backup);
    let meta = fs::symlink_metadata(&place.path).map_err(|error| failed("look at", &place.path, error))?;
    Ok(Some(DocumentStamp { digest, ..without_racy_time(stamp(&meta)) }))
}

/// Copies a file, or creates a hard link if the disk supports it.
fn link_backup(path: &Path, backup: &Path) -> io::Result<()> {
    let _ = fs::remove_file(backup);
    fs::hard_link(path, backup).or_else(|_| fs::copy(path, backup).map(drop))
}
