//! The task in a client's own list: the effect of `TaskCreate` and `TaskUpdate` calls, and whether they are
//! allowed.
//!
//! The store holds the truth; the list mirrors it. [`judge`] decides before the call, and its result is
//! written to the store afterwards. [`compare`] checks that both agree.

mod agreement;
mod own;
mod revise;

pub use agreement::{Agreement, compare};
pub use own::is_document;

use std::iter;

use self::revise::Revision;
use crate::access::{Access, Action, Create, Principal, Refusal, Request};
use crate::document::{Document, SUBJECT};
use crate::problem::Problem;
use crate::update::{self, Reason, Rules};
use crate::version::diff::diff;
use crate::version::subject::Subject;
use crate::version::swap::Held;

/// A call that writes the client's list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call<'a> {
    Create {
        subject: &'a str,
        /// The description: for the task, its document.
        description: &'a str,
    },
    Update {
        /// The task's id in the list.
        task_id: &'a str,
        /// The new subject, if it changes.
        subject: Option<&'a str>,
        /// The new description, if it changes.
        description: Option<&'a str>,
        /// The new status, if it changes.
        status: Option<&'a str>,
    },
}

/// The stored state of the task.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a> {
    /// The id in the client's list, once it was mirrored.
    pub task_id: Option<&'a str>,
    pub subject: &'a str,
    /// The current version.
    pub held: Held<'a>,
}

/// The effect of a call on the store.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// The call concerns an ordinary task, or does not change the task's content.
    Nothing,
    /// The call copies the current version into a list without one: nothing is written.
    Copy,
    /// The call writes a version.
    Write(Box<Write>),
}

/// A version that a call writes.
#[derive(Debug, Clone, PartialEq)]
pub struct Write {
    pub version: u64,
    pub subject: Subject,
    pub document: Document,
    /// The sections it changes, `subject` among them.
    pub sections: Vec<String>,
    /// Problems that do not prevent the write.
    pub warnings: Vec<Problem>,
}

/// Decides a call. Returns all reasons against it.
pub fn judge(
    call: Call<'_>,
    principal: &Principal,
    known: Option<Known<'_>>,
    rules: Rules<'_>,
) -> Result<Effect, Vec<Reason>> {
    match call {
        Call::Create { subject, description } => match Subject::parse(subject) {
            Some(subject) => match known {
                Some(known) if is_copy(&subject, description, principal, known, rules) => Ok(Effect::Copy),
                _ => create(subject, description, principal, known, rules),
            },
            None => ordinary(Action::CreateOther, principal, rules),
        },
        Call::Update { task_id, subject, description, status } => {
            let the_task = known.filter(|known| known.task_id == Some(task_id));
            match (the_task, subject.and_then(Subject::parse)) {
                (Some(known), _) => {
                    revise::revise(known, &Revision { subject, description, status }, principal, rules)
                }
                // A task that is not the known one must not become another one by its subject.
                (None, Some(stated)) => match known {
                    Some(known)
                        if is_copy(&stated, description.unwrap_or_default(), principal, known, rules) =>
                    {
                        Ok(Effect::Copy)
                    }
                    Some(known) => Err(iter::once(another(principal, known.held.version))
                        .chain(how_to_copy(principal, known, rules))
                        .collect()),
                    None => adopt(subject, description, principal, rules),
                },
                (None, None) => ordinary(Action::UpdateOther, principal, rules),
            }
        }
    }
}

fn ordinary(action: Action, principal: &Principal, rules: Rules<'_>) -> Result<Effect, Vec<Reason>> {
    match rules.access.check(&Request { principal, skill: None, action, places: &[], verdict: None }) {
        Access::Granted => Ok(Effect::Nothing),
        Access::Refused(refusal) => Err(vec![Reason::Access(refusal)]),
    }
}

