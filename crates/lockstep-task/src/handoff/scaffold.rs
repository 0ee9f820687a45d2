//! The template of an L2 file. It does not pass the check until every section is filled in.

use super::{CATEGORIES, L2_SECTIONS};
use crate::phase::TaskPhase;

/// The text of a new L2 file for `phase`, written from `version` of the task.
pub fn l2_template(phase: TaskPhase, version: Option<u64>) -> String {
    let from = version.map(|v| format!(", from PT-v{v}")).unwrap_or_default();
    let mut text = format!("# L2 Summary — {phase} ({}{from})\n", phase.coordinator());
    for section in L2_SECTIONS {
        text.push_str(&format!("\n## {section}\n"));
        text.push_str(match section {
            "Summary" => "<!-- One to three sentences. Sections of your own follow this one. -->\n",
            "PT Goal Linkage" => "<!-- Which requirement or decision (AD-N, C-N) each result serves. -->\n",
            "Evidence Sources" => "<!-- What the conclusions rest on: files, commands, references. -->\n",
            _ => "",
        });
    }
    for category in CATEGORIES {
        text.push_str(&format!("\n### {category}\n<!-- {} -->\n", hint(category)));
    }
    text
}

fn hint(category: &str) -> &'static str {
    match category {
        super::ARTIFACTS => "One item per file: - `path/to/file` — what it is. Each must exist. Or: - none",
        _ => "One item per line: - what the next phase must know. Or: - none",
    }
}

/// The default path of a phase's L2 file, if neither the task nor the project names one.
pub const L2_PATH: &str = ".agent/teams/{session-id}/phase-{N}/{coordinator}/L2-summary.md";

pub const PLACEHOLDERS: [&str; 3] = ["session-id", "N", "coordinator"];

/// The path of a phase's L2 file when the task does not name one, by a template such as [`L2_PATH`].
///
/// `session` becomes part of a path, so it must be an id that was checked.
pub fn default_path(template: &str, session: &str, phase: TaskPhase) -> String {
    template
        .replace("{session-id}", session)
        .replace("{N}", &phase.number().to_string())
        .replace("{coordinator}", phase.coordinator())
}
