//! The task in a client's own list: the gate before a call that writes it, and the copy in the store.
//!
//! `lockstep-task` interprets a call; this file selects the calls that concern the task. If no task is open,
//! ordinary entries of a client's list are ignored.

use lockstep_model::decision::Decision;
use lockstep_model::event::{Actor, EventKind, Outcome, Tool};
use lockstep_model::ids::SessionId;
use lockstep_model::task_list::{ListCall, ListOperation, ListedTask};
use lockstep_store::tasks::Mirror;
use lockstep_task::access::Principal;
use lockstep_task::client::{Call, Effect, is_document, judge};
use lockstep_task::version::subject::Subject;

use super::Hook;
use super::fault::Fault;
use crate::task::write::{Next, WriteDecision, Written};
use crate::task::writer::Writer;
use crate::task::{Present, Tasks, limits};

/// The subject of a notice about a list that differs from the store.
const OUT_OF_STEP: &str = "task-list";

impl Hook {
    /// Before `TaskCreate` and `TaskUpdate`: access, stale versions, invalid documents, lost pointers.
    pub(super) fn gate_task(&mut self, session: &SessionId) -> Result<Decision, Fault> {
        let Some(list) = self.list_call() else { return Ok(Decision::Silent) };
        let Some(call) = call(&list.operation) else { return Ok(Decision::Silent) };
        let tasks = Tasks::existing(&self.project, self.now.timestamp())?;
        let present = tasks.as_ref().map(Tasks::present).transpose()?.flatten();
        let task_id = mapped(tasks.as_ref(), present.as_ref(), session)?;
        let open = present.as_ref().is_some_and(|present| !present.record.delivered);
        let concerned = concerns(call, task_id.as_deref());
        if !open && (!concerned || self.is_foreign(call, task_id.as_deref())) {
            return Ok(Decision::Silent);
        }
        if let Some(fault) = Fault::of_configuration(&self.project) {
            // Rules that are partly wrong are no rules to refuse or to grant by.
            return Err(fault);
        }
        let tasks = match tasks {
            Some(tasks) => tasks,
            None => Tasks::open(&self.project, self.now.timestamp())?,
        };
        let writer = self.list_writer(list, session);
        let known = present.as_ref().map(|present| present.known(task_id.as_deref()));
        match tasks.with_rules(|rules| judge(call, &writer.principal, known, rules)) {
            Ok(_) => Ok(Decision::Silent),
            Err(reasons) => {
                let version = present.as_ref().map(|present| present.record.version);
                tasks.audit_refused(&writer, version, &reasons)?;
                let reasons: Vec<_> = reasons.iter().map(|reason| format!("- {reason}")).collect();
                Ok(Decision::Block(format!(
                    "lockstep: {} was refused by the rules of the task:\n{}",
                    writer.tool,
                    reasons.join("\n")
                )))
            }
        }
    }

    /// After `TaskCreate` and `TaskUpdate`: writes the version to the store. If the two disagree, notifies
    /// the Lead.
    pub(super) fn mirror_task(&mut self, session: &SessionId) -> Result<Decision, Fault> {
        let EventKind::PostToolUse { outcome: Outcome::Succeeded, .. } = &self.event.kind else {
            return Ok(Decision::Silent);
        };
        let Some(list) = self.list_call() else { return Ok(Decision::Silent) };
        let Some(call) = call(&list.operation) else { return Ok(Decision::Silent) };
        let now = self.now.timestamp();
        let tasks = match Tasks::existing(&self.project, now)? {
            None if concerns(call, None) && !self.is_foreign(call, None) => {
                Some(Tasks::open(&self.project, now)?)
            }
            existing => existing,
        };
        let Some(mut tasks) = tasks else { return Ok(Decision::Silent) };
        let present = tasks.present()?;
        let task_id = mapped(Some(&tasks), present.as_ref(), session)?;
        let open = present.as_ref().is_some_and(|present| !present.record.delivered);
        if !concerns(call, task_id.as_deref()) || (!open && self.is_foreign(call, task_id.as_deref())) {
            return Ok(Decision::Silent);
        }
        let writer = self.list_writer(list, session);
        let written = tasks.write(&writer, |present, rules| {
            let known = present.map(|present| present.known(task_id.as_deref()));
            let effect = judge(call, &writer.principal, known, rules)?;
            Ok(judgement(effect, matches!(call, Call::Create { .. }) || known.is_none(), present))
        })?;
        let Some(present) = tasks.present()? else { return Ok(Decision::Silent) };
        self.note_list(&mut tasks, &present, list, session)?;
        if let Written::Refused { reasons, .. } = written {
            let reasons: Vec<_> = reasons.iter().map(|reason| format!("- {reason}")).collect();
            let text = format!(
                "The client's list was changed in a way the store did not take over, so the two disagree; the \
                 store is at PT-v{}. `lockstep task check` compares them.\n{}",
                present.record.version,
                reasons.join("\n")
            );
            tasks.store.put_notice(session, OUT_OF_STEP, &text, now)?;
        }
        Ok(Decision::Silent)
    }

