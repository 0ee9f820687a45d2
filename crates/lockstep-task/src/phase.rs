//! The nine phases, and the inputs of each from the previous one.
//!
//! [`TaskPhase`] is the name; [`enter`] and [`complete`] are the checks at its start and end.

pub mod complete;
pub mod enter;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::document::SECTIONS;
use crate::value_schema::{FieldSchema, ValueSchema};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum TaskPhase {
    /// Discovery: the requirements.
    P1,
    P2,
    P3,
    P4,
    /// Validation of the plan.
    P5,
    P6,
    P7,
    P8,
    P9,
}

/// The status of a phase in `phase_status`, in chronological order.
pub const STATUSES: [&str; 4] = ["PENDING", "IN_PROGRESS", "BLOCKED", COMPLETE];

/// The status of a completed phase.
pub const COMPLETE: &str = "COMPLETE";

impl TaskPhase {
    pub const ALL: [Self; 9] =
        [Self::P1, Self::P2, Self::P3, Self::P4, Self::P5, Self::P6, Self::P7, Self::P8, Self::P9];

    pub fn number(self) -> usize {
        self as usize + 1
    }

    /// The phase's name, `P4`.
    pub fn name(self) -> &'static str {
        ["P1", "P2", "P3", "P4", "P5", "P6", "P7", "P8", "P9"][self as usize]
    }

    pub fn previous(self) -> Option<Self> {
        (self as usize).checked_sub(1).map(|n| Self::ALL[n])
    }

    pub fn next(self) -> Option<Self> {
        Self::ALL.get(self as usize + 1).copied()
    }

    /// Returns the default writer of the phase's L2 file.
    pub fn coordinator(self) -> &'static str {
        match self {
            Self::P1 => "lead",
            Self::P2 => "research-coord",
            Self::P3 => "arch-coord",
            Self::P4 => "planning-coord",
            Self::P5 => "validation-coord",
            Self::P6 => "exec-coord",
            Self::P7 | Self::P8 => "testing-coord",
            Self::P9 => "delivery-agent",
        }
    }

    /// Returns the phases whose handoffs this one starts from: the previous one, and for execution also the
    /// plan's.
    pub fn sources(self) -> Vec<Self> {
        match self {
            Self::P6 => vec![Self::P4, Self::P5],
            other => other.previous().into_iter().collect(),
        }
    }

    /// The sections that are in the task when this phase is complete.
    pub fn produces(self) -> &'static [&'static str] {
        match self {
            Self::P1 => &["user_intent"],
            Self::P2 => &["codebase_impact_map", "constraints"],
            Self::P3 => &["architecture_decisions"],
            Self::P4 => &["implementation_plan"],
            Self::P5 => &["validation_verdict"],
            Self::P6 => &["implementation_results"],
            Self::P8 => &["verification_summary"],
            Self::P7 | Self::P9 => &[],
        }
    }
}

/// Returns the fix for a missing section. Only a list can be empty on purpose.
fn missing_section_fix(section: &str) -> &'static str {
    let is_list =
        |field: &&FieldSchema| field.name == section && matches!(field.shape, ValueSchema::List { .. });
    match SECTIONS.iter().find(is_list) {
        Some(_) => "write it with `lockstep task update`; `[]` says that there is nothing",
        None => "write it with `lockstep task update`",
    }
}

impl fmt::Display for TaskPhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a phase; the phases are P1 … P9")]
pub struct ParsePhaseError(String);

impl FromStr for TaskPhase {
    type Err = ParsePhaseError;

    fn from_str(text: &str) -> Result<Self, ParsePhaseError> {
        Self::ALL.into_iter().find(|p| p.name() == text).ok_or_else(|| ParsePhaseError(text.to_owned()))
    }
}