/// Returns true if the call repeats the current version word for word in a list that does not have it. The
/// list of a new session starts empty, and its agents read there.
fn is_copy(
    subject: &Subject,
    description: &str,
    principal: &Principal,
    known: Known<'_>,
    rules: Rules<'_>,
) -> bool {
    let open = known.task_id.is_none() && !known.held.delivered && !subject.delivered;
    open && subject.version == Some(known.held.version)
        && rules.access.rule(principal).create != Create::None
        && Document::parse(description.as_bytes(), rules.limits)
            .is_ok_and(|document| diff(known.held.document, &document).is_empty())
}

/// Returns a hint for a caller that creates the task again because its list does not show it.
fn how_to_copy(principal: &Principal, known: Known<'_>, rules: Rules<'_>) -> Option<Reason> {
    let may = rules.access.rule(principal).create != Create::None;
    let missing = may && known.task_id.is_none() && !known.held.delivered;
    missing.then(|| {
        let version = known.held.version;
        let what = format!("this session's list has no copy of PT-v{version}");
        let fix = format!(
            "create one with the subject {:?} and the document that `lockstep task show` prints, word for word",
            known.subject
        );
        Reason::Invalid(Problem::of(SUBJECT, what, fix))
    })
}

fn another(principal: &Principal, version: u64) -> Reason {
    Reason::Access(Refusal {
        who: principal.to_string(),
        what: "make another task the task".to_owned(),
        rule: format!("there is one task, and it is at PT-v{version}: it is updated, or delivered first"),
        who_could: Vec::new(),
    })
}

fn create(
    subject: Subject,
    description: &str,
    principal: &Principal,
    known: Option<Known<'_>>,
    rules: Rules<'_>,
) -> Result<Effect, Vec<Reason>> {
    let open = known.filter(|known| !known.held.delivered).map(|known| known.held.version);
    let mut reasons = Vec::new();
    match known.filter(|_| open.is_some()) {
        Some(known) => reasons.extend(how_to_copy(principal, known, rules)),
        None if subject.version.is_some_and(|version| version != 1) => {
            reasons.push(wrong_version(&subject, 1, None));
        }
        None => {}
    }
    let document = parsed(description, rules, &mut reasons);
    match update::judge_new(principal, None, open, document.as_ref().unwrap_or(&Document::default()), rules) {
        Ok(warnings) if reasons.is_empty() => {
            let document = document.unwrap_or_default();
            let mut sections: Vec<_> = document.root().keys().map(str::to_owned).collect();
            sections.push(SUBJECT.to_owned());
            let subject = Subject { version: Some(1), ..subject };
            Ok(Effect::Write(Box::new(Write { version: 1, subject, document, sections, warnings })))
        }
        Ok(_) => Err(reasons),
        Err(more) => {
            // Without a document, judging an empty one would only repeat that there is none.
            reasons.extend(
                more.into_iter().filter(|reason| document.is_some() || matches!(reason, Reason::Access(_))),
            );
            Err(reasons)
        }
    }
}

/// Handles an ordinary task that gets the task's subject while there is no task: the same as creating it.
fn adopt(
    subject: Option<&str>,
    description: Option<&str>,
    principal: &Principal,
    rules: Rules<'_>,
) -> Result<Effect, Vec<Reason>> {
    let subject = subject.and_then(Subject::parse).expect("the caller saw the task's subject");
    create(subject, description.unwrap_or_default(), principal, None, rules)
}

fn parsed(text: &str, rules: Rules<'_>, reasons: &mut Vec<Reason>) -> Option<Document> {
    let reading = Document::read(text.as_bytes(), rules.limits, rules.lookup);
    if reading.document.is_none() {
        reasons.extend(reading.findings.problems.into_iter().map(Reason::Invalid));
    }
    reading.document
}

fn wrong_version(subject: &Subject, expected: u64, stated: Option<u64>) -> Reason {
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
    let title = Subject { version: Some(expected), ..subject.clone() };
    let set = format!("set the subject {:?}", title.to_string());
    let fix = match expected {
        1 => set,
        _ => format!(
            "read PT-v{} again (`lockstep task show` prints it), apply the change to it, and {set}",
            expected - 1
        ),
    };
    Reason::Invalid(Problem::of(SUBJECT, what, fix))
}
