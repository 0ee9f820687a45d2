//! The sweep: finds changes on disk that no tool event reported.

use std::fs::symlink_metadata;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lockstep_fs::{FileLock, is_absent};
use lockstep_model::change::ChangeKind;
use lockstep_store::StateDir;

use crate::catalogue::{Catalogue, CataloguedDirectory};
use crate::catalogue_diff::diff;
use crate::catalogue_scan::{ScanResult, build, refresh};
use crate::reported_writes::ReportedWrite;
use crate::scope::{has_blocked_rules, walk};
use crate::stamp::{CatalogueStamp, arrived_after, status_time};
use crate::{IndexError, IndexResult, reported_writes};

/// The maximum wait for another sweep. A sweep takes tens of milliseconds.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SweepOutcome {
    /// The number of changes from the catalogue.
    Found(usize),
    /// There was no catalogue to compare with, so one was created.
    NoBaseline,
}

/// Fewer accounts than this are read again instead of being saved in the catalogue.
const MAX_PENDING_REPORTS: usize = 64;

/// Finds changes that no tool event reported, and passes them (absolute paths) to `report`. They count as
/// known only after `report` succeeded: if the process dies before, the next sweep finds them again.
///
/// Without a catalogue, `first` returns the changes, by paths relative to the root. Files that are `pending`
/// (absolute paths) are left to the next sweep, because an event that is in progress reports them. A file that an
/// ignore rule no longer excludes is reported if it was written after `since`, in nanoseconds since 1970, or after
/// the last sweep; `since` is asked for such files only.
pub fn sweep<E: From<IndexError>>(
    root: &Path,
    state: &StateDir,
    since: impl Fn() -> i64,
    first: impl FnOnce(&Catalogue) -> Vec<(PathBuf, ChangeKind)>,
    is_pending: impl Fn(&Path) -> bool,
    report: impl FnOnce(Vec<(PathBuf, ChangeKind)>) -> Result<(), E>,
) -> Result<SweepOutcome, E> {
    let _lock = lock(state)?;
    let Some(mut old) = Catalogue::load(state)? else {
        let (accounts, accounts_read) = reported_writes::read(state, 0)?;
        let catalogue = Catalogue { accounts_read, ..build(root) };
        let is_accounted = |path: &Path| {
            let now = catalogue.get(path);
            let is_same = |reported_write: &ReportedWrite| {
                now.map_or(reported_write.is_removal(), |now| reported_write.stamp.same(&now))
            };
            accounts.iter().rev().any(|account| account.path == path && is_same(account))
        };
        let found = first(&catalogue).into_iter().filter(|(path, _)| !is_accounted(path));
        let found: Vec<_> = found.map(|(path, kind)| (root.join(path), absolute(root, kind))).collect();
        if !found.is_empty() {
            report(found)?;
        }
        catalogue.save(state)?;
        return Ok(SweepOutcome::NoBaseline);
    };
    let looked = look(root, state, &old)?;
    // Most commands change nothing: then nothing is compared, copied or written.
    if looked.is_unchanged(&old) {
        return Ok(SweepOutcome::Found(0));
    }
    let DiskState { refreshed, accounts, accounts_read } = looked;
    let mut new = Catalogue { accounts_read, ..refreshed.catalogue(&old) };
    let stale = (old.accounts_read, &old.directories) != (new.accounts_read, &new.directories);
    // Added and removed entries are listed again by every sweep until the catalogue has them.
    let listed = !old.directories.iter().map(times).eq(new.directories.iter().map(times));
    let few = accounts.len() < MAX_PENDING_REPORTS;
    for account in accounts {
        if account.is_removal() {
            old.remove(&account.path);
        } else if new.has(&account.path) || old.has(&account.path) {
            // A file in neither catalogue is ignored by git.
            old.set(&account.path, account.stamp);
        }
    }
    let differences = diff(&old, &new);
    // All that changed was accounted for. As long as that is little, the next sweep can read it again sooner than this one can write.
    if few && !listed && differences.is_empty() {
        return Ok(SweepOutcome::Found(0));
    }
    let mut found = Vec::new();
    for (path, kind) in differences {
        match old.get(&path) {
            // A file that can no longer be read is not deleted: its stamp stays.
            Some(stamp) if kind == ChangeKind::Deleted && is_unreadable(root, &path) => new.set(&path, stamp),
            // A stamp that no file has makes the next sweep check the file again.
            known if is_content(&kind) && is_pending(&root.join(&path)) => {
                new.set(&path, known.unwrap_or_default());
            }
            _ if is_content_change(root, &path, &kind, || old.taken_at.min(since())) => {
                found.push((root.join(path), absolute(root, kind)));
            }
            _ => {}
        }
    }
    // Two catalogues of a large project take more memory than the rest of a hook.
    drop(old);
    let count = found.len();
    if count > 0 {
        report(found)?;
    }
    if stale {
        new.save(state)?;
    }
    Ok(SweepOutcome::Found(count))
}

/// Returns true for the kinds of changes that file tools make.
fn is_content(kind: &ChangeKind) -> bool {
    matches!(kind, ChangeKind::Written | ChangeKind::Created)
}

