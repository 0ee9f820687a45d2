//! Reads one file: its version, and its text if it is a text file. Reading never fails, blocks or follows a
//! link.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;

use lockstep_fs::{is_absent, no_follow, now};
use lockstep_text::decode;
use serde::{Deserialize, Serialize};

use super::version::FileVersion;

/// The kind of content that the index has of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) enum ContentClass {
    /// Its words, and its facts once they were requested.
    #[default]
    Text,
    Binary,
    TooLarge,
    Unreadable,
    Link,
}

impl ContentClass {
    const ALL: [Self; 5] = [Self::Text, Self::Binary, Self::TooLarge, Self::Unreadable, Self::Link];

    pub(crate) fn byte(self) -> u8 {
        Self::ALL.iter().position(|state| *state == self).and_then(|at| u8::try_from(at).ok()).unwrap_or(0)
    }

    pub(crate) fn from_byte(byte: u8) -> Option<Self> {
        Self::ALL.get(usize::from(byte)).copied()
    }
}

/// The number of files in scope that the index could not read, by reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct SkippedFiles {
    /// Files with a zero byte that are not UTF-16.
    pub binary: usize,
    /// Files over the size limit.
    pub too_large: usize,
    /// Not readable for this user, or deleted while it was read.
    pub unreadable: usize,
    /// Symbolic links. The target is indexed under its own path, if it is in scope.
    pub link: usize,
    /// Files whose names are not UTF-8.
    pub unnameable: usize,
}

impl SkippedFiles {
    pub(crate) fn count(&mut self, state: ContentClass) {
        match state {
            ContentClass::Text => {}
            ContentClass::Binary => self.binary += 1,
            ContentClass::TooLarge => self.too_large += 1,
            ContentClass::Unreadable => self.unreadable += 1,
            ContentClass::Link => self.link += 1,
        }
    }

    /// The sum of all reasons. Links are not counted, because a target in scope is indexed itself.
    pub fn total(&self) -> usize {
        self.binary + self.too_large + self.unreadable + self.unnameable
    }
}

/// The result of reading a file.
#[derive(Debug)]
pub(crate) struct FileContent<'a> {
    pub(crate) version: FileVersion,
    /// The text, or the reason why there is none.
    pub(crate) text: Result<Cow<'a, str>, ContentClass>,
}

/// Reads the file at `path` into `buffer`. `None` if there is no file. At most `limit` bytes are read as
/// text.
pub(crate) fn read<'a>(path: &Path, limit: u64, buffer: &'a mut Vec<u8>) -> Option<FileContent<'a>> {
    // Taken before the file is read: a change from now on may not show in its time.
    let at = now();
    let without =
        |version: FileVersion, state| Some(FileContent { version: version.unread(at), text: Err(state) });
    let file = match no_follow().read(true).open(path) {
        Ok(file) => file,
        Err(error) if is_absent(&error) => return None,
        Err(_) => {
            let meta = fs::symlink_metadata(path).ok()?;
            let state = if meta.is_symlink() { ContentClass::Link } else { ContentClass::Unreadable };
            return without(FileVersion::of(&meta), state);
        }
    };
    let meta = file.metadata().ok()?;
    let version = FileVersion::of(&meta);
    if !meta.is_file() {
        return without(version, ContentClass::Unreadable);
    }
    if version.size > limit {
        return without(version, ContentClass::TooLarge);
    }
    let filled = fill(&file, limit, version.size, buffer);
    // A file that was written in the meantime has no known version.
    let after = file.metadata().map(|meta| FileVersion::of(&meta)).unwrap_or_default();
    let version =
        if after.matches_metadata(&version) { version } else { FileVersion { changed: 0, ..version } };
    match filled {
        Err(state) => without(version, state),
        Ok(()) => Some(FileContent {
            version: version.of_content(buffer, at),
            text: decode(buffer).ok_or(ContentClass::Binary),
        }),
    }
}

fn fill(file: &File, limit: u64, size: u64, buffer: &mut Vec<u8>) -> Result<(), ContentClass> {
    buffer.clear();
    // One extra byte, so that the end of the file is detected without another read.
    buffer.reserve(usize::try_from(size.min(limit)).unwrap_or(0) + 1);
    // A file may grow while it is read.
    file.take(limit + 1).read_to_end(buffer).map_err(|_| ContentClass::Unreadable)?;
    if buffer.len() as u64 > limit { Err(ContentClass::TooLarge) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use lockstep_fs::{make_pipe, set_mode, symlink};

    use super::*;

    #[test]
    fn every_kind_of_content_is_distinguished() {
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
            read(&at(name), 100, &mut Vec::new())
                .map(|content| content.text.err().unwrap_or(ContentClass::Text))
        };
        for (name, expected) in [
            ("text", Some(ContentClass::Text)),
            ("empty", Some(ContentClass::Text)),
            ("binary", Some(ContentClass::Binary)),
            ("latin1", Some(ContentClass::Text)),
            ("large", Some(ContentClass::TooLarge)),
            ("exact", Some(ContentClass::Text)),
            ("link", Some(ContentClass::Link)),
            ("loop", Some(ContentClass::Link)),
            ("directory", Some(ContentClass::Unreadable)),
            ("pipe", Some(ContentClass::Unreadable)),
            ("gone", None),
            ("text/below", None),
        ] {
            assert_eq!(state(name), expected, "{name}");
        }
        set_mode(&at("text"), 0o000).unwrap();
        if File::open(at("text")).is_err() {
            assert_eq!(state("text"), Some(ContentClass::Unreadable));
        }
    }
}
