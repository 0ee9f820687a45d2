//! Stops: creates a report of an agent's changes and their dependents and, if there are findings, an alert in
//! the mailbox.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use lockstep_config::keys::{AlertStatus, AlertThreshold};
use lockstep_fs::write_atomically;
use lockstep_git::local::{Blob, LocalRepository};
use lockstep_index::index::{Index, IndexLocation, NoProgress, UpdatePolicy, is_stored};
use lockstep_model::alert::Alert;
use lockstep_model::change::Attribution;
use lockstep_model::decision::Decision;
use lockstep_model::event::Actor;
use lockstep_model::ids::{AgentId, SessionId};
use lockstep_model::report;
use lockstep_refs::impact::{After, Before, Edit};
use lockstep_store::history::{ChangeAuthor, ChangeFilter, RecordedChange};
use lockstep_store::originals::OriginalStore;
use lockstep_store::pending::{Pending, may_be_pending};
use lockstep_store::reports::ReportDraft;
use lockstep_store::{Store, check_replaceable};
use lockstep_text::printable_path;

use super::HookRun;
use super::error::{HookError, HookResult};
use super::routing::REGISTRATIONS;
use crate::cascade::active;
use crate::impact::analysis::{ImpactAnalysis, deadline_after};
use crate::impact::deadline::Deadline;
use crate::impact::moves;
use crate::impact::original::{Originals, Since};
use crate::workspace::edits::read_text;
use crate::workspace::session_edits::edits_of_changes;

/// The reader of the Lead's own changes.
const LEAD: &str = "lead";

/// The reader at a subagent's stop of an older client, which does not identify the subagent.
const UNKNOWN_AGENT: &str = "anyone";

/// The subject of a notice about the result of a stop.
const STATUS: &str = "status";

/// The notice for a subagent that changed nothing, if the Lead wants it.
const NO_CHANGES: &str = "SRC: No file changes detected.";

/// The time that a stop waits for the index that is being built.
const INDEX_WAIT: Duration = Duration::from_secs(4);

/// The interval between checks.
const INDEX_POLL: Duration = Duration::from_millis(20);

/// The time limit for pending files at a stop. It is independent of the limit that left them pending;
/// otherwise they might stay pending for ever.
const PENDING_LIMIT_AT_STOP: Duration = Duration::from_secs(4);

/// The same at any other event, for which the Lead waits.
const PENDING_LIMIT: Duration = Duration::from_secs(2);

/// The time that a hook needs after the analysis: a client kills it at its timeout, and the report would be lost.
const TIME_FOR_REPORT: Duration = Duration::from_secs(2);

/// Changes of one agent that are to be reported.
struct Reported<'a> {
    session: &'a SessionId,
    /// `None` is the Lead, or an agent that the client does not name.
    agent: Option<AgentId>,
    /// The last change before `changes`.
    after: i64,
    changes: Vec<RecordedChange>,
    worth: AlertThreshold,
    /// The time limit of the analysis.
    limit: Duration,
    /// The time to wait for the index.
    wait: Duration,
    /// True if an earlier stop could not analyse them.
    is_pending: bool,
}

impl HookRun {
    pub(super) fn report_subagent(&mut self, session: &SessionId) -> HookResult<Decision> {
        let swept = self.sweep_at_stop(session);
        let mut store = self.take_store()?;
        self.report_unread_places(&mut store, session);
        self.report_pending(&mut store, session, PENDING_LIMIT_AT_STOP)?;
        let actor = self.event.actor.clone();
        let (reader, by) = match &actor {
            Actor::Subagent { id, .. } => {
                store.end_task_reads(session, id, self.now.timestamp())?;
                (id.as_str(), ChangeAuthor::Agent(id))
            }
            Actor::Lead => (UNKNOWN_AGENT, ChangeAuthor::Anyone),
        };
        let alert = &self.project.config().alert;
        let (worth, status) = (alert.subagent, alert.status);
        let changed = self.report(&mut store, session, reader, by, worth)?;
        if status == AlertStatus::Always && !changed {
            store.put_notice(session, STATUS, NO_CHANGES, self.now.timestamp())?;
        }
        self.store = Some(store);
        swept.map(|()| Decision::Silent)
    }

