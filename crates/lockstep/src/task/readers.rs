//! Records which version an agent has read, and notifies agents of newer ones.

use std::collections::BTreeSet;

use lockstep_model::ids::SessionId;
use lockstep_store::mailbox::TakenNotice;
use lockstep_store::task_reads::TaskRead;
use lockstep_store::{Store, StoreError};
use lockstep_task::access::Principal;
use lockstep_task::task_readers::{ActiveAgent, ReadRecord, TaskReader, outdated_readers_notice, readers};

use super::writer::TaskWriter;
use super::{TaskContext, TaskError};

/// The subject of a notice about readers.
const SUBJECT: &str = "task-readers";

impl TaskContext<'_> {
    /// Records that a writer or reader knows a version. Without a session or a name there is no agent to
    /// notify later.
    pub(crate) fn note_reading(
        &mut self,
        reader: &TaskWriter,
        task: u64,
        version: u64,
    ) -> Result<(), TaskError> {
        let Some(session) = reader.session.clone().filter(|_| reader.principal != Principal::Unknown) else {
            return Ok(());
        };
        // At the command line an agent has no id but its name.
        let (agent_id, agent_type) = match (reader.agent_id.clone(), reader.agent_type()) {
            (None, name) => (name, None),
            known => known,
        };
        let reading = TaskRead { task, session, agent_id, agent_type, version, at: self.now };
        Ok(self.store.record_task_read(&reading)?)
    }

    /// Every agent at work that has read the task, with its session.
    pub(crate) fn readers(&self, task: u64, present: u64) -> Result<Vec<(String, TaskReader)>, TaskError> {
        let readings = self.store.active_task_reads(task)?;
        let sessions: BTreeSet<&String> = readings.iter().map(|reading| &reading.session).collect();
        Ok(sessions
            .into_iter()
            .flat_map(|session| {
                in_session(&readings, session, present).into_iter().map(|reader| (session.clone(), reader))
            })
            .collect())
    }

    /// Puts a notice into the mailbox of every session in which agents work from an older version.
    pub(super) fn notify_leads(&mut self, task: u64, present: u64) -> Result<(), TaskError> {
        let readings = self.store.active_task_reads(task)?;
        let sessions: BTreeSet<&String> = readings.iter().map(|reading| &reading.session).collect();
        for session in sessions {
            let text = outdated_readers_notice(&in_session(&readings, session, present), present);
            if let (Some(text), Ok(id)) = (text, SessionId::new(session)) {
                self.store.put_notice(&id, SUBJECT, &text, self.now)?;
            }
        }
        Ok(())
    }
}

/// Returns the current form of a notice: agents may have read or stopped since it was stored. `None` if it no
/// longer applies.
pub(crate) fn refresh_notice(store: &Store, session: &SessionId, waiting: &TakenNotice) -> Option<String> {
    if waiting.subject != SUBJECT {
        return Some(waiting.text.clone());
    }
    let now = || {
        let Some(present) = store.current_task()? else { return Ok(None) };
        let readings = store.active_task_reads(present.task)?;
        Ok::<_, StoreError>(outdated_readers_notice(
            &in_session(&readings, session.as_str(), present.version),
            present.version,
        ))
    };
    now().unwrap_or_else(|_| Some(waiting.text.clone()))
}

fn in_session(readings: &[TaskRead], session: &str, present: u64) -> Vec<TaskReader> {
    let (records, active): (Vec<ReadRecord>, Vec<ActiveAgent>) = readings
        .iter()
        .filter(|reading| reading.session == session)
        .map(|TaskRead { agent_id, agent_type, version, at, .. }| {
            (
                ReadRecord {
                    agent_id: agent_id.clone(),
                    agent_type: agent_type.clone(),
                    version: *version,
                    at: *at,
                },
                ActiveAgent { agent_id: agent_id.clone(), agent_type: agent_type.clone() },
            )
        })
        .unzip();
    readers(&records, &active, present)
}
