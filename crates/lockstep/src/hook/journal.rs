//! Journaling the file a tool wrote.

use std::path::PathBuf;

use lockstep_config::Project;
use lockstep_index::reported_writes;
use lockstep_model::change::{Attribution, JournalLine, format_timestamp};
use lockstep_model::decision::Decision;
use lockstep_model::event::{EventKind, OriginalContent, ToolOutcome, ToolUse, Undo};
use lockstep_model::ids::SessionId;
use lockstep_store::originals::OriginalStore;

use super::error::HookResult;
use super::{HookRun, cwd_of, undo, written_file};
use crate::workspace::edits::read_text;

impl HookRun {
    pub(super) fn journal_change(&mut self, session: &SessionId) -> HookResult<Decision> {
        let EventKind::PostToolUse { call, outcome: ToolOutcome::Succeeded } = &self.event.kind else {
            return Ok(Decision::Silent);
        };
        let ToolUse::File { tool, former, undo, .. } = &call.tool else { return Ok(Decision::Silent) };
        let Some(path) = written_file(&self.event, &cwd_of(&self.event)) else { return Ok(Decision::Silent) };
        let path = self.link_target(self.below_root(&path).unwrap_or(path));
        // A path outside every active project is not journaled.
        if !path.starts_with(&self.project.root) && Project::of_file(&path)?.is_none() {
            return Ok(Decision::Silent);
        }
        let line = JournalLine {
            at: format_timestamp(&self.now),
            tool: tool.to_string(),
            path,
            agent: self.event.actor.agent_id().cloned(),
            tool_use: call.id.clone(),
            attribution: Attribution::Exact,
        };
        self.project.journal().append(session, std::slice::from_ref(&line))?;
        reported_writes::record(&self.project.root, &self.project.state, &line.path)?;
        self.save_original(session, &line, former.clone(), undo)?;
        Ok(Decision::Silent)
    }

    /// Returns the file of the project that a path names through a link; another path as it is.
    fn link_target(&self, path: PathBuf) -> PathBuf {
        if !path.is_symlink() {
            return path;
        }
        let real = path.canonicalize().ok().filter(|real| real.is_file());
        real.and_then(|real| self.below_root(&real)).unwrap_or(path)
    }

    /// Saves the file's original content: from the event, or computed from the event's edits.
    fn save_original(
        &self,
        session: &SessionId,
        line: &JournalLine,
        reported: Option<OriginalContent>,
        undo: &Undo,
    ) -> HookResult {
        self.note_base(session)?;
        let restored = || read_text(&line.path).and_then(|now| undo::former(&now, undo));
        let befores = OriginalStore::for_session(&self.project.state, session);
        match reported.or_else(restored) {
            Some(former) => befores.save_first(&line.path, line.agent.as_ref(), &former)?,
            // A later event does not describe the content before this one.
            None => befores.keep_unknown(&line.path, line.agent.as_ref())?,
        }
        Ok(())
    }
}
