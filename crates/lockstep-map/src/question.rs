//! What the resolution of one file's references asked about others, as numbers: when none of the answers has changed, neither
//! have the references.
//!
//! Two questions may share a number; then a file is resolved again for nothing.

use crate::digest::short;

/// A question to the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Question<'a> {
    /// Whether there is a file at this path.
    Path(&'a str),
    /// Which files have this basename.
    Named(&'a str),
    /// Which files are directly in this directory.
    Directory(&'a str),
    /// Which files there are.
    Files,
    /// What the file at this path offers to others.
    Interface(&'a str),
    /// The text of the file at this path.
    Text(&'a str),
    /// Which files offer something with this word in its name.
    Word(u32),
}

impl Question<'_> {
    /// Its number.
    pub(crate) fn number(self) -> u32 {
        let (tag, number) = match self {
            Self::Path(path) => (1, short(path.as_bytes())),
            Self::Named(name) => (2, short(name.as_bytes())),
            Self::Directory(path) => (3, short(path.as_bytes())),
            Self::Files => (4, 0),
            Self::Interface(path) => (5, short(path.as_bytes())),
            Self::Text(path) => (6, short(path.as_bytes())),
            Self::Word(word) => (7, word),
        };
        number.rotate_left(tag).wrapping_mul(0x9e37_79b1) ^ tag
    }
}

/// The number of a word.
pub(crate) fn word(word: &str) -> u32 {
    short(word.as_bytes())
}
