//! Checks a client's list of changed files against the disk, without a sweep.

use std::collections::HashMap;
use std::fs::{Metadata, symlink_metadata};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use lockstep_store::StateDir;

use crate::IndexResult;
use crate::catalogue::Catalogue;
use crate::reported_writes;
use crate::stamp::{CatalogueStamp, arrived_after, status_time};

/// The state of a listed file on disk, compared with the catalogue and the accounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListedState {
    /// The file differs.
    Changed,
    /// The file does not exist.
    Missing,
    /// The file is as it was last reported, or as it was when the catalogue was taken.
    Known,
}

/// The state of a listed file on disk.
#[derive(Debug, Clone, Copy)]
pub struct CheckedFile {
    pub state: ListedState,
    stamp: CatalogueStamp,
}

/// Records that a checked file was reported. The next sweep finds later changes of it.
pub fn note(root: &Path, state: &StateDir, path: &Path, file: CheckedFile) -> IndexResult {
    reported_writes::append(root, state, path, file.stamp)
}

/// Returns the test whether a tool event reported a file (relative to `root`) in its present state.
pub fn reported_files(root: &Path, state: &StateDir) -> IndexResult<impl Fn(&Path) -> bool> {
    let (accounts, _) = reported_writes::read(state, 0)?;
    let last: HashMap<PathBuf, CatalogueStamp> =
        accounts.into_iter().map(|account| (account.path, account.stamp)).collect();
    let root = root.to_owned();
    Ok(move |path: &Path| {
        let now = symlink_metadata(root.join(path))
            .map_or_else(|_| CatalogueStamp::default(), |meta| CatalogueStamp::of(&meta));
        last.get(path).is_some_and(|stamp| stamp.same(&now))
    })
}

/// Compares files (absolute paths) with the catalogue and the accounts. `None` without a catalogue, or if a
/// path cannot be read.
///
/// A file that changed since the catalogue was taken has a later status time, so its stamp in the catalogue
/// is not needed.
pub fn check(root: &Path, state: &StateDir, paths: &[&Path]) -> IndexResult<Option<Vec<CheckedFile>>> {
    let Some(taken_at) = Catalogue::read_taken_at(state) else { return Ok(None) };
    let relative: Vec<&Path> = paths.iter().map(|path| path.strip_prefix(root).unwrap_or(path)).collect();
    let reported = reported_writes::last_stamps(state, &relative)?;
    let is_file = |meta: &Metadata| meta.is_file() || meta.is_symlink();
    let check = |(path, reported): (&&Path, Option<CatalogueStamp>)| match symlink_metadata(path) {
        Ok(meta) if is_file(&meta) => {
            let stamp = CatalogueStamp::of(&meta);
            let is_reported = reported.is_some_and(|last| last.same(&stamp));
            let is_known = is_reported || !arrived_after(&meta, taken_at);
            let state = if is_known { ListedState::Known } else { ListedState::Changed };
            Some(CheckedFile { state, stamp })
        }
        Err(error) if !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => None,
        Ok(_) | Err(_) => {
            let is_reported = reported == Some(CatalogueStamp::default());
            let parent = path.parent().and_then(|parent| symlink_metadata(parent).ok());
            let is_known = is_reported || parent.is_some_and(|meta| !arrived_after(&meta, taken_at));
            let state = if is_known { ListedState::Known } else { ListedState::Missing };
            Some(CheckedFile { state, stamp: CatalogueStamp::default() })
        }
    };
    Ok(paths.iter().zip(reported).map(check).collect())
}

/// The time of a file's last change, in nanoseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeTime {
    /// The file was last written or renamed at this time.
    At(i64),
    /// The file is missing. It was removed at this time or before: the time of the last change in its directory.
    Until(i64),
    /// The directory is missing too.
    Unknown,
}

impl ChangeTime {
    /// Reads the time of a file's last change from its status time.
    pub fn of(path: &Path) -> Self {
        if let Ok(meta) = symlink_metadata(path) {
            return Self::At(status_time(&meta));
        }
        let directory = path.parent().and_then(|parent| symlink_metadata(parent).ok());
        directory.map_or(Self::Unknown, |meta| Self::Until(status_time(&meta)))
    }

    /// Returns true if the change may have been made between `start` and `end`. Without an end, the span lasts until now.
    pub fn may_be_within(self, start: i64, end: Option<i64>) -> bool {
        match self {
            Self::At(time) => start <= time && end.is_none_or(|end| time <= end),
            Self::Until(time) => start <= time,
            Self::Unknown => true,
        }
    }
}
