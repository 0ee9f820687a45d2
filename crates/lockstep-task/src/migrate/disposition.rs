//! The fate table: the destination of each section of an old context file.

use std::fmt;

use serde::Serialize;

use crate::phase::TaskPhase;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum Disposition {
    /// Store the section as a gate summary in scratch.
    Keep,
    /// Turn its items into constraints of the task.
    IntoConstraints,
    /// Turn its items into interfaces of the task's impact map.
    IntoInterfaces,
    /// Drop the section, because its replacement holds the content.
    Drop { replacement: Replacement },
    /// Drop the section on request.
    Discard,
}

/// The new location of a dropped section's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Replacement {
    /// A section of the task, or a field of one.
    Task(&'static str, Option<&'static str>),
    L2(TaskPhase),
    /// The handoff in the L2 file of a phase.
    Handoff(TaskPhase),
    /// The full output of a phase, to which a section of the task points.
    L3(&'static str),
}

impl fmt::Display for Replacement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Task(section, None) => write!(f, "the task's {section}"),
            Self::Task(section, Some(field)) => write!(f, "the task's {section}.{field}"),
            Self::L2(phase) => write!(f, "the L2 file of {phase} ({})", phase.coordinator()),
            Self::Handoff(phase) => write!(f, "the Downstream Handoff of {phase} ({})", phase.coordinator()),
            Self::L3(section) => write!(f, "the files {section}.l3_path points to"),
        }
    }
}

impl fmt::Display for Disposition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Keep => f.write_str("keep in scratch"),
            Self::IntoConstraints => f.write_str("migrate to the task's constraints"),
            Self::IntoInterfaces => f.write_str("migrate to the task's codebase_impact_map.interfaces"),
            Self::Drop { replacement } => write!(f, "drop for {replacement}"),
            Self::Discard => f.write_str("discard"),
        }
    }
}

const fn task(section: &'static str) -> Disposition {
    Disposition::Drop { replacement: Replacement::Task(section, None) }
}

const fn l2(phase: TaskPhase) -> Disposition {
    Disposition::Drop { replacement: Replacement::L2(phase) }
}

const fn handoff(phase: TaskPhase) -> Disposition {
    Disposition::Drop { replacement: Replacement::Handoff(phase) }
}

/// Sections by their words, most specific first: a title that begins with these words has this fate.
pub const DISPOSITIONS: [(&str, Disposition); 22] = [
    ("scope", task("user_intent")),
    ("phase pipeline status", Disposition::Keep),
    ("constraints", task("constraints")),
    ("decisions log", task("architecture_decisions")),
    ("research findings", l2(TaskPhase::P2)),
    ("phase 2 research findings", l2(TaskPhase::P2)),
    ("codebase constraints", Disposition::IntoConstraints),
    ("phase 3 input", handoff(TaskPhase::P2)),
    ("architecture summary", l2(TaskPhase::P3)),
    ("architecture decisions", task("architecture_decisions")),
    ("phase 5 validation targets", handoff(TaskPhase::P4)),
    ("implementation plan ref", task("implementation_plan")),
    ("task decomposition", Disposition::Drop { replacement: Replacement::L3("implementation_plan") }),
    (
        "file ownership map",
        Disposition::Drop { replacement: Replacement::Task("implementation_plan", Some("file_ownership")) },
    ),
    ("commit strategy", handoff(TaskPhase::P4)),
    ("implementation results", Disposition::Keep),
    ("phase 6 implementation results", Disposition::Keep),
    ("interface changes", Disposition::IntoInterfaces),
    ("gate records", Disposition::Keep),
    ("verification results", Disposition::Keep),
    ("execution metrics", Disposition::Keep),
    ("phase 7 verification results", Disposition::Keep),
];

/// Returns the fate of a section by its title. `None` if the table does not contain it.
pub fn disposition_for(title: &str) -> Option<Disposition> {
    let words = normalize_title(title);
    entry_requirements(&words).or_else(|| {
        let begins = |name: &str| {
            words == name
                || words
                    .strip_prefix(name)
                    .is_some_and(|rest| !rest.starts_with(char::is_alphanumeric) || name.ends_with(" ref"))
        };
        DISPOSITIONS.iter().find(|(name, _)| begins(name)).map(|(_, fate)| *fate)
    })
}

/// `Phase N Entry Requirements` and `Phase N Entry Conditions`: the handoff they were copied from.
fn entry_requirements(words: &str) -> Option<Disposition> {
    let rest = words.strip_prefix("phase ")?;
    let (number, rest) = rest.split_once(' ')?;
    if !rest.starts_with("entry ") {
        return None;
    }
    let phase = TaskPhase::ALL.into_iter().find(|phase| number == phase.number().to_string())?;
    // Execution starts from the plan; additions by validation are in the task.
    let source = if phase == TaskPhase::P6 { TaskPhase::P4 } else { phase.previous()? };
    Some(handoff(source))
}

/// The title in lower case, single spaces, without a remark in brackets or behind a dash.
fn normalize_title(title: &str) -> String {
    let end = [" (", " — ", " – ", " - ", " ["]
        .iter()
        .filter_map(|mark| title.find(mark))
        .min()
        .unwrap_or(title.len());
    title[..end].split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}
