//! Opens private files that many processes share, in directories where others may plant files, and appends to
//! them.

use std::fs::{File, OpenOptions};
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;

use crate::StoreError;

/// The time after which a line without a newline counts as torn. A running writer finishes long before.
const UNFINISHED: Duration = Duration::from_millis(250);

/// Opens `path` for reading and writing as it is, created 0600: a lock, or a note that is written in place. Anything but a
/// regular file, which may have come with a cloned repository, is refused.
pub fn open_private(path: &Path) -> std::io::Result<File> {
    lockstep_fs::open_to_write(path)
}

/// Writes the holder into a lock file, for people; errors are ignored. Overwrites in place, because
/// truncating a file takes ten times as long as writing a line.
pub fn note_holder(lock: &File, note: &str) {
    let is_longer = lock.metadata().is_ok_and(|meta| meta.len() > note.len() as u64);
    let written = lock.write_all_at(note.as_bytes(), 0);
    if is_longer && written.is_ok() {
        let _ = lock.set_len(note.len() as u64);
    }
}

/// Opens `path` for appending, created 0600. Refuses a symbolic link, anything but a regular file, a file
/// with a second link, and a file of another user.
pub(crate) fn open_append(path: &Path) -> Result<File, StoreError> {
    let file = OpenOptions::new()
        .read(true)
        .append(true)
        .create(true)
        .mode(0o600)
        // Without NONBLOCK, opening a planted FIFO would wait for its other end.
        .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC).bits().cast_signed())
        .open(path)
        .map_err(StoreError::io("open", path))?;
    let meta = file.metadata().map_err(StoreError::io("look at", path))?;
    let refused = |why| Err(StoreError::Unsafe { path: path.to_owned(), why });
    if !meta.is_file() {
        return refused("it is not a plain file");
    }
    if meta.uid() != rustix::process::geteuid().as_raw() {
        return refused("it belongs to someone else");
    }
    if meta.nlink() > 1 {
        return refused("it has a second name (a hard link)");
    }
    Ok(file)
}

/// The number of bytes that are searched for the first line of a file.
const MAX_FIRST_LINE: u64 = 1 << 20;

/// Appends like [`append_once`], but only to a file that is empty or whose first line `is_own` recognises: a
/// configured path may name a file of the user's.
pub fn append_to_own(path: &Path, lines: &[u8], is_own: fn(&str) -> bool) -> Result<u64, StoreError> {
    let file = open_append(path)?;
    check_first_line(&file, path, is_own)?;
    append_to(file, path, lines)
}

/// Checks that a generated file may replace `path`: there is no file, an empty one, or one whose first line
/// `is_own` recognises. Nothing else is ever replaced.
pub fn check_replaceable(path: &Path, is_own: fn(&str) -> bool) -> Result<(), StoreError> {
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC).bits().cast_signed())
        .open(path);
    let file = match opened {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        opened => opened.map_err(StoreError::io("open", path))?,
    };
    if !file.metadata().map_err(StoreError::io("look at", path))?.is_file() {
        return Err(StoreError::Unsafe { path: path.to_owned(), why: "it is not a plain file" });
    }
    check_first_line(&file, path, is_own)
}

fn check_first_line(file: &File, path: &Path, is_own: fn(&str) -> bool) -> Result<(), StoreError> {
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
    Err(StoreError::Unsafe { path: path.to_owned(), why: "it is not a file that Lockstep made" })
}

/// Appends `lines` (complete lines) with one `write` on an `O_APPEND` descriptor, so that concurrent
/// processes neither lose nor tear lines. Returns the offset of their end.
pub fn append_once(path: &Path, lines: &[u8]) -> Result<u64, StoreError> {
    append_to(open_append(path)?, path, lines)
}

fn append_to(mut file: File, path: &Path, lines: &[u8]) -> Result<u64, StoreError> {
    let io = |what| StoreError::io(what, path);
    let size = file.metadata().map_err(io("look at"))?.size();
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
        let now = file.metadata()?.size();
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
    let overwriting = rustix::fs::fcntl_getfl(file)
        .and_then(|flags| rustix::fs::fcntl_setfl(file, flags.difference(OFlags::APPEND)));
    if overwriting.is_ok() {
        let _ = file.write_all_at(&vec![b'\n'; written], end - written as u64);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn a_lock_says_who_has_it_now() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let lock = open_private(&path).unwrap();
        for note in ["process 12\n", "process 12345 (update)\n", "process 9\n", ""] {
            note_holder(&lock, note);
            assert_eq!(fs::read_to_string(&path).unwrap(), note);
        }
    }

    #[test]
    fn lines_follow_each_other_in_a_private_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("j");
        assert_eq!(append_once(&path, b"a\n").unwrap(), 2);
        assert_eq!(append_once(&path, b"bc\n").unwrap(), 5);
        assert_eq!(fs::read(&path).unwrap(), b"a\nbc\n");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
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
        assert!(open_private(&link).is_err());

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
