//! A step as it is shown: the document, and what its file alone does not tell.

use std::fmt::Write as _;

use lockstep_steps::gate::Recorded;
use lockstep_steps::step::Step;
use lockstep_store::step_lock::StepLock;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::files::StepFile;
use super::{Steps, StepsError};
use crate::reply::Reply;

/// A step, with who has it and whether its state was recorded.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct StepShown {
    /// Its file, from the root.
    pub(crate) step_file: String,
    /// The step as it is in its file; `lockstep schema step-file` describes it.
    #[schemars(with = "serde_json::Map<String, Value>")]
    pub(crate) document: Value,
    /// Who has it, and until when.
    pub(crate) held: Option<String>,
    /// Why no gate lets this state pass: it was not recorded, but written by hand.
    pub(crate) warning: Option<String>,
    #[serde(skip)]
    step: Step,
}

impl Steps<'_> {
    /// A step as it is shown.
    pub(crate) fn show(&self, file: &StepFile) -> Result<StepShown, StepsError> {
        let step = self.read(file).map_err(StepsError::Refused)?;
        let held = StepLock::held(&self.project.state, &file.path, self.now.timestamp());
        let warning = match self.recorded(file, &step)? {
            Recorded::Same => None,
            Recorded::Nothing if step.is_pristine() => None,
            Recorded::Nothing => Some("this state is recorded nowhere; it was written by hand".to_owned()),
            Recorded::Other { status } => {
                Some(format!("this state was written by hand; {status} was recorded"))
            }
        };
        Ok(StepShown {
            step_file: file.name.clone(),
            document: step.value().clone(),
            held: held.map(|holder| holder.to_string()),
            warning,
            step,
        })
    }
}

impl Reply for StepShown {
    fn text(&self) -> String {
        let Self { step, document, .. } = self;
        let mut text =
            format!("{} of {}: {} ({})\n", step.task_id(), step.project_id(), step.status(), self.step_file);
        if let Some(reason) = document["state"]["failure_reason"].as_str() {
            let _ = writeln!(text, "because: {reason}");
        }
        let suggestions = document["state"]["recovery_suggestions"].as_array();
        for suggestion in suggestions.into_iter().flatten().filter_map(|one| one.as_str()) {
            let _ = writeln!(text, "to mend it: {suggestion}");
        }
        if let Some(holder) = &self.held {
            let _ = writeln!(text, "{holder}");
        }
        if let Some(warning) = &self.warning {
            let _ = writeln!(text, "warning: {warning}");
        }
        for phase in step.phases() {
            let more = match (&phase.outcome, &phase.blocked_by) {
                (Some(outcome), _) => {
                    format!(" {outcome}{}", phase.evidence.as_ref().map_or("", |_| ", with evidence"))
                }
                (None, Some(reason)) => format!(" ({reason})"),
                (None, None) => String::new(),
            };
            let _ = writeln!(text, "  {:22} {}{more}", phase.name, phase.status);
        }
        text
    }
}
