//! Journaling the file a tool wrote.

use lockstep_config::Project;
use lockstep_index::accounts;
use lockstep_model::change::{JournalLine, timestamp};
use lockstep_model::decision::Decision;
use lockstep_model::event::{EventKind, Outcome, Tool};
use lockstep_model::ids::SessionId;
use lockstep_store::befores::Befores;

use super::fault::Fault;
use super::{Hook, cwd_of, written_file};

impl Hook {
    pub(super) fn journal_change(&mut self, session: &SessionId) -> Result<Decision, Fault> {
        let EventKind::PostToolUse { call, outcome: Outcome::Succeeded } = &self.event.kind else {
            return Ok(Decision::Silent);
        };
        let Tool::File { tool, former, .. } = &call.tool else { return Ok(Decision::Silent) };
        let Some(path) = written_file(&self.event, &cwd_of(&self.event)) else { return Ok(Decision::Silent) };
        // A path outside every active project is nobody's business here.
        if !path.starts_with(&self.project.root) && Project::of_file(&path)?.is_none() {
            return Ok(Decision::Silent);
        }
        let line = JournalLine {
            at: timestamp(&self.now),
            tool: tool.to_string(),
            path,
            agent: self.event.actor.agent_id().cloned(),
            tool_use: call.id.clone(),
        };
        self.project.journal().append(session, std::slice::from_ref(&line))?;
        accounts::note(&self.project.root, &self.project.state, &line.path)?;
        if let Some(former) = former {
            Befores::of(&self.project.state, session).keep(&line.path, line.agent.as_ref(), former)?;
        }
        Ok(Decision::Silent)
    }
}
