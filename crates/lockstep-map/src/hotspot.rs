//! Hotspots: how much hangs on a file.

use std::fmt;

use serde::Serialize;

/// The number of referring files from which a file is hot.
const HIGH_MIN_REFERENCES: usize = 10;
/// The number of referring files from which a file is warm.
const MEDIUM_MIN_REFERENCES: usize = 4;

/// A file that changed in each of this many last runs is hot, regardless of its dependents.
pub const HOT_AFTER_RUNS: usize = 3;

/// The importance of a file, by its dependents and recent changes.
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
    /// Rates a file by its number of incoming references and by whether each of the last runs changed it.
    pub fn from_counts(incoming: usize, changed_every_run: bool) -> Self {
        match incoming {
            _ if changed_every_run => Self::High,
            HIGH_MIN_REFERENCES.. => Self::High,
            MEDIUM_MIN_REFERENCES.. => Self::Medium,
            _ => Self::Low,
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }

    /// Parses the name of a hotspot.
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
    fn hotspot_depends_on_references_and_recent_runs() {
        for (referring, expected) in [
            (0, Hotspot::Low),
            (3, Hotspot::Low),
            (4, Hotspot::Medium),
            (9, Hotspot::Medium),
            (10, Hotspot::High),
        ] {
            assert_eq!(Hotspot::from_counts(referring, false), expected, "{referring}");
            assert_eq!(Hotspot::from_counts(referring, true), Hotspot::High);
            assert_eq!(Hotspot::from_word(expected.word()), Some(expected));
        }
    }
}
