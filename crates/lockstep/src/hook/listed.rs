//! Journaling the edits that a client lists for a shell command, without a sweep.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lockstep_index::listed::{self, CheckedFile, ListedState};
use lockstep_model::change::{Attribution, ChangeKind, JournalLine};
use lockstep_model::event::{CommandEdits, EditedFile, EventKind, OriginalContent, ToolUse};
use lockstep_model::ids::SessionId;
use lockstep_store::Store;
use lockstep_store::originals::OriginalStore;
use lockstep_store::windows::Window;

use super::error::HookResult;
use super::{HookRun, cwd_of, undo};
use crate::impact::moves;
use crate::impact::original::{Originals, Since};
use crate::workspace::edits::read_text;

/// With more files in a list, a sweep is cheaper than reading each of them.
const MAX_LISTED_FILES: usize = 1_000;

/// A listed file that differs from its known state.
struct ListedChange<'a> {
    path: PathBuf,
    file: &'a EditedFile,
    checked: CheckedFile,
    /// The former content, if the list determines it.
    former: Option<OriginalContent>,
}

impl HookRun {
    /// Journals the files that the client lists. Returns false if a sweep is needed: the list is not
    /// complete, it contradicts the disk, or there is nothing to compare it with.
    pub(super) fn journal_listed(&mut self, session: &SessionId) -> HookResult<bool> {
        let EventKind::PostToolUse { call, .. } = &self.event.kind else { return Ok(false) };
        let ToolUse::Bash { edits, .. } = &call.tool else { return Ok(false) };
        if !edits.is_complete || edits.files.len() > MAX_LISTED_FILES {
            return Ok(false);
        }
        let Some(changes) = self.check_list(edits)? else { return Ok(false) };
        if changes.is_empty() {
            return Ok(true);
        }
        self.note_base(session)?;
        let found = changes.iter().map(|change| (change.path.clone(), change.file.kind.clone())).collect();
        let originals = Originals::new(&self.project, session, Since::Report(self.event.actor.agent_id()));
        let found = moves::of_changes(found, |path| {
            let reported =
                changes.iter().find(|change| change.path == path).and_then(|change| change.former.clone());
            reported.or_else(|| originals.content(path))
        });
        let windows = self.windows(session).list();
        let mut lines = Vec::new();
        for (change, (path, kind)) in changes.iter().zip(found) {
            let line = self.listed_line(path, change, edits.is_shared, &windows);
            self.save_listed_original(session, &line, change)?;
            lines.push((line, kind));
        }
        self.journal_found(session, &lines)?;
        for change in &changes {
            listed::note(&self.project.root, &self.project.state, &change.path, change.checked)?;
        }
        Ok(true)
    }

