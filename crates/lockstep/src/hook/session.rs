//! The beginning and the end of a session.

use std::path::Path;
use std::time::Duration;

use jiff::{SignedDuration, ToSpan as _};
use lockstep_index::index::is_stored;
use lockstep_index::sweep::{baseline, present};
use lockstep_model::decision::Decision;
use lockstep_model::event::EventKind;
use lockstep_model::ids::SessionId;
use lockstep_store::history::ChangeFilter;
use lockstep_store::originals::{OriginalStore, SessionBase};
use lockstep_store::stale_temp_files::collect_beside;
use lockstep_store::{Store, StoreError};

use super::HookRun;
use super::error::{HookError, HookResult};
use crate::cascade::active;
use crate::env_vars::LOCKSTEP_GROUP;
use crate::impact::original::{Originals, Since};
use crate::steps::step_runs::SessionRuns;
use crate::task::callers::Callers;

/// The time that the start of a first session waits for the index. A larger project is indexed during the session.
const INDEX_WAIT: Duration = Duration::from_millis(1_500);

impl HookRun {
    /// Records changes from before the session as known, unless another session is active here, whose shell
    /// commands may not have been swept yet. Saves the contents of the files, and starts the build of the
    /// index if there is none.
    pub(super) fn open_session(&mut self, session: &SessionId) -> HookResult<Decision> {
        // A refused journal is a fault of every event that writes to it.
        let ignored = self.project.ignored.iter().filter(|key| key.section != "journal");
        self.faults.extend(ignored.map(|key| HookError::IgnoredKey(key.to_string())));
        let mut store = Store::open(&self.project.state)?;
        store.open_session(session, self.now.timestamp())?;
        let begins = matches!(&self.event.kind, EventKind::SessionStart { source }
            if source == "startup" || source == "resume");
        // A crashed session never ends; after a day it no longer counts as active.
        let yesterday = self.now.timestamp().saturating_sub(24.hours()).unwrap_or(jiff::Timestamp::MIN);
        let alone = begins && !store.has_other_open_session(session, yesterday)?;
        let (root, state) = (&self.project.root, &self.project.state);
        let catalogue = if alone { Some(baseline(root, state)?) } else { None };
        let befores = OriginalStore::for_session(state, session);
        if begins || !befores.has_base() {
            let catalogue = catalogue.map_or_else(|| present(root, state), Ok)?;
            let mut base = self.project.session_base(&catalogue);
            self.keep_unreported(&mut store, session, &mut base)?;
            befores.begin(&base)?;
        }
        if !is_stored(state)? {
            self.project.build_index_and_wait(INDEX_WAIT).map_err(HookError::Background)?;
        }
        let notice = cascade_notice(&store)?;
        self.store = Some(store);
        Ok(notice)
    }

    /// Saves the contents of the files, if the start of the session was not seen. `init` creates the state
    /// directory; an event without changes does not.
    pub(super) fn note_start(&mut self, session: &SessionId) -> HookResult<Decision> {
        let befores = OriginalStore::for_session(&self.project.state, session);
        if self.project.state.path().exists() && !befores.has_base() {
            let catalogue = present(&self.project.root, &self.project.state)?;
            befores.begin_once(&self.project.session_base(&catalogue))?;
        }
        Ok(Decision::Silent)
    }

    /// Keeps the originals of files that the session changed before it was interrupted and has not reported yet.
    fn keep_unreported(&self, store: &mut Store, session: &SessionId, base: &mut SessionBase) -> HookResult {
        let befores = OriginalStore::for_session(&self.project.state, session);
        if !befores.has_base() {
            return Ok(());
        }
        // Every event that writes to an unusable journal reports it. The session starts nevertheless.
        store.import_journal(&self.project.journal(), session, &|_| true).ok();
        let originals = Originals::new(&self.project, session, Since::Start);
        for change in store.changes(&ChangeFilter { session: Some(session), ..ChangeFilter::default() })? {
            let path = &change.line.path;
            if let Some(relative) = originals.relative(path).filter(|_| !befores.is_reported(path)) {
                base.set(&relative, originals.saved(path));
            }
        }
        Ok(())
    }

    /// Reads the session's changes into the history. Its journal stays for the grace period; journals of
    /// sessions whose grace period is over are removed, and so are temporary files of killed hooks. Never
    /// affects another session. A failure of one of these steps does not prevent the others.
    pub(super) fn close_session(&mut self, session: &SessionId) -> HookResult<Decision> {
        let mut store = Store::open(&self.project.state)?;
        let (journal, now) = (self.project.journal(), self.now.timestamp());
        let read = store.import_journal(&journal, session, &|_| true);
        self.faults.extend(read.err().map(HookError::from));
        store.close_session(session, now)?;
        SessionRuns::of(&self.project.state, session).forget();
        self.windows(session).forget();
        Callers::of(&self.project.state, session).forget();
        let grace =
            SignedDuration::try_from(self.project.config().journal.grace).unwrap_or(SignedDuration::MAX);
        for expired in store.expired_journals(&journal, now, grace)? {
            let removed = store.remove_journal(&journal, &expired, &|_| true);
            self.faults.extend(removed.err().map(HookError::from));
            let forgotten = OriginalStore::for_session(&self.project.state, &expired).remove_session();
            self.faults.extend(forgotten.err().map(HookError::from));
        }
        let collected = self.project.state.remove_stale_temp_files(now.into());
        self.faults.extend(collected.err().map(HookError::from));
        self.collect_beside_files(now.into());
        Ok(Decision::Silent)
    }
}

impl HookRun {
    /// Removes temporary files of killed writers next to the project's files that Lockstep writes, and in the
    /// user's directory.
    fn collect_beside_files(&self, now: std::time::SystemTime) {
        let root = &self.project.root;
        let steps = self.steps();
        let mut dirs = vec![root.clone(), root.join(".claude"), steps.dir()];
        dirs.extend(steps.list_step_files().iter().filter_map(|file| file.path.parent().map(Path::to_owned)));
        dirs.extend(self.project.memory().path().and_then(|path| path.parent().map(Path::to_owned)));
        dirs.sort();
        dirs.dedup();
        dirs.iter().for_each(|dir| collect_beside(dir, now));
    }
}

/// Returns a notice about the work in progress, for a session that starts or has just lost its context. An
/// agent of that work has its own prompt.
fn cascade_notice(store: &Store) -> Result<Decision, StoreError> {
    if LOCKSTEP_GROUP.get().is_some() {
        return Ok(Decision::Silent);
    }
    let cascades = active::load(store)?;
    // Only one fits next to a part of the session cache; several active cascades are rare.
    Ok(cascades.first().map_or(Decision::Silent, |cascade| Decision::Context(cascade.session_notice())))
}
