//! What hooks need to know of an active cascade: which files are its own, and that it is there.
//!
//! Asked by hooks that have the store open anyway.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use lockstep_cache::delivery::Limits;
use lockstep_cascade::Cascade;
use lockstep_store::{Store, StoreError};

/// What a mention may have, so that it fits beside a part of the session cache into what the client takes from one hook.
const MENTION: usize = Limits::CLAUDE.entry - Limits::CLAUDE.part - 2;

/// How many files of each kind a mention names.
const SHOWN_NAMES: usize = 2;

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
            .map(|group| format!("{} ({}, {})", group.id, group.stage, few(&group.open)))
            .collect();
        let mention = format!(
            "A cascade is active in this project: cascade {}, iteration {} of at most {}, after changes in {}. Open groups: {}. \
             `lockstep cascade status` shows it, `lockstep cascade next` goes on with it. Alerts about its files are held \
             back until it is over.",
            self.id,
            data.iterations,
            data.max_iterations,
            few(&data.causes),
            if groups.is_empty() { "none".to_owned() } else { groups.join("; ") },
        );
        if Limits::CLAUDE.unit.count(&mention) <= MENTION {
            return mention;
        }
        // Names can be as long as they like.
        format!(
            "A cascade is active in this project: cascade {}. `lockstep cascade status` shows it, `lockstep cascade next` goes on \
             with it. Alerts about its files are held back until it is over.",
            self.id
        )
    }
}

/// So many names, and how many more there are.
fn few(names: &[String]) -> String {
    match names.len().checked_sub(SHOWN_NAMES) {
        None | Some(0) => names.join(", "),
        Some(more) => format!("{} and {more} more", names[..SHOWN_NAMES].join(", ")),
    }
}
