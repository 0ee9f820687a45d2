//! Results of building and checking.

use std::path::PathBuf;
use std::time::Instant;

use blake3::Hash;

use crate::budget::BudgetMitigation;
use crate::cache_document::ParseCacheError;
use crate::finding::BuildFinding;
use crate::inputs::InputChange;
use crate::sections::SectionSources;

#[derive(Debug, Clone, Copy, Default)]
pub struct BuildOptions {
    /// Write although nothing changed.
    pub force: bool,
    /// Give up at this time.
    pub deadline: Option<Instant>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildReport {
    pub path: PathBuf,
    /// In characters.
    pub chars: usize,
    pub hash: Hash,
    /// False if the file already had this content and was not written.
    pub written: bool,
    /// The sections with content, each with its length.
    pub sections: Vec<(String, usize)>,
    /// The sections without, each with the reason.
    pub skipped: Vec<(String, String)>,
    /// The mitigations applied to keep the budget.
    pub mitigations: Vec<BudgetMitigation>,
    pub findings: Vec<BuildFinding>,
    pub sources: Vec<SectionSources>,
    /// The number of opened files.
    pub opened: usize,
    /// Problems that do not affect the cache, such as state that could not be stored.
    pub warnings: Vec<String>,
}

/// Result of comparing the cache with a new build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Freshness {
    Fresh,
    /// There is no cache.
    Missing,
    /// Inputs changed since. Without a record of the last build, the list is empty.
    Stale(Vec<InputChange>),
    /// The file is not the one that was built: it was changed, or is damaged at this place.
    Modified(Option<ParseCacheError>),
}

/// The answer of `cache check`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckReport {
    pub freshness: Freshness,
    pub mitigations: Vec<BudgetMitigation>,
    pub findings: Vec<BuildFinding>,
    pub sources: Vec<SectionSources>,
}

impl CheckReport {
    /// Returns true if the cache is fresh and its content is that of its sources. If `strict`, nothing may be shortened to keep the
    /// budget, and every skill that an agent owns must exist.
    pub fn passes(&self, strict: bool) -> bool {
        let is_whole = self.mitigations.is_empty() || !strict;
        let is_fresh = self.freshness == Freshness::Fresh;
        is_fresh && is_whole && !self.findings.iter().any(|finding| finding.fails_check(strict))
    }
}
