//! The sections of the task and their shapes.

use crate::phase::STATUSES;
use crate::value_schema::{FieldSchema, ValueSchema, list, optional, required};

/// The section `deliver` adds.
pub const METRICS: &str = "metrics";

/// The name under which a change of the task's subject is granted. It is not a section of the document.
pub const SUBJECT: &str = "subject";

pub const TASK: ValueSchema = ValueSchema::Record(&SECTIONS);

/// The sections, in the order they are written.
pub const SECTIONS: [FieldSchema; 11] = [
    required("user_intent", ValueSchema::Text, "the goal, in one to three sentences"),
    optional("codebase_impact_map", IMPACT_MAP, "what the work touches"),
    optional(
        "architecture_decisions",
        ValueSchema::List { item: &DECISION, unique: Some("id") },
        "decisions that bind later phases",
    ),
    optional(
        "phase_status",
        ValueSchema::PhaseMap(&PHASE_STATUS),
        "where each phase stands, and where its L2 file is",
    ),
    optional(
        "constraints",
        ValueSchema::List { item: &CONSTRAINT, unique: Some("id") },
        "what every phase must keep to",
    ),
    optional("implementation_plan", PLAN, "where the plan is, and who owns which file"),
    optional("implementation_results", RESULTS, "where the results are"),
    optional(
        "validation_verdict",
        ValueSchema::OneOf(&["PASS", "CONDITIONAL_PASS", "FAIL"]),
        "what validation said of the plan",
    ),
    optional("verification_summary", VERIFICATION, "what testing found"),
    optional("budget_constraints", BUDGET, "how much may be spent"),
    optional(METRICS, ValueSchema::OpenRecord(&[]), "what the work took, added at delivery"),
];

const TEXTS: ValueSchema = list(&ValueSchema::Text);

const IMPACT_MAP: ValueSchema = ValueSchema::Record(&[
    required(
        "modules",
        ValueSchema::List { item: &MODULE, unique: Some("name") },
        "the modules touched; `[]` when none",
    ),
    required("interfaces", list(&INTERFACE), "the contracts between them; `[]` when none"),
    required("risk_hotspots", list(&HOTSPOT), "the files to be careful with; `[]` when none"),
]);

const MODULE: ValueSchema = ValueSchema::Record(&[
    required("name", ValueSchema::Text, "the module's name"),
    required("files", TEXTS, "its files; `[]` when not known yet"),
    required("dependencies", TEXTS, "what it depends on; `[]` when nothing"),
]);

const INTERFACE: ValueSchema = ValueSchema::Record(&[
    required("from", ValueSchema::Text, "who relies on it"),
    required("to", ValueSchema::Text, "who keeps it"),
    required("contract", ValueSchema::Text, "what is promised"),
]);

const HOTSPOT: ValueSchema = ValueSchema::Record(&[
    required("file", ValueSchema::Text, "the file"),
    required("reason", ValueSchema::Text, "why it needs care"),
]);

const DECISION: ValueSchema = ValueSchema::Record(&[
    required("id", ValueSchema::Id("AD"), "AD-1, AD-2, …"),
    required("decision", ValueSchema::Text, "what was decided"),
    required("rationale", ValueSchema::Text, "why"),
    required("status", ValueSchema::Text, "where it stands, as in ACCEPTED"),
]);

const PHASE_STATUS: ValueSchema = ValueSchema::Record(&[
    required("status", ValueSchema::OneOf(&STATUSES), "where the phase stands"),
    optional("gate_record", ValueSchema::Pointer, "its gate-record.yaml"),
    optional("l2_path", ValueSchema::Pointer, "its L2 file, with the handoff to the next phase"),
    optional("assumed", ValueSchema::Text, "when it counts as complete though nobody went through it"),
]);

const CONSTRAINT: ValueSchema = ValueSchema::Record(&[
    required("id", ValueSchema::Id("C"), "C-1, C-2, …"),
    required("constraint", ValueSchema::Text, "what must hold"),
    required("source", ValueSchema::Text, "where it comes from"),
]);

const PLAN: ValueSchema = ValueSchema::Record(&[
    required("l3_path", ValueSchema::Pointer, "the plan in full"),
    required("task_count", ValueSchema::Count, "how many tasks it has"),
    required(
        "file_ownership",
        ValueSchema::List { item: &OWNERSHIP, unique: Some("file") },
        "who owns which file; `[]` when nobody",
    ),
]);

const OWNERSHIP: ValueSchema = ValueSchema::Record(&[
    required("file", ValueSchema::Text, "the file"),
    required("owner", ValueSchema::Text, "the one agent that changes it"),
]);

const RESULTS: ValueSchema = ValueSchema::Record(&[
    required("l3_path", ValueSchema::Pointer, "the results in full"),
    required("summary", ValueSchema::Text, "one or two sentences"),
]);

const VERIFICATION: ValueSchema = ValueSchema::Record(&[
    required("test_count", ValueSchema::Count, "how many tests ran"),
    required("pass_rate", ValueSchema::Percent, "how many passed, as in \"98.5%\""),
    required("l2_path", ValueSchema::Pointer, "the L2 file of testing"),
]);

const BUDGET: ValueSchema = ValueSchema::Record(&[
    required("max_spawns", ValueSchema::Count, "how many agents may be started"),
    required("max_phases", ValueSchema::Count, "how many phases may run"),
]);

/// Returns true if `name` is a known section.
pub fn is_section(name: &str) -> bool {
    SECTIONS.iter().any(|section| section.name == name)
}

/// Returns the sort position of `name`: known sections in their order, then all others.
pub(super) fn rank(name: &str) -> usize {
    SECTIONS.iter().position(|section| section.name == name).unwrap_or(SECTIONS.len())
}
