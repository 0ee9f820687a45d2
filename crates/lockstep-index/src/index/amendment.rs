//! An amendment of the file table: what one update changed in it. A few are written down with the manifest, and made again by whoever reads
//! it; so an update of one file does not write the table of all.

use serde::{Deserialize, Serialize};

use super::content::State;
use super::files::Files;
use super::update::Plan;
use super::version::Version;

/// Amendments together are about no more files and directories than this: making them again should cost less than reading the table.
const MOST: usize = 300;

/// Amendments in which something comes or goes move most of the table.
const MOST_MOVES: usize = 8;

/// What one update changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Amendment {
    pub(crate) plan: Plan,
    /// The files that the plan reads, as they were read.
    pub(crate) read: Vec<Option<(Version, State)>>,
    /// The document of the first of them.
    pub(crate) first: u32,
}

impl Amendment {
    /// The table after it.
    pub(crate) fn apply(&self, files: Files) -> Files {
        self.plan.apply(files, &self.read, self.first)
    }
}

/// Whether one more amendment is sooner written down than a new table.
pub(crate) fn has_room(amendments: &[Amendment], next: &Amendment) -> bool {
    let all = || amendments.iter().chain([next]);
    all().map(|amendment| amendment.plan.size()).sum::<usize>() <= MOST
        && all().filter(|amendment| amendment.plan.moves()).count() <= MOST_MOVES
}
