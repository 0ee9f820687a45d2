//! Opens private files that many processes share, in directories where others may plant files, and appends to
//! them.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use lockstep_fs::{PositionedIo as _, has_other_links, is_own, no_follow};

use crate::{StoreError, StoreResult};

/// The time after which a line without a newline counts as torn. A running writer finishes long before.
const UNFINISHED: Duration = Duration::from_millis(250);

/// Opens `path` for appending, created 0600. Refuses a symbolic link, anything but a regular file, a file
/// with a second link, and a file of another user.
pub(crate) fn open_append(path: &Path) -> StoreResult<File> {
    let file =
        no_follow().read(true).append(true).create(true).open(path).map_err(StoreError::io("open", path))?;
    let meta = file.metadata().map_err(StoreError::io("look at", path))?;
    let refused = |why| Err(StoreError::UnsafePath { path: path.to_owned(), why });
    if !meta.is_file() {
        return refused("it is not a plain file");
    }
    if !is_own(&meta) {
        return refused("it belongs to someone else");
    }
    if has_other_links(path, &meta) {
        return refused("it has a second name (a hard link)");
    }
    Ok(file)
}

/// The number of bytes that are searched for the first line of a file.
const MAX_FIRST_LINE: u64 = 1 << 20;

/// Appends like [`append_once`], but only to a file that is empty or whose first line `is_own` recognises: a
/// configured path may name a file of the user's.
pub fn append_to_own(path: &Path, lines: &[u8], is_own: fn(&str) -> bool) -> StoreResult<u64> {
    let file = open_append(path)?;
    check_first_line(&file, path, is_own)?;
    append_to(file, path, lines)
}

/// Checks that a generated file may replace `path`: there is no file, an empty one, or one whose first line
/// `is_own` recognises. Nothing else is ever replaced.
pub fn check_replaceable(path: &Path, is_own: fn(&str) -> bool) -> StoreResult {
    let file = match no_follow().read(true).open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        opened => opened.map_err(StoreError::io("open", path))?,
    };
    if !file.metadata().map_err(StoreError::io("look at", path))?.is_file() {
        return Err(StoreError::UnsafePath { path: path.to_owned(), why: "it is not a plain file" });
    }
    check_first_line(&file, path, is_own)
}

fn check_first_line(file: &File, path: &Path, is_own: fn(&str) -> bool) -> StoreResult {
    let mut first = Vec::new();
    let mut reader = BufReader::new(file).take(MAX_FIRST_LINE);
    // Blank lines are the remains of a line that a full disk cut off.
    while first.iter().all(|byte| *byte == b'\n') {
        first.clear();
        if reader.read_until(b'\n', &mut first).map_err(StoreError::io("read", path))? == 0 {
            return Ok(());
        }
    }
    let line = first.strip_suffix(b"\n").unwrap_or(&first);
    if str::from_utf8(line).is_ok_and(is_own) {
        return Ok(());
    }
    Err(StoreError::UnsafePath { path: path.to_owned(), why: "it is not a file that Lockstep made" })
}

/// Appends `lines` (complete lines) with one `write` on an `O_APPEND` descriptor, so that concurrent
/// processes neither lose nor tear lines. Returns the offset of their end.
pub fn append_once(path: &Path, lines: &[u8]) -> StoreResult<u64> {
    append_to(open_append(path)?, path, lines)
}

fn append_to(mut file: File, path: &Path, lines: &[u8]) -> StoreResult<u64> {
    let io = |what| StoreError::io(what, path);
    let size = file.metadata().map_err(io("look at"))?.len();
    // A writer killed inside its write can leave a line without an end. It must not swallow ours.
    let torn = ends_torn(&file, size).map_err(io("read"))?;
    let owned;
    let bytes = if torn {
        owned = [b"\n", lines].concat();
        &owned
    } else {
        lines
    };
    let written = file.write(bytes).map_err(io("append to"))?;
    let end = file.stream_position().map_err(io("find the end of"))?;
    if written < bytes.len() {
        blank(&file, end, written);
        return Err(io("append all of a line to")(std::io::ErrorKind::StorageFull.into()));
    }
    Ok(end)
}

/// Returns true if the file, `size` bytes long, ends in a torn line.
///
/// A line across two pages is visible in part while its writer is active, and on a busy machine the writer
/// may be suspended. A partial line therefore counts as torn only if it stays unchanged for some time.
fn ends_torn(file: &File, mut size: u64) -> std::io::Result<bool> {
    let mut since = Instant::now();
    loop {
        let mut last = *b"\n";
        if size > 0 {
            file.read_exact_at(&mut last, size - 1)?;
        }
        if last == *b"\n" {
            return Ok(false);
        }
        if since.elapsed() > UNFINISHED {
            return Ok(true);
        }
        std::thread::sleep(Duration::from_millis(5));
        let now = file.metadata()?.len();
        if now != size {
            (size, since) = (now, Instant::now());
        }
    }
}

/// Replaces a partly written line by newlines after the disk ran out of space: the last `written` bytes
/// before `end`. Half a path would be read as a path.
///
/// Only our own bytes are overwritten, even if others have appended since. If this fails too, the next writer
/// at least ends the line.
fn blank(file: &File, end: u64, written: usize) {
    if lockstep_fs::clear_append(file).is_ok() {
        let _ = file.write_all_at(&vec![b'\n'; written], end - written as u64);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use lockstep_fs::{mode_of, symlink};

    use super::*;

    #[test]
    fn lines_follow_each_other_in_a_private_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("j");
        assert_eq!(append_once(&path, b"a\n").unwrap(), 2);
        assert_eq!(append_once(&path, b"bc\n").unwrap(), 5);
        assert_eq!(fs::read(&path).unwrap(), b"a\nbc\n");
        assert_eq!(mode_of(&fs::metadata(&path).unwrap()), 0o600);
    }

    #[test]
    fn only_a_file_of_ours_is_appended_to() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("j");
        let is_own = |line: &str| line.starts_with("own");
        append_to_own(&path, b"own 1\n", is_own).unwrap();
        append_to_own(&path, b"own 2\n", is_own).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"own 1\nown 2\n");
        for text in ["export PATH=/bin\n", "x", "\n\nx\n", "\u{feff}own 1\n"] {
            fs::write(&path, text).unwrap();
            assert!(append_to_own(&path, b"own 3\n", is_own).is_err(), "{text:?}");
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
    }

    #[test]
    fn a_torn_line_does_not_swallow_the_next() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("j");
        fs::write(&path, b"whole\nto").unwrap();
        append_once(&path, b"next\n").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"whole\nto\nnext\n");
    }

    #[test]
    fn planted_things_are_refused_and_untouched() {
        let dir = tempfile::tempdir().unwrap();
        let victim = dir.path().join("victim");
        fs::write(&victim, b"precious").unwrap();

        let link = dir.path().join("link");
        symlink(&victim, &link).unwrap();
        assert!(append_once(&link, b"x\n").is_err());
        assert!(lockstep_fs::open_to_write(&link).is_err());

        let hard = dir.path().join("hard");
        fs::hard_link(&victim, &hard).unwrap();
        assert!(append_once(&hard, b"x\n").is_err());

        let fifo = dir.path().join("fifo");
        assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        assert!(append_once(&fifo, b"x\n").is_err());

        assert!(append_once(dir.path(), b"x\n").is_err());
        assert_eq!(fs::read(&victim).unwrap(), b"precious");
    }
}
