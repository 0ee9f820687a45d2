//! Opening private files that many processes share, in places where others may plant things; and appending to them.

use std::fs::{File, OpenOptions};
use std::io::{Seek as _, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;

use crate::StoreError;

/// A writer that has been seen in the middle of its write is done with it long before this. Only whoever meets one waits.
const UNFINISHED: Duration = Duration::from_millis(250);

/// Opens `path` for reading and writing as it is, created 0600: a lock, or a note that is written in place. A symbolic link, which may
/// have come with a cloned repository, is refused.
pub fn open_private(path: &Path) -> std::io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags((OFlags::NOFOLLOW | OFlags::CLOEXEC).bits().cast_signed())
        .open(path)
}

/// Writes into a lock who has it, for people: that it cannot be written does not matter. Over what is there, because emptying a file
/// takes the file system ten times as long as writing a line.
pub fn note_holder(lock: &File, note: &str) {
    let is_longer = lock.metadata().is_ok_and(|meta| meta.len() > note.len() as u64);
    let written = lock.write_all_at(note.as_bytes(), 0);
    if is_longer && written.is_ok() {
        let _ = lock.set_len(note.len() as u64);
    }
}

/// Opens `path` for appending, created 0600. Refused: a symbolic link, anything but a plain file, a file with a second
/// name, a file of somebody else.
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

/// Appends `lines` (whole lines) with one `write` on an `O_APPEND` descriptor, so that processes at the same
/// time neither lose nor tear each other's. Gives the offset behind what was written.
pub fn append_once(path: &Path, lines: &[u8]) -> Result<u64, StoreError> {
    let mut file = open_append(path)?;
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

/// Whether the file, `size` bytes long, ends in a line without an end that nobody is writing any more. A line across two pages is
/// seen half for a moment while its writer is at work, and on a busy machine the writer may have to wait in the middle: so a
/// half line counts only when it stays as it is.
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

/// Out of space in the middle: the part that was written, the last `written` bytes before `end`, becomes empty lines. Half a path
/// would be read as a path. Only our own bytes are touched, whoever has appended meanwhile; and when even this fails, the next writer
/// at least closes the line.
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
