//! The result of a verb about a step: the written state, or every reason for a refusal.

use lockstep_steps::problem::StepProblem;
use lockstep_steps::step::Step;
use lockstep_text::single_line;
use schemars::JsonSchema;
use serde::Serialize;

use super::files::StepFile;
use crate::command_output::CommandOutput;

/// A step that was written.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct StepWriteOutput {
    /// The file, relative to the root.
    step_file: String,
    task_id: String,
    project_id: String,
    /// The step's state now.
    status: String,
    /// The phase that it was about.
    #[serde(skip_serializing_if = "Option::is_none")]
    phase: Option<PhaseWriteOutput>,
}

/// A phase that was written.
#[derive(Debug, Clone, Serialize, JsonSchema)]
struct PhaseWriteOutput {
    phase_name: String,
    /// The phase's state now.
    status: String,
    /// PASS or FAIL, if the phase is over.
    outcome: Option<String>,
}

impl StepWriteOutput {
    pub(crate) fn new(file: &StepFile, step: &Step, phase: Option<&str>) -> Self {
        let written = phase.and_then(|name| step.phase(name)).map(|phase| PhaseWriteOutput {
            phase_name: phase.name.clone(),
            status: phase.status.clone(),
            outcome: phase.outcome.clone(),
        });
        Self {
            step_file: file.name.clone(),
            task_id: step.task_id().to_owned(),
            project_id: step.project_id().to_owned(),
            status: step.status().to_owned(),
            phase: written,
        }
    }
}

impl CommandOutput for StepWriteOutput {
    fn text(&self) -> String {
        match &self.phase {
            Some(phase) => {
                let outcome = phase.outcome.as_ref().map(|outcome| format!(" {outcome}")).unwrap_or_default();
                single_line(&format!("{}: {} is {}{outcome}", self.step_file, phase.phase_name, phase.status))
                    + "\n"
            }
            None => single_line(&format!("{}: {}", self.step_file, self.status)) + "\n",
        }
    }
}

/// Every reason why nothing was done.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct StepRefusalOutput {
    refused: bool,
    errors: Vec<StepProblem>,
}

impl StepRefusalOutput {
    pub(crate) fn new(errors: Vec<StepProblem>) -> Self {
        Self { refused: true, errors }
    }
}

impl CommandOutput for StepRefusalOutput {
    fn text(&self) -> String {
        let lines: String = self
            .errors
            .iter()
            .map(|problem| {
                format!("- {}\n  {}\n", single_line(&problem.message), single_line(&problem.suggestion))
            })
            .collect();
        let count = match self.errors.len() {
            1 => "1 reason".to_owned(),
            count => format!("{count} reasons"),
        };
        format!("refused, for {count}; nothing was changed\n{lines}")
    }
}
