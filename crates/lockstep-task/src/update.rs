//! Judges one versioned write: shape, access and version, with all reasons at once.

use std::fmt;

use serde::Serialize;

use crate::access::{Access, AccessTable, Action, Principal, Refusal, Request};
use crate::document::{Document, Limits, SUBJECT};
use crate::place::Place;
use crate::pointer::Lookup;
use crate::problem::Problem;
use crate::value::Value;
use crate::version::diff::diff;
use crate::version::swap::{Held, Proposal, Swap, SwapRefusal, swap};

/// A requested write.
#[derive(Debug, Clone, Copy)]
pub struct Update<'a> {
    pub principal: &'a Principal,
    /// The skill they run.
    pub skill: Option<&'a str>,
    /// The present version.
    pub current: Held<'a>,
    /// The requested next version.
    pub proposal: Proposal<'a>,
    /// Set if the subject changes apart from its version.
    pub changes_subject: bool,
}

/// The rules of a write.
#[derive(Debug, Clone, Copy)]
pub struct Rules<'a> {
    pub access: &'a AccessTable,
    pub limits: Limits,
    pub lookup: &'a Lookup<'a>,
}

/// A reason to refuse a write.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The document is not as it should be.
    Invalid(Problem),
    /// The principal lacks the permission.
    Access(Refusal),
    /// The write does not follow from the current version.
    Version(SwapRefusal),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(problem) => problem.fmt(f),
            Self::Access(refusal) => refusal.fmt(f),
            Self::Version(refusal) => refusal.fmt(f),
        }
    }
}

/// An accepted write.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    pub swap: Swap,
    /// Problems that do not prevent the write.
    pub warnings: Vec<Problem>,
}

/// Judges an update of the task.
pub fn judge(update: &Update<'_>, rules: Rules<'_>) -> Result<Judged, Vec<Reason>> {
    let mut reasons = Vec::new();
    let proposal = update.proposal;
    let reopened = rules.access.writes_after_delivery(update.principal, update.skill);
    let current = Held { delivered: update.current.delivered && !reopened, ..update.current };
    let swapped = swap(current, proposal);
    let result = match &swapped {
        Ok(Swap::Next(next)) => &next.document,
        _ => proposal.document,
    };
    let findings = result.check(rules.limits, rules.lookup);
    reasons.extend(findings.problems.into_iter().map(Reason::Invalid));
    reasons.extend(access(update, rules.access));
    match swapped {
        Ok(swap) if reasons.is_empty() => Ok(Judged { swap, warnings: findings.warnings }),
        Ok(_) => Err(reasons),
        Err(refusal) => {
            reasons.push(Reason::Version(refusal));
            Err(reasons)
        }
    }
}

/// Checks access to the writer's changes: against the version they started from, not against later writes of
/// others.
fn access(update: &Update<'_>, table: &AccessTable) -> Option<Reason> {
    let base = update.proposal.base_document.unwrap_or(update.current.document);
    let mut places = diff(base, update.proposal.document).places();
    if update.changes_subject {
        places.push(Place::section(SUBJECT));
    }
    refusal(table, update.principal, update.skill, Action::UpdateTask, &places, update.proposal.document)
}

/// Judges the creation of the task. `open` is the version of one that is not delivered.
pub fn judge_new(
    principal: &Principal,
    skill: Option<&str>,
    open: Option<u64>,
    document: &Document,
    rules: Rules<'_>,
) -> Result<Vec<Problem>, Vec<Reason>> {
    let findings = document.check(rules.limits, rules.lookup);
    let mut reasons: Vec<_> = findings.problems.into_iter().map(Reason::Invalid).collect();
    let places = diff(&Document::default(), document).places();
    reasons.extend(refusal(rules.access, principal, skill, Action::CreateTask { open }, &places, document));
    if reasons.is_empty() { Ok(findings.warnings) } else { Err(reasons) }
}

fn refusal(
    table: &AccessTable,
    principal: &Principal,
    skill: Option<&str>,
    action: Action,
    places: &[Place],
    document: &Document,
) -> Option<Reason> {
    let verdict = document.section("validation_verdict").and_then(Value::as_text);
    match table.check(&Request { principal, skill, action, places, verdict }) {
        Access::Granted => None,
        Access::Refused(refusal) => Some(Reason::Access(refusal)),
    }
}
