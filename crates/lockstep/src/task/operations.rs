//! The writes of the task: create, update, restore, deliver, reopen, complete a phase, migrate. Each passes its
//! rules to [`TaskContext::write`].

use lockstep_task::access::TaskAction;
use lockstep_task::document::{SUBJECT, TaskDocument};
use lockstep_task::key_path::KeyPath;
use lockstep_task::phase::TaskPhase;
use lockstep_task::problem::DocumentProblem;
use lockstep_task::value::Map;
use lockstep_task::version::compare_and_swap::VersionProposal;
use lockstep_task::version::delivery;
use lockstep_task::version::diff::diff;
use lockstep_task::write_check::{self, RefusalReason, WriteRequest, WriteRules};

use super::update_request::UpdateRequest;
use super::write::{PreparedVersion, WriteResult};
use super::writer::TaskWriter;
use super::{CurrentTask, TaskContext, TaskError};

impl TaskContext<'_> {
    pub(crate) fn create(
        &mut self,
        writer: &TaskWriter,
        title: &str,
        document: &TaskDocument,
    ) -> Result<WriteResult, TaskError> {
        self.write(writer, |present, rules| {
            let open =
                present.filter(|present| !present.record.delivered).map(|present| present.record.version);
            let skill = writer.skill.as_deref();
            let warnings = write_check::evaluate_creation(&writer.principal, skill, open, document, rules)?;
            let mut sections: Vec<_> = document.root().keys().cloned().collect();
            sections.push(SUBJECT.to_owned());
            Ok(Some(PreparedVersion {
                title: title.to_owned(),
                delivered: false,
                document: document.clone(),
                sections,
                merged: false,
                warnings,
                idle_drops: Vec::new(),
                first: true,
            }))
        })
    }

    /// Updates the task from the version that the request was made from to `document`, which is read from it.
    pub(super) fn update(
        &mut self,
        writer: &TaskWriter,
        request: &UpdateRequest<'_>,
        document: &TaskDocument,
    ) -> Result<WriteResult, TaskError> {
        let base = match self.store.current_task()? {
            Some(present) => self.version(present.task, request.base)?,
            None => None,
        };
        self.write(writer, |present, rules| {
            let present = present.ok_or_else(none)?;
            let changes_subject = request.title.as_ref().is_some_and(|title| *title != present.title());
            let proposal = VersionProposal {
                base: request.base,
                base_document: base.as_ref().map(|base| &base.document),
                document,
                merge: request.merge,
                drops: &request.drops,
            };
            let judged = evaluate(writer, present, proposal, changes_subject, rules)?;
            Ok(with_title(judged, present, request.title.clone()))
        })
    }

    /// Makes an earlier version the next one.
    pub(crate) fn restore(
        &mut self,
        writer: &TaskWriter,
        earlier: &TaskDocument,
        drops: &[KeyPath],
    ) -> Result<WriteResult, TaskError> {
        self.write(writer, |present, rules| {
            let present = present.ok_or_else(none)?;
            evaluate(writer, present, from_present(present, earlier, drops), false, rules)
        })
    }

    pub(crate) fn deliver(
        &mut self,
        writer: &TaskWriter,
        metrics: &Map,
        assumed: &[TaskPhase],
    ) -> Result<WriteResult, TaskError> {
        self.write(writer, |present, rules| {
            let present = present.ok_or_else(none)?;
            let document =
                delivery::deliver(present.as_current_version(), metrics, assumed).map_err(invalid)?;
            let judged = evaluate(writer, present, from_present(present, &document, &[]), true, rules)?;
            let next =
                judged.unwrap_or_else(|| PreparedVersion::of(present, document, vec![SUBJECT.to_owned()]));
            Ok(Some(PreparedVersion { delivered: true, ..next }))
        })
    }

    /// Opens a delivered task again. The rules of versions forbid any write to it, so only access is judged.
    pub(crate) fn reopen(&mut self, writer: &TaskWriter, why: &str) -> Result<WriteResult, TaskError> {
        self.write(writer, |present, rules| {
            let present = present.ok_or_else(none)?;
            let document = delivery::reopen(present.as_current_version(), why)
                .map_err(|problem| vec![RefusalReason::Invalid(problem)])?;
            let changes = diff(&present.document, &document);
            let mut places = changes.places();
            places.push(KeyPath::section(SUBJECT));
            let (principal, skill) = (&writer.principal, writer.skill.as_deref());
            let action = TaskAction::UpdateTask;
            let denial =
                write_check::access_denial(rules.access, principal, skill, action, &places, &document);
            if let Some(denial) = denial {
                return Err(vec![denial]);
            }
            let mut sections = changes.sections();
            sections.push(SUBJECT.to_owned());
            Ok(Some(PreparedVersion { delivered: false, ..PreparedVersion::of(present, document, sections) }))
        })
    }

    /// Writes a document that `make` derives from the current version, or returns the reasons why it cannot.
    pub(crate) fn write_derived(
        &mut self,
        writer: &TaskWriter,
        mut make: impl FnMut(&CurrentTask, WriteRules<'_>) -> Result<TaskDocument, Vec<DocumentProblem>>,
    ) -> Result<WriteResult, TaskError> {
        self.write(writer, |present, rules| {
            let present = present.ok_or_else(none)?;
            let document = make(present, rules).map_err(invalid)?;
            evaluate(writer, present, from_present(present, &document, &[]), false, rules)
        })
    }
}

fn from_present<'a>(
    present: &'a CurrentTask,
    document: &'a TaskDocument,
    drops: &'a [KeyPath],
) -> VersionProposal<'a> {
    let (base, base_document) = (present.record.version, Some(&present.document));
    VersionProposal { base, base_document, document, merge: false, drops }
}

fn evaluate(
    writer: &TaskWriter,
    present: &CurrentTask,
    proposal: VersionProposal<'_>,
    changes_subject: bool,
    rules: WriteRules<'_>,
) -> Result<Option<PreparedVersion>, Vec<RefusalReason>> {
    let (principal, skill) = (&writer.principal, writer.skill.as_deref());
    let update =
        WriteRequest { principal, skill, current: present.as_current_version(), proposal, changes_subject };
    let judged = write_check::evaluate_update(&update, rules)?;
    Ok(judged.next.map(|next| {
        let mut sections = next.diff.sections();
        if changes_subject {
            sections.push(SUBJECT.to_owned());
        }
        PreparedVersion {
            merged: next.merged,
            warnings: judged.warnings,
            idle_drops: next.idle_drops,
            ..PreparedVersion::of(present, next.document, sections)
        }
    }))
}

/// Applies a new title. A title alone is a change too.
fn with_title(
    judged: Option<PreparedVersion>,
    present: &CurrentTask,
    title: Option<String>,
) -> Option<PreparedVersion> {
    let Some(title) = title.filter(|title| *title != present.title()) else { return judged };
    let unchanged = || PreparedVersion::of(present, present.document.clone(), vec![SUBJECT.to_owned()]);
    Some(PreparedVersion { title, ..judged.unwrap_or_else(unchanged) })
}

fn invalid(problems: Vec<DocumentProblem>) -> Vec<RefusalReason> {
    problems.into_iter().map(RefusalReason::Invalid).collect()
}

/// There is no task.
fn none() -> Vec<RefusalReason> {
    invalid(vec![DocumentProblem::of("task", "there is none yet", "`lockstep task new` creates it")])
}
