//! The state of active cascades for hooks: their files and their existence.
//!
//! It is used by hooks that have the store open anyway.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use lockstep_cache::delivery::ClientLimits;
use lockstep_cascade::Cascade;
use lockstep_store::{Store, StoreError};
use lockstep_text::single_line;

/// The maximum size of a notice, so that it fits next to a part of the session cache into the client's limit
/// per hook.
const NOTICE_MAX_CHARS: usize = ClientLimits::CLAUDE.entry - ClientLimits::CLAUDE.part - 2;

/// The number of files of each kind that a notice names.
const SHOWN_NAMES: usize = 2;

pub(crate) struct ActiveCascade {
    pub(crate) id: i64,
    state: Cascade,
}

/// Returns the active cascades of a project. One whose state cannot be read is left out; commands report it.
pub(crate) fn load(store: &Store) -> Result<Vec<ActiveCascade>, StoreError> {
    let records = store.active_cascades()?;
    let read = |state: &str| serde_json::from_str::<Cascade>(state).ok();
    Ok(records
        .iter()
        .filter_map(|record| Some(ActiveCascade { id: record.id, state: read(&record.state)? }))
        .collect())
}

impl ActiveCascade {
    /// Returns its files as absolute paths: its causes, and the files assigned to agents.
    pub(crate) fn own_files(&self, root: &Path) -> BTreeSet<PathBuf> {
        self.state.own_files().into_iter().map(|path| root.join(path)).collect()
    }

    /// Returns the text for a session that lost its context, or never had it.
    pub(crate) fn session_notice(&self) -> String {
        let data = self.state.data();
        let groups: Vec<String> = data
            .groups
            .iter()
            .filter(|group| group.stage != "settled")
            .map(|group| format!("{} ({}, {})", group.id, group.stage, join_first(&group.open)))
            .collect();
        let notice = format!(
            "A cascade is active in this project: cascade {}, iteration {} of at most {}, after changes in {}. Open groups: {}. \
             `lockstep cascade status` shows it, `lockstep cascade next` goes on with it. Alerts about its files are held \
             back until it is over.",
            self.id,
            data.iterations,
            data.max_iterations,
            join_first(&data.causes),
            if groups.is_empty() { "none".to_owned() } else { groups.join("; ") },
        );
        if ClientLimits::CLAUDE.unit.count(&notice) <= NOTICE_MAX_CHARS {
            return single_line(&notice);
        }
        // Names can be as long as they like.
        format!(
            "A cascade is active in this project: cascade {}. `lockstep cascade status` shows it, `lockstep cascade next` goes on \
             with it. Alerts about its files are held back until it is over.",
            self.id
        )
    }
}

/// Lists the first names, and counts the rest.
fn join_first(names: &[String]) -> String {
    match names.len().checked_sub(SHOWN_NAMES) {
        None | Some(0) => names.join(", "),
        Some(more) => format!("{} and {more} more", names[..SHOWN_NAMES].join(", ")),
    }
}
