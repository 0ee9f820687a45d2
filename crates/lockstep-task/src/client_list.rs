//! The task in a client's own list: the effect of `TaskCreate` and `TaskUpdate` calls, and whether they are
//! allowed.
//!
//! The store holds the truth; the list mirrors it. [`evaluate_list_write`] decides before the call, and its result is
//! written to the store afterwards. [`compare`] checks that both agree.

mod comparison;
mod own;
mod update;

pub use comparison::{ListComparison, compare};
pub use own::is_document;

use std::iter;

use self::update::TaskUpdateFields;
use crate::access::{AccessDecision, AccessDenial, AccessRequest, CreatePermission, Principal, TaskAction};
use crate::document::{SUBJECT, TaskDocument};
use crate::problem::DocumentProblem;
use crate::version::compare_and_swap::CurrentVersion;
use crate::version::diff::diff;
use crate::version::subject::TaskSubject;
use crate::write_check::{self, RefusalReason, WriteRules};

/// A call that writes the client's list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListWrite<'a> {
    Create {
        subject: &'a str,
        /// The description: for the task, its document.
        description: &'a str,
    },
    Update {
        task_id: &'a str,
        /// The new subject, if it changes.
        subject: Option<&'a str>,
        /// The new description, if it changes.
        description: Option<&'a str>,
        /// The new status, if it changes.
        status: Option<&'a str>,
    },
}

#[derive(Debug, Clone, Copy)]
pub struct KnownTask<'a> {
    /// The id in the client's list, once it was mirrored.
    pub task_id: Option<&'a str>,
    pub subject: &'a str,
    pub held: CurrentVersion<'a>,
}