    pub(super) fn report_lead(&mut self, session: &SessionId) -> HookResult<Decision> {
        let swept = self.sweep_at_stop(session);
        let mut store = self.take_store()?;
        self.report_unread_places(&mut store, session);
        self.report_pending(&mut store, session, PENDING_LIMIT_AT_STOP)?;
        self.report(&mut store, session, LEAD, ChangeAuthor::Lead, self.project.config().alert.lead)?;
        self.store = Some(store);
        swept.map(|()| Decision::Silent)
    }

    /// Reports the files changed since this reader's last report whose state was not reported yet. Returns true if any changed.
    fn report(
        &mut self,
        store: &mut Store,
        session: &SessionId,
        reader: &str,
        by: ChangeAuthor<'_>,
        worth: AlertThreshold,
    ) -> HookResult<bool> {
        store.import_journal(&self.project.journal(), session, &|_| true)?;
        let after = store.reader_cursor(session, reader)?;
        let filter = ChangeFilter { session: Some(session), by, after };
        let mut changes = store.changes(&filter)?;
        let Some(last) = changes.last().map(|change| change.id) else { return Ok(false) };
        if let Actor::Subagent { id, agent_type: Some(agent_type) } = &self.event.actor {
            store.record_agent_type(session, id, agent_type)?;
            // An alert names the agent by its type.
            changes = store.changes(&filter)?;
        }
        let agent = self.event.actor.agent_id().cloned();
        let limit = self.project.config().impact.time_limit;
        let wait = INDEX_WAIT;
        let reported = Reported { session, agent, after, changes, worth, limit, wait, is_pending: false };
        // False where another agent's stop was faster with one of the files: then the rest is checked again.
        while !self.try_insert_report(store, &reported, None)? {}
        store.set_reader_cursor(session, reader, last)?;
        Ok(true)
    }

    /// Reports files that an earlier stop could not analyse, if that is possible now.
    pub(super) fn report_pending(
        &mut self,
        store: &mut Store,
        session: &SessionId,
        limit: Duration,
    ) -> HookResult {
        let pending = store.pending(session)?;
        if pending.is_empty() {
            return Ok(());
        }
        let agents: BTreeSet<Option<&str>> =
            pending.iter().map(|file| file.agent.as_ref().map(AgentId::as_str)).collect();
        for id in agents {
            let agent = id.and_then(AgentId::new);
            let files: Vec<&Pending> = pending.iter().filter(|file| file.agent == agent).collect();
            let after = files.iter().map(|file| file.after).min().unwrap_or(0);
            let by = agent.as_ref().map_or(ChangeAuthor::Anyone, ChangeAuthor::Agent);
            let mut changes = store.changes(&ChangeFilter { session: Some(session), by, after })?;
            changes.retain(|change| files.iter().any(|file| file.path == change.line.path));
            let alert = &self.project.config().alert;
            let worth = if agent.is_some() { alert.subagent } else { alert.lead };
            let paths: Vec<PathBuf> = files.iter().map(|file| file.path.clone()).collect();
            let wait = Duration::ZERO;
            let reported = Reported { session, agent, after, changes, worth, limit, wait, is_pending: true };
            self.try_insert_report(store, &reported, Some(&paths))?;
        }
        Ok(())
    }

    /// Analyses pending files at an event of the Lead that is no stop, if there is an index by now.
    pub(super) fn report_pending_now(&mut self, session: &SessionId) -> HookResult {
        if !may_be_pending(&self.project.state, session) || !is_stored(&self.project.state)? {
            return Ok(());
        }
        let mut store = Store::open(&self.project.state)?;
        self.report_pending(&mut store, session, PENDING_LIMIT)
    }

