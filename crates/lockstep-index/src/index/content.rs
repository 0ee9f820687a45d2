//! Reads one file: its version, and its text if it is a text file. Reading never fails, blocks or follows a
//! link.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;

use lockstep_fs::{is_absent, no_follow, now};
use serde::{Deserialize, Serialize};

use super::version::Version;

/// The kind of content that the index has of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) enum State {
    /// Its words, and its facts once they were requested.
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

/// The number of files in scope that the index could not read, by reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Unseen {
    /// Files with a zero byte.
    pub binary: usize,
    /// Files over the size limit.
    pub too_large: usize,
    /// Files without a zero byte that are not UTF-8.
    pub not_utf8: usize,
    /// Not readable for this user, or deleted while it was read.
    pub unreadable: usize,
    /// Symbolic links. The target is indexed under its own path, if it is in scope.
    pub link: usize,
    /// Files whose names are not UTF-8.
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

    /// The sum of all reasons. Links are not counted, because a target in scope is indexed itself.
    pub fn total(&self) -> usize {
        self.binary + self.too_large + self.not_utf8 + self.unreadable + self.unnameable
    }
}

/// The result of reading a file.
#[derive(Debug)]
pub(crate) struct Content<'a> {
    pub(crate) version: Version,
    /// The text, or the reason why there is none.
    pub(crate) text: Result<&'a str, State>,
}

/// Reads the file at `path` into `buffer`. `None` if there is no file. At most `limit` bytes are read as
/// text.
pub(crate) fn read<'a>(path: &Path, limit: u64, buffer: &'a mut Vec<u8>) -> Option<Content<'a>> {
    // Taken before the file is read: a change from now on may not show in its time.
    let at = now();
    let without = |version: Version, state| Some(Content { version: version.unread(at), text: Err(state) });
    let file = match no_follow().read(true).open(path) {
        Ok(file) => file,
        Err(error) if is_absent(&error) => return None,
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
    // A file that was written in the meantime has no known version.
    let after = file.metadata().map(|meta| Version::of(&meta)).unwrap_or_default();
    let version = if after.looks_like(&version) { version } else { Version { changed: 0, ..version } };
    match filled {
        Err(state) => without(version, state),
        Ok(()) => Some(Content { version: version.of_content(buffer, at), text: text_of(buffer) }),
    }
}

fn fill(file: &File, limit: u64, size: u64, buffer: &mut Vec<u8>) -> Result<(), State> {
    buffer.clear();
    // One extra byte, so that the end of the file is detected without another read.
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
    use lockstep_fs::{make_pipe, set_mode, symlink};

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
        make_pipe(&at("pipe")).unwrap();
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
        set_mode(&at("text"), 0o000).unwrap();
        if File::open(at("text")).is_err() {
            assert_eq!(state("text"), Some(State::Unreadable));
        }
    }
}
