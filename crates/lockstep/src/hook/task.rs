//! The task in a client's own list: the gate before a call that writes it, and the copy in the store.
//!
//! `lockstep-task` interprets a call; this file selects the calls that concern the task. If no task is open,
//! ordinary entries of a client's list are ignored.

use lockstep_model::decision::Decision;
use lockstep_model::event::{Actor, EventKind, ToolOutcome, ToolUse};
use lockstep_model::ids::SessionId;
use lockstep_model::task_list::{ListedTask, TaskListCall, TaskListOperation};
use lockstep_store::task_versions::TaskMirror;
use lockstep_task::access::Principal;
use lockstep_task::client_list::{ListWrite, ListWriteEffect, evaluate_list_write, is_document};
use lockstep_task::version::subject::TaskSubject;

use super::HookRun;
use super::error::{HookError, HookResult};
use crate::task::write::{PreparedVersion, WriteResult};
use crate::task::writer::TaskWriter;
use crate::task::{CurrentTask, TaskContext, limits};

/// The subject of a notice about a list that differs from the store.
const LIST_MISMATCH: &str = "task-list";

impl HookRun {
    /// Before `TaskCreate` and `TaskUpdate`: access, stale versions, invalid documents, lost pointers.
    pub(super) fn gate_task(&mut self, session: &SessionId) -> HookResult<Decision> {
        let Some(list) = self.list_call() else { return Ok(Decision::Silent) };
        let Some(call) = call(&list.operation) else { return Ok(Decision::Silent) };
        let tasks = TaskContext::open_existing(&self.project, self.now.timestamp())?;
        let present = tasks.as_ref().map(TaskContext::present).transpose()?.flatten();
        let task_id = list_task_id(tasks.as_ref(), present.as_ref(), session)?;
        let open = present.as_ref().is_some_and(|present| !present.record.delivered);
        let concerned = concerns(call, task_id.as_deref());
        if !open && (!concerned || self.is_foreign(call, task_id.as_deref())) {
            return Ok(Decision::Silent);
        }
        if let Some(fault) = HookError::from_config_problems(&self.project) {
            // Rules that are partly wrong are no rules to refuse or to grant by.
            return Err(fault);
        }
        let tasks = match tasks {
            Some(tasks) => tasks,
            None => TaskContext::open(&self.project, self.now.timestamp())?,
        };
        let writer = self.list_writer(list, session);
        let known = present.as_ref().map(|present| present.known(task_id.as_deref()));
        match tasks.with_rules(|rules| evaluate_list_write(call, &writer.principal, known, rules)) {
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
    pub(super) fn mirror_task(&mut self, session: &SessionId) -> HookResult<Decision> {
        let EventKind::PostToolUse { outcome: ToolOutcome::Succeeded, .. } = &self.event.kind else {
            return Ok(Decision::Silent);
        };
        let Some(list) = self.list_call() else { return Ok(Decision::Silent) };
        let Some(call) = call(&list.operation) else { return Ok(Decision::Silent) };
        let now = self.now.timestamp();
        let tasks = match TaskContext::open_existing(&self.project, now)? {
            None if concerns(call, None) && !self.is_foreign(call, None) => {
                Some(TaskContext::open(&self.project, now)?)
            }
            existing => existing,
        };
        let Some(mut tasks) = tasks else { return Ok(Decision::Silent) };
        let present = tasks.present()?;
        let task_id = list_task_id(Some(&tasks), present.as_ref(), session)?;
        let open = present.as_ref().is_some_and(|present| !present.record.delivered);
        if !concerns(call, task_id.as_deref()) || (!open && self.is_foreign(call, task_id.as_deref())) {
            return Ok(Decision::Silent);
        }
        let writer = self.list_writer(list, session);
        let written = tasks.write(&writer, |present, rules| {
            let known = present.map(|present| present.known(task_id.as_deref()));
            let effect = evaluate_list_write(call, &writer.principal, known, rules)?;
            Ok(prepared_version(effect, matches!(call, ListWrite::Create { .. }) || known.is_none(), present))
        })?;
        let Some(present) = tasks.present()? else { return Ok(Decision::Silent) };
        self.note_list(&mut tasks, &present, list, session)?;
        if let WriteResult::Refused { reasons, .. } = written {
            let reasons: Vec<_> = reasons.iter().map(|reason| format!("- {reason}")).collect();
            let text = format!(
                "The client's list was changed in a way the store did not take over, so the two disagree; the \
                 store is at PT-v{}. `lockstep task check` compares them.\n{}",
                present.record.version,
                reasons.join("\n")
            );
            tasks.store.put_notice(session, LIST_MISMATCH, &text, now)?;
        }
        Ok(Decision::Silent)
    }

    /// After `TaskGet` and `TaskList`: records the task's id in this list, and the version that was read.
    pub(super) fn note_task_read(&mut self, session: &SessionId) -> HookResult<Decision> {
        let Some(list) = self.list_call() else { return Ok(Decision::Silent) };
        let listed: Vec<(&ListedTask, TaskSubject)> = list
            .listed_tasks
            .iter()
            .filter_map(|task| Some((task, TaskSubject::parse(&task.subject)?)))
            .collect();
        if listed.is_empty() {
            return Ok(Decision::Silent);
        }
        let Some(mut tasks) = TaskContext::open_existing(&self.project, self.now.timestamp())? else {
            return Ok(Decision::Silent);
        };
        let Some(present) = tasks.present()? else { return Ok(Decision::Silent) };
        let reader = self.list_writer(list, session);
        for (task, subject) in listed {
            // A version that is not there yet is not a version of ours.
            let Some(version) = subject.version.filter(|version| *version <= present.record.version) else {
                continue;
            };
            tasks.store.record_mirror(&mirror(session, &present, task, self.now.timestamp()))?;
            // A list of subjects shows the version, but not the content: only a complete task counts as read.
            if task.description.is_some() {
                tasks.note_reading(&reader, present.record.task, version)?;
            }
        }
        Ok(Decision::Silent)
    }

    /// Returns true if a call concerns the task of another framework, whose subjects have the same mark: it
    /// has its own text, such as a Markdown body, or only changes an unknown entry.
    fn is_foreign(&self, call: ListWrite<'_>, known_id: Option<&str>) -> bool {
        match call {
            ListWrite::Create { description, .. } => {
                !description.trim().is_empty() && !is_document(description, limits(&self.project))
            }
            ListWrite::Update { task_id, description, .. } => {
                known_id != Some(task_id)
                    && description.is_none_or(|text| !is_document(text, limits(&self.project)))
            }
        }
    }

    fn list_call(&self) -> Option<&TaskListCall> {
        match &self.event.kind {
            EventKind::PreToolUse(call) | EventKind::PostToolUse { call, .. } => match &call.tool {
                ToolUse::TaskList(list) => Some(list),
                _ => None,
            },
            _ => None,
        }
    }

    fn list_writer(&self, list: &TaskListCall, session: &SessionId) -> TaskWriter {
        let (agent_id, agent_type) = match &self.event.actor {
            Actor::Lead => (None, None),
            Actor::Subagent { id, agent_type } => (Some(id.to_string()), agent_type.as_deref()),
        };
        let task_id = match &list.operation {
            TaskListOperation::Update { task_id, .. } => Some(task_id.clone()),
            _ => list.listed_tasks.first().map(|task| task.id.clone()),
        };
        TaskWriter {
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
        tasks: &mut TaskContext<'_>,
        present: &CurrentTask,
        list: &TaskListCall,
        session: &SessionId,
    ) -> HookResult {
        let seen = match &list.operation {
            TaskListOperation::Create { subject, description } => {
                list.listed_tasks.first().map(|task| ListedTask {
                    id: task.id.clone(),
                    subject: subject.clone(),
                    description: Some(description.clone()),
                })
            }
            TaskListOperation::Update { task_id, subject, description, .. } => {
                let mirrors = tasks.store.mirrors(present.record.task)?;
                let before = mirrors.into_iter().find(|m| m.session == *session && m.client_id == *task_id);
                let subject = subject.clone().or_else(|| before.map(|mirror| mirror.subject));
                Some(ListedTask {
                    id: task_id.clone(),
                    subject: subject.unwrap_or_default(),
                    description: description.clone(),
                })
            }
            TaskListOperation::Get | TaskListOperation::List => None,
        };
        if let Some(seen) = seen {
            tasks.store.record_mirror(&mirror(session, present, &seen, self.now.timestamp()))?;
        }
        Ok(())
    }
}

fn mirror(session: &SessionId, present: &CurrentTask, task: &ListedTask, at: jiff::Timestamp) -> TaskMirror {
    TaskMirror {
        session: session.clone(),
        client_id: task.id.clone(),
        task: present.record.task,
        subject: task.subject.clone(),
        description: task.description.clone(),
        at,
    }
}

fn call(operation: &TaskListOperation) -> Option<ListWrite<'_>> {
    match operation {
        TaskListOperation::Create { subject, description } => {
            Some(ListWrite::Create { subject, description })
        }
        TaskListOperation::Update { task_id, subject, description, status } => Some(ListWrite::Update {
            task_id,
            subject: subject.as_deref(),
            description: description.as_deref(),
            status: status.as_deref(),
        }),
        TaskListOperation::Get | TaskListOperation::List => None,
    }
}

/// Returns true if a call concerns the task: by its subject, or by its id in this list.
fn concerns(call: ListWrite<'_>, known_id: Option<&str>) -> bool {
    match call {
        ListWrite::Create { subject, .. } => TaskSubject::parse(subject).is_some(),
        ListWrite::Update { task_id, subject, .. } => {
            known_id == Some(task_id) || subject.and_then(TaskSubject::parse).is_some()
        }
    }
}

/// The id of the present task in this session's list.
fn list_task_id(
    tasks: Option<&TaskContext<'_>>,
    present: Option<&CurrentTask>,
    session: &SessionId,
) -> HookResult<Option<String>> {
    match (tasks, present) {
        (Some(tasks), Some(present)) => Ok(tasks.store.mirror_id(session, present.record.task)?),
        _ => Ok(None),
    }
}

fn prepared_version(
    effect: ListWriteEffect,
    first: bool,
    present: Option<&CurrentTask>,
) -> Option<PreparedVersion> {
    let ListWriteEffect::Write(write) = effect else { return None };
    let first = first && present.is_none_or(|present| present.record.delivered);
    Some(PreparedVersion {
        title: write.subject.title,
        delivered: write.subject.delivered,
        document: write.document,
        sections: write.sections,
        merged: false,
        warnings: write.warnings,
        idle_drops: Vec::new(),
        first,
    })
}
