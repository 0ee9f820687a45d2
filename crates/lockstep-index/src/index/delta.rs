//! A delta of the file table: the changes of one update. The manifest stores a few of them, and readers apply
//! them to the table, so that an update of one file does not rewrite the complete table.

use serde::{Deserialize, Serialize};

use super::content::ContentClass;
use super::file_table::FileTable;
use super::update_plan::IndexUpdatePlan;
use super::version::FileVersion;

/// Amendments together are about no more files and directories than this: making them again should cost less than reading the table.
const MOST: usize = 300;

/// The maximum number of deltas that add or remove entries. Each of them moves most of the table.
const MAX_SHIFTING_DELTAS: usize = 8;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileTableDelta {
    pub(crate) plan: IndexUpdatePlan,
    /// The results for the files that the plan reads.
    pub(crate) read: Vec<Option<(FileVersion, ContentClass)>>,
    /// The document number of the first of them.
    pub(crate) first: u32,
}

impl FileTableDelta {
    pub(crate) fn apply(&self, files: FileTable) -> FileTable {
        self.plan.apply(files, &self.read, self.first)
    }
}

/// Returns true if writing one more delta is cheaper than writing a new table.
pub(crate) fn fits_before_rewrite(amendments: &[FileTableDelta], next: &FileTableDelta) -> bool {
    let all = || amendments.iter().chain([next]);
    all().map(|amendment| amendment.plan.size()).sum::<usize>() <= MOST
        && all().filter(|amendment| amendment.plan.shifts_positions()).count() <= MAX_SHIFTING_DELTAS
}
