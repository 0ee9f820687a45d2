//! The check of a prompt by the project's tables.

use lockstep_steps::markers::{Dialect, MarkerKind, Markers};
use lockstep_steps::nwave;
use lockstep_steps::problem::StepProblem;
use lockstep_steps::prompt_check::{PromptCheck, PromptRules, check};

use super::{StepContext, StepsResult};
use crate::command_output::CommandOutput;

impl StepContext<'_> {
    /// Checks that a prompt has its markers, its sections, and their required contents. An ad-hoc prompt is
    /// not checked.
    pub(crate) fn check_prompt(&self, prompt: &str) -> StepsResult<PromptCheck> {
        let mut markers = self.markers(prompt);
        match markers.dialect() {
            Dialect::AdHoc => {
                let name = markers.names.get(MarkerKind::Validation);
                let warning = format!("there is no {name} marker: an ad-hoc prompt, nothing was checked");
                markers.warnings.push(warning);
                Ok(PromptCheck { valid: true, errors: Vec::new(), warnings: markers.warnings })
            }
            Dialect::Nwave => Ok(nwave::check(prompt, &markers)),
            Dialect::Steps => self.check_marked(prompt, &markers),
        }
    }

    fn check_marked(&self, prompt: &str, markers: &Markers) -> StepsResult<PromptCheck> {
        let machine = self.machine()?;
        let file = markers.step_file.as_deref().and_then(|name| self.resolve_from_root(name).ok());
        let step = file.and_then(|file| self.read(&file).ok());
        let phases = self.phases_of(step.as_ref(), &machine);
        let (commands, definitions) = (self.commands()?, self.definitions()?);
        Ok(check(
            prompt,
            markers,
            PromptRules { commands: &commands, definitions: &definitions, phases: &phases },
        ))
    }
}

impl CommandOutput for PromptCheck {
    fn text(&self) -> String {
        let mut lines: String = self.warnings.iter().map(|warning| format!("warning: {warning}\n")).collect();
        lines.extend(self.errors.iter().map(describe));
        match self.errors.len() {
            0 => format!("{lines}the prompt is complete\n"),
            1 => format!("{lines}1 error\n"),
            count => format!("{lines}{count} errors\n"),
        }
    }
}

fn describe(problem: &StepProblem) -> String {
    format!("{problem}\n  {}\n", problem.suggestion)
}
