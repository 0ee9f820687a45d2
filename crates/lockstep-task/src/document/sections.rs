//! The sections of the task and their shapes.

use crate::phase::STATUSES;
use crate::shape::{Field, Shape, list, optional, required};

/// The section `deliver` adds.
pub const METRICS: &str = "metrics";

/// The name under which a change of the task's subject is granted. It is no section of the document.
pub const SUBJECT: &str = "subject";

/// The shape of the document.
pub const TASK: Shape = Shape::Record(&SECTIONS);

/// The sections, in the order they are written.
pub const SECTIONS: [Field; 11] = [
    required("user_intent", Shape::Text, "the goal, in one to three sentences"),
    optional("codebase_impact_map", IMPACT_MAP, "what the work touches"),
    optional(
        "architecture_decisions",
        Shape::List { item: &DECISION, unique: Some("id") },
        "decisions that bind later phases",
    ),
    optional(
        "phase_status",
        Shape::Phases(&PHASE_STATUS),
        "where each phase stands, and where its L2 file is",
    ),
    optional(
        "constraints",
        Shape::List { item: &CONSTRAINT, unique: Some("id") },
        "what every phase must keep to",
    ),
    optional("implementation_plan", PLAN, "where the plan is, and who owns which file"),
    optional("implementation_results", RESULTS, "where the results are"),
    optional(
        "validation_verdict",
        Shape::Word(&["PASS", "CONDITIONAL_PASS", "FAIL"]),
        "what validation said of the plan",
    ),
    optional("verification_summary", VERIFICATION, "what testing found"),
    optional("budget_constraints", BUDGET, "how much may be spent"),
    optional(METRICS, Shape::Open(&[]), "what the work took, added at delivery"),
];

const TEXTS: Shape = list(&Shape::Text);

const IMPACT_MAP: Shape = Shape::Record(&[
    required(
        "modules",
        Shape::List { item: &MODULE, unique: Some("name") },
        "the modules touched; `[]` when none",
    ),
    required("interfaces", list(&INTERFACE), "the contracts between them; `[]` when none"),
    required("risk_hotspots", list(&HOTSPOT), "the files to be careful with; `[]` when none"),
]);

const MODULE: Shape = Shape::Record(&[
    required("name", Shape::Text, "the module's name"),
    required("files", TEXTS, "its files; `[]` when not known yet"),
    required("dependencies", TEXTS, "what it depends on; `[]` when nothing"),
]);

const INTERFACE: Shape = Shape::Record(&[
    required("from", Shape::Text, "who relies on it"),
    required("to", Shape::Text, "who keeps it"),
    required("contract", Shape::Text, "what is promised"),
]);

const HOTSPOT: Shape = Shape::Record(&[
    required("file", Shape::Text, "the file"),
    required("reason", Shape::Text, "why it needs care"),
]);

const DECISION: Shape = Shape::Record(&[
    required("id", Shape::Id("AD"), "AD-1, AD-2, …"),
    required("decision", Shape::Text, "what was decided"),
    required("rationale", Shape::Text, "why"),
    required("status", Shape::Text, "where it stands, as in ACCEPTED"),
]);

const PHASE_STATUS: Shape = Shape::Record(&[
    required("status", Shape::Word(&STATUSES), "where the phase stands"),
    optional("gate_record", Shape::Pointer, "its gate-record.yaml"),
    optional("l2_path", Shape::Pointer, "its L2 file, with the handoff to the next phase"),
    optional("assumed", Shape::Text, "when it counts as complete though nobody went through it"),
]);

const CONSTRAINT: Shape = Shape::Record(&[
    required("id", Shape::Id("C"), "C-1, C-2, …"),
    required("constraint", Shape::Text, "what must hold"),
    required("source", Shape::Text, "where it comes from"),
]);

const PLAN: Shape = Shape::Record(&[
    required("l3_path", Shape::Pointer, "the plan in full"),
    required("task_count", Shape::Count, "how many tasks it has"),
    required(
        "file_ownership",
        Shape::List { item: &OWNERSHIP, unique: Some("file") },
        "who owns which file; `[]` when nobody",
    ),
]);

const OWNERSHIP: Shape = Shape::Record(&[
    required("file", Shape::Text, "the file"),
    required("owner", Shape::Text, "the one agent that changes it"),
]);

const RESULTS: Shape = Shape::Record(&[
    required("l3_path", Shape::Pointer, "the results in full"),
    required("summary", Shape::Text, "one or two sentences"),
]);

const VERIFICATION: Shape = Shape::Record(&[
    required("test_count", Shape::Count, "how many tests ran"),
    required("pass_rate", Shape::Percent, "how many passed, as in \"98.5%\""),
    required("l2_path", Shape::Pointer, "the L2 file of testing"),
]);

const BUDGET: Shape = Shape::Record(&[
    required("max_spawns", Shape::Count, "how many agents may be started"),
    required("max_phases", Shape::Count, "how many phases may run"),
]);

/// Returns true if `name` is a known section.
pub fn is_section(name: &str) -> bool {
    SECTIONS.iter().any(|section| section.name == name)
}

/// Returns the sort position of `name`: known sections in their order, then all others.
pub(super) fn rank(name: &str) -> usize {
    SECTIONS.iter().position(|section| section.name == name).unwrap_or(SECTIONS.len())
}
