//! Judges one versioned write: shape, access and version, with all reasons at once.

use std::fmt;

use serde::Serialize;

use crate::access::{AccessDecision, AccessDenial, AccessRequest, AccessTable, Principal, TaskAction};
use crate::document::{DocumentLimits, SUBJECT, TaskDocument};
use crate::key_path::KeyPath;
use crate::pointer::PointerResolver;
use crate::problem::DocumentProblem;
use crate::value::Value;
use crate::version::compare_and_swap::{
    CurrentVersion, NextVersion, SwapError, VersionProposal, compare_and_swap,
};
use crate::version::diff::diff;

#[derive(Debug, Clone, Copy)]
pub struct WriteRequest<'a> {
    pub principal: &'a Principal,
    pub skill: Option<&'a str>,
    pub current: CurrentVersion<'a>,
    pub proposal: VersionProposal<'a>,
    /// Set if the subject changes apart from its version.
    pub changes_subject: bool,
}

#[derive(Debug, Clone, Copy)]
pub struct WriteRules<'a> {
    pub access: &'a AccessTable,
    pub limits: DocumentLimits,
    pub lookup: &'a PointerResolver<'a>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RefusalReason {
    /// The document is not as it should be.
    Invalid(DocumentProblem),
    /// The principal lacks the permission.
    Access(AccessDenial),
    /// The write does not follow from the current version.
    Version(SwapError),
}

impl fmt::Display for RefusalReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(problem) => problem.fmt(f),
            Self::Access(refusal) => refusal.fmt(f),
            Self::Version(refusal) => refusal.fmt(f),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct AcceptedWrite {
    /// `None` if the content equals the current version.
    pub next: Option<NextVersion>,
    /// Problems that do not prevent the write.
    pub warnings: Vec<DocumentProblem>,
}

pub fn evaluate_update(
    update: &WriteRequest<'_>,
    rules: WriteRules<'_>,
) -> Result<AcceptedWrite, Vec<RefusalReason>> {
    let mut reasons = Vec::new();
    let proposal = update.proposal;
    let reopened = rules.access.writes_after_delivery(update.principal, update.skill);
    let current = CurrentVersion { delivered: update.current.delivered && !reopened, ..update.current };
    let swapped = compare_and_swap(current, proposal);
    let result = match &swapped {
        Ok(Some(next)) => &next.document,
        _ => proposal.document,
    };
    let findings = result.check(rules.limits, rules.lookup);
    reasons.extend(findings.problems.into_iter().map(RefusalReason::Invalid));
    reasons.extend(update_denial(update, rules.access));
    match swapped {
        Ok(next) if reasons.is_empty() => Ok(AcceptedWrite { next, warnings: findings.warnings }),
        Ok(_) => Err(reasons),
        Err(refusal) => {
            reasons.push(RefusalReason::Version(refusal));
            Err(reasons)
        }
    }
}

/// Checks access to the writer's changes: against the version they started from, not against later writes of
/// others.
fn update_denial(update: &WriteRequest<'_>, table: &AccessTable) -> Option<RefusalReason> {
    let base = update.proposal.base_document.unwrap_or(update.current.document);
    let mut places = diff(base, update.proposal.document).places();
    if update.changes_subject {
        places.push(KeyPath::section(SUBJECT));
    }
    access_denial(
        table,
        update.principal,
        update.skill,
        TaskAction::UpdateTask,
        &places,
        update.proposal.document,
    )
}

/// Judges the creation of the task. `open` is the version of one that is not delivered.
pub fn evaluate_creation(
    principal: &Principal,
    skill: Option<&str>,
    open: Option<u64>,
    document: &TaskDocument,
    rules: WriteRules<'_>,
) -> Result<Vec<DocumentProblem>, Vec<RefusalReason>> {
    let findings = document.check(rules.limits, rules.lookup);
    let mut reasons: Vec<_> = findings.problems.into_iter().map(RefusalReason::Invalid).collect();
    let places = diff(&TaskDocument::default(), document).places();
    reasons.extend(access_denial(
        rules.access,
        principal,
        skill,
        TaskAction::CreateTask { open },
        &places,
        document,
    ));
    if reasons.is_empty() { Ok(findings.warnings) } else { Err(reasons) }
}

/// Returns the reason to refuse a change of these places, if the rules of access forbid it.
pub fn access_denial(
    table: &AccessTable,
    principal: &Principal,
    skill: Option<&str>,
    action: TaskAction,
    places: &[KeyPath],
    document: &TaskDocument,
) -> Option<RefusalReason> {
    let verdict = document.section("validation_verdict").and_then(Value::as_str);
    match table.check(&AccessRequest { principal, skill, action, places, verdict }) {
        AccessDecision::Granted => None,
        AccessDecision::Refused(refusal) => Some(RefusalReason::Access(refusal)),
    }
}
