//! What hooks need to know of an active cascade: which files are its own, and that it is there.
//!
//! Asked by hooks that have the store open anyway.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use lockstep_cascade::Cascade;
use lockstep_store::{Store, StoreError};

/// An active cascade.
pub(crate) struct Presence {
    pub(crate) id: i64,
    state: Cascade,
}

/// The active cascades of a project. One whose state cannot be read is none: commands say so.
pub(crate) fn active(store: &Store) -> Result<Vec<Presence>, StoreError> {
    let records = store.active_cascades()?;
    let read = |state: &str| serde_json::from_str::<Cascade>(state).ok();
    Ok(records
        .iter()
        .filter_map(|record| Some(Presence { id: record.id, state: read(&record.state)? }))
        .collect())
}

impl Presence {
    /// Its own files, absolute: what it began with, and what it gave to agents.
    pub(crate) fn own_files(&self, root: &Path) -> BTreeSet<PathBuf> {
        self.state.own_files().into_iter().map(|path| root.join(path)).collect()
    }

    /// What a session that lost its context, or never had it, is told.
    pub(crate) fn mention(&self) -> String {
        let data = self.state.data();
        let groups: Vec<String> = data
            .groups
            .iter()
            .filter(|group| group.stage != "settled")
            .map(|group| format!("{} ({}, {})", group.id, group.stage, group.open.join(", ")))
            .collect();
        format!(
            "A cascade is active in this project: cascade {}, iteration {} of at most {}, after changes in {}. Open groups: {}. \
             `lockstep cascade status` shows it, `lockstep cascade next` goes on with it. Alerts about its files are held \
             back until it is over.",
            self.id,
            data.iterations,
            data.max_iterations,
            data.causes.join(", "),
            if groups.is_empty() { "none".to_owned() } else { groups.join("; ") },
        )
    }
}