    /// Adds a report about the changed files whose state was not reported, or about these `pending` ones.
    /// Returns false if another process has reported one of them first.
    fn try_insert_report(
        &mut self,
        store: &mut Store,
        reported: &Reported<'_>,
        pending: Option<&[PathBuf]>,
    ) -> HookResult<bool> {
        let session = reported.session;
        let files = match pending {
            Some(paths) => store.states(paths),
            None => {
                let mut paths: Vec<PathBuf> =
                    reported.changes.iter().map(|change| change.line.path.clone()).collect();
                paths.sort();
                paths.dedup();
                self.project.drop_own_files(&mut paths);
                store.unreported(session, &paths)?
            }
        };
        if files.is_empty() {
            return Ok(true);
        }
        let changed: Vec<PathBuf> = files.iter().map(|(path, _)| path.clone()).collect();
        let analysis = self.analyse(store, reported, &changed).unwrap_or_else(|fault| {
            self.faults.push(fault);
            None
        });
        if pending.is_some() && analysis.as_ref().is_none_or(ImpactAnalysis::is_unanalysed) {
            // It was already reported that nothing is known of them, and that has not changed.
            return Ok(true);
        }
        let (unanalysed, analysed): (Vec<_>, Vec<_>) = files
            .into_iter()
            .partition(|(path, _)| analysis.as_ref().is_none_or(|analysis| analysis.leaves_out(path)));
        let Rendered { texts, alert, held: held_back } =
            self.texts_and_alert(store, reported, &changed, analysis.as_ref())?;
        let entered = store.insert_report(&ReportDraft {
            session,
            agent: reported.agent.as_ref(),
            files: &analysed,
            pending: &unanalysed,
            after: reported.after,
            texts: &texts,
            alert: alert.as_ref(),
            at: self.now.timestamp(),
        })?;
        if entered.is_some() {
            let befores = OriginalStore::for_session(&self.project.state, session);
            let is_settled =
                |path: &Path| !analysis.as_ref().is_some_and(|analysis| analysis.is_unparsed(path));
            let settled = analysed.iter().map(|(path, _)| path).filter(|path| is_settled(path));
            for path in settled {
                befores.clear_reported(path, reported.agent.as_ref())?;
            }
        }
        if entered.is_some() {
            self.write_report_file(session, &texts);
        }
        if let (Some(cascade), Some(number)) = (held_back, entered) {
            store.hold_alert(cascade, session, number)?;
        }
        Ok(entered.is_some() || pending.is_some())
    }

    /// Returns the report's texts, the alert if there is one, and the cascade that holds a part of it back.
    fn texts_and_alert(
        &self,
        store: &Store,
        reported: &Reported<'_>,
        changed: &[PathBuf],
        analysis: Option<&ImpactAnalysis>,
    ) -> HookResult<Rendered> {
        let Reported { session, worth, .. } = *reported;
        let (texts, mut alert) = match analysis {
            Some(analysis) => self.analysed_report(analysis, reported),
            None => unanalysed_report(session, changed, worth),
        };
        let texts = attributed(texts, reported, changed);
        let (reportable, held_back) = self.split_cascade_files(store, changed)?;
        if held_back.is_some() {
            alert = match analysis {
                _ if reportable.is_empty() => None,
                Some(analysis) => self.analysed_report(&analysis.restricted_to(&reportable), reported).1,
                None => unanalysed_report(session, &reportable, worth).1,
            };
        }
        if let Some(alert) = &mut alert {
            mark_shared_files(alert, reported);
        }
        Ok(Rendered { texts, alert, held: held_back })
    }

    /// Also writes the report to `[impact] file`, if that is configured.
    fn write_report_file(&mut self, session: &SessionId, texts: &ReportTexts) {
        let file = self.project.config().impact.file.resolve(&self.project.root, session.as_str());
        let text = texts.iter().find(|(extension, _)| *extension == "md");
        if let (Some(file), Some((_, text))) = (file, text) {
            let written = check_replaceable(&file, |line| line == report::TITLE)
                .and_then(|()| Ok(write_atomically(&file, text.as_bytes(), 0o600)?));
            self.faults.extend(written.err().map(HookError::from));
        }
    }

    /// Returns the changed files that the Lead is alerted of, and the active cascade that keeps the others
    /// for its report: an alert about them would start it again.
    fn split_cascade_files(
        &self,
        store: &Store,
        changed: &[PathBuf],
    ) -> HookResult<(Vec<PathBuf>, Option<i64>)> {
        let mut reportable = changed.to_vec();
        let mut held_back = None;
        for cascade in active::load(store)? {
            let own = cascade.own_files(&self.project.root);
            if reportable.iter().any(|path| own.contains(path)) {
                reportable.retain(|path| !own.contains(path));
                held_back = held_back.or(Some(cascade.id));
            }
        }
        Ok((reportable, held_back))
    }

