//! The handoff of a phase: its L2 file and the index beside it.
//!
//! [`l2`] reads and checks, [`scaffold`] creates a template, [`l1`] is the index. The gate record is
//! [`crate::gate_record`].

pub mod l1;
pub mod l2;
pub mod scaffold;

use serde::Serialize;

use crate::problem::DocumentProblem;

/// The six categories of a handoff, by their headings, in order.
pub const CATEGORIES: [&str; 6] = [
    "Decisions Made (forward-binding)",
    "Risks Identified (must-track)",
    "Interface Contracts (must-satisfy)",
    "Constraints (must-enforce)",
    "Open Questions (requires resolution)",
    ARTIFACTS,
];

/// The category whose items are files.
pub const ARTIFACTS: &str = "Artifacts Produced";

/// The heading of the handoff in an L2 file.
pub const HANDOFF: &str = "Downstream Handoff";

/// The required sections of an L2 file, in order. Additional sections follow the first.
pub const L2_SECTIONS: [&str; 4] = ["Summary", "PT Goal Linkage", "Evidence Sources", HANDOFF];

/// The data that a phase passes to the next.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Handoff {
    /// Decisions that bind later phases.
    pub decisions: Vec<String>,
    pub risks: Vec<String>,
    pub interface_contracts: Vec<String>,
    pub constraints: Vec<String>,
    pub open_questions: Vec<String>,
    /// Files produced, as they were named.
    pub artifacts: Vec<String>,
    #[serde(skip)]
    pub text: String,
}

/// The result of checking an L2 file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HandoffCheck {
    pub file: String,
    /// Set if the next phase can start from the file.
    pub valid: bool,
    pub problems: Vec<DocumentProblem>,
    /// Findings that do not make the file invalid.
    pub warnings: Vec<DocumentProblem>,
    /// The handoff, as far as it could be read.
    pub handoff: Handoff,
}