    /// After `TaskGet` and `TaskList`: records the task's id in this list, and the version that was read.
    pub(super) fn note_task_read(&mut self, session: &SessionId) -> Result<Decision, Fault> {
        let Some(list) = self.list_call() else { return Ok(Decision::Silent) };
        let shown: Vec<(&ListedTask, Subject)> =
            list.shown.iter().filter_map(|task| Some((task, Subject::parse(&task.subject)?))).collect();
        if shown.is_empty() {
            return Ok(Decision::Silent);
        }
        let Some(mut tasks) = Tasks::existing(&self.project, self.now.timestamp())? else {
            return Ok(Decision::Silent);
        };
        let Some(present) = tasks.present()? else { return Ok(Decision::Silent) };
        let reader = self.list_writer(list, session);
        for (task, subject) in shown {
            // A version that is not there yet is no version of ours.
            let Some(version) = subject.version.filter(|version| *version <= present.record.version) else {
                continue;
            };
            tasks.store.note_mirror(&mirror(session, &present, task, self.now.timestamp()))?;
            // A list of subjects shows the version, but not the content: only a complete task counts as read.
            if task.description.is_some() {
                tasks.note_reading(&reader, present.record.task, version)?;
            }
        }
        Ok(Decision::Silent)
    }

    /// Returns true if a call concerns the task of another framework, whose subjects have the same mark: it
    /// has its own text, such as a Markdown body, or only changes an unknown entry.
    fn is_foreign(&self, call: Call<'_>, known_id: Option<&str>) -> bool {
        match call {
            Call::Create { description, .. } => {
                !description.trim().is_empty() && !is_document(description, limits(&self.project))
            }
            Call::Update { task_id, description, .. } => {
                known_id != Some(task_id)
                    && description.is_none_or(|text| !is_document(text, limits(&self.project)))
            }
        }
    }

    fn list_call(&self) -> Option<&ListCall> {
        match &self.event.kind {
            EventKind::PreToolUse(call) | EventKind::PostToolUse { call, .. } => match &call.tool {
                Tool::TaskList(list) => Some(list),
                _ => None,
            },
            _ => None,
        }
    }

    fn list_writer(&self, list: &ListCall, session: &SessionId) -> Writer {
        let (agent_id, agent_type) = match &self.event.actor {
            Actor::Lead => (None, None),
            Actor::Subagent { id, agent_type } => (Some(id.to_string()), agent_type.as_deref()),
        };
        let task_id = match &list.operation {
            ListOperation::Update { task_id, .. } => Some(task_id.clone()),
            _ => list.shown.first().map(|task| task.id.clone()),
        };
        Writer {
            principal: Principal::of(agent_id.as_deref(), agent_type),
            agent_id,
            skill: None,
            session: Some(session.to_string()),
            tool: list.operation.tool().to_owned(),
            why: None,
            task_id,
        }
    }

    /// Records the present state of the list.
    fn note_list(
        &self,
        tasks: &mut Tasks<'_>,
        present: &Present,
        list: &ListCall,
        session: &SessionId,
    ) -> Result<(), Fault> {
        let seen = match &list.operation {
            ListOperation::Create { subject, description } => list.shown.first().map(|task| ListedTask {
                id: task.id.clone(),
                subject: subject.clone(),
                description: Some(description.clone()),
            }),
            ListOperation::Update { task_id, subject, description, .. } => {
                let mirrors = tasks.store.mirrors(present.record.task)?;
                let before = mirrors.into_iter().find(|m| m.session == *session && m.client_id == *task_id);
                let subject = subject.clone().or_else(|| before.map(|mirror| mirror.subject));
                Some(ListedTask {
                    id: task_id.clone(),
                    subject: subject.unwrap_or_default(),
                    description: description.clone(),
                })
            }
            ListOperation::Get | ListOperation::List => None,
        };
        if let Some(seen) = seen {
            tasks.store.note_mirror(&mirror(session, present, &seen, self.now.timestamp()))?;
        }
        Ok(())
    }
}

fn mirror(session: &SessionId, present: &Present, task: &ListedTask, at: jiff::Timestamp) -> Mirror {
    Mirror {
        session: session.clone(),
        client_id: task.id.clone(),
        task: present.record.task,
        subject: task.subject.clone(),
        description: task.description.clone(),
        at,
    }
}

/// A call that writes the list.
fn call(operation: &ListOperation) -> Option<Call<'_>> {
    match operation {
        ListOperation::Create { subject, description } => Some(Call::Create { subject, description }),
        ListOperation::Update { task_id, subject, description, status } => Some(Call::Update {
            task_id,
            subject: subject.as_deref(),
            description: description.as_deref(),
            status: status.as_deref(),
        }),
        ListOperation::Get | ListOperation::List => None,
    }
}

/// Returns true if a call concerns the task: by its subject, or by its id in this list.
fn concerns(call: Call<'_>, known_id: Option<&str>) -> bool {
    match call {
        Call::Create { subject, .. } => Subject::parse(subject).is_some(),
        Call::Update { task_id, subject, .. } => {
            known_id == Some(task_id) || subject.and_then(Subject::parse).is_some()
        }
    }
}

/// The id of the present task in this session's list.
fn mapped(
    tasks: Option<&Tasks<'_>>,
    present: Option<&Present>,
    session: &SessionId,
) -> Result<Option<String>, Fault> {
    match (tasks, present) {
        (Some(tasks), Some(present)) => Ok(tasks.store.mirror_id(session, present.record.task)?),
        _ => Ok(None),
    }
}

fn judgement(effect: Effect, first: bool, present: Option<&Present>) -> WriteDecision {
    let Effect::Write(write) = effect else { return WriteDecision::Unchanged };
    let first = first && present.is_none_or(|present| present.record.delivered);
    WriteDecision::Write(Box::new(Next {
        title: write.subject.title,
        delivered: write.subject.delivered,
        document: write.document,
        sections: write.sections,
        merged: false,
        warnings: write.warnings,
        idle_drops: Vec::new(),
        first,
    }))
}
