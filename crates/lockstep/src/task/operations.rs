//! The writes of the task: create, update, restore, deliver, reopen, complete a phase, migrate. Each is a judgement
//! for [`Tasks::write`].

use lockstep_task::access::{Access, Action, Request};
use lockstep_task::document::{Document, SUBJECT};
use lockstep_task::phase::Phase;
use lockstep_task::place::Place;
use lockstep_task::problem::Problem;
use lockstep_task::update::{self, Reason, Rules, Update};
use lockstep_task::value::{Map, Value};
use lockstep_task::version::deliver;
use lockstep_task::version::diff::diff;
use lockstep_task::version::swap::{Proposal, Swap};

use super::write::{Next, WriteDecision, Written};
use super::writer::Writer;
use super::{Present, TaskError, Tasks};

/// A requested next version.
#[derive(Debug, Clone)]
pub(crate) struct Proposed {
    /// The version it was made from.
    pub(crate) base: u64,
    pub(crate) document: Document,
    pub(crate) merge: bool,
    pub(crate) drops: Vec<Place>,
    pub(crate) title: Option<String>,
}

impl Tasks<'_> {
    /// Creates the task.
    pub(crate) fn create(
        &mut self,
        writer: &Writer,
        title: &str,
        document: &Document,
    ) -> Result<Written, TaskError> {
        self.write(writer, |present, rules| {
            let open =
                present.filter(|present| !present.record.delivered).map(|present| present.record.version);
            let skill = writer.skill.as_deref();
            let warnings = update::judge_new(&writer.principal, skill, open, document, rules)?;
            let mut sections: Vec<_> = document.root().keys().map(str::to_owned).collect();
            sections.push(SUBJECT.to_owned());
            Ok(WriteDecision::Write(Box::new(Next {
                title: title.to_owned(),
                delivered: false,
                document: document.clone(),
                sections,
                merged: false,
                warnings,
                idle_drops: Vec::new(),
                first: true,
            })))
        })
    }

    /// Updates the task from the version the proposal was made from.
    pub(crate) fn update(&mut self, writer: &Writer, proposed: &Proposed) -> Result<Written, TaskError> {
        let base = match self.store.present_task()? {
            Some(present) => self.version(present.task, proposed.base)?,
            None => None,
        };
        self.write(writer, |present, rules| {
            let present = present.ok_or_else(none)?;
            let changes_subject = proposed.title.as_ref().is_some_and(|title| *title != present.title());
            let proposal = Proposal {
                base: proposed.base,
                base_document: base.as_ref().map(|base| &base.document),
                document: &proposed.document,
                merge: proposed.merge,
                drops: &proposed.drops,
            };
            let judged = judge(writer, present, proposal, changes_subject, rules)?;
            Ok(with_title(judged, present, proposed.title.clone()))
        })
    }

    /// Makes an earlier version the next one.
    pub(crate) fn restore(
        &mut self,
        writer: &Writer,
        earlier: &Document,
        drops: &[Place],
    ) -> Result<Written, TaskError> {
        self.write(writer, |present, rules| {
            let present = present.ok_or_else(none)?;
            judge(writer, present, from_present(present, earlier, drops), false, rules)
        })
    }

    /// Delivers the task.
    pub(crate) fn deliver(
        &mut self,
        writer: &Writer,
        metrics: &Map,
        assumed: &[Phase],
    ) -> Result<Written, TaskError> {
        self.write(writer, |present, rules| {
            let present = present.ok_or_else(none)?;
            let document = deliver::deliver(present.held(), metrics, assumed).map_err(invalid)?;
            let judged = judge(writer, present, from_present(present, &document, &[]), true, rules)?;
            let next = match judged {
                WriteDecision::Write(next) => Next { delivered: true, ..*next },
                WriteDecision::Unchanged => {
                    Next { delivered: true, ..Next::of(present, document, vec![SUBJECT.to_owned()]) }
                }
            };
            Ok(WriteDecision::Write(Box::new(next)))
        })
    }

    /// Opens a delivered task again. The rules of versions forbid any write to it, so only access is judged.
    pub(crate) fn reopen(&mut self, writer: &Writer, why: &str) -> Result<Written, TaskError> {
        self.write(writer, |present, rules| {
            let present = present.ok_or_else(none)?;
            let document =
                deliver::reopen(present.held(), why).map_err(|problem| vec![Reason::Invalid(problem)])?;
            let changes = diff(&present.document, &document);
            let mut places = changes.places();
            places.push(Place::section(SUBJECT));
            let request = Request {
                principal: &writer.principal,
                skill: writer.skill.as_deref(),
                action: Action::UpdateTask,
                places: &places,
                verdict: document.section("validation_verdict").and_then(Value::as_text),
            };
            if let Access::Refused(refusal) = rules.access.check(&request) {
                return Err(vec![Reason::Access(refusal)]);
            }
            let mut sections = changes.sections();
            sections.push(SUBJECT.to_owned());
            Ok(WriteDecision::Write(Box::new(Next {
                delivered: false,
                ..Next::of(present, document, sections)
            })))
        })
    }

    /// Writes a document that `make` derives from the current version, or returns the reasons why it cannot.
    pub(crate) fn rewrite(
        &mut self,
        writer: &Writer,
        mut make: impl FnMut(&Present, Rules<'_>) -> Result<Document, Vec<Problem>>,
    ) -> Result<Written, TaskError> {
        self.write(writer, |present, rules| {
            let present = present.ok_or_else(none)?;
            let document = make(present, rules).map_err(invalid)?;
            judge(writer, present, from_present(present, &document, &[]), false, rules)
        })
    }
}

fn from_present<'a>(present: &'a Present, document: &'a Document, drops: &'a [Place]) -> Proposal<'a> {
    let (base, base_document) = (present.record.version, Some(&present.document));
    Proposal { base, base_document, document, merge: false, drops }
}

fn judge(
    writer: &Writer,
    present: &Present,
    proposal: Proposal<'_>,
    changes_subject: bool,
    rules: Rules<'_>,
) -> Result<WriteDecision, Vec<Reason>> {
    let (principal, skill) = (&writer.principal, writer.skill.as_deref());
    let update = Update { principal, skill, current: present.held(), proposal, changes_subject };
    let judged = update::judge(&update, rules)?;
    Ok(match judged.swap {
        Swap::Unchanged => WriteDecision::Unchanged,
        Swap::Next(next) => {
            let mut sections = next.diff.sections();
            if changes_subject {
                sections.push(SUBJECT.to_owned());
            }
            WriteDecision::Write(Box::new(Next {
                merged: next.merged,
                warnings: judged.warnings,
                idle_drops: next.idle_drops,
                ..Next::of(present, next.document, sections)
            }))
        }
    })
}

/// Applies a new title. A title alone is a change too.
fn with_title(judged: WriteDecision, present: &Present, title: Option<String>) -> WriteDecision {
    let Some(title) = title.filter(|title| *title != present.title()) else { return judged };
    let next = match judged {
        WriteDecision::Write(next) => *next,
        WriteDecision::Unchanged => Next::of(present, present.document.clone(), vec![SUBJECT.to_owned()]),
    };
    WriteDecision::Write(Box::new(Next { title, ..next }))
}

fn invalid(problems: Vec<Problem>) -> Vec<Reason> {
    problems.into_iter().map(Reason::Invalid).collect()
}

/// There is no task.
fn none() -> Vec<Reason> {
    invalid(vec![Problem::of("task", "there is none yet", "`lockstep task new` creates it")])
}
