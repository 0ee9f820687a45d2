//! Checks that the index on disk is valid and up to date, without changing it.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use lockstep_store::StateDir;
use serde::Serialize;

use super::compaction::documents;
use super::file_table::FileTable;
use super::ignore_rules;
use super::open::load;
use super::settings::IndexSettings;
use super::sorted_table::{CorruptTable, SortedTable, TableCursor};
use super::stat_scan::scan;
use super::storage::Storage;
use super::update_plan::IndexUpdatePlan;
use crate::IndexResult;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum VerifyResult {
    /// Valid and up to date.
    Fresh,
    /// Valid, but some files differ.
    Behind {
        /// The number of changed, new and deleted files.
        files: usize,
    },
    /// There is no index, or it has other settings or another version.
    Missing,
    /// A part is damaged. The next query that reads it has it rebuilt.
    Damaged,
}

/// Checks every byte of the index of the project at `root`, and compares every file.
pub fn verify(root: &Path, state: &StateDir, settings: &IndexSettings) -> IndexResult<VerifyResult> {
    let loaded = load(&Storage::new(state), settings)?;
    let Some(base) = loaded.base else { return Ok(VerifyResult::Missing) };
    let words = base.words.iter().try_for_each(every_word);
    let facts = base.facts.iter().try_for_each(every_fact);
    if words.and(facts).is_err() {
        return Ok(VerifyResult::Damaged);
    }
    let outside = base.manifest.outside_rules != ignore_rules::outside(root);
    let files = differing(root, &base.files, settings, outside)?;
    Ok(if files == 0 { VerifyResult::Fresh } else { VerifyResult::Behind { files } })
}

fn differing(root: &Path, files: &FileTable, settings: &IndexSettings, outside: bool) -> IndexResult<usize> {
    let mut look = scan(root, files, settings.max_file_bytes, &AtomicBool::default());
    look.rules_changed |= outside;
    if look.is_as_before() {
        return Ok(0);
    }
    let plan = IndexUpdatePlan::new(root, files, look, &settings.filter(root)?);
    Ok(plan.read.len() + plan.removed.len())
}

fn every_word(table: &SortedTable) -> Result<(), CorruptTable> {
    let mut cursor = TableCursor::new(table)?;
    while let Some((_, payload)) = cursor.next()? {
        documents(&payload).ok_or(CorruptTable)?;
    }
    Ok(())
}

fn every_fact(table: &SortedTable) -> Result<(), CorruptTable> {
    let mut cursor = TableCursor::new(table)?;
    while let Some((key, payload)) = cursor.next()? {
        match u32::try_from(key) {
            Ok(_) => drop(
                postcard::from_bytes::<lockstep_refs::facts::Facts>(&payload).map_err(|_| CorruptTable)?,
            ),
            Err(_) => drop(documents(&payload).ok_or(CorruptTable)?),
        }
    }
    Ok(())
}
