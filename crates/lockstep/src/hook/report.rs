//! Stops: what an agent changed and what depends on it becomes a report, and where it is worth it, an alert in the mailbox.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use lockstep_config::keys::Worth;
use lockstep_index::index::{Effort, Home, Index, Unwatched};
use lockstep_model::alert::Alert;
use lockstep_model::decision::Decision;
use lockstep_model::event::Actor;
use lockstep_model::ids::SessionId;
use lockstep_model::report;
use lockstep_refs::impact::{Before, Edit};
use lockstep_store::Store;
use lockstep_store::befores::Befores;
use lockstep_store::history::{By, Change, Filter};
use lockstep_store::reports::Draft;

use super::Hook;
use super::fault::Fault;
use crate::cascade::presence;
use crate::impact::analysis::{Analysis, after};
use crate::impact::session::edits_of_changes;

/// The reader of the Lead's own changes.
const LEAD: &str = "lead";

/// The reader at a subagent's stop of an older client, which does not say whose stop it is.
const ANYONE: &str = "anyone";

/// How long the first stop in a project waits for the index that it has started to build.
const PATIENCE: Duration = Duration::from_secs(2);

/// How often it looks.
const PAUSE: Duration = Duration::from_millis(20);

impl Hook {
    pub(super) fn report_subagent(&mut self, session: &SessionId) -> Result<Decision, Fault> {
        let swept = self.sweep_at_stop(session);
        let mut store = Store::open(&self.project.state)?;
        let actor = self.event.actor.clone();
        let (reader, by) = match &actor {
            Actor::Subagent { id, .. } => {
                store.end_readings(session, id, self.now.timestamp())?;
                (id.as_str(), By::Agent(id))
            }
            Actor::Lead => (ANYONE, By::Anyone),
        };
        self.report(&mut store, session, reader, by, self.project.config().alert.subagent)?;
        self.store = Some(store);
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
        &mut self,
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
        if let Actor::Subagent { id, agent_type: Some(agent_type) } = &self.event.actor {
            store.name_agent(session, id, agent_type)?;
        }
        while !self.enter(store, session, &changes, worth)? {}
        Ok(store.set_reader_cursor(session, reader, last)?)
    }

    /// Enters a report about those of the changed files that are in a state nobody has reported. False where another agent's stop
    /// was faster with one of them: then the rest is looked at again.
    fn enter(
        &mut self,
        store: &mut Store,
        session: &SessionId,
        changes: &[Change],
        worth: Worth,
    ) -> Result<bool, Fault> {
        let mut paths: Vec<PathBuf> = changes.iter().map(|change| change.line.path.clone()).collect();
        paths.sort();
        paths.dedup();
        let files = store.unreported(session, &paths)?;
        if files.is_empty() {
            return Ok(true);
        }
        let changed: Vec<PathBuf> = files.iter().map(|(path, _)| path.clone()).collect();
        let analysed = self.analyse(store, session, changes, &changed);
        let analysis = match analysed {
            Ok(analysis) => analysis,
            Err(fault) => {
                self.faults.push(fault);
                None
            }
        };
        let (texts, mut alert) = match &analysis {
            Some(analysis) => analysed_report(analysis, worth),
            None => unanalysed_report(session, &changed, worth),
        };
        let (told, held) = self.held_back(store, &changed)?;
        if held.is_some() {
            alert = match &analysis {
                _ if told.is_empty() => None,
                Some(analysis) => analysed_report(&analysis.of_files(&told), worth).1,
                None => unanalysed_report(session, &told, worth).1,
            };
        }
        let entered = store.enter_report(&Draft {
            session,
            agent: self.event.actor.agent_id(),
            files: &files,
            texts: &texts,
            alert: alert.as_ref(),
            at: self.now.timestamp(),
        })?;
        if entered.is_some() {
            let befores = Befores::of(&self.project.state, session);
            changed.iter().try_for_each(|path| befores.reported(path, self.event.actor.agent_id()))?;
        }
        if let (Some(cascade), Some(number)) = (held, entered) {
            store.hold_alert(cascade, session, number)?;
        }
        Ok(entered.is_some())
    }

