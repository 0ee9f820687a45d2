//! The view of a step: the document, and data from outside its file.

use lockstep_steps::gate::AuditMatch;
use lockstep_steps::step::Step;
use lockstep_store::step_lock::StepLock;
use lockstep_text::push_line;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::files::StepFile;
use super::{StepContext, StepsError, StepsResult};
use crate::command_output::CommandOutput;

/// A step, with its holder and whether its state was recorded.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct StepView {
    /// The file, relative to the root.
    pub(crate) step_file: String,
    /// The step as it is in its file; `lockstep schema step-file` describes it.
    #[schemars(with = "serde_json::Map<String, Value>")]
    pub(crate) document: Value,
    /// The holder, and the end of the hold.
    pub(crate) held: Option<String>,
    /// The reason why no gate accepts this state: it was not recorded, but written by hand.
    pub(crate) warning: Option<String>,
    #[serde(skip)]
    step: Step,
}

impl StepContext<'_> {
    pub(crate) fn show(&self, file: &StepFile) -> StepsResult<StepView> {
        self.settle(file)?;
        let step = self.read(file).map_err(StepsError::Refused)?;
        let lock = StepLock::held(&self.project.state, &file.path, self.now.timestamp());
        let warning = match self.recorded(file, &step)? {
            AuditMatch::Matches => None,
            AuditMatch::Missing if step.is_pristine() => None,
            AuditMatch::Missing => Some("this state is recorded nowhere; it was written by hand".to_owned()),
            AuditMatch::Differs { status } => {
                Some(format!("this state was written by hand; {status} was recorded"))
            }
            AuditMatch::OtherRules => Some("the rules changed after it began".to_owned()),
            AuditMatch::Unknown { why } => Some(why),
        };
        Ok(StepView {
            step_file: file.name.clone(),
            document: step.value().clone(),
            held: lock.map(|holder| holder.to_string()),
            warning,
            step,
        })
    }
}

impl CommandOutput for StepView {
    fn text(&self) -> String {
        let Self { step, document, .. } = self;
        let mut text = String::new();
        let (id, project, status) = (step.task_id(), step.project_id(), step.status());
        push_line(&mut text, format_args!("{id} of {project}: {status} ({})", self.step_file));
        if let Some(reason) = document["state"]["failure_reason"].as_str() {
            push_line(&mut text, format_args!("because: {reason}"));
        }
        let suggestions = document["state"]["recovery_suggestions"].as_array();
        for suggestion in suggestions.into_iter().flatten().filter_map(|one| one.as_str()) {
            push_line(&mut text, format_args!("to mend it: {suggestion}"));
        }
        if let Some(holder) = &self.held {
            push_line(&mut text, format_args!("{holder}"));
        }
        if let Some(warning) = &self.warning {
            push_line(&mut text, format_args!("warning: {warning}"));
        }
        for phase in step.phases() {
            let more = match (&phase.outcome, &phase.blocked_by) {
                (Some(outcome), _) => {
                    format!(" {outcome}{}", phase.evidence.as_ref().map_or("", |_| ", with evidence"))
                }
                (None, Some(reason)) => format!(" ({reason})"),
                (None, None) => String::new(),
            };
            push_line(&mut text, format_args!("  {:22} {}{more}", phase.name, phase.status));
        }
        text
    }
}
