//! The windows of shell commands and edits, and the attribution of changes by them.

use std::path::{Path, PathBuf};

use lockstep_index::listed::ChangeTime;
use lockstep_model::change::Attribution;
use lockstep_model::decision::Decision;
use lockstep_model::event::{EventKind, ToolCall, ToolUse};
use lockstep_model::ids::{AgentId, SessionId, ToolUseId};
use lockstep_model::path::absolute_lexical;
use lockstep_store::windows::{Window, Windows};

use super::error::HookResult;
use super::{HookRun, cwd_of};

impl HookRun {
    /// Before a shell command or an edit: records its start, and saves the contents of the files if no
    /// earlier event did.
    pub(super) fn open_window(&mut self, session: &SessionId) -> HookResult<Decision> {
        self.note_start(session)?;
        let (windows, agent) = (self.windows(session), self.event.actor.agent_id());
        if let Some((call, path)) = self.edit_call() {
            windows.open_edit(&key(call), agent, &path)?;
        } else if self.project.config().journal.sweep.after_bash()
            && let Some(call) = self.shell_call()
        {
            windows.open(&key(call), agent)?;
        }
        Ok(Decision::Silent)
    }

    /// After an edit, once it is journaled.
    pub(super) fn close_edit(&self, session: &SessionId) {
        if let Some((call, path)) = self.edit_call() {
            self.windows(session).close_edit(&key(call), self.event.actor.agent_id(), &path);
        }
    }

    /// The call of the file tool that the event is about, and its file as a sweep names it.
    fn edit_call(&self) -> Option<(&ToolCall, PathBuf)> {
        let (EventKind::PreToolUse(call) | EventKind::PostToolUse { call, .. }) = &self.event.kind else {
            return None;
        };
        let ToolUse::File { path: Some(path), .. } = &call.tool else { return None };
        let (root, path) = (&self.project.root, absolute_lexical(&cwd_of(&self.event), path));
        if path.starts_with(root) {
            return Some((call, path));
        }
        let real = path.parent()?.canonicalize().ok()?.join(path.file_name()?);
        real.starts_with(root).then_some((call, real))
    }

    /// After a shell command, once its changes are journaled.
    pub(super) fn close_window(&self, session: &SessionId) -> HookResult {
        if let Some(call) = self.shell_call()
            && let ToolUse::Bash { background, .. } = &call.tool
        {
            let agent = self.event.actor.agent_id();
            self.windows(session).close(&key(call), agent, background.as_deref())?;
        }
        Ok(())
    }

    /// After a notification that a background task has ended. The changes of a command are journaled while its
    /// window is known: a later sweep could not attribute them.
    pub(super) fn close_background_task(&mut self, session: &SessionId) -> HookResult<Decision> {
        let EventKind::UserPromptSubmit { prompt } = &self.event.kind else { return Ok(Decision::Silent) };
        let Some(task) = ended_task(prompt).map(str::to_owned) else { return Ok(Decision::Silent) };
        if !self.windows(session).has_task(&task) {
            return Ok(Decision::Silent);
        }
        let swept = self.sweep(session);
        self.windows(session).close_task(&task);
        swept.map(|()| Decision::Silent)
    }

    pub(super) fn windows<'a>(&'a self, session: &'a SessionId) -> Windows<'a> {
        Windows::of(&self.project.state, session)
    }

    /// The call of the shell command that the event is about.
    pub(super) fn shell_call(&self) -> Option<&ToolCall> {
        let call = match &self.event.kind {
            EventKind::PreToolUse(call)
            | EventKind::PostToolUse { call, .. }
            | EventKind::PostToolUseFailure(call) => call,
            _ => return None,
        };
        matches!(call.tool, ToolUse::Bash { .. }).then_some(call)
    }

    /// Attributes a change on disk to the agents whose shell commands were running at the time.
    pub(super) fn attribute(&self, path: &Path, windows: &[Window]) -> (Option<AgentId>, Attribution) {
        let own = self.event.actor.agent_id().cloned();
        let time = ChangeTime::of(path);
        let was_running = |window: &&Window| time.may_be_within(window.start, window.end);
        let mut agents: Vec<Option<AgentId>> =
            windows.iter().filter(was_running).map(|window| window.agent.clone()).collect();
        // The start of this command was not seen, so it may have been running as well.
        let is_own = |window: &Window| window.agent == own && window.end.is_none();
        let is_unseen = self.shell_call().is_some() && !windows.iter().any(is_own);
        if is_unseen {
            agents.push(own.clone());
        }
        agents.sort();
        agents.dedup();
        match agents.len() {
            0 => (own, Attribution::Unknown),
            1 if is_unseen => (own, Attribution::Unknown),
            1 => (agents.remove(0), Attribution::Exact),
            _ => {
                let agent = if agents.contains(&own) { own } else { agents[0].clone() };
                (agent, Attribution::Shared(agents))
            }
        }
    }
}

/// Returns the name of a call. Without an id, a command cannot be distinguished from others of its agent.
fn key(call: &ToolCall) -> String {
    call.id.as_ref().map(ToolUseId::to_string).unwrap_or_default()
}

/// Returns the background task whose end a notification reports.
pub(super) fn ended_task(prompt: &str) -> Option<&str> {
    let rest = prompt.strip_prefix("<task-notification>")?;
    let (_, rest) = rest.split_once("<task-id>")?;
    rest.split_once("</task-id>").map(|(task, _)| task)
}
