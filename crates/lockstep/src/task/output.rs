//! Outputs of the task's verbs: the written version, or every reason for a refusal.

use lockstep_task::problem::{Diagnostics, DocumentProblem};
use lockstep_task::write_check::RefusalReason;
use schemars::JsonSchema;
use serde::Serialize;

use super::write::WriteResult;
use crate::command_output::CommandOutput;

/// A written version, or one with unchanged content.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub(crate) struct TaskWriteOutput {
    /// True if there is a new version.
    written: bool,
    /// The present version.
    version: u64,
    /// The task's title in a client's list, with its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<String>,
    /// The sections that changed.
    sections: Vec<String>,
    /// True if it was merged with other writes.
    merged: bool,
    warnings: Vec<String>,
    /// Notes about the gate record of a phase.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

/// Every reason why nothing was written, or why a phase cannot begin.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct TaskRefusalOutput {
    refused: bool,
    /// The present version, if there is a task.
    present: Option<u64>,
    reasons: Vec<ReasonOutput>,
    #[serde(skip)]
    verdict: Verdict,
}

/// The first words of an answer that is not a version of the task.
#[derive(Debug, Clone, Copy)]
enum Verdict {
    Refused,
    NotReady,
    NoTask,
}

#[derive(Debug, Clone, Serialize)]
struct ReasonOutput {
    message: String,
    #[serde(flatten)]
    reason: RefusalReason,
}

impl WriteResult {
    pub(crate) fn into_output(self) -> Result<TaskWriteOutput, TaskRefusalOutput> {
        match self {
            Self::Version { version, subject, next } => {
                let warnings = next.warnings.iter().map(ToString::to_string);
                let idle = |place| format!("--drop {place}: this write does not drop it");
                Ok(TaskWriteOutput {
                    written: true,
                    version,
                    subject: Some(subject),
                    warnings: warnings.chain(next.idle_drops.iter().map(idle)).collect(),
                    sections: next.sections,
                    merged: next.merged,
                    notes: Vec::new(),
                })
            }
            Self::Unchanged { version } => Ok(TaskWriteOutput { version, ..TaskWriteOutput::default() }),
            Self::Refused { present, reasons } => Err(TaskRefusalOutput::new(present, reasons)),
        }
    }
}

impl TaskWriteOutput {
    /// Adds further notes.
    pub(crate) fn with_notes(self, notes: Vec<String>) -> Self {
        Self { notes, ..self }
    }
}

impl CommandOutput for TaskWriteOutput {
    fn text(&self) -> String {
        let Some(subject) = &self.subject else {
            return format!("PT-v{} has the same content; nothing was written\n", self.version);
        };
        let mut text = format!("{subject}\n");
        if self.merged {
            text.push_str("merged with later writes\n");
        }
        text.push_str(&format!("changed: {}\n", self.sections.join(", ")));
        text.extend(self.warnings.iter().map(|warning| format!("warning: {warning}\n")));
        text.extend(self.notes.iter().map(|note| format!("note: {note}\n")));
        text
    }
}

impl TaskRefusalOutput {
    pub(crate) fn new(present: Option<u64>, reasons: Vec<RefusalReason>) -> Self {
        let output = |reason: RefusalReason| ReasonOutput { message: reason.to_string(), reason };
        let reasons = reasons.into_iter().map(output).collect();
        Self { refused: true, present, reasons, verdict: Verdict::Refused }
    }

    pub(crate) fn problems(present: Option<u64>, problems: Vec<DocumentProblem>) -> Self {
        Self::new(present, problems.into_iter().map(RefusalReason::Invalid).collect())
    }

    /// A phase cannot begin.
    pub(crate) fn not_ready(present: u64, problems: Vec<DocumentProblem>) -> Self {
        Self { verdict: Verdict::NotReady, ..Self::problems(Some(present), problems) }
    }

    /// A text is not a document.
    pub(crate) fn unreadable(findings: Diagnostics) -> Self {
        Self::problems(None, findings.problems)
    }

    pub(crate) fn none() -> Self {
        let problem = DocumentProblem::of("task", "there is none yet", "`lockstep task new` creates it");
        Self { verdict: Verdict::NoTask, ..Self::problems(None, vec![problem]) }
    }
}

impl CommandOutput for TaskRefusalOutput {
    fn text(&self) -> String {
        let count = match self.reasons.len() {
            1 => "1 reason".to_owned(),
            n => format!("{n} reasons"),
        };
        let line = |reason: &ReasonOutput| format!("- {}\n", reason.message.trim_end().replace('\n', "\n  "));
        let lines: String = self.reasons.iter().map(line).collect();
        match self.verdict {
            Verdict::Refused => format!("refused, for {count}; nothing was written\n{lines}"),
            Verdict::NotReady => format!("not ready, for {count}\n{lines}"),
            Verdict::NoTask => "there is no task yet; `lockstep task new` creates it\n".to_owned(),
        }
    }
}
