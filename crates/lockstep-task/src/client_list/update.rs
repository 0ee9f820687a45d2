//! A `TaskUpdate` of the task: its subject, its description, its status.

use super::{KnownTask, ListWriteEffect, VersionWrite, parsed, wrong_version};
use crate::access::{AccessDecision, AccessRequest, Principal, TaskAction};
use crate::document::{SUBJECT, TaskDocument};
use crate::problem::DocumentProblem;
use crate::version::compare_and_swap::VersionProposal;
use crate::version::delivery;
use crate::version::subject::TaskSubject;
use crate::write_check::{self, RefusalReason, WriteRequest, WriteRules};

/// The fields that a call sets; `None` leaves a field unchanged.
pub(super) struct TaskUpdateFields<'a> {
    pub(super) subject: Option<&'a str>,
    pub(super) description: Option<&'a str>,
    pub(super) status: Option<&'a str>,
}

pub(super) fn evaluate_list_update(
    known: KnownTask<'_>,
    revision: &TaskUpdateFields<'_>,
    principal: &Principal,
    rules: WriteRules<'_>,
) -> Result<ListWriteEffect, Vec<RefusalReason>> {
    let mut reasons = Vec::new();
    if revision.status == Some("deleted") {
        reasons.push(invalid("task", "the task is never deleted", "deliver it with `lockstep task deliver`"));
    }
    let subject = SubjectChange::of(known, revision, &mut reasons);
    if revision.description.is_none() && !subject.changes {
        return check_metadata_update(principal, rules, reasons);
    }
    subject.check_version(known, &mut reasons);
    let document = match revision.description {
        Some(text) => parsed(text, rules, &mut reasons),
        None => Some(known.held.document.clone()),
    };
    let Some(document) = document else { return Err(reasons) };
    if subject.delivers {
        reasons.extend(delivery::incomplete_phases(&document).into_iter().map(RefusalReason::Invalid));
    }
    write(known, subject, document, principal, rules, reasons)
}

struct SubjectChange {
    old: Option<TaskSubject>,
    new: Option<TaskSubject>,
    /// Set if the subject changes apart from its version.
    changes: bool,
    delivers: bool,
}

impl SubjectChange {
    fn of(known: KnownTask<'_>, revision: &TaskUpdateFields<'_>, reasons: &mut Vec<RefusalReason>) -> Self {
        let old = TaskSubject::parse(known.subject);
        let new = revision.subject.and_then(TaskSubject::parse);
        if let (Some(text), None) = (revision.subject, &new) {
            let fix = format!("keep the mark, as in [PERMANENT] PT-v{}", known.held.version + 1);
            reasons.push(invalid(SUBJECT, format!("{text:?} is not a subject of the task"), fix));
        }
        let changes = match (&old, &new) {
            (Some(old), Some(new)) => old.title != new.title || old.delivered != new.delivered,
            (None, Some(_)) => true,
            (_, None) => false,
        };
        let delivers = !known.held.delivered && new.as_ref().is_some_and(|subject| subject.delivered);
        Self { old, new, changes, delivers }
    }

    /// Checks that the write names the version after the current one. A stale write does not.
    fn check_version(&self, known: KnownTask<'_>, reasons: &mut Vec<RefusalReason>) {
        let next = known.held.version + 1;
        let stated = self.new.as_ref().and_then(|subject| subject.version);
        if stated != Some(next) {
            reasons.push(wrong_version(&self.kept(), next, stated));
        }
    }

    fn kept(&self) -> TaskSubject {
        let nothing = TaskSubject { version: None, delivered: false, title: String::new() };
        self.new.clone().or_else(|| self.old.clone()).unwrap_or(nothing)
    }
}

fn write(
    known: KnownTask<'_>,
    subject: SubjectChange,
    document: TaskDocument,
    principal: &Principal,
    rules: WriteRules<'_>,
    mut reasons: Vec<RefusalReason>,
) -> Result<ListWriteEffect, Vec<RefusalReason>> {
    let present = known.held.version;
    let proposal = VersionProposal {
        base: present,
        base_document: Some(known.held.document),
        document: &document,
        merge: false,
        drops: &[],
    };
    let update = WriteRequest {
        principal,
        skill: None,
        current: known.held,
        proposal,
        changes_subject: subject.changes,
    };
    let judged = match write_check::evaluate_update(&update, rules) {
        Ok(judged) if reasons.is_empty() => judged,
        Ok(_) => return Err(reasons),
        Err(more) => {
            reasons.extend(more);
            return Err(reasons);
        }
    };
    let mut sections = judged.next.map(|next| next.diff.sections()).unwrap_or_default();
    if subject.changes {
        sections.push(SUBJECT.to_owned());
    }
    let version = present + 1;
    let subject = TaskSubject { version: Some(version), ..subject.kept() };
    Ok(ListWriteEffect::Write(Box::new(VersionWrite {
        version,
        subject,
        document,
        sections,
        warnings: judged.warnings,
    })))
}

/// A call that changes neither subject nor description (its status, its owner) still is an update of the task.
fn check_metadata_update(
    principal: &Principal,
    rules: WriteRules<'_>,
    mut reasons: Vec<RefusalReason>,
) -> Result<ListWriteEffect, Vec<RefusalReason>> {
    let request =
        AccessRequest { principal, skill: None, action: TaskAction::UpdateTask, places: &[], verdict: None };
    if let AccessDecision::Refused(refusal) = rules.access.check(&request) {
        reasons.push(RefusalReason::Access(refusal));
    }
    if reasons.is_empty() { Ok(ListWriteEffect::Nothing) } else { Err(reasons) }
}

fn invalid(part: &str, what: impl Into<String>, fix: impl Into<String>) -> RefusalReason {
    RefusalReason::Invalid(DocumentProblem::of(part, what, fix))
}
