//! The changes that tool events reported: one appended line with the stamp of each file right after its tool
//! wrote it.
//!
//! A sweep treats these changes as known; otherwise it would find every edit a second time. Comparing times
//! instead would miss a second change within the same second.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use lockstep_model::path::{escape_into, unescape};
use lockstep_store::{StateDir, append_once};

use crate::IndexError;
use crate::stamp::Stamp;

/// The state of a file right after a tool event.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Account {
    /// Relative to the root.
    pub(crate) path: PathBuf,
    pub(crate) stamp: Stamp,
}

pub(crate) fn file(state: &StateDir) -> PathBuf {
    state.index().join("accounts")
}

impl Account {
    /// Returns true if the event reported that the file was deleted.
    pub(crate) fn is_removal(&self) -> bool {
        self.stamp == Stamp::default()
    }
}

/// Records that a tool event reported `path` (absolute) in its present state. Does nothing for a path outside
/// `root` or a deleted file.
pub fn note(root: &Path, state: &StateDir, path: &Path) -> Result<(), IndexError> {
    match fs::symlink_metadata(path) {
        Ok(meta) => append(root, state, path, Stamp::of(&meta)),
        Err(_) => Ok(()),
    }
}

/// Notes that a tool event reported `path` (absolute) in the state of `stamp`. The default stamp is that of a deleted file.
pub(crate) fn append(root: &Path, state: &StateDir, path: &Path, stamp: Stamp) -> Result<(), IndexError> {
    let Some(relative) = relative(root, path) else { return Ok(()) };
    state.ensure_dir("index")?;
    let mut line = format!("{}\t{}\t{}\t", stamp.size, stamp.mtime, stamp.inode).into_bytes();
    escape_into(&mut line, &relative);
    line.push(b'\n');
    append_once(&file(state), &line)?;
    Ok(())
}

/// Returns `path` relative to `root`, also if one of them goes through a symbolic link.
fn relative(root: &Path, path: &Path) -> Option<PathBuf> {
    if let Ok(relative) = path.strip_prefix(root) {
        return Some(relative.to_owned());
    }
    let real = path.parent()?.canonicalize().ok()?.join(path.file_name()?);
    Some(real.strip_prefix(root.canonicalize().ok()?).ok()?.to_owned())
}

/// Returns the accounts after the first `from` bytes, and the offset of their end.
pub(crate) fn read(state: &StateDir, from: u64) -> Result<(Vec<Account>, u64), IndexError> {
    let path = file(state);
    let bytes = match lockstep_fs::read_up_to(&path, lockstep_fs::MAX_STATE_BYTES) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok((Vec::new(), 0)),
        Err(error) => return Err(IndexError::io("read", &path)(error)),
    };
    // A file shorter than before was rewritten from the start.
    let from = usize::try_from(from).ok().filter(|from| *from <= bytes.len()).unwrap_or(0);
    let end = bytes.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1).max(from);
    let accounts = bytes[from..end].split(|b| *b == b'\n').filter_map(parse).collect();
    Ok((accounts, end as u64))
}

/// Returns the size of the log in bytes.
pub(crate) fn size(state: &StateDir) -> u64 {
    fs::metadata(file(state)).map_or(0, |meta| meta.len())
}

/// Deletes the log. Only valid after its content was saved in a catalogue.
pub(crate) fn clear(state: &StateDir) -> Result<(), IndexError> {
    let path = file(state);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(IndexError::io("remove", &path)(error)),
        _ => Ok(()),
    }
}

fn parse(line: &[u8]) -> Option<Account> {
    let mut columns = line.splitn(4, |b| *b == b'\t');
    let mut number = || std::str::from_utf8(columns.next()?).ok();
    let size = number()?.parse().ok()?;
    let mtime = number()?.parse().ok()?;
    let inode = number()?.parse().ok()?;
    let path = unescape(columns.next()?);
    Some(Account { path, stamp: Stamp { size, mtime, inode, digest: 0 } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_are_read_from_where_the_last_reading_ended() {
        let root = tempfile::tempdir().unwrap();
        let state = StateDir::for_project(root.path());
        assert_eq!(read(&state, 0).unwrap(), (Vec::new(), 0));
        let file = root.path().join("a\tb\n");
        fs::write(&file, "x").unwrap();
        note(root.path(), &state, &file).unwrap();
        note(root.path(), &state, Path::new("/elsewhere")).unwrap();
        note(root.path(), &state, &root.path().join("gone")).unwrap();
        let (accounts, end) = read(&state, 0).unwrap();
        assert_eq!(accounts.len(), 1);
        assert_eq!(accounts[0].path, Path::new("a\tb\n"));
        assert_eq!(accounts[0].stamp, Stamp::of(&fs::metadata(&file).unwrap()));
        assert_eq!(read(&state, end).unwrap(), (Vec::new(), end));
        let alias = tempfile::tempdir().unwrap();
        lockstep_fs::symlink(root.path(), alias.path().join("link")).unwrap();
        note(root.path(), &state, &alias.path().join("link/a\tb\n")).unwrap();
        assert_eq!(read(&state, end).unwrap().0[0].path, Path::new("a\tb\n"));
        clear(&state).unwrap();
        note(root.path(), &state, &root.path().join("a\tb\n")).unwrap();
        assert_eq!(read(&state, end + 5).unwrap().0.len(), 1, "a new file is read from its start");
    }
}