    /// Finds the dependents of the changed files; `None` while there is no index.
    fn analyse(
        &self,
        store: &Store,
        reported: &Reported<'_>,
        changed: &[PathBuf],
    ) -> HookResult<Option<ImpactAnalysis>> {
        let Some(mut index) = self.open_index(reported.wait, reported.limit)? else { return Ok(None) };
        let Reported { session, changes, .. } = reported;
        let ours: Vec<RecordedChange> =
            changes.iter().filter(|change| changed.contains(&change.line.path)).cloned().collect();
        let originals = Originals::new(&self.project, session, Since::Report(reported.agent.as_ref()));
        let mut edits = edits_of_changes(&self.project.root, &ours, |path| originals.saved(path));
        let assumed = originals.fill(&index, &mut edits);
        let mut edits = moves::join(edits, &self.project.root);
        edits.retain(|edit| !is_unchanged(&self.project.root, edit));
        let mut analysis = ImpactAnalysis::of(
            &self.project.root,
            &index,
            &self.project.aliases(),
            &edits,
            &deadline_after(reported.limit.min(self.time_left())),
        );
        self.keep_parsed(session, &edits, &analysis)?;
        analysis.add_broken_importers(&index, &assumed);
        analysis.drop_already_updated(&last_changes(store, session)?);
        self.drop_checked_out(session, &mut analysis);
        analysis.drop_dismissed(store)?;
        // Facts parsed for this answer are saved for the next. Failing to save them changes no answer.
        let _ = index.persist_facts();
        Ok(Some(analysis))
    }

    /// Saves the former contents of files that do not parse now: they are compared with these contents when they parse again.
    fn keep_parsed(&self, session: &SessionId, edits: &[Edit], analysis: &ImpactAnalysis) -> HookResult {
        let befores = OriginalStore::for_session(&self.project.state, session);
        for edit in edits {
            let path = self.project.root.join(&edit.path);
            if let (Before::Text(before), true) = (&edit.before, analysis.is_unparsed(&path)) {
                befores.keep_parsed(&path, before)?;
            }
        }
        Ok(())
    }

    /// Removes dependents that fit files which a checkout, a merge or a reset of the session wrote.
    fn drop_checked_out(&self, session: &SessionId, analysis: &mut ImpactAnalysis) {
        let root = &self.project.root;
        let since = self.session_start(session) / 1_000_000_000;
        let Some(repository) = LocalRepository::discover(root) else { return };
        let Some(commit) = repository.written_commit(since) else { return };
        analysis.drop_fitting_dependents(|path| match repository.file(&commit, path) {
            Blob::Content(content) => lockstep_fs::read(root.join(path)).is_ok_and(|now| now == content),
            Blob::Absent => !root.join(path).exists(),
            Blob::Unreadable => false,
        });
    }

    /// Returns the time until the client gives up on this hook, less that for the report.
    fn time_left(&self) -> Duration {
        let name = self.event.kind.name();
        let spec = REGISTRATIONS.iter().find(|spec| spec.event == name);
        let timeout = spec.map_or(0, |spec| u64::from(spec.timeout_seconds));
        Duration::from_secs(timeout).saturating_sub(TIME_FOR_REPORT + self.start.elapsed())
    }

