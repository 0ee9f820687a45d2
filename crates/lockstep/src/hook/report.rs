//! Stops: what an agent changed becomes a report, and where it is worth it, an alert in the mailbox.

use std::path::{Path, PathBuf};

use lockstep_config::keys::Worth;
use lockstep_model::alert::Alert;
use lockstep_model::decision::Decision;
use lockstep_model::event::Actor;
use lockstep_model::ids::SessionId;
use lockstep_model::report::{l1, l2};
use lockstep_store::Store;
use lockstep_store::history::{By, Filter};
use lockstep_store::reports::Draft;

use super::Hook;
use super::fault::Fault;

/// The reader of the Lead's own changes.
const LEAD: &str = "lead";

/// The reader at a subagent's stop of an older client, which does not say whose stop it is.
const ANYONE: &str = "anyone";

impl Hook {
    pub(super) fn report_subagent(&mut self, session: &SessionId) -> Result<Decision, Fault> {
        let swept = self.sweep_at_stop(session);
        let mut store = Store::open(&self.project.state)?;
        let actor = self.event.actor.clone();
        let (reader, by) = match &actor {
            Actor::Subagent { id, agent_type } => {
                if let Some(agent_type) = agent_type {
                    store.name_agent(session, id, agent_type)?;
                }
                store.end_readings(session, id, self.now.timestamp())?;
                (id.as_str(), By::Agent(id))
            }
            Actor::Lead => (ANYONE, By::Anyone),
        };
        self.report(&mut store, session, reader, by, self.project.config().alert.subagent)?;
        swept.map(|()| Decision::Silent)
    }

    pub(super) fn report_lead(&mut self, session: &SessionId) -> Result<Decision, Fault> {
        let swept = self.sweep_at_stop(session);
        let mut store = Store::open(&self.project.state)?;
        self.report(&mut store, session, LEAD, By::Lead, self.project.config().alert.lead)?;
        swept.map(|()| Decision::Silent)
    }

    /// Reports the files changed since this reader's last report that are in a state nobody has reported yet.
    fn report(
        &self,
        store: &mut Store,
        session: &SessionId,
        reader: &str,
        by: By<'_>,
        worth: Worth,
    ) -> Result<(), Fault> {
        store.read_journal(&self.project.journal(), session, &|_| true)?;
        let after = store.reader_cursor(session, reader)?;
        let changes = store.changes(&Filter { session: Some(session), by, after })?;
        let Some(last) = changes.last().map(|change| change.id) else { return Ok(()) };
        let mut paths: Vec<PathBuf> = changes.into_iter().map(|change| change.line.path).collect();
        paths.sort();
        paths.dedup();
        while !self.enter(store, session, &paths, worth)? {}
        Ok(store.set_reader_cursor(session, reader, last)?)
    }

    /// Enters a report about those of `paths` that are in a state nobody has reported. False where another agent's stop was
    /// faster with one of them: then the rest is looked at again.
    fn enter(
        &self,
        store: &mut Store,
        session: &SessionId,
        paths: &[PathBuf],
        worth: Worth,
    ) -> Result<bool, Fault> {
        let files = store.unreported(session, paths)?;
        if files.is_empty() {
            return Ok(true);
        }
        let (changed, names): (Vec<PathBuf>, Vec<&Path>) =
            files.iter().map(|(path, _)| (path.clone(), path.as_path())).unzip();
        // Whether something breaks is not known: only who wants to hear of everything hears of it.
        let alert = (worth == Worth::Any).then(|| Alert::not_analysed(session, &changed));
        let entered = store.enter_report(&Draft {
            session,
            agent: self.event.actor.agent_id(),
            files: &files,
            texts: &[("yaml", l1(&names)), ("md", l2(&names))],
            alert: alert.as_ref(),
            at: self.now.timestamp(),
        })?;
        Ok(entered.is_some())
    }
}
