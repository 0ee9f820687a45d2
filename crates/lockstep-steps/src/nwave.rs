//! nWave's present dialect: its markers name a project and a step, its prompts have nine sections, and its agents record phases in an
//! `execution-log.json`. Lockstep checks the prompt by nWave's own rules; the log stays nWave's.

use crate::gate::{GateEvaluator, GateResult, invocation};
use crate::markers::Markers;
use crate::problem::StepProblem;
use crate::prompt_check::{PromptCheck, check_sections};
use crate::section_definitions::PromptSection;

/// The sections that nWave requires.
const SECTIONS: [(&str, &str); 9] = [
    ("DES_METADATA", "the step and the command"),
    ("AGENT_IDENTITY", "the agent that executes the step"),
    ("TASK_CONTEXT", "what is to be implemented"),
    ("TDD_PHASES", "the phases, in order"),
    ("QUALITY_GATES", "the criteria of quality"),
    ("OUTCOME_RECORDING", "how phases are recorded"),
    ("RECORDING_INTEGRITY", "the valid prefixes of skipped phases"),
    ("BOUNDARY_RULES", "the files that may be changed"),
    ("TIMEOUT_INSTRUCTION", "the number of turns"),
];

/// The file that the agents of nWave record phases in.
pub const LOG: &str = "execution-log.json";

/// The directory of a project's logs, relative to the root; `None` if the project id is not a plain name.
pub fn log_directory(project_id: &str) -> Option<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let is_name = !project_id.is_empty() && !project_id.starts_with('.') && project_id.chars().all(plain);
    is_name.then(|| format!("docs/feature/{project_id}"))
}

/// True if the execution log of the project was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Log {
    Found,
    Missing,
}

/// Checks a prompt in nWave's dialect: its markers and, unless it starts an orchestrator, its sections.
pub fn check(prompt: &str, markers: &Markers) -> PromptCheck {
    let mut errors = markers.problems.clone();
    let nwave = &markers.nwave;
    let missing = |name: &str| {
        StepProblem::missing(
            name,
            format!("DES_MARKERS_INCOMPLETE: {name} missing"),
            format!("Add <!-- {name} : value --> to the prompt"),
        )
    };
    if nwave.project_id.as_deref().is_none_or(str::is_empty) {
        errors.push(missing("DES-PROJECT-ID"));
    }
    if !nwave.is_orchestrator() {
        if nwave.step_id.as_deref().is_none_or(str::is_empty) {
            errors.push(missing("DES-STEP-ID"));
        }
        let sections: Vec<PromptSection> = SECTIONS.iter().map(section).collect();
        check_sections(prompt, sections.iter().collect(), &[], &mut errors);
    }
    PromptCheck { valid: errors.is_empty(), errors, warnings: markers.warnings.clone() }
}

fn section((name, description): &(&str, &str)) -> PromptSection {
    PromptSection {
        name: (*name).to_owned(),
        description: (*description).to_owned(),
        markers: Vec::new(),
        required_content: Vec::new(),
        phases: false,
    }
}

/// Gate 1 for a prompt in nWave's dialect.
pub fn judge(prompt: &str, markers: &Markers, log: Log) -> GateResult {
    let mut judge = GateEvaluator::new(invocation::ID);
    let checked = check(prompt, markers);
    checked.errors.iter().for_each(|problem| judge.problem(problem));
    checked.warnings.iter().for_each(|warning| judge.warn(warning));
    let found = format!("nWave's dialect: {} errors", checked.errors.len());
    judge.record_check("the prompt's markers and sections", found, 0);
    if log == Log::Missing && !markers.nwave.is_orchestrator() {
        let project = markers.nwave.project_id.as_deref().unwrap_or_default();
        judge.warn(format!("no {LOG} of the project {project:?} was found below docs/feature/"));
    }
    judge.finish()
}
