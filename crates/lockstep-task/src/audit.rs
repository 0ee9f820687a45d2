//! One line of `events.jsonl`: a request for an action on the task, and its result.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TaskAuditVerdict {
    Granted,
    Refused,
}

/// One entry. Every key is always present; unknown values are `null`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskAuditEntry {
    pub timestamp: Timestamp,
    pub session: Option<String>,
    /// The agent's id; `null` is the Lead.
    pub agent_id: Option<String>,
    pub agent_type: Option<String>,
    /// The client's tool, or the command.
    pub tool: String,
    /// The task's id in the client's list.
    pub task_id: Option<String>,
    /// The version that was written, or that was present when it was refused.
    pub version: Option<u64>,
    /// The sections it changes, `subject` among them.
    pub sections: Vec<String>,
    pub verdict: TaskAuditVerdict,
    pub reason: Option<String>,
}

impl TaskAuditEntry {
    /// The entry as one line with its newline, to be appended in one write.
    pub fn to_line(&self) -> String {
        let mut line = serde_json::to_string(self).expect("an entry has only text keys");
        line.push('\n');
        line
    }

    pub fn parse(line: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(line)
    }
}
