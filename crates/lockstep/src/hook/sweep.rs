//! Finding and journaling changes that no tool event reported.

use std::cell::Cell;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use lockstep_git::local::{LocalRepository, LocalStatus};
use lockstep_index::catalogue::Catalogue;
use lockstep_index::sweep::{Swept, sweep};
use lockstep_model::change::{ChangeKind, ChangeTool, JournalLine, timestamp};
use lockstep_model::decision::Decision;
use lockstep_model::event::{EditedFile, EventKind, Former, Tool};
use lockstep_model::ids::{SessionId, ToolUseId};
use lockstep_store::Store;
use lockstep_store::befores::{Befores, SessionBase};

use super::fault::Fault;
use super::{Hook, cwd_of, undo};
use crate::impact::moves;
use crate::impact::original::{Originals, Since};

/// With more files at a time, nothing is noted about each.
const MAX_NOTED_FILES: usize = 200;

/// Without a catalogue, without git and without a list from the client, files written so recently count as changed.
const RECENT: Duration = Duration::from_secs(600);

impl Hook {
    pub(super) fn sweep_after_bash(&mut self, session: &SessionId) -> Result<Decision, Fault> {
        if self.project.config().journal.sweep.after_bash() {
            self.sweep(session)?;
        }
        Ok(Decision::Silent)
    }

    pub(super) fn sweep_at_stop(&mut self, session: &SessionId) -> Result<(), Fault> {
        if self.project.config().journal.sweep.at_stop() { self.sweep(session) } else { Ok(()) }
    }

    /// Journals what differs as `Sweep`, attributed to the agent of this event.
    fn sweep(&mut self, session: &SessionId) -> Result<(), Fault> {
        self.note_base(session)?;
        let project = &self.project;
        let (is_first, is_compared) = (Cell::new(false), Cell::new(true));
        let first = |catalogue: &Catalogue| {
            is_first.set(true);
            self.first_changes(catalogue, &is_compared)
        };
        let swept = sweep(&project.root, &project.state, first, |found| {
            let originals = Originals::new(project, session, Since::Report(self.event.actor.agent_id()));
            let mut found = moves::of_changes(found, |path| originals.content(path));
            if is_first.get() {
                // A file that the commit does not have may have been there all the same.
                let created = found.iter_mut().filter(|(_, kind)| *kind == ChangeKind::Created);
                created.for_each(|(_, kind)| *kind = ChangeKind::Written);
            }
            self.note_originals(session, &found)?;
            let found: Vec<(JournalLine, ChangeKind)> =
                found.into_iter().map(|(path, kind)| (self.line(path), kind)).collect();
            // Most commands change nothing: only now the store is opened.
            let mut store = Store::open(&project.state)?;
            store.journal_sweep(&project.journal(), session, &found, &|_| true)?;
            Ok::<(), Fault>(())
        })?;
        match swept {
            Swept::NoBaseline if !is_compared.get() => Err(Fault::NoBaseline),
            Swept::Found(_) | Swept::NoBaseline => Ok(()),
        }
    }

    fn line(&self, path: PathBuf) -> JournalLine {
        JournalLine {
            at: timestamp(&self.now),
            tool: ChangeTool::Sweep.to_string(),
            path,
            agent: self.event.actor.agent_id().cloned(),
            tool_use: self.tool_use().cloned(),
        }
    }

    /// What changed, as far as it can be told without a catalogue: the difference from the checked-out commit. Outside of a repository
    /// it is what the client lists, or else what was written recently; then `is_compared` becomes false.
    fn first_changes(&self, catalogue: &Catalogue, is_compared: &Cell<bool>) -> Vec<(PathBuf, ChangeKind)> {
        let root = &self.project.root;
        let mut found: Vec<(PathBuf, ChangeKind)> = match self.project.changes_since_commit(catalogue) {
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

    /// Saves the former contents that the event tells. Of the other files it is noted that theirs are not known from an event.
    fn note_originals(&self, session: &SessionId, found: &[(PathBuf, ChangeKind)]) -> Result<(), Fault> {
        let befores = Befores::of(&self.project.state, session);
        let agent = self.event.actor.agent_id();
        for (path, hunks) in self.edited() {
            let former = std::fs::read_to_string(&path).ok().and_then(|now| undo::revert(&now, &hunks));
            if let Some(former) = former {
                let former = if former.is_empty() { Former::Absent } else { Former::Text(former) };
                befores.keep(&path, agent, &former)?;
            }
        }
        for (path, kind) in found.iter().take(MAX_NOTED_FILES) {
            match kind {
                ChangeKind::Created => befores.keep(path, agent, &Former::Absent)?,
                _ => befores.keep_unknown(path, agent)?,
            }
        }
        Ok(())
    }

    /// The files that the client says a shell command has edited, by absolute path.
    fn edited(&self) -> Vec<(PathBuf, Vec<lockstep_model::event::EditHunk>)> {
        let EventKind::PostToolUse { call, .. } = &self.event.kind else { return Vec::new() };
        let Tool::Bash { edited, .. } = &call.tool else { return Vec::new() };
        let cwd = cwd_of(&self.event);
        let file = |file: &EditedFile| (lockstep_model::path::absolute(&cwd, &file.path), file.hunks.clone());
        edited.iter().map(file).collect()
    }

    /// Notes which commit is checked out, where the start of the session was not seen.
    pub(super) fn note_base(&self, session: &SessionId) -> Result<(), Fault> {
        let befores = Befores::of(&self.project.state, session);
        if !befores.has_base() {
            let commit = LocalRepository::discover(&self.project.root).and_then(|it| it.head());
            befores.begin(&SessionBase { commit, ..SessionBase::default() })?;
        }
        Ok(())
    }

    fn tool_use(&self) -> Option<&ToolUseId> {
        match &self.event.kind {
            EventKind::PostToolUse { call, .. } => call.id.as_ref(),
            _ => None,
        }
    }
}

/// Those of the paths that are below `root`, relative to it.
fn below(root: &Path, paths: Vec<PathBuf>) -> Vec<PathBuf> {
    paths.iter().filter_map(|path| path.strip_prefix(root).ok().map(Path::to_owned)).collect()
}

/// The files that were written recently.
fn recent(catalogue: &Catalogue) -> Vec<PathBuf> {
    let since = (SystemTime::now() - RECENT).duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let since = i64::try_from(since.as_nanos()).unwrap_or(i64::MAX);
    catalogue.files().filter(|file| file.mtime >= since).map(|file| file.path).collect()
}
