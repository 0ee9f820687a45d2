//! Access rules of the task: per agent, and per skill that the agent runs.
//!
//! The rules are data ([`table::AccessTable`]) with documented defaults; a project overrides them in its
//! configuration. This module decides and explains. The hook and the command line enforce.

pub mod check;
pub mod grant;
pub mod table;

use std::fmt;

pub use check::{AccessDecision, AccessDenial, AccessRequest, TaskAction};
pub use grant::Grant;
pub use table::{AccessTable, AgentRule, CreatePermission, SkillRule};

/// The name of an unknown caller, in records and in the table of agents.
pub const UNKNOWN: &str = "unknown";

/// An actor that reads or writes the task.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Principal {
    /// The client's main agent, or a person at the command line.
    Lead,
    /// An agent the Lead started, by its type.
    Agent(String),
    /// An actor in a client's session that no hook saw: a script called Lockstep, or the client has no hooks.
    Unknown,
}

impl Principal {
    /// Returns the principal of a client's event. Without an agent id it is the Lead. A subagent without a
    /// type has no row in the access table.
    pub fn of(agent_id: Option<&str>, agent_type: Option<&str>) -> Self {
        match (agent_id, agent_type) {
            (None, _) => Self::Lead,
            (Some(_), Some(agent_type)) => Self::Agent(agent_type.to_owned()),
            (Some(_), None) => Self::Agent(UNKNOWN.to_owned()),
        }
    }

    /// The principal of an agent's name; `None` and `lead` are the Lead.
    pub fn from_agent_name(agent: Option<&str>) -> Self {
        match agent {
            None => Self::Lead,
            Some(name) if name.eq_ignore_ascii_case("lead") => Self::Lead,
            Some(name) => Self::Agent(name.to_owned()),
        }
    }
}

impl fmt::Display for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lead => f.write_str("the Lead"),
            Self::Agent(name) => f.write_str(name),
            Self::Unknown => f.write_str(UNKNOWN),
        }
    }
}