    /// Returns the listed files of the project that differ from their known state. `None` if the list and the
    /// disk disagree.
    fn check_list<'a>(&self, edits: &'a CommandEdits) -> HookResult<Option<Vec<ListedChange<'a>>>> {
        let listed: BTreeMap<PathBuf, &EditedFile> =
            edits.files.iter().filter_map(|file| Some((self.path_below_root(file)?, file))).collect();
        let mut theirs: Vec<PathBuf> = listed.keys().cloned().collect();
        self.project.drop_own_files(&mut theirs);
        let paths: Vec<&Path> = theirs.iter().map(PathBuf::as_path).collect();
        let Some(checked) = listed::check(&self.project.root, &self.project.state, &paths)? else {
            return Ok(None);
        };
        let mut changes = Vec::new();
        for (path, checked) in paths.into_iter().zip(checked) {
            let Some(file) = listed.get(path).copied() else { continue };
            match (&file.kind, checked.state) {
                (_, ListedState::Known) => {}
                (ChangeKind::Deleted, ListedState::Missing)
                | (ChangeKind::Written | ChangeKind::Created, ListedState::Changed) => {
                    let former = former(path, file);
                    changes.push(ListedChange { path: path.to_owned(), file, checked, former });
                }
                _ => return Ok(None),
            }
        }
        Ok(Some(changes))
    }

    /// The path of a listed file below the root; `None` for a file outside of it, in a repository's or in Lockstep's own directory.
    fn path_below_root(&self, file: &EditedFile) -> Option<PathBuf> {
        let path =
            self.below_root(&lockstep_model::path::absolute_lexical(&cwd_of(&self.event), &file.path))?;
        let root = &self.project.root;
        let relative = path.strip_prefix(root).ok()?;
        // The root contains no link, a directory below it may be one. A missing one is none.
        let parent = path.parent()?;
        let is_outside = parent != root && parent.canonicalize().is_ok_and(|real| !real.starts_with(root));
        let is_of_git = relative.components().any(|name| name.as_os_str() == ".git");
        (!is_outside && !is_of_git && !path.starts_with(self.project.state.path())).then_some(path)
    }

    /// Returns the path below the project's root. `None` outside of it. The client may name the path by a link.
    pub(super) fn below_root(&self, path: &Path) -> Option<PathBuf> {
        let root = &self.project.root;
        if path.starts_with(root) {
            return Some(path.to_owned());
        }
        let real = path.parent()?.canonicalize().ok()?.join(path.file_name()?);
        real.starts_with(root).then_some(real)
    }

    fn listed_line(
        &self,
        path: PathBuf,
        change: &ListedChange<'_>,
        is_shared: bool,
        windows: &[Window],
    ) -> JournalLine {
        // The client reports that no other command ran, and its difference explains the present content.
        if !is_shared && change.former.is_some() {
            return self.line(path, self.event.actor.agent_id().cloned(), Attribution::Exact);
        }
        let (agent, attribution) = self.attribute(&path, windows);
        // The client reports another command, whose window is missing here.
        let is_other_missing = is_shared && windows.len() < 2;
        let attribution = if is_other_missing { Attribution::Unknown } else { attribution };
        self.line(path, agent, attribution)
    }

    /// Saves the former content for every agent that the change may be attributed to.
    fn save_listed_original(
        &self,
        session: &SessionId,
        line: &JournalLine,
        change: &ListedChange<'_>,
    ) -> HookResult {
        let befores = OriginalStore::for_session(&self.project.state, session);
        for agent in agents_of(line) {
            match &change.former {
                Some(former) => befores.save_first(&change.path, agent, former)?,
                None => befores.keep_unknown(&change.path, agent)?,
            }
        }
        Ok(())
    }

    /// Journals changes. The store is opened only if the lines do not contain everything.
    pub(super) fn journal_found(
        &self,
        session: &SessionId,
        found: &[(JournalLine, ChangeKind)],
    ) -> HookResult {
        let journal = self.project.journal();
        if found.iter().all(|(_, kind)| *kind == ChangeKind::Written) {
            let lines: Vec<JournalLine> = found.iter().map(|(line, _)| line.clone()).collect();
            journal.append(session, &lines)?;
            return Ok(());
        }
        let mut store = Store::open(&self.project.state)?;
        Ok(store.record_sweep(&journal, session, found, &|_| true)?)
    }
}

pub(super) fn agents_of(line: &JournalLine) -> Vec<Option<&lockstep_model::ids::AgentId>> {
    match &line.attribution {
        Attribution::Shared(agents) => agents.iter().map(Option::as_ref).collect(),
        Attribution::Exact | Attribution::Unknown => vec![line.agent.as_ref()],
    }
}

/// Returns the former content of a listed file, if the list determines it. That of a link is not saved.
pub(super) fn former(path: &Path, file: &EditedFile) -> Option<OriginalContent> {
    if path.is_symlink() {
        return None;
    }
    match file.kind {
        ChangeKind::Created => Some(OriginalContent::Absent),
        ChangeKind::Deleted => undo::revert("", &file.hunks).map(OriginalContent::Text),
        _ => undo::revert_in_place(&read_text(path)?, &file.hunks).map(OriginalContent::Text),
    }
}
