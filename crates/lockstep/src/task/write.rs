//! One write of the task: judged against the current version, swapped, audited, reported.

use lockstep_store::task_versions::{ExpectedVersion, NewVersion, SwapOutcome};
use lockstep_task::audit::TaskAuditVerdict;
use lockstep_task::document::TaskDocument;
use lockstep_task::key_path::KeyPath;
use lockstep_task::problem::DocumentProblem;
use lockstep_task::write_check::{RefusalReason, WriteRules};

use super::writer::{TaskAuditOutcome, TaskWriter};
use super::{CurrentTask, TaskContext, TaskError, subject};

#[derive(Debug, Clone)]
pub(crate) struct PreparedVersion {
    pub(crate) title: String,
    pub(crate) delivered: bool,
    pub(crate) document: TaskDocument,
    /// The sections it changes, `subject` among them.
    pub(crate) sections: Vec<String>,
    pub(crate) merged: bool,
    pub(crate) warnings: Vec<DocumentProblem>,
    pub(crate) idle_drops: Vec<KeyPath>,
    /// Set if it is the first version of a new task.
    pub(crate) first: bool,
}

impl PreparedVersion {
    pub(crate) fn of(present: &CurrentTask, document: TaskDocument, sections: Vec<String>) -> Self {
        Self {
            title: present.title(),
            delivered: present.record.delivered,
            document,
            sections,
            merged: false,
            warnings: Vec::new(),
            idle_drops: Vec::new(),
            first: false,
        }
    }
}

#[derive(Debug)]
pub(crate) enum WriteResult {
    Version {
        version: u64,
        subject: String,
        next: Box<PreparedVersion>,
    },
    /// Nothing was to be written.
    Unchanged {
        version: u64,
    },
    Refused {
        present: Option<u64>,
        reasons: Vec<RefusalReason>,
    },
}

impl TaskContext<'_> {
    /// Judges and writes. `judge` returns the version to write, or `None` if its content is the current one. If
    /// another writer is first, the write is judged again: each round, some writer has made progress.
    pub(crate) fn write(
        &mut self,
        writer: &TaskWriter,
        mut judge: impl FnMut(
            Option<&CurrentTask>,
            WriteRules<'_>,
        ) -> Result<Option<PreparedVersion>, Vec<RefusalReason>>,
    ) -> Result<WriteResult, TaskError> {
        loop {
            let present = self.present()?;
            let judged = self.with_rules(|rules| judge(present.as_ref(), rules));
            let number = present.as_ref().map(|present| present.record.version);
            let next = match judged {
                Ok(Some(next)) => next,
                Ok(None) => {
                    return Ok(WriteResult::Unchanged { version: number.unwrap_or(0) });
                }
                Err(reasons) => {
                    self.audit_refused(writer, number, &reasons)?;
                    return Ok(WriteResult::Refused { present: number, reasons });
                }
            };
            if let Some((version, subject)) = self.swap(present.as_ref(), writer, &next)? {
                return Ok(WriteResult::Version { version, subject, next: Box::new(next) });
            }
        }
    }

    /// Writes the version if the present one is still the one it was judged against.
    fn swap(
        &mut self,
        present: Option<&CurrentTask>,
        writer: &TaskWriter,
        next: &PreparedVersion,
    ) -> Result<Option<(u64, String)>, TaskError> {
        let (follows, version) = match present {
            Some(present) if !next.first => {
                let (task, version) = (present.record.task, present.record.version);
                (ExpectedVersion::Version { task, version }, version + 1)
            }
            other => (ExpectedVersion::NoOpenTask(other.map(|present| present.record.task)), 1),
        };
        let subject = subject(version, &next.title, next.delivered);
        let new = NewVersion {
            subject: &subject,
            delivered: next.delivered,
            document: &next.document.to_yaml(),
            author: &writer.author(),
            at: self.now,
        };
        let (project, now) = (self.project, self.now);
        let record = |version| {
            let verdict = TaskAuditOutcome {
                verdict: TaskAuditVerdict::Granted,
                version: Some(version),
                sections: &next.sections,
                reason: None,
            };
            writer.audit(project, now, verdict)
        };
        let SwapOutcome::Written { task, version } = self.store.swap_task_with(follows, new, record)? else {
            return Ok(None);
        };
        self.note_reading(writer, task, version)?;
        self.notify_leads(task, version)?;
        Ok(Some((version, subject)))
    }

    /// Records a refused write in the audit.
    pub(crate) fn audit_refused(
        &self,
        writer: &TaskWriter,
        version: Option<u64>,
        reasons: &[RefusalReason],
    ) -> Result<(), TaskError> {
        let reason: Vec<_> = reasons.iter().map(ToString::to_string).collect();
        let verdict = TaskAuditOutcome {
            verdict: TaskAuditVerdict::Refused,
            version,
            sections: &[],
            reason: Some(reason.join("\n")),
        };
        Ok(writer.audit(self.project, self.now, verdict)?)
    }
}
