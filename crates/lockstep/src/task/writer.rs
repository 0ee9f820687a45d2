//! The writer of the task and its audit entry.

use std::fs;

use jiff::Timestamp;
use lockstep_fs::FsError;
use lockstep_store::task_versions::VersionAuthor;
use lockstep_store::{StoreError, append_to_own};
use lockstep_task::access::{Principal, UNKNOWN};
use lockstep_task::audit::{TaskAuditEntry, TaskAuditVerdict};

use crate::project::ActiveProject;

#[derive(Debug, Clone)]
pub(crate) struct TaskWriter {
    pub(crate) principal: Principal,
    pub(crate) agent_id: Option<String>,
    pub(crate) skill: Option<String>,
    pub(crate) session: Option<String>,
    /// The client's tool, or the command.
    pub(crate) tool: String,
    pub(crate) why: Option<String>,
    /// The task's id in the client's list.
    pub(crate) task_id: Option<String>,
}

pub(crate) struct TaskAuditOutcome<'a> {
    pub(crate) verdict: TaskAuditVerdict,
    pub(crate) version: Option<u64>,
    pub(crate) sections: &'a [String],
    pub(crate) reason: Option<String>,
}

impl TaskWriter {
    pub(crate) fn agent_type(&self) -> Option<String> {
        match &self.principal {
            Principal::Lead => None,
            Principal::Agent(name) => Some(name.clone()),
            Principal::Unknown => Some(UNKNOWN.to_owned()),
        }
    }

    /// The writer as the store keeps it.
    pub(crate) fn author(&self) -> VersionAuthor {
        VersionAuthor {
            agent_type: self.agent_type(),
            agent_id: self.agent_id.clone(),
            skill: self.skill.clone(),
            session: self.session.clone(),
            why: self.why.clone(),
        }
    }

    /// One line in `events.jsonl`, in one write.
    pub(crate) fn audit(
        &self,
        project: &ActiveProject,
        at: Timestamp,
        verdict: TaskAuditOutcome<'_>,
    ) -> Result<(), StoreError> {
        let entry = TaskAuditEntry {
            timestamp: at,
            session: self.session.clone(),
            agent_id: self.agent_id.clone(),
            agent_type: self.agent_type(),
            tool: self.tool.clone(),
            task_id: self.task_id.clone(),
            version: verdict.version,
            sections: verdict.sections.to_vec(),
            verdict: verdict.verdict,
            reason: verdict.reason.or_else(|| self.why.clone()),
        };
        let path = project.task_audit_path();
        if path.starts_with(project.state.path()) {
            project.state.ensure_dir("")?;
        } else if let Some(folder) = path.parent() {
            // The project configured a directory that does not exist yet.
            fs::create_dir_all(folder).map_err(FsError::at("create", folder))?;
        }
        append_to_own(&path, entry.to_line().as_bytes(), |line| TaskAuditEntry::parse(line).is_ok()).map(drop)
    }
}
