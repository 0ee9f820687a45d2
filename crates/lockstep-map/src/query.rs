//! Queries of the resolution of one file's references, as numbers: if no result has changed, neither have the
//! references.
//!
//! Two queries may share a number; a file is then resolved again without need.

use crate::fast_hash::short;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResolutionQuery<'a> {
    /// Does a file exist at this path?
    Path(&'a str),
    /// Which files have this basename.
    Named(&'a str),
    /// Which files are directly in this directory.
    Directory(&'a str),
    Files,
    /// The interface of the file at this path.
    Interface(&'a str),
    /// The text of the file at this path.
    Text(&'a str),
    /// The files that export something with this word in its name.
    Word(u32),
}

impl ResolutionQuery<'_> {
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

pub(crate) fn word(word: &str) -> u32 {
    short(word.as_bytes())
}
