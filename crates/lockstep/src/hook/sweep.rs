//! Finding and journaling changes that no tool event reported.

use std::cell::{Cell, OnceCell};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use lockstep_git::local::{LocalRepository, LocalStatus};
use lockstep_index::catalogue::Catalogue;
use lockstep_index::scope::is_rule_file;
use lockstep_index::sweep::{SweepOutcome, sweep};
use lockstep_model::change::{Attribution, ChangeKind, ChangeTool, JournalLine, format_timestamp};
use lockstep_model::decision::Decision;
use lockstep_model::event::{EditedFile, EventKind, OriginalContent, ToolUse};
use lockstep_model::ids::{AgentId, SessionId};
use lockstep_store::Store;
use lockstep_store::originals::{OriginalStore, SessionBase};

use super::error::{HookError, HookResult};
use super::listed::{agents_of, former};
use super::{HookRun, cwd_of};
use crate::impact::moves;
use crate::impact::original::{Originals, Since};

/// With more files at a time, nothing is noted about each.
const MAX_NOTED_FILES: usize = 200;

/// Without a catalogue, git and a list from the client, files that were written this recently count as
/// changed.
const RECENT: Duration = Duration::from_secs(600);

/// If the start of the session was not seen, a commit that was checked out this recently counts as checked out
/// by the session.
const RECENT_CHECKOUT: Duration = Duration::from_secs(120);

impl HookRun {
    pub(super) fn sweep_after_bash(&mut self, session: &SessionId) -> HookResult<Decision> {
        if !self.project.config().journal.sweep.after_bash() {
            return Ok(Decision::Silent);
        }
        let journaled = match self.journal_listed(session) {
            Ok(true) => Ok(()),
            Ok(false) => self.sweep(session),
            Err(fault) => Err(fault),
        };
        self.close_window(session)?;
        journaled.map(|()| Decision::Silent)
    }

    pub(super) fn sweep_at_stop(&mut self, session: &SessionId) -> HookResult {
        if self.has_swept || !self.project.config().journal.sweep.at_stop() {
            return Ok(());
        }
        self.has_swept = true;
        let swept = self.sweep(session);
        self.windows(session).close_all(self.event.actor.agent_id());
        swept
    }

    /// Journals differences as `Sweep`, attributed to the agents whose commands are running.
    pub(super) fn sweep(&mut self, session: &SessionId) -> HookResult {
        self.note_base(session)?;
        let project = &self.project;
        let windows_before = self.windows(session).list();
        let (is_first, is_compared, opened) = (Cell::new(false), Cell::new(true), Cell::new(None));
        let first = |catalogue: &Catalogue| {
            is_first.set(true);
            self.first_changes(session, catalogue, &is_compared)
        };
        // An edit may start or be journaled while the disk is read.
        let pending_edits = || self.windows(session).edits_of_others(self.event.actor.agent_id());
        let (edits_before, edits_after) = (pending_edits(), OnceCell::new());
        let is_pending = |path: &Path| {
            edits_before.contains(path) || edits_after.get_or_init(pending_edits).contains(path)
        };
        let since = || self.session_start(session);
        let swept = sweep(&project.root, &project.state, since, first, is_pending, |found| {
            let originals = Originals::new(project, session, Since::Report(self.event.actor.agent_id()));
            let mut found = moves::of_changes(found, |path| originals.content(path));
            if is_first.get() || found.iter().any(|(path, _)| path.file_name().is_some_and(is_rule_file)) {
                // A file that is not in the commit, or was ignored, may nevertheless have existed.
                let created = found.iter_mut().filter(|(_, kind)| *kind == ChangeKind::Created);
                created.for_each(|(_, kind)| *kind = ChangeKind::Written);
            }
            // A command may have started while the disk was read, and another may have ended.
            let windows = [windows_before, self.windows(session).list()].concat();
            let found: Vec<(JournalLine, ChangeKind)> = found
                .into_iter()
                .map(|(path, kind)| {
                    let (agent, attribution) = self.attribute(&path, &windows);
                    (self.line(path, agent, attribution), kind)
                })
                .collect();
            self.note_originals(session, &found)?;
            // Most commands change nothing: only now the store is opened.
            let mut store = Store::open(&project.state)?;
            store.record_sweep(&project.journal(), session, &found, &|_| true)?;
            opened.set(Some(store));
            Ok::<(), HookError>(())
        })?;
        if let Some(store) = opened.into_inner() {
            self.store = Some(store);
        }
        match swept {
            SweepOutcome::NoBaseline if !is_compared.get() => Err(HookError::NoBaseline),
            SweepOutcome::Found(_) | SweepOutcome::NoBaseline => Ok(()),
        }
    }

    pub(super) fn line(
        &self,
        path: PathBuf,
        agent: Option<AgentId>,
        attribution: Attribution,
    ) -> JournalLine {
        JournalLine {
            at: format_timestamp(&self.now),
            tool: ChangeTool::Sweep.to_string(),
            path,
            agent,
            tool_use: self.shell_call().and_then(|call| call.id.clone()),
            attribution,
        }
    }