    /// Those of the changed files that the Lead is told about, and the active cascade that keeps the others for its report: an
    /// alert about them would begin it anew.
    fn held_back(&self, store: &Store, changed: &[PathBuf]) -> Result<(Vec<PathBuf>, Option<i64>), Fault> {
        let mut told = changed.to_vec();
        let mut held = None;
        for cascade in presence::active(store)? {
            let own = cascade.own_files(&self.project.root);
            if told.iter().any(|path| own.contains(path)) {
                told.retain(|path| !own.contains(path));
                held = held.or(Some(cascade.id));
            }
        }
        Ok((told, held))
    }

    /// What depends on the changed files; `None` while the index is not there yet.
    fn analyse(
        &self,
        store: &Store,
        session: &SessionId,
        changes: &[Change],
        changed: &[PathBuf],
    ) -> Result<Option<Analysis>, Fault> {
        let Some(mut index) = self.open_index()? else { return Ok(None) };
        let ours: Vec<Change> =
            changes.iter().filter(|change| changed.contains(&change.line.path)).cloned().collect();
        let befores = Befores::of(&self.project.state, session);
        let mut edits = edits_of_changes(&self.project.root, &ours, |path| {
            befores.since_report(path, self.event.actor.agent_id())
        });
        edits.iter_mut().for_each(|edit| ask_index(&index, edit));
        let limit = self.project.config().impact.time_limit;
        let mut analysis =
            Analysis::of(&self.project.root, &index, &self.project.aliases(), &edits, &after(limit));
        analysis.drop_followers(&last_changes(store, session)?);
        analysis.drop_dismissed(store)?;
        // The facts parsed for this answer are there for the next; that they could not be kept harms nobody.
        let _ = index.keep_parsed();
        Ok(Some(analysis))
    }

    /// The index, up to date where that takes little. Where there is none, its build is started, and waited for a moment.
    fn open_index(&self) -> Result<Option<Index>, Fault> {
        let project = &self.project;
        let settings = project.index_settings();
        let open =
            || Index::open(&project.root, Home::State(&project.state), &settings, Effort::Few, &Unwatched);
        if let Some(index) = open()? {
            return Ok(Some(index));
        }
        project.build_index_in_background().map_err(Fault::Background)?;
        let started = Instant::now();
        while started.elapsed() < PATIENCE {
            std::thread::sleep(PAUSE);
            if let Some(index) = open()? {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }
}

/// What the client did not tell, the index may know: what the file was when it was last looked at.
fn ask_index(index: &Index, edit: &mut Edit) {
    if matches!(edit.before, Before::Unknown)
        && let Some(facts) = index.former_facts(edit.former.as_deref().unwrap_or(&edit.path))
    {
        edit.before = Before::Facts(Arc::new(facts));
    }
}

/// When each file was last changed in the session, as the place of the change in the history.
fn last_changes(store: &Store, session: &SessionId) -> Result<BTreeMap<PathBuf, i64>, Fault> {
    let all = store.changes(&Filter { session: Some(session), ..Filter::default() })?;
    Ok(all.into_iter().map(|change| (change.line.path, change.id)).collect())
}

type Texts = [(&'static str, String); 2];

fn analysed_report(analysis: &Analysis, worth: Worth) -> (Texts, Option<Alert>) {
    let report = analysis.report();
    let alert = match worth {
        Worth::Any => Some(analysis.alert(false)),
        Worth::Breaking => Some(analysis.alert(true)),
        Worth::Off => None,
    };
    ([("yaml", report.l1()), ("md", report.l2())], alert.filter(Alert::is_worth_a_turn))
}

fn unanalysed_report(session: &SessionId, changed: &[PathBuf], worth: Worth) -> (Texts, Option<Alert>) {
    let names: Vec<&Path> = changed.iter().map(PathBuf::as_path).collect();
    // Whether something breaks is not known: only who wants to hear of everything hears of it.
    let alert = (worth == Worth::Any).then(|| Alert::not_analysed(session, changed));
    ([("yaml", report::l1(&names)), ("md", report::l2(&names))], alert)
}
