//! What a phase hands over: its L2 file, and the index beside it.
//!
//! [`l2`] reads and checks, [`scaffold`] begins a new one, [`l1`] is the index. The gate's record is [`crate::gate`].

pub mod l1;
pub mod l2;
pub mod scaffold;

use serde::Serialize;

use crate::problem::Problem;

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

/// The sections every L2 file has, in order. Sections of its own stand after the first.
pub const L2_SECTIONS: [&str; 4] = ["Summary", "PT Goal Linkage", "Evidence Sources", HANDOFF];

/// What a phase hands to the next.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Handoff {
    /// Decisions that bind later phases.
    pub decisions: Vec<String>,
    /// Risks to be tracked.
    pub risks: Vec<String>,
    /// Contracts to be satisfied.
    pub interface_contracts: Vec<String>,
    /// Constraints to be enforced.
    pub constraints: Vec<String>,
    /// Questions to be resolved.
    pub open_questions: Vec<String>,
    /// Files produced, as they were named.
    pub artifacts: Vec<String>,
    /// The handoff as it was written.
    #[serde(skip)]
    pub text: String,
}

/// What a check of an L2 file found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HandoffReport {
    /// The file.
    pub file: String,
    /// Whether the next phase can start from it.
    pub valid: bool,
    /// What must be mended, all at once.
    pub problems: Vec<Problem>,
    /// What is worth a look.
    pub warnings: Vec<Problem>,
    /// The handoff, as far as it could be read.
    pub handoff: Handoff,
}