    /// Finds changes without a catalogue, as differences from the commit that the session is based on. Outside a
    /// repository, these are the files that the client lists, otherwise those written recently; then
    /// `is_compared` becomes false.
    fn first_changes(
        &self,
        session: &SessionId,
        catalogue: &Catalogue,
        is_compared: &Cell<bool>,
    ) -> Vec<(PathBuf, ChangeKind)> {
        let root = &self.project.root;
        let commit =
            OriginalStore::for_session(&self.project.state, session).base().and_then(|base| base.commit);
        let changes = commit.and_then(|commit| self.project.changes_since_commit(&commit, catalogue));
        let mut found: Vec<(PathBuf, ChangeKind)> = match changes {
            Some(status) => {
                let kind = |status: LocalStatus| match status {
                    LocalStatus::Modified => ChangeKind::Written,
                    LocalStatus::Added => ChangeKind::Created,
                    LocalStatus::Deleted => ChangeKind::Deleted,
                };
                status.into_iter().map(|(path, status)| (path, kind(status))).collect()
            }
            None => {
                is_compared.set(false);
                let listed: Vec<PathBuf> = self.edited().into_iter().map(|(path, _)| path).collect();
                let paths = if listed.is_empty() { recent(catalogue) } else { below(root, listed) };
                paths.into_iter().map(|path| (path, ChangeKind::Written)).collect()
            }
        };
        let mut paths: Vec<PathBuf> = found.iter().map(|(path, _)| path.clone()).collect();
        self.project.drop_own_files(&mut paths);
        let theirs: HashSet<PathBuf> = paths.into_iter().collect();
        found.retain(|(path, _)| theirs.contains(path));
        found
    }

    /// Saves the former contents that the event lists. For the other files, records that they are unknown.
    fn note_originals(&self, session: &SessionId, found: &[(JournalLine, ChangeKind)]) -> HookResult {
        let befores = OriginalStore::for_session(&self.project.state, session);
        let edited: HashMap<PathBuf, &EditedFile> = self.edited().into_iter().collect();
        for (line, kind) in found.iter().take(MAX_NOTED_FILES) {
            let listed = edited.get(&line.path).and_then(|file| former(&line.path, file));
            for agent in agents_of(line) {
                match (&listed, kind) {
                    (Some(former), _) => befores.save_first(&line.path, agent, former)?,
                    (None, ChangeKind::Created) => {
                        befores.save_first(&line.path, agent, &OriginalContent::Absent)?
                    }
                    (None, _) => befores.keep_unknown(&line.path, agent)?,
                }
            }
        }
        Ok(())
    }

    /// Returns the files that a shell command has edited according to the client, by absolute path.
    fn edited(&self) -> Vec<(PathBuf, &EditedFile)> {
        let EventKind::PostToolUse { call, .. } = &self.event.kind else { return Vec::new() };
        let ToolUse::Bash { edits, .. } = &call.tool else { return Vec::new() };
        let cwd = cwd_of(&self.event);
        let path = |file: &EditedFile| {
            let path = lockstep_model::path::absolute_lexical(&cwd, &file.path);
            self.below_root(&path).unwrap_or(path)
        };
        edits.files.iter().map(|file| (path(file), file)).collect()
    }

    /// Returns the time from which on a written file counts as changed by the session, in nanoseconds since 1970.
    pub(super) fn session_start(&self, session: &SessionId) -> i64 {
        let befores = OriginalStore::for_session(&self.project.state, session);
        let is_seen = befores.base().is_some_and(|base| base.is_complete);
        let begun = befores.base_time().unwrap_or_else(SystemTime::now);
        let start = if is_seen { begun } else { begun - RECENT };
        let start = start.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        i64::try_from(start.as_nanos()).unwrap_or(i64::MAX)
    }

    /// Records the checked-out commit, if the start of the session was not seen. If the command of this event may
    /// have checked out another one, records the commit before it.
    pub(super) fn note_base(&self, session: &SessionId) -> HookResult {
        let befores = OriginalStore::for_session(&self.project.state, session);
        if !befores.has_base() {
            let since = (SystemTime::now() - RECENT_CHECKOUT).duration_since(SystemTime::UNIX_EPOCH);
            let since = since.map_or(0, |since| since.as_secs().cast_signed());
            let repository = LocalRepository::discover(&self.project.root);
            let commit =
                repository.and_then(|repository| repository.commit_at(since).or_else(|| repository.head()));
            befores.begin_once(&SessionBase { commit, ..SessionBase::default() })?;
        }
        Ok(())
    }
}

/// Returns the paths below `root`, relative to it.
fn below(root: &Path, paths: Vec<PathBuf>) -> Vec<PathBuf> {
    paths.iter().filter_map(|path| path.strip_prefix(root).ok().map(Path::to_owned)).collect()
}

/// The files that were written recently.
fn recent(catalogue: &Catalogue) -> Vec<PathBuf> {
    let since = (SystemTime::now() - RECENT).duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let since = i64::try_from(since.as_nanos()).unwrap_or(i64::MAX);
    catalogue.files().filter(|file| file.mtime >= since).map(|file| file.path).collect()
}
