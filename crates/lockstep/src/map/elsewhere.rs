//! A map that was made on another machine and came with a commit: what only that machine knows is not held against it. Times of files are
//! those of the checkout, so git is asked when they changed; which files changed in the last runs is not known here.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use jiff::Timestamp;
use jiff::civil::Date;
use lockstep_git::{Between, Repository};
use lockstep_map::document::Document;

use super::place::Place;
use crate::clock;

/// Such a map.
pub(super) struct Elsewhere {
    /// Files that are not as they were committed.
    changed: HashSet<String>,
    /// Files that were committed since the oldest entry, and when last; `None` where the history was cut off.
    committed: Option<BTreeMap<String, i64>>,
}

impl Elsewhere {
    /// `None` where the document was not committed as it is, so that somebody here made it.
    pub(super) fn of(root: &Path, place: &Place, text: &str) -> Option<Self> {
        let repository = Repository::at(root).ok()??;
        let head = repository.head().ok()??;
        let committed = repository.contents(&head, std::slice::from_ref(&place.shown)).ok()?;
        if committed.first()?.as_deref() != Some(text.as_bytes()) {
            return None;
        }
        let changed = repository.changed(&Between::HeadAndFiles).ok()?;
        let oldest = Document::parse(text).ok()?.entries.iter().map(|entry| entry.updated).min()?;
        let oldest = oldest.to_zoned(clock::now().time_zone().clone()).ok()?.timestamp();
        Some(Self {
            changed: changed.into_iter().map(|changed| changed.path).collect(),
            committed: repository.committed_since(oldest.as_second()).ok()?,
        })
    }

    /// Whether a file changed after a day; `None` where its own time must tell, because it is not as it was committed.
    pub(super) fn changed_since(&self, path: &str, day: Date) -> Option<bool> {
        if self.changed.contains(path) {
            return None;
        }
        let at = self.committed.as_ref().and_then(|committed| committed.get(path));
        let at = at.and_then(|at| Timestamp::from_second(*at).ok());
        Some(at.is_some_and(|at| at.to_zoned(clock::now().time_zone().clone()).date() > day))
    }
}
