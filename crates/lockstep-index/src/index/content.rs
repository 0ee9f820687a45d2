//! Reading one file: its version, and its text if it has one. Whatever is on disk, nothing here fails, hangs or follows a link.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

use super::version::{Version, now};

/// What the index has of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) enum State {
    /// Its words, and on demand its facts.
    #[default]
    Text,
    Binary,
    TooLarge,
    NotUtf8,
    Unreadable,
    Link,
}

impl State {
    const ALL: [Self; 6] =
        [Self::Text, Self::Binary, Self::TooLarge, Self::NotUtf8, Self::Unreadable, Self::Link];

    pub(crate) fn byte(self) -> u8 {
        Self::ALL.iter().position(|state| *state == self).and_then(|at| u8::try_from(at).ok()).unwrap_or(0)
    }

    pub(crate) fn from_byte(byte: u8) -> Option<Self> {
        Self::ALL.get(usize::from(byte)).copied()
    }
}

/// How many files of the scope the index could not look into, by reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Unseen {
    /// With a zero byte.
    pub binary: usize,
    /// Over the size limit.
    pub too_large: usize,
    /// Without a zero byte, but no UTF-8 either.
    pub not_utf8: usize,
    /// Not ours to read, or gone while it was read.
    pub unreadable: usize,
    /// Symbolic links: what they lead to is indexed where it is, if it is in scope.
    pub link: usize,
    /// With a name that is no UTF-8.
    pub unnameable: usize,
}

impl Unseen {
    pub(crate) fn count(&mut self, state: State) {
        match state {
            State::Text => {}
            State::Binary => self.binary += 1,
            State::TooLarge => self.too_large += 1,
            State::NotUtf8 => self.not_utf8 += 1,
            State::Unreadable => self.unreadable += 1,
            State::Link => self.link += 1,
        }
    }

    /// All of them. Links are not among them: nothing is hidden behind one that is in scope.
    pub fn total(&self) -> usize {
        self.binary + self.too_large + self.not_utf8 + self.unreadable + self.unnameable
    }
}

/// A file as it was read.
#[derive(Debug)]
pub(crate) struct Content<'a> {
    pub(crate) version: Version,
    /// The text, or why there is none.
    pub(crate) text: Result<&'a str, State>,
}

/// Reads the file at `path` into `buffer`; `None` where there is none. At most `limit` bytes are taken for a text.
pub(crate) fn read<'a>(path: &Path, limit: u64, buffer: &'a mut Vec<u8>) -> Option<Content<'a>> {
    // Before anything is looked at: what is changed from now on may leave no trace in its time.
    let at = now();
    let without = |version: Version, state| Some(Content { version: version.unread(at), text: Err(state) });
    // Not waiting: a pipe that took a file's place would never answer.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Ok(file) => file,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return None,
        Err(_) => {
            let meta = fs::symlink_metadata(path).ok()?;
            let state = if meta.is_symlink() { State::Link } else { State::Unreadable };
            return without(Version::of(&meta), state);
        }
    };
    let meta = file.metadata().ok()?;
    let version = Version::of(&meta);
    if !meta.is_file() {
        return without(version, State::Unreadable);
    }
    if version.size > limit {
        return without(version, State::TooLarge);
    }
    let filled = fill(&file, limit, version.size, buffer);
    // What was written meanwhile is of no version that anybody knows.
    let after = file.metadata().map(|meta| Version::of(&meta)).unwrap_or_default();
    let version = if after.looks_like(&version) { version } else { Version { changed: 0, ..version } };
    match filled {
        Err(state) => without(version, state),
        Ok(()) => Some(Content { version: version.of_content(buffer, at), text: text_of(buffer) }),
    }
}

fn fill(file: &File, limit: u64, size: u64, buffer: &mut Vec<u8>) -> Result<(), State> {
    buffer.clear();
    // One byte more, so that the end is seen without another look.
    buffer.reserve(usize::try_from(size.min(limit)).unwrap_or(0) + 1);
    // A file may grow while it is read.
    file.take(limit + 1).read_to_end(buffer).map_err(|_| State::Unreadable)?;
    if buffer.len() as u64 > limit { Err(State::TooLarge) } else { Ok(()) }
}

fn text_of(content: &[u8]) -> Result<&str, State> {
    std::str::from_utf8(content)
        .ok()
        .filter(|text| !has_zero(text.as_bytes()))
        .ok_or_else(|| if has_zero(content) { State::Binary } else { State::NotUtf8 })
}

fn has_zero(content: &[u8]) -> bool {
    memchr::memchr(0, content).is_some()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn whatever_is_there_is_told_apart() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("text"), "fn ö() {}").unwrap();
        fs::write(at("empty"), "").unwrap();
        fs::write(at("binary"), b"\x7fELF\0\xff").unwrap();
        fs::write(at("latin1"), b"caf\xe9").unwrap();
        fs::write(at("large"), "x".repeat(101)).unwrap();
        fs::write(at("exact"), "x".repeat(100)).unwrap();
        symlink("text", at("link")).unwrap();
        symlink("loop", at("loop")).unwrap();
        fs::create_dir(at("directory")).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            at("pipe"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        let state = |name: &str| {
            read(&at(name), 100, &mut Vec::new()).map(|content| content.text.err().unwrap_or(State::Text))
        };
        for (name, expected) in [
            ("text", Some(State::Text)),
            ("empty", Some(State::Text)),
            ("binary", Some(State::Binary)),
            ("latin1", Some(State::NotUtf8)),
            ("large", Some(State::TooLarge)),
            ("exact", Some(State::Text)),
            ("link", Some(State::Link)),
            ("loop", Some(State::Link)),
            ("directory", Some(State::Unreadable)),
            ("pipe", Some(State::Unreadable)),
            ("gone", None),
            ("text/below", None),
        ] {
            assert_eq!(state(name), expected, "{name}");
        }
        fs::set_permissions(at("text"), fs::Permissions::from_mode(0o000)).unwrap();
        if File::open(at("text")).is_err() {
            assert_eq!(state("text"), Some(State::Unreadable));
        }
    }
}
