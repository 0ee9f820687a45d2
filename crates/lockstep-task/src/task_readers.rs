//! Agents that work from an older version of the task.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadRecord {
    /// The agent's id; `None` is the Lead.
    pub agent_id: Option<String>,
    /// The agent's type, if the client sends it.
    pub agent_type: Option<String>,
    pub version: u64,
    pub at: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActiveAgent {
    /// `None` is the Lead.
    pub agent_id: Option<String>,
    pub agent_type: Option<String>,
}

/// The version of the task that a running agent has read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TaskReader {
    /// `None` is the Lead.
    pub agent_id: Option<String>,
    pub agent_type: Option<String>,
    /// The version it read last; `None` if it has read none, which differs from an old one.
    pub version: Option<u64>,
    pub at: Option<Timestamp>,
    /// The number of newer versions; `None` if the agent has read none.
    pub behind: Option<u64>,
}

/// Returns every active agent with the version it read last, the oldest first, then those that have read
/// none.
pub fn readers(records: &[ReadRecord], active: &[ActiveAgent], present: u64) -> Vec<TaskReader> {
    let mut readers: Vec<_> = active.iter().map(|agent| reader(records, agent, present)).collect();
    readers.sort_by_key(|reader| (reader.behind.is_none(), std::cmp::Reverse(reader.behind)));
    readers
}

fn reader(records: &[ReadRecord], agent: &ActiveAgent, present: u64) -> TaskReader {
    // An agent that went back to an older version works from that one, so the last read counts, not the
    // highest version.
    let last = records.iter().filter(|r| r.agent_id == agent.agent_id).max_by_key(|r| (r.at, r.version));
    TaskReader {
        agent_id: agent.agent_id.clone(),
        agent_type: agent.agent_type.clone().or_else(|| last?.agent_type.clone()),
        version: last.map(|r| r.version),
        at: last.map(|r| r.at),
        behind: last.map(|r| present.saturating_sub(r.version)),
    }
}

/// Returns the Lead's notice after a new version: the agents that work from an older one, if any.
pub fn outdated_readers_notice(readers: &[TaskReader], present: u64) -> Option<String> {
    let stale: Vec<_> = readers
        .iter()
        .filter(|reader| reader.agent_id.is_some() && reader.behind.is_some_and(|n| n > 0))
        .map(TaskReader::to_string)
        .collect();
    (!stale.is_empty()).then(|| {
        format!("The task is at PT-v{present}. Agents at work from an older version: {}.", stale.join(", "))
    })
}

impl fmt::Display for TaskReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.agent_id, &self.agent_type) {
            (None, _) => f.write_str("the Lead")?,
            (Some(id), Some(agent_type)) => write!(f, "{agent_type} {id}")?,
            (Some(id), None) => write!(f, "agent {id}")?,
        }
        match self.version {
            Some(version) => write!(f, " (PT-v{version})"),
            None => f.write_str(" (has not read it)"),
        }
    }
}
