//! The beginning and the end of a session.

use std::time::Duration;

use jiff::{SignedDuration, ToSpan as _};
use lockstep_index::catalogue::Catalogue;
use lockstep_index::index::is_stored;
use lockstep_index::sweep::baseline;
use lockstep_model::decision::Decision;
use lockstep_model::event::EventKind;
use lockstep_model::ids::SessionId;
use lockstep_store::befores::Befores;
use lockstep_store::{Store, StoreError};

use super::Hook;
use super::fault::Fault;
use crate::cascade::presence;
use crate::env_vars::LOCKSTEP_GROUP;
use crate::steps::runs::Runs;
use crate::task::callers::Callers;

/// How long the start of a first session waits for the index. A larger project is indexed while the session goes on.
const INDEX_WAIT: Duration = Duration::from_millis(1_500);

impl Hook {
    /// Takes what changed before the session began for known, unless another session is at work here, whose shell commands may not
    /// have been swept yet. Saves what the files are, and starts the build of the index where there is none.
    pub(super) fn open_session(&mut self, session: &SessionId) -> Result<Decision, Fault> {
        let mut store = Store::open(&self.project.state)?;
        store.open_session(session, self.now.timestamp())?;
        let begins = matches!(&self.event.kind, EventKind::SessionStart { source }
            if source == "startup" || source == "resume");
        // A session that crashed never ends; after a day it no longer counts as being at work.
        let yesterday = self.now.timestamp().saturating_sub(24.hours()).unwrap_or(jiff::Timestamp::MIN);
        let alone = begins && !store.another_session_is_open(session, yesterday)?;
        let state = &self.project.state;
        let catalogue = if alone || !Catalogue::file(state).exists() {
            Some(baseline(&self.project.root, state)?)
        } else {
            Catalogue::load(state)?
        };
        let befores = Befores::of(state, session);
        if let Some(catalogue) = catalogue.filter(|_| begins || !befores.has_base()) {
            befores.begin(&self.project.session_base(&catalogue))?;
        }
        if !is_stored(state)? {
            self.project.build_index_and_wait(INDEX_WAIT).map_err(Fault::Background)?;
        }
        let mention = mention_of_cascade(&store)?;
        self.store = Some(store);
        Ok(mention)
    }

    /// The session's changes are remembered, its journal stays for the grace period, and journals of sessions whose grace is
    /// over go, and so do temporary files of hooks that were killed. Never another session's. What stands in the way of one of these steps keeps no other from being taken.
    pub(super) fn close_session(&mut self, session: &SessionId) -> Result<Decision, Fault> {
        let mut store = Store::open(&self.project.state)?;
        let (journal, now) = (self.project.journal(), self.now.timestamp());
        let read = store.read_journal(&journal, session, &|_| true);
        self.faults.extend(read.err().map(Fault::from));
        store.close_session(session, now)?;
        Runs::of(&self.project.state, session).forget();
        Callers::of(&self.project.state, session).forget();
        let grace =
            SignedDuration::try_from(self.project.config().journal.grace).unwrap_or(SignedDuration::MAX);
        for expired in store.expired_journals(&journal, now, grace)? {
            let removed = store.remove_journal(&journal, &expired, &|_| true);
            self.faults.extend(removed.err().map(Fault::from));
            let forgotten = Befores::of(&self.project.state, &expired).forget();
            self.faults.extend(forgotten.err().map(Fault::from));
        }
        let collected = self.project.state.collect_leftovers(now.into());
        self.faults.extend(collected.err().map(Fault::from));
        Ok(Decision::Silent)
    }
}

/// Work that is under way, told to a session that begins, or that has just lost its context. An agent of that work has its own prompt.
fn mention_of_cascade(store: &Store) -> Result<Decision, StoreError> {
    if LOCKSTEP_GROUP.get().is_some() {
        return Ok(Decision::Silent);
    }
    let cascades = presence::active(store)?;
    // One is what fits beside a part of the session cache; sessions of their own seldom have one each at the same time.
    Ok(cascades.first().map_or(Decision::Silent, |cascade| Decision::Context(cascade.mention())))
}
