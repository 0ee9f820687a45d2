//! The changes that tool events reported: one appended line with the stamp of each file right after its tool
//! wrote it.
//!
//! A sweep treats these changes as known; otherwise it would find every edit a second time. Comparing times
//! instead would miss a second change within the same second.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use lockstep_model::path::{escape_into, unescape};
use lockstep_store::{StateDir, append_once};

use crate::stamp::CatalogueStamp;
use crate::{IndexError, IndexResult};

/// The state of a file right after a tool event.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ReportedWrite {
    /// Relative to the root.
    pub(crate) path: PathBuf,
    pub(crate) stamp: CatalogueStamp,
}

pub(crate) fn file(state: &StateDir) -> PathBuf {
    state.index().join("accounts")
}

impl ReportedWrite {
    /// Returns true if the event reported that the file was deleted.
    pub(crate) fn is_removal(&self) -> bool {
        self.stamp == CatalogueStamp::default()
    }
}

/// Records that a tool event reported `path` (absolute) in its present state. Does nothing for a path outside
/// `root` or a deleted file.
pub fn record(root: &Path, state: &StateDir, path: &Path) -> IndexResult {
    match fs::symlink_metadata(path) {
        Ok(meta) => append(root, state, path, CatalogueStamp::of(&meta)),
        Err(_) => Ok(()),
    }
}

/// Notes that a tool event reported `path` (absolute) in the state of `stamp`. The default stamp is that of a deleted file.
pub(crate) fn append(root: &Path, state: &StateDir, path: &Path, stamp: CatalogueStamp) -> IndexResult {
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
pub(crate) fn read(state: &StateDir, from: u64) -> IndexResult<(Vec<ReportedWrite>, u64)> {
    let bytes = read_bytes(state)?;
    // A file shorter than before was rewritten from the start.
    let from = usize::try_from(from).ok().filter(|from| *from <= bytes.len()).unwrap_or(0);
    let end = complete_lines(&bytes).len().max(from);
    let accounts = bytes[from..end].split(|b| *b == b'\n').filter_map(parse).collect();
    Ok((accounts, end as u64))
}

/// Returns the stamp of the last account of each of `paths` (relative to the root), in their order. Lines of
/// other files are not parsed: the log of a long session is large, and a command changes few files.
pub(crate) fn last_stamps(state: &StateDir, paths: &[&Path]) -> IndexResult<Vec<Option<CatalogueStamp>>> {
    let escaped = |path: &&Path| {
        let mut bytes = Vec::new();
        escape_into(&mut bytes, path);
        bytes
    };
    let wanted: Vec<Vec<u8>> = paths.iter().map(escaped).collect();
    let mut last: BTreeMap<&[u8], Option<CatalogueStamp>> =
        wanted.iter().map(|path| (path.as_slice(), None)).collect();
    for line in complete_lines(&read_bytes(state)?).split(|b| *b == b'\n') {
        let column = line.splitn(4, |b| *b == b'\t').nth(3);
        if let Some(stamp) = column.and_then(|path| last.get_mut(path))
            && let Some(account) = parse(line)
        {
            *stamp = Some(account.stamp);
        }
    }
    Ok(wanted.iter().map(|path| last[path.as_slice()]).collect())
}

fn read_bytes(state: &StateDir) -> IndexResult<Vec<u8>> {
    let path = file(state);
    match lockstep_fs::read_up_to(&path, lockstep_fs::MAX_STATE_BYTES) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        bytes => bytes.map_err(IndexError::io("read", &path)),
    }
}

/// The last line may still be being written.
fn complete_lines(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1)]
}

pub(crate) fn size(state: &StateDir) -> u64 {
    fs::metadata(file(state)).map_or(0, |meta| meta.len())
}

/// Deletes the log. Only valid after its content was saved in a catalogue.
pub(crate) fn clear(state: &StateDir) -> IndexResult {
    let path = file(state);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(IndexError::io("remove", &path)(error)),
        _ => Ok(()),
    }
}

fn parse(line: &[u8]) -> Option<ReportedWrite> {
    let mut columns = line.splitn(4, |b| *b == b'\t');
    let mut number = || std::str::from_utf8(columns.next()?).ok();
    let size = number()?.parse().ok()?;
    let mtime = number()?.parse().ok()?;
    let inode = number()?.parse().ok()?;
    let path = unescape(columns.next()?);
    Some(ReportedWrite { path, stamp: CatalogueStamp { size, mtime, inode, digest: 0 } })
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
        record(root.path(), &state, &file).unwrap();
        record(root.path(), &state, Path::new("/elsewhere")).unwrap();
        record(root.path(), &state, &root.path().join("gone")).unwrap();
        let (accounts, end) = read(&state, 0).unwrap();
        assert_eq!(accounts.len(), 1);
        assert_eq!(accounts[0].path, Path::new("a\tb\n"));
        assert_eq!(accounts[0].stamp, CatalogueStamp::of(&fs::metadata(&file).unwrap()));
        assert_eq!(read(&state, end).unwrap(), (Vec::new(), end));
        let alias = tempfile::tempdir().unwrap();
        lockstep_fs::symlink(root.path(), alias.path().join("link")).unwrap();
        record(root.path(), &state, &alias.path().join("link/a\tb\n")).unwrap();
        assert_eq!(read(&state, end).unwrap().0[0].path, Path::new("a\tb\n"));
        clear(&state).unwrap();
        record(root.path(), &state, &root.path().join("a\tb\n")).unwrap();
        assert_eq!(read(&state, end + 5).unwrap().0.len(), 1, "a new file is read from its start");
    }

    #[test]
    fn last_report_of_a_file_counts_and_partial_line_does_not() {
        let root = tempfile::tempdir().unwrap();
        let state = StateDir::for_project(root.path());
        let paths = [Path::new("a\tb"), Path::new("c")];
        assert_eq!(last_stamps(&state, &paths).unwrap(), [None, None]);
        let stamp = |size| CatalogueStamp { size, mtime: 7, inode: 9, digest: 0 };
        for size in [1, 2] {
            append(root.path(), &state, &root.path().join("a\tb"), stamp(size)).unwrap();
            append(root.path(), &state, &root.path().join("c2"), stamp(3)).unwrap();
        }
        fs::write(file(&state), [fs::read(file(&state)).unwrap(), b"5\t7\t9\tc".to_vec()].concat()).unwrap();
        assert_eq!(last_stamps(&state, &paths).unwrap(), [Some(stamp(2)), None]);
    }
}
