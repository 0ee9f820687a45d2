//! A map that was created on another machine and came with a commit: data that only that machine has is not
//! checked. File times are those of the checkout, so the change dates come from git; the files that changed
//! in the last runs are unknown here.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use jiff::Timestamp;
use jiff::civil::Date;
use lockstep_git::{DiffRange, Repository};
use lockstep_map::document::MapDocument;

use super::settings::MapSettings;
use crate::clock;

pub(super) struct CommittedMap {
    /// Files that are not as they were committed.
    changed: HashSet<String>,
    /// Files that were committed since the oldest entry, and when last; `None` if the history was cut off.
    committed: Option<BTreeMap<String, i64>>,
}

impl CommittedMap {
    /// Returns `None` if the document differs from the committed one, and was therefore made here.
    pub(super) fn of(root: &Path, place: &MapSettings, text: &str) -> Option<Self> {
        let repository = Repository::discover(root).ok()??;
        let head = repository.head().ok()??;
        let committed = repository.read_blobs(&head, std::slice::from_ref(&place.shown)).ok()?;
        if committed.first()?.as_deref() != Some(text.as_bytes()) {
            return None;
        }
        let changed = repository.diff(&DiffRange::HeadToWorktree).ok()?;
        let oldest = MapDocument::parse(text).ok()?.entries.iter().map(|entry| entry.updated).min()?;
        let oldest = oldest.to_zoned(clock::now().time_zone().clone()).ok()?.timestamp();
        Some(Self {
            changed: changed.into_iter().map(|changed| changed.path).collect(),
            committed: repository.committed_since(oldest.as_second()).ok()?,
        })
    }

    /// Returns true if a file changed after a day; `None` if its own time must decide, because it differs
    /// from its commit.
    pub(super) fn changed_since(&self, path: &str, day: Date) -> Option<bool> {
        if self.changed.contains(path) {
            return None;
        }
        let at = self.committed.as_ref().and_then(|committed| committed.get(path));
        let at = at.and_then(|at| Timestamp::from_second(*at).ok());
        Some(at.is_some_and(|at| at.to_zoned(clock::now().time_zone().clone()).date() > day))
    }
}
