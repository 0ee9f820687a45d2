//! Checks that the index on disk is valid and up to date, without changing it.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use lockstep_store::StateDir;
use serde::Serialize;

use super::files::Files;
use super::look::look;
use super::merge::documents;
use super::open::load;
use super::rules;
use super::settings::Settings;
use super::storage::Storage;
use super::table::{Cursor, Damage, Table};
use super::update::Plan;
use crate::IndexError;

/// The result of a check of the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum Verdict {
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
pub fn verify(root: &Path, state: &StateDir, settings: &Settings) -> Result<Verdict, IndexError> {
    let loaded = load(&Storage::new(state), settings)?;
    let Some(base) = loaded.base else { return Ok(Verdict::Missing) };
    let words = base.words.iter().try_for_each(every_word);
    let facts = base.facts.iter().try_for_each(every_fact);
    if words.and(facts).is_err() {
        return Ok(Verdict::Damaged);
    }
    let outside = base.manifest.outside_rules != rules::outside(root);
    let files = differing(root, &base.files, settings, outside)?;
    Ok(if files == 0 { Verdict::Fresh } else { Verdict::Behind { files } })
}

fn differing(root: &Path, files: &Files, settings: &Settings, outside: bool) -> Result<usize, IndexError> {
    let mut look = look(root, files, settings.max_file_bytes, &AtomicBool::default());
    look.rules_changed |= outside;
    if look.is_as_before() {
        return Ok(0);
    }
    let plan = Plan::new(root, files, look, &settings.filter(root)?);
    Ok(plan.read.len() + plan.dropped.len())
}

fn every_word(table: &Table) -> Result<(), Damage> {
    let mut cursor = Cursor::new(table)?;
    while let Some((_, payload)) = cursor.next()? {
        documents(&payload).ok_or(Damage)?;
    }
    Ok(())
}

fn every_fact(table: &Table) -> Result<(), Damage> {
    let mut cursor = Cursor::new(table)?;
    while let Some((_, payload)) = cursor.next()? {
        postcard::from_bytes::<lockstep_refs::facts::Facts>(&payload).map_err(|_| Damage)?;
    }
    Ok(())
}
