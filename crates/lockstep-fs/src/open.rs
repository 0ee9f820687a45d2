//! Opens and reads files that others may have planted.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use crate::platform::{no_follow, non_blocking};

/// The most of a document, a configuration or a rule file that is read.
pub const MAX_BYTES: u64 = 64 << 20;

/// The most of a file of Lockstep's own state, or of git's, that is read at once.
pub const MAX_STATE_BYTES: u64 = 512 << 20;

/// Returns true for the error of a path at which there is nothing.
pub fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Creates an empty private file, unless there is one. Never follows a planted link.
pub fn create_if_absent(path: impl AsRef<Path>) -> io::Result<()> {
    match no_follow().write(true).create_new(true).open(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// Removes a file; returns false if there is none.
pub fn remove_if_present(path: impl AsRef<Path>) -> io::Result<bool> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        removed => removed.map(|()| true),
    }
}

/// Opens a regular file for reading. Links are followed to regular files only.
pub fn open(path: impl AsRef<Path>) -> io::Result<File> {
    open_with_size(path.as_ref()).map(|(file, _)| file)
}

fn open_with_size(path: &Path) -> io::Result<(File, u64)> {
    // Opening some devices has an effect, so the kind is checked first.
    if !fs::metadata(path)?.is_file() {
        return Err(not_regular());
    }
    let file = non_blocking().read(true).open(path)?;
    // Another file may have replaced it since.
    let metadata = file.metadata()?;
    if metadata.is_file() { Ok((file, metadata.len())) } else { Err(not_regular()) }
}

/// Opens a regular file for reading and writing as it is, created with mode 0600. Links, which may have come with a cloned
/// repository, are refused.
pub fn open_to_write(path: impl AsRef<Path>) -> io::Result<File> {
    let file = no_follow().read(true).write(true).create(true).truncate(false).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(not_regular()) }
}

fn not_regular() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")
}

/// Reads a regular file of at most [`MAX_BYTES`].
pub fn read(path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    read_up_to(path, MAX_BYTES)
}

/// Reads a regular file of at most `limit` bytes; a longer one is an error.
pub fn read_up_to(path: impl AsRef<Path>, limit: u64) -> io::Result<Vec<u8>> {
    let (file, size) = open_with_size(path.as_ref())?;
    let too_large = || io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {limit} bytes"));
    if size > limit {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default() + 1);
    // Some files grow while they are read, and some do not report their size.
    file.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(too_large()) } else { Ok(bytes) }
}

/// Reads at most the first `limit` bytes of a regular file.
pub fn read_prefix(path: impl AsRef<Path>, limit: u64) -> io::Result<Vec<u8>> {
    let (file, size) = open_with_size(path.as_ref())?;
    // One byte more than the file has, so that one read fills the buffer and a second one finds the end.
    let mut bytes = Vec::with_capacity(usize::try_from(size.min(limit)).unwrap_or_default() + 1);
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a regular UTF-8 file of at most [`MAX_BYTES`].
pub fn read_to_string(path: impl AsRef<Path>) -> io::Result<String> {
    String::from_utf8(read(path)?)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.utf8_error()))
}

/// Reads a regular file of at most [`MAX_BYTES`] as text. Bytes that are not UTF-8 become replacement characters.
pub fn read_text(path: impl AsRef<Path>) -> io::Result<String> {
    let text = |error: std::string::FromUtf8Error| String::from_utf8_lossy(error.as_bytes()).into_owned();
    Ok(String::from_utf8(read(path)?).unwrap_or_else(text))
}

/// Returns true if something is there that cannot be read as a file of at most `limit` bytes: a pipe, a device, a directory, or
/// too much.
pub fn is_unreadable(path: impl AsRef<Path>, limit: u64) -> bool {
    fs::metadata(path).is_ok_and(|meta| !meta.is_file() || meta.len() > limit)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_regular_files_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("file"), "text").unwrap();
        symlink(at("file"), at("link")).unwrap();
        for name in ["file", "link"] {
            assert_eq!(read_to_string(at(name)).unwrap(), "text");
            assert!(!is_unreadable(at(name), 4) && is_unreadable(at(name), 3), "{name}");
        }
        rustix::fs::mknodat(rustix::fs::CWD, at("pipe"), rustix::fs::FileType::Fifo, 0o600.into(), 0)
            .unwrap();
        symlink(at("pipe"), at("to-pipe")).unwrap();
        symlink("/dev/zero", at("zero")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        for name in ["pipe", "to-pipe", "zero", "socket", "."] {
            assert!(open(at(name)).is_err() && read(at(name)).is_err(), "{name}");
            assert!(is_unreadable(at(name), MAX_BYTES), "{name}");
        }
        assert_eq!(read(at("none")).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert!(!is_unreadable(at("none"), MAX_BYTES));
    }

    #[test]
    fn endless_files_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sparse");
        File::create(&path).unwrap().set_len(1 << 40).unwrap();
        assert_eq!(read(&path).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        fs::write(&path, "12345").unwrap();
        assert_eq!(read_up_to(&path, 5).unwrap(), b"12345");
        assert!(read_up_to(&path, 4).is_err());
        assert!(
            read_to_string({
                fs::write(&path, b"\xff").unwrap();
                &path
            })
            .is_err()
        );
    }
}