/// The effect of a call on the store.
#[derive(Debug, Clone, PartialEq)]
pub enum ListWriteEffect {
    /// The call concerns an ordinary task, or does not change the task's content.
    Nothing,
    /// The call copies the current version into a list without one: nothing is written.
    Copy,
    Write(Box<VersionWrite>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct VersionWrite {
    pub version: u64,
    pub subject: TaskSubject,
    pub document: TaskDocument,
    /// The sections it changes, `subject` among them.
    pub sections: Vec<String>,
    /// Problems that do not prevent the write.
    pub warnings: Vec<DocumentProblem>,
}

/// Decides a call. Returns all reasons against it.
pub fn evaluate_list_write(
    call: ListWrite<'_>,
    principal: &Principal,
    known: Option<KnownTask<'_>>,
    rules: WriteRules<'_>,
) -> Result<ListWriteEffect, Vec<RefusalReason>> {
    match call {
        ListWrite::Create { subject, description } => match TaskSubject::parse(subject) {
            Some(subject) => match known {
                Some(known) if is_copy(&subject, description, principal, known, rules) => {
                    Ok(ListWriteEffect::Copy)
                }
                _ => create(subject, description, principal, known, rules),
            },
            None => check_ordinary_task(TaskAction::CreateOther, principal, rules),
        },
        ListWrite::Update { task_id, subject, description, status } => {
            let the_task = known.filter(|known| known.task_id == Some(task_id));
            match (the_task, subject.and_then(TaskSubject::parse)) {
                (Some(known), _) => update::evaluate_list_update(
                    known,
                    &TaskUpdateFields { subject, description, status },
                    principal,
                    rules,
                ),
                // A task that is not the known one must not become another one by its subject.
                (None, Some(stated)) => match known {
                    Some(known)
                        if is_copy(&stated, description.unwrap_or_default(), principal, known, rules) =>
                    {
                        Ok(ListWriteEffect::Copy)
                    }
                    Some(known) => Err(iter::once(second_task_reason(principal, known.held.version))
                        .chain(copy_hint(principal, known, rules))
                        .collect()),
                    None => create_from_update(subject, description, principal, rules),
                },
                (None, None) => check_ordinary_task(TaskAction::UpdateOther, principal, rules),
            }
        }
    }
}

fn check_ordinary_task(
    action: TaskAction,
    principal: &Principal,
    rules: WriteRules<'_>,
) -> Result<ListWriteEffect, Vec<RefusalReason>> {
    match rules.access.check(&AccessRequest { principal, skill: None, action, places: &[], verdict: None }) {
        AccessDecision::Granted => Ok(ListWriteEffect::Nothing),
        AccessDecision::Refused(refusal) => Err(vec![RefusalReason::Access(refusal)]),
    }
}

/// Returns true if the call repeats the current version word for word in a list that does not have it. The
/// list of a new session starts empty, and its agents read there.
fn is_copy(
    subject: &TaskSubject,
    description: &str,
    principal: &Principal,
    known: KnownTask<'_>,
    rules: WriteRules<'_>,
) -> bool {
    let open = known.task_id.is_none() && !known.held.delivered && !subject.delivered;
    open && subject.version == Some(known.held.version)
        && rules.access.rule(principal).create != CreatePermission::None
        && TaskDocument::parse(description.as_bytes(), rules.limits)
            .is_ok_and(|document| diff(known.held.document, &document).is_empty())
}

/// Returns a hint for a caller that creates the task again because its list does not show it.
fn copy_hint(principal: &Principal, known: KnownTask<'_>, rules: WriteRules<'_>) -> Option<RefusalReason> {
    let may = rules.access.rule(principal).create != CreatePermission::None;
    let missing = may && known.task_id.is_none() && !known.held.delivered;
    missing.then(|| {
        let version = known.held.version;
        let what = format!("this session's list has no copy of PT-v{version}");
        let fix = format!(
            "create one with the subject {:?} and the document that `lockstep task show` prints, word for word",
            known.subject
        );
        RefusalReason::Invalid(DocumentProblem::of(SUBJECT, what, fix))
    })
}

fn second_task_reason(principal: &Principal, version: u64) -> RefusalReason {
    RefusalReason::Access(AccessDenial {
        who: principal.to_string(),
        what: "make another task the task".to_owned(),
        rule: format!("there is one task, and it is at PT-v{version}: it is updated, or delivered first"),
        who_could: Vec::new(),
    })
}

fn create(
    subject: TaskSubject,
    description: &str,
    principal: &Principal,
    known: Option<KnownTask<'_>>,
    rules: WriteRules<'_>,
) -> Result<ListWriteEffect, Vec<RefusalReason>> {
    let open = known.filter(|known| !known.held.delivered).map(|known| known.held.version);
    let mut reasons = Vec::new();
    match known.filter(|_| open.is_some()) {
        Some(known) => reasons.extend(copy_hint(principal, known, rules)),
        None if subject.version.is_some_and(|version| version != 1) => {
            reasons.push(wrong_version(&subject, 1, None));
        }
        None => {}
    }
    let document = parsed(description, rules, &mut reasons);
    match write_check::evaluate_creation(
        principal,
        None,
        open,
        document.as_ref().unwrap_or(&TaskDocument::default()),
        rules,
    ) {
        Ok(warnings) if reasons.is_empty() => {
            let document = document.unwrap_or_default();
            let mut sections: Vec<_> = document.root().keys().cloned().collect();
            sections.push(SUBJECT.to_owned());
            let subject = TaskSubject { version: Some(1), ..subject };
            Ok(ListWriteEffect::Write(Box::new(VersionWrite {
                version: 1,
                subject,
                document,
                sections,
                warnings,
            })))
        }
        Ok(_) => Err(reasons),
        Err(more) => {
            // Without a document, judging an empty one would only repeat that there is none.
            reasons.extend(
                more.into_iter()
                    .filter(|reason| document.is_some() || matches!(reason, RefusalReason::Access(_))),
            );
            Err(reasons)
        }
    }
}

/// Handles an ordinary task that gets the task's subject while there is no task: the same as creating it.
fn create_from_update(
    subject: Option<&str>,
    description: Option<&str>,
    principal: &Principal,
    rules: WriteRules<'_>,
) -> Result<ListWriteEffect, Vec<RefusalReason>> {
    let subject = subject.and_then(TaskSubject::parse).expect("the caller saw the task's subject");
    create(subject, description.unwrap_or_default(), principal, None, rules)
}

fn parsed(text: &str, rules: WriteRules<'_>, reasons: &mut Vec<RefusalReason>) -> Option<TaskDocument> {
    let reading = TaskDocument::read(text.as_bytes(), rules.limits, rules.lookup);
    if reading.document.is_none() {
        reasons.extend(reading.findings.problems.into_iter().map(RefusalReason::Invalid));
    }
    reading.document
}

fn wrong_version(subject: &TaskSubject, expected: u64, stated: Option<u64>) -> RefusalReason {
    let what = match (stated.or(subject.version), expected) {
        (stated, 1) => {
            format!("the first version is PT-v1, and the subject says PT-v{}", stated.unwrap_or(0))
        }
        (Some(stated), _) if stated >= expected => {
            format!("the subject says PT-v{stated}, and the next version is PT-v{expected}")
        }
        (Some(stated), _) => format!(
            "the subject says PT-v{stated}, and the present version is PT-v{}: the write is stale, or kept its version",
            expected - 1
        ),
        (None, _) => format!("the subject names no version, and the next is PT-v{expected}"),
    };
    let title = TaskSubject { version: Some(expected), ..subject.clone() };
    let set = format!("set the subject {:?}", title.to_string());
    let fix = match expected {
        1 => set,
        _ => format!(
            "read PT-v{} again (`lockstep task show` prints it), apply the change to it, and {set}",
            expected - 1
        ),
    };
    RefusalReason::Invalid(DocumentProblem::of(SUBJECT, what, fix))
}
