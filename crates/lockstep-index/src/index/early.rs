//! Asking an index while the disk is still being looked at.
//!
//! Mostly nothing has changed since the last question, and the look only finds that out. So the question is put to the index as it
//! was kept, and the look goes on beside it: where it finds nothing, what was answered is of this moment. Where it finds something,
//! the answer is thrown away.

use std::path::Path;

use super::Index;
use super::open::{Base, Effort, Home, Keep, Opening, Sight, load_from};
use super::progress::Progress;
use super::settings::Settings;
use super::version::Version;
use crate::IndexError;

impl Index {
    /// Opens the index of the project at `root` as [`Index::open_or_build`] does, and lets `ask` ask it before it is known whether it
    /// is up to date. The answer is given back only where it was. Otherwise, or where there was no index yet, or `ask` declined,
    /// the index that is given back has to be asked again.
    pub fn open_and_ask<T>(
        root: &Path,
        home: Home<'_>,
        settings: &Settings,
        progress: &dyn Progress,
        ask: impl FnOnce(&Self) -> Option<T>,
    ) -> Result<(Self, Option<T>), IndexError> {
        let storage = home.storage();
        let mut loaded = load_from(storage.as_ref(), settings)?;
        let (effort, sight, keep) = (Effort::Whole, Sight::Whole, Keep::Now);
        let opening = Opening { root, storage, writer: None, settings, effort, sight, keep, progress };
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

    /// Whether a file is on disk as the index knows it, or neither has it; as far as can be told without reading it.
    pub fn knows(&self, path: &str) -> bool {
        let known = self.files.paths.find(path).map(|file| &self.files.records[file].version);
        let present = self.root.join(path).symlink_metadata().ok();
        match (known, present) {
            (Some(known), Some(present)) => known.looks_like(&Version::of(&present)),
            (known, present) => known.is_none() && present.is_none(),
        }
    }

    /// What it was made of, without what was found out since.
    fn into_base(self) -> Base {
        let Self { manifest, files, words, facts, .. } = self;
        Base { manifest, files, words, facts, replaced: Vec::new() }
    }
}
