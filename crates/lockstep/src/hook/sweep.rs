//! Finding and journaling what no tool event reported.

use lockstep_index::sweep::{Swept, sweep};
use lockstep_model::change::{ChangeKind, ChangeTool, JournalLine, timestamp};
use lockstep_model::decision::Decision;
use lockstep_model::event::EventKind;
use lockstep_model::ids::{SessionId, ToolUseId};
use lockstep_store::Store;

use super::Hook;
use super::fault::Fault;

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
        let line = |path| JournalLine {
            at: timestamp(&self.now),
            tool: ChangeTool::Sweep.to_string(),
            path,
            agent: self.event.actor.agent_id().cloned(),
            tool_use: self.tool_use().cloned(),
        };
        let project = &self.project;
        let swept = sweep(&project.root, &project.state, |found| {
            let found: Vec<(JournalLine, ChangeKind)> =
                found.into_iter().map(|(path, kind)| (line(path), kind)).collect();
            // Most commands change nothing: only now is the store worth opening.
            let mut store = Store::open(&project.state)?;
            store.journal_sweep(&project.journal(), session, &found, &|_| true)?;
            Ok::<(), Fault>(())
        })?;
        match swept {
            Swept::Found(_) => Ok(()),
            Swept::NoBaseline => Err(Fault::NoBaseline),
        }
    }

    fn tool_use(&self) -> Option<&ToolUseId> {
        match &self.event.kind {
            EventKind::PostToolUse { call, .. } => call.id.as_ref(),
            _ => None,
        }
    }
}
