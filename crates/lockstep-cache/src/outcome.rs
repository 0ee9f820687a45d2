//! What building and checking answer.

use std::path::PathBuf;
use std::time::Instant;

use blake3::Hash;

use crate::compose::Mitigation;
use crate::document::NotACache;
use crate::finding::Finding;
use crate::gather::Resolved;
use crate::inputs::InputChange;

/// How to build.
#[derive(Debug, Clone, Copy, Default)]
pub struct BuildOptions {
    /// Write although nothing changed.
    pub force: bool,
    /// Give up at this time.
    pub deadline: Option<Instant>,
}

/// What a build did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Built {
    /// The cache file.
    pub path: PathBuf,
    /// Its length in characters.
    pub chars: usize,
    /// The whole content hash.
    pub hash: Hash,
    /// Whether the file was written; false when it already said the same.
    pub written: bool,
    /// The sections with content, each with its length.
    pub sections: Vec<(String, usize)>,
    /// The sections without, each with the reason.
    pub skipped: Vec<(String, String)>,
    /// What was done to keep the budget.
    pub mitigations: Vec<Mitigation>,
    /// What was noticed.
    pub findings: Vec<Finding>,
    /// Where sections come from.
    pub sources: Vec<Resolved>,
    /// How many files had to be opened.
    pub opened: usize,
    /// What went wrong without harm to the cache: state that could not be kept.
    pub warnings: Vec<String>,
}

/// Whether the cache is what a build would write now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Freshness {
    /// It is.
    Fresh,
    /// There is no cache.
    Missing,
    /// Inputs changed since; without a record of the last build it is not known which.
    Stale(Vec<InputChange>),
    /// The file is not what was built: it was changed, or is damaged at this place.
    Altered(Option<NotACache>),
}

/// The answer of `cache check`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// Whether it is up to date.
    pub freshness: Freshness,
    /// What had to be done to keep the budget.
    pub mitigations: Vec<Mitigation>,
    /// What was noticed.
    pub findings: Vec<Finding>,
    /// Where sections come from.
    pub sources: Vec<Resolved>,
}

impl Checked {
    /// Whether all is well.
    pub fn passes(&self) -> bool {
        self.freshness == Freshness::Fresh
            && self.mitigations.is_empty()
            && !self.findings.iter().any(Finding::fails_check)
    }
}
