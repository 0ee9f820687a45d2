//! One line of `events.jsonl`: who wanted to do what with the task, and what came of it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AuditVerdict {
    /// It was done.
    Granted,
    /// It was not.
    Refused,
}

/// One entry. Every key is always there; what is not known is `null`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    /// When.
    pub timestamp: Timestamp,
    /// The client's session.
    pub session: Option<String>,
    /// The agent's id; `null` is the Lead.
    pub agent_id: Option<String>,
    /// The agent's type.
    pub agent_type: Option<String>,
    /// The client's tool, or the command.
    pub tool: String,
    /// The task's id in the client's list.
    pub task_id: Option<String>,
    /// The version that was written, or that was present when it was refused.
    pub version: Option<u64>,
    /// The sections it changes, `subject` among them.
    pub sections: Vec<String>,
    /// What came of it.
    pub verdict: AuditVerdict,
    /// Why it was refused, or why it was done.
    pub reason: Option<String>,
}

impl AuditEntry {
    /// The entry as one line with its newline, to be appended in one write.
    pub fn to_line(&self) -> String {
        let mut line = serde_json::to_string(self).expect("an entry has only text keys");
        line.push('\n');
        line
    }

    /// Reads a line.
    pub fn parse(line: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(line)
    }
}
