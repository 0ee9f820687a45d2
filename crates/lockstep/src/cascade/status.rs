//! The output of a cascade: as data, and as text.

use lockstep_cascade::report::CascadeReport;
use lockstep_text::push_line;
use schemars::JsonSchema;
use serde::Serialize;

use super::LoadedCascade;
use crate::command_output::CommandOutput;

/// The output if there is no cascade.
pub(crate) const NO_CASCADE: &str = "There was no cascade yet.\n";

/// The progress of a cascade.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct CascadeStatusOutput {
    pub(crate) id: i64,
    /// The session it was started in.
    pub(crate) session: Option<String>,
    #[serde(flatten)]
    pub(crate) data: CascadeReport,
}

impl CascadeStatusOutput {
    pub(crate) fn of(opened: &LoadedCascade) -> Self {
        let (id, session) = (opened.record.id, opened.record.session.clone());
        Self { id, session, data: opened.state.data() }
    }
}

impl CommandOutput for CascadeStatusOutput {
    fn text(&self) -> String {
        let data = &self.data;
        let mut out = format!("Cascade {}: ", self.id);
        match &data.why {
            Some(why) => {
                push_line(&mut out, format_args!("{}, {why}", data.status));
            }
            None => {
                push_line(
                    &mut out,
                    format_args!(
                        "active, iteration {} of at most {}, {}",
                        data.iterations, data.max_iterations, data.tier
                    ),
                );
            }
        }
        if !data.causes.is_empty() {
            push_line(&mut out, format_args!("  changed: {}", data.causes.join(", ")));
        }
        for group in &data.groups {
            let attempt = if group.attempt > 1 { ", second attempt" } else { "" };
            let stage = match group.stage {
                "handed" => "in an agent's hands",
                stage => stage,
            };
            push_line(&mut out, format_args!("  {} {}: {stage}{attempt}", group.id, group.role));
            for file in &group.open {
                push_line(&mut out, format_args!("    {file}"));
            }
        }
        let mut list = |title: &str, lines: Vec<String>| {
            if !lines.is_empty() {
                push_line(&mut out, format_args!("  {title}: {}", lines.join(", ")));
            }
        };
        list("updated", data.updated.clone());
        list("skipped", data.skipped.iter().map(|named| named.path.clone()).collect());
        list("dismissed", data.dismissed.iter().map(|named| named.path.clone()).collect());
        if !data.active {
            list("unresolved", data.unresolved.clone());
        }
        for warning in data.warnings.iter().filter(|warning| *warning != "The cascade is not over.") {
            push_line(&mut out, format_args!("warning: {warning}"));
        }
        out
    }
}
