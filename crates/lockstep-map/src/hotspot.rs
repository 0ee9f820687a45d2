//! Hotspots: how much hangs on a file.

use std::fmt;

use serde::Serialize;

/// So many referring files make a file hot.
const HIGH: usize = 10;
/// So many make it warm.
const MEDIUM: usize = 4;

/// A file that changed in each of so many last runs is hot, whoever refers to it.
pub const RUNS: usize = 3;

/// How much hangs on a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Hotspot {
    /// At most three files refer to it.
    Low,
    /// Four to nine do.
    Medium,
    /// Ten or more do, or it changed in each of the last three runs.
    High,
}

impl Hotspot {
    /// Of a file to which so many refer, and which changed in each of the last runs or did not.
    pub fn of(referring: usize, changes_always: bool) -> Self {
        match referring {
            _ if changes_always => Self::High,
            HIGH.. => Self::High,
            MEDIUM.. => Self::Medium,
            _ => Self::Low,
        }
    }

    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }

    /// The hotspot of a word.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Low, Self::Medium, Self::High].into_iter().find(|hotspot| hotspot.word() == word)
    }
}

impl fmt::Display for Hotspot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_told_by_who_refers_and_by_the_last_runs() {
        for (referring, expected) in [
            (0, Hotspot::Low),
            (3, Hotspot::Low),
            (4, Hotspot::Medium),
            (9, Hotspot::Medium),
            (10, Hotspot::High),
        ] {
            assert_eq!(Hotspot::of(referring, false), expected, "{referring}");
            assert_eq!(Hotspot::of(referring, true), Hotspot::High);
            assert_eq!(Hotspot::from_word(expected.word()), Some(expected));
        }
    }
}
