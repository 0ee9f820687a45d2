//! Tiers: the effort that a cascade justifies.

use std::collections::BTreeSet;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::grouping::directory;

/// The effort that a cascade justifies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Tier {
    /// A few files in one place.
    Trivial,
    /// Neither trivial nor complex.
    Standard,
    /// Many files, or files in many places.
    Complex,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TierLimits {
    /// The maximum number of agents.
    pub implementers: usize,
    /// The maximum number of turns per agent.
    pub max_turns: u32,
}

impl Tier {
    pub const ALL: [Self; 3] = [Self::Trivial, Self::Standard, Self::Complex];

    /// The tier of a cascade over these files, by their number and spread.
    pub fn of<'a>(files: impl Iterator<Item = &'a str>) -> Self {
        let (mut count, mut directories) = (0, BTreeSet::new());
        for file in files {
            count += 1;
            directories.insert(directory(file));
        }
        match (count, directories.len()) {
            (0..=3, 0..=1) => Self::Trivial,
            (0..=10, 0..=4) => Self::Standard,
            _ => Self::Complex,
        }
    }

    pub fn effort(self) -> TierLimits {
        match self {
            Self::Trivial => TierLimits { implementers: 1, max_turns: 15 },
            Self::Standard => TierLimits { implementers: 2, max_turns: 25 },
            Self::Complex => TierLimits { implementers: 2, max_turns: 30 },
        }
    }

    /// The number of files from which the work is divided among agents.
    pub fn split_threshold(self) -> usize {
        match self {
            Self::Trivial => usize::MAX,
            Self::Standard => 4,
            Self::Complex => 2,
        }
    }

    /// The name in reports and options.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Trivial => "TRIVIAL",
            Self::Standard => "STANDARD",
            Self::Complex => "COMPLEX",
        }
    }
}

/// The error for an unknown tier name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a tier: the tiers are TRIVIAL, STANDARD and COMPLEX")]
pub struct ParseTierError(String);

impl FromStr for Tier {
    type Err = ParseTierError;

    fn from_str(text: &str) -> Result<Self, ParseTierError> {
        let found = Self::ALL.into_iter().find(|tier| tier.as_str().eq_ignore_ascii_case(text));
        found.ok_or_else(|| ParseTierError(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tier_follows_from_count_and_spread() {
        let spread = |count: usize, places: usize| -> Vec<String> {
            (0..count).map(|n| format!("d{}/f{n}.rs", n % places)).collect()
        };
        for (count, places, tier) in [
            (1, 1, Tier::Trivial),
            (3, 1, Tier::Trivial),
            (2, 2, Tier::Standard),
            (4, 1, Tier::Standard),
            (10, 4, Tier::Standard),
            (11, 1, Tier::Complex),
            (5, 5, Tier::Complex),
        ] {
            let files = spread(count, places);
            assert_eq!(Tier::of(files.iter().map(String::as_str)), tier, "{count} files in {places} places");
        }
    }

    #[test]
    fn tiers_are_read_in_any_case_and_nothing_else_is() {
        assert_eq!("trivial".parse(), Ok(Tier::Trivial));
        assert_eq!("COMPLEX".parse(), Ok(Tier::Complex));
        let error = "HUGE".parse::<Tier>().unwrap_err();
        assert!(error.to_string().contains("TRIVIAL, STANDARD and COMPLEX"), "{error}");
    }
}