    /// Opens the index, up to date if few files changed. If there is none, starts its build and waits up to
    /// `wait` for it. From then on, it parses files for as long as `limit`.
    fn open_index(&self, wait: Duration, limit: Duration) -> HookResult<Option<Index>> {
        let project = &self.project;
        let settings = project.index_settings();
        let open = || {
            Index::open(
                &project.root,
                IndexLocation::Project(&project.state),
                &settings,
                UpdatePolicy::Bounded,
                &Deadline::after(limit.min(self.time_left()), &NoProgress),
            )
        };
        if let Some(index) = open()? {
            return Ok(Some(index));
        }
        project.build_index_in_background().map_err(HookError::Background)?;
        let started = Instant::now();
        while started.elapsed() < wait {
            std::thread::sleep(INDEX_POLL);
            if let Some(index) = open()? {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }
}

/// Returns true if a file was written and has its original content again, as after a `sed` that matches nothing.
fn is_unchanged(root: &Path, edit: &Edit) -> bool {
    match &edit.before {
        Before::Text(before) if edit.former.is_none() && edit.after == After::Present => {
            read_text(&root.join(&edit.path)).is_some_and(|now| *now == **before)
        }
        _ => false,
    }
}

/// When each file was last changed in the session, as the place of the change in the history.
fn last_changes(store: &Store, session: &SessionId) -> HookResult<BTreeMap<PathBuf, i64>> {
    let all = store.changes(&ChangeFilter { session: Some(session), ..ChangeFilter::default() })?;
    Ok(all.into_iter().map(|change| (change.line.path, change.id)).collect())
}

/// Returns the agents of the files whose change cannot be attributed to one agent.
fn uncertain_agents<'a>(reported: &'a Reported<'_>) -> impl Iterator<Item = (&'a Path, String)> {
    let uncertain = reported.changes.iter().filter(|change| change.line.attribution != Attribution::Exact);
    uncertain.map(|change| (change.line.path.as_path(), change.describe_agents()))
}

/// Adds to the report for people which agents may have made a change.
fn attributed(mut texts: ReportTexts, reported: &Reported<'_>, changed: &[PathBuf]) -> ReportTexts {
    let lines: BTreeSet<String> = uncertain_agents(reported)
        .filter(|(path, _)| changed.iter().any(|one| one == path))
        .map(|(path, agents)| format!("- {}: {agents}\n", printable_path(path)))
        .collect();
    if let Some((_, text)) = texts.iter_mut().find(|(extension, _)| *extension == "md")
        && !lines.is_empty()
    {
        text.push_str("\n## Attribution\n\nIt is not certain who changed these files.\n\n");
        text.extend(lines);
    }
    texts
}

/// Notes in the alert which agents may have changed a file.
fn mark_shared_files(alert: &mut Alert, reported: &Reported<'_>) {
    for file in &mut alert.files {
        let shared = reported.changes.iter().rev().find(|change| {
            change.line.path == file.path && matches!(change.line.attribution, Attribution::Shared(_))
        });
        if let Some(change) = shared {
            let by = format!("by {}", change.describe_agents());
            file.note = Some(file.note.as_ref().map_or_else(|| by.clone(), |note| format!("{note}; {by}")));
        }
    }
}

type ReportTexts = [(&'static str, String); 2];

/// The rendered forms of a report.
struct Rendered {
    texts: ReportTexts,
    /// An alert, if the threshold is reached.
    alert: Option<Alert>,
    /// The cascade that holds a part of the alert back.
    held: Option<i64>,
}

impl HookRun {
    fn analysed_report(
        &self,
        analysis: &ImpactAnalysis,
        reported: &Reported<'_>,
    ) -> (ReportTexts, Option<Alert>) {
        let report = analysis.report();
        let alert = match reported.worth {
            AlertThreshold::Any => Some(analysis.alert(false)),
            AlertThreshold::Breaking => Some(analysis.alert(true)),
            AlertThreshold::Off => None,
        };
        // An alert that nothing was known is followed by one with the result.
        let always = reported.is_pending || self.project.config().alert.status == AlertStatus::Always;
        let texts = [("yaml", report.l1()), ("md", report.l2())];
        (texts, alert.filter(|alert| always || alert.is_actionable()))
    }
}

fn unanalysed_report(
    session: &SessionId,
    changed: &[PathBuf],
    worth: AlertThreshold,
) -> (ReportTexts, Option<Alert>) {
    let names: Vec<&Path> = changed.iter().map(PathBuf::as_path).collect();
    // An unknown result also causes an alert, because something may break.
    let alert = (worth != AlertThreshold::Off).then(|| Alert::not_analysed(session, changed));
    ([("yaml", report::l1(&names)), ("md", report::l2(&names))], alert)
}
