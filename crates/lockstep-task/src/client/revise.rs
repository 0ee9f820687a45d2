//! A `TaskUpdate` of the task: its subject, its description, its status.

use super::{Effect, Known, Write, parsed, wrong_version};
use crate::access::{Access, Action, Principal, Request};
use crate::document::{Document, SUBJECT};
use crate::problem::Problem;
use crate::update::{self, Reason, Rules, Update};
use crate::version::deliver;
use crate::version::subject::Subject;
use crate::version::swap::{Proposal, Swap};

/// The fields that a call sets; `None` leaves a field unchanged.
pub(super) struct Revision<'a> {
    pub(super) subject: Option<&'a str>,
    pub(super) description: Option<&'a str>,
    pub(super) status: Option<&'a str>,
}

/// Decides an update of the task.
pub(super) fn revise(
    known: Known<'_>,
    revision: &Revision<'_>,
    principal: &Principal,
    rules: Rules<'_>,
) -> Result<Effect, Vec<Reason>> {
    let mut reasons = Vec::new();
    if revision.status == Some("deleted") {
        reasons.push(invalid("task", "the task is never deleted", "deliver it with `lockstep task deliver`"));
    }
    let subject = Subjects::of(known, revision, &mut reasons);
    if revision.description.is_none() && !subject.changes {
        return touch(principal, rules, reasons);
    }
    subject.check_version(known, &mut reasons);
    let document = match revision.description {
        Some(text) => parsed(text, rules, &mut reasons),
        None => Some(known.held.document.clone()),
    };
    let Some(document) = document else { return Err(reasons) };
    if subject.delivers {
        reasons.extend(deliver::incomplete(&document).into_iter().map(Reason::Invalid));
    }
    write(known, subject, document, principal, rules, reasons)
}

/// The subject before and after.
struct Subjects {
    old: Option<Subject>,
    new: Option<Subject>,
    /// Set if the subject changes apart from its version.
    changes: bool,
    delivers: bool,
}

impl Subjects {
    fn of(known: Known<'_>, revision: &Revision<'_>, reasons: &mut Vec<Reason>) -> Self {
        let old = Subject::parse(known.subject);
        let new = revision.subject.and_then(Subject::parse);
        if let (Some(text), None) = (revision.subject, &new) {
            let fix = format!("keep the mark, as in [PERMANENT] PT-v{}", known.held.version + 1);
            reasons.push(invalid(SUBJECT, format!("{text:?} is no subject of the task"), fix));
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
    fn check_version(&self, known: Known<'_>, reasons: &mut Vec<Reason>) {
        let next = known.held.version + 1;
        let stated = self.new.as_ref().and_then(|subject| subject.version);
        if stated != Some(next) {
            reasons.push(wrong_version(&self.kept(), next, stated));
        }
    }

    fn kept(&self) -> Subject {
        let nothing = Subject { version: None, delivered: false, title: String::new() };
        self.new.clone().or_else(|| self.old.clone()).unwrap_or(nothing)
    }
}

fn write(
    known: Known<'_>,
    subject: Subjects,
    document: Document,
    principal: &Principal,
    rules: Rules<'_>,
    mut reasons: Vec<Reason>,
) -> Result<Effect, Vec<Reason>> {
    let present = known.held.version;
    let proposal = Proposal {
        base: present,
        base_document: Some(known.held.document),
        document: &document,
        merge: false,
        drops: &[],
    };
    let update =
        Update { principal, skill: None, current: known.held, proposal, changes_subject: subject.changes };
    let judged = match update::judge(&update, rules) {
        Ok(judged) if reasons.is_empty() => judged,
        Ok(_) => return Err(reasons),
        Err(more) => {
            reasons.extend(more);
            return Err(reasons);
        }
    };
    let mut sections = match &judged.swap {
        Swap::Next(next) => next.diff.sections(),
        Swap::Unchanged => Vec::new(),
    };
    if subject.changes {
        sections.push(SUBJECT.to_owned());
    }
    let version = present + 1;
    let subject = Subject { version: Some(version), ..subject.kept() };
    Ok(Effect::Write(Box::new(Write { version, subject, document, sections, warnings: judged.warnings })))
}

/// A call that changes neither subject nor description (its status, its owner) still is an update of the task.
fn touch(principal: &Principal, rules: Rules<'_>, mut reasons: Vec<Reason>) -> Result<Effect, Vec<Reason>> {
    let request = Request { principal, skill: None, action: Action::UpdateTask, places: &[], verdict: None };
    if let Access::Refused(refusal) = rules.access.check(&request) {
        reasons.push(Reason::Access(refusal));
    }
    if reasons.is_empty() { Ok(Effect::Nothing) } else { Err(reasons) }
}

fn invalid(part: &str, what: impl Into<String>, fix: impl Into<String>) -> Reason {
    Reason::Invalid(Problem::of(part, what, fix))
}
