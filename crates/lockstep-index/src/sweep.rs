//! The sweep: finds what changed on disk and no tool event reported.

use std::fs::{File, TryLockError, symlink_metadata};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use lockstep_model::change::ChangeKind;
use lockstep_store::{StateDir, open_private};

use crate::accounts::Account;
use crate::catalogue::{Catalogue, Directory};
use crate::difference::differences;
use crate::refresh::{Refreshed, build, refresh};
use crate::stamp::arrived_after;
use crate::{IndexError, accounts};

/// How long a sweep waits for another one. A sweep takes tens of milliseconds.
const PATIENCE: Duration = Duration::from_secs(2);

/// How a sweep ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Swept {
    /// This many changes were found against the catalogue.
    Found(usize),
    /// There was no catalogue to compare with: one was made.
    NoBaseline,
}

/// So few accounts are read again rather than written into the catalogue.
const FEW: usize = 64;

/// Finds changes that no tool event reported and gives them (absolute paths) to `report`. Only when that has succeeded they count as
/// known: a process that dies in between leaves them for the next sweep.
///
/// Without a catalogue, `first` says what changed, by paths relative to the root.
pub fn sweep<E: From<IndexError>>(
    root: &Path,
    state: &StateDir,
    first: impl FnOnce(&Catalogue) -> Vec<(PathBuf, ChangeKind)>,
    report: impl FnOnce(Vec<(PathBuf, ChangeKind)>) -> Result<(), E>,
) -> Result<Swept, E> {
    let _lock = lock(state)?;
    let Some(mut old) = Catalogue::load(state)? else {
        let (accounts, accounts_read) = accounts::read(state, 0)?;
        let catalogue = Catalogue { accounts_read, ..build(root) };
        let is_accounted = |path: &Path| {
            let now = catalogue.get(path);
            accounts.iter().rev().any(|it| it.path == path && now.is_some_and(|now| it.stamp.same(&now)))
        };
        let found = first(&catalogue).into_iter().filter(|(path, _)| !is_accounted(path));
        let found: Vec<_> = found.map(|(path, kind)| (root.join(path), absolute(root, kind))).collect();
        if !found.is_empty() {
            report(found)?;
        }
        catalogue.save(state)?;
        return Ok(Swept::NoBaseline);
    };
    let looked = look(root, state, &old)?;
    // Most commands change nothing: then nothing is compared, copied or written.
    if looked.is_no_news(&old) {
        return Ok(Swept::Found(0));
    }
    let Looked { refreshed, accounts, accounts_read } = looked;
    let mut new = Catalogue { accounts_read, ..refreshed.catalogue(&old) };
    let stale = (old.accounts_read, &old.directories) != (new.accounts_read, &new.directories);
    // What came or went is listed anew by every sweep until it is in the catalogue.
    let listed = !old.directories.iter().map(times).eq(new.directories.iter().map(times));
    let few = accounts.len() < FEW;
    for account in accounts {
        // What is in neither is ignored by git.
        if new.has(&account.path) || old.has(&account.path) {
            old.set(&account.path, account.stamp);
        }
    }
    let differences = differences(&old, &new);
    // All that changed was accounted for. As long as that is little, the next sweep can read it again sooner than this one can write.
    if few && !listed && differences.is_empty() {
        return Ok(Swept::Found(0));
    }
    let mut found = Vec::new();
    for (path, kind) in differences {
        match old.get(&path) {
            // What may not be looked at any more is not gone: it stays as it was.
            Some(stamp) if kind == ChangeKind::Deleted && is_hidden(root, &path) => new.set(&path, stamp),
            _ if is_news(root, &path, &kind, old.taken_at) => {
                found.push((root.join(path), absolute(root, kind)));
            }
            _ => {}
        }
    }
    let count = found.len();
    if count > 0 {
        report(found)?;
    }
    if stale {
        new.save(state)?;
    }
    Ok(Swept::Found(count))
}

/// What tells whether something came into a directory or left it.
fn times(directory: &Directory) -> (&Path, i64) {
    (&directory.path, directory.mtime)
}

/// The disk, and what tool events had accounted for before it was looked at.
struct Looked {
    refreshed: Refreshed,
    accounts: Vec<Account>,
    accounts_read: u64,
}

impl Looked {
    fn is_no_news(&self, old: &Catalogue) -> bool {
        matches!(self.refreshed, Refreshed::AsBefore { .. })
            && self.accounts.is_empty()
            && self.accounts_read == old.accounts_read
    }
}

/// Looks at the disk, with the accounts that were there before the look. Where a tool event comes in between, the look is
/// taken again; among many events without a pause the last look counts, and a change may be found twice.
fn look(root: &Path, state: &StateDir, old: &Catalogue) -> Result<Looked, IndexError> {
    let mut tries = 0;
    loop {
        let (accounts, accounts_read) = accounts::read(state, old.accounts_read)?;
        let refreshed = refresh(root, old);
        tries += 1;
        if tries == 3 || accounts::size(state) == accounts_read {
            return Ok(Looked { refreshed, accounts, accounts_read });
        }
    }
}

/// Takes the tree as it is for known: what changed until now was no agent's doing.
pub fn baseline(root: &Path, state: &StateDir) -> Result<Catalogue, IndexError> {
    let _lock = lock(state)?;
    let catalogue = match Catalogue::load(state)? {
        Some(old) => refresh(root, &old).catalogue(&old),
        None => build(root),
    };
    accounts::clear(state)?;
    catalogue.save(state)?;
    Ok(catalogue)
}

/// How many files differ from the catalogue now, reported or not; `None` without a catalogue. Changes nothing.
pub fn drift(root: &Path, state: &StateDir) -> Result<Option<usize>, IndexError> {
    let Some(old) = Catalogue::load(state)? else { return Ok(None) };
    Ok(Some(differences(&old, &refresh(root, &old).catalogue(&old)).len()))
}

/// When ignore rules change, files come into scope and leave it without having changed.
fn is_news(root: &Path, path: &Path, kind: &ChangeKind, since: i64) -> bool {
    let meta = || symlink_metadata(root.join(path));
    match kind {
        ChangeKind::Deleted => meta().is_err(),
        ChangeKind::Created => meta().is_ok_and(|meta| arrived_after(&meta, since)),
        _ => true,
    }
}

/// Whether it cannot be said if there is a file.
fn is_hidden(root: &Path, path: &Path) -> bool {
    let gone = |error: &io::Error| matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory);
    symlink_metadata(root.join(path)).is_err_and(|error| !gone(&error))
}

fn absolute(root: &Path, kind: ChangeKind) -> ChangeKind {
    match kind {
        ChangeKind::RenamedTo(path) => ChangeKind::RenamedTo(root.join(path)),
        ChangeKind::RenamedFrom(path) => ChangeKind::RenamedFrom(root.join(path)),
        other => other,
    }
}

/// One sweep at a time: two would report the same change. The lock goes with its process.
fn lock(state: &StateDir) -> Result<File, IndexError> {
    let path = state.ensure("index")?.join("catalogue.lock");
    let file = open_private(&path).map_err(IndexError::io("open", &path))?;
    let start = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if start.elapsed() < PATIENCE => {
                std::thread::sleep(Duration::from_millis(2));
            }
            Err(TryLockError::WouldBlock) => {
                return Err(IndexError::Busy { path, seconds: PATIENCE.as_secs() });
            }
            Err(TryLockError::Error(error)) => return Err(IndexError::io("lock", &path)(error)),
        }
    }
}
