//! Queries an index while the disk is still being checked.
//!
//! Usually nothing has changed since the last query, and the check only confirms that. Therefore the query
//! runs on the stored index, in parallel to the check. If the check finds a change, the answer is discarded.

use std::path::Path;

use super::Index;
use super::open::{IndexLocation, OpenRequest, PersistMode, ScanScope, StoredIndex, UpdatePolicy, load_from};
use super::progress::IndexProgress;
use super::settings::IndexSettings;
use super::version::FileVersion;
use crate::IndexResult;

impl Index {
    /// Opens the index of the project at `root` as [`Index::open_or_build`] does, and runs `ask` on it before
    /// the check of the disk has finished.
    ///
    /// The answer is returned only if the index was up to date. If it was not, if there was no index, or if
    /// `ask` declined, the caller has to query the returned index again.
    pub fn query_speculatively<T>(
        root: &Path,
        home: IndexLocation<'_>,
        settings: &IndexSettings,
        progress: &dyn IndexProgress,
        ask: impl FnOnce(&Self) -> Option<T>,
    ) -> IndexResult<(Self, Option<T>)> {
        let storage = home.storage();
        let mut loaded = load_from(storage.as_ref(), settings)?;
        let (effort, sight, keep) = (UpdatePolicy::Complete, ScanScope::All, PersistMode::Now);
        let opening = OpenRequest { root, storage, writer: None, settings, effort, sight, keep, progress };
        let Some(base) = loaded.base.take() else {
            return Ok((opening.bring_up_to_date(loaded)?, None));
        };
        let index = opening.opened(base, true);
        let (seen, answer) = std::thread::scope(|scope| {
            let look = scope.spawn(|| opening.look(&index.files, &index.manifest, &index.outdated));
            let answer = ask(&index);
            (look.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), answer)
        });
        if seen.look.is_as_before() {
            return Ok((index, answer));
        }
        Ok((opening.catch_up(index.into_base(), loaded.found, seen)?, None))
    }

    /// Returns true if the file on disk matches the index, or neither has it. The content is not read.
    pub fn is_current(&self, path: &str) -> bool {
        let known = self.files.paths.find(path).map(|file| &self.files.records[file].version);
        let present = self.root.join(path).symlink_metadata().ok();
        match (known, present) {
            (Some(known), Some(present)) => known.matches_metadata(&FileVersion::of(&present)),
            (known, present) => known.is_none() && present.is_none(),
        }
    }

    /// Returns the stored state, without the findings of this process.
    fn into_base(self) -> StoredIndex {
        let Self { manifest, files, words, facts, .. } = self;
        StoredIndex { manifest, files, words, facts, replaced: Vec::new() }
    }
}