/// Returns the time that shows whether entries were added to a directory or removed.
fn times(directory: &CataloguedDirectory) -> (&Path, i64) {
    (&directory.path, directory.mtime)
}

/// The state of the disk, and the accounts that existed before it was read.
struct DiskState {
    refreshed: ScanResult,
    accounts: Vec<ReportedWrite>,
    accounts_read: u64,
}

impl DiskState {
    fn is_unchanged(&self, old: &Catalogue) -> bool {
        matches!(self.refreshed, ScanResult::Unchanged { .. })
            && self.accounts.is_empty()
            && self.accounts_read == old.accounts_read
    }
}

/// Reads the disk, together with the accounts that existed before. If a tool event arrives in between, reads
/// again. Among many events without a pause, the last read is used, and a change may be found twice.
fn look(root: &Path, state: &StateDir, old: &Catalogue) -> IndexResult<DiskState> {
    let mut tries = 0;
    loop {
        let (accounts, accounts_read) = reported_writes::read(state, old.accounts_read)?;
        let refreshed = refresh(root, old);
        tries += 1;
        if tries == 3 || reported_writes::size(state) == accounts_read {
            return Ok(DiskState { refreshed, accounts, accounts_read });
        }
    }
}

/// Saves the present tree as known. Earlier changes are not attributed to an agent.
pub fn baseline(root: &Path, state: &StateDir) -> IndexResult<Catalogue> {
    let _lock = lock(state)?;
    let catalogue = match Catalogue::load(state)? {
        Some(old) => refresh(root, &old).catalogue(&old),
        None => build(root),
    };
    reported_writes::clear(state)?;
    catalogue.save(state)?;
    Ok(catalogue)
}

/// Returns the present tree. If there is no catalogue yet, it is saved as the catalogue. An existing
/// catalogue is not replaced, because it may have differences that no sweep has found.
pub fn present(root: &Path, state: &StateDir) -> IndexResult<Catalogue> {
    let _lock = lock(state)?;
    if let Some(old) = Catalogue::load(state)? {
        return Ok(refresh(root, &old).catalogue(&old));
    }
    let catalogue = build(root);
    reported_writes::clear(state)?;
    catalogue.save(state)?;
    Ok(catalogue)
}

/// More entries of a directory outside the scope are not checked.
const MAX_UNREAD_ENTRIES: usize = 20_000;

/// Returns the time when a file or directory below `start`, which is outside the scope, was last written, in
/// nanoseconds since 1970.
pub fn newest_change(start: &Path) -> Option<i64> {
    let entries = walk(start).build().take(MAX_UNREAD_ENTRIES);
    entries.filter_map(|entry| Some(CatalogueStamp::of(&entry.ok()?.metadata().ok()?).mtime)).max()
}

/// Returns the time when a file outside the scope was written or renamed, in nanoseconds since 1970; that of
/// the nearest existing parent directory if the file does not exist.
pub fn last_write(path: &Path) -> Option<i64> {
    if let Ok(meta) = std::fs::metadata(path) {
        return Some(status_time(&meta));
    }
    path.ancestors()
        .skip(1)
        .find_map(|parent| symlink_metadata(parent).ok())
        .map(|meta| CatalogueStamp::of(&meta).mtime)
}

/// Returns the number of files that differ from the catalogue, reported or not. `None` without a catalogue.
/// Changes nothing.
pub fn drift(root: &Path, state: &StateDir) -> IndexResult<Option<usize>> {
    let Some(old) = Catalogue::load(state)? else { return Ok(None) };
    Ok(Some(diff(&old, &refresh(root, &old).catalogue(&old)).len()))
}

/// Returns true if the file's content changed. Files that only entered or left the scope because an ignore
/// rule changed are not reported.
fn is_content_change(root: &Path, path: &Path, kind: &ChangeKind, since: impl Fn() -> i64) -> bool {
    let meta = || symlink_metadata(root.join(path));
    match kind {
        ChangeKind::Deleted => meta().is_err(),
        ChangeKind::Created => meta().is_ok_and(|meta| arrived_after(&meta, since())),
        _ => true,
    }
}

/// Returns true if it cannot be determined whether the file exists.
fn is_unreadable(root: &Path, path: &Path) -> bool {
    let closed = |directory: &Path| directory != Path::new("") && has_blocked_rules(&root.join(directory));
    symlink_metadata(root.join(path))
        .map_or_else(|error| !is_absent(&error), |_| path.ancestors().skip(1).any(closed))
}

fn absolute(root: &Path, kind: ChangeKind) -> ChangeKind {
    match kind {
        ChangeKind::RenamedTo(path) => ChangeKind::RenamedTo(root.join(path)),
        ChangeKind::RenamedFrom(path) => ChangeKind::RenamedFrom(root.join(path)),
        other => other,
    }
}

/// Locks out other sweeps, because two would report the same change. The lock ends with its process.
fn lock(state: &StateDir) -> IndexResult<FileLock> {
    let path = state.ensure_dir("index")?.join("catalogue.lock");
    let lock = FileLock::acquire(&path, LOCK_TIMEOUT).map_err(IndexError::io("lock", &path))?;
    lock.ok_or(IndexError::Busy { path, seconds: LOCK_TIMEOUT.as_secs() })
}
