//! The versions of the task that agents have read.

use jiff::Timestamp;
use lockstep_model::ids::{AgentId, SessionId};

use crate::task_versions::timestamp_from_millis;
use crate::{Store, StoreResult};

/// The last reading of one agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskRead {
    /// Which of the project's tasks.
    pub task: u64,
    pub session: String,
    /// The agent; `None` is the Lead.
    pub agent_id: Option<String>,
    pub agent_type: Option<String>,
    pub version: u64,
    pub at: Timestamp,
}

impl Store {
    /// An agent has read a version; it is at work.
    pub fn record_task_read(&mut self, reading: &TaskRead) -> StoreResult {
        self.write(|db| {
            db.execute(
                "INSERT INTO task_reading VALUES (?1, ?2, ?3, ?4, ?5, ?6, NULL)
                 ON CONFLICT (task, session, agent_id) DO UPDATE
                 SET agent_type = coalesce(?4, agent_type), version = ?5, at = ?6, ended_at = NULL",
                (
                    reading.task,
                    &reading.session,
                    reading.agent_id.as_deref().unwrap_or_default(),
                    &reading.agent_type,
                    reading.version,
                    reading.at.as_millisecond(),
                ),
            )
            .map(drop)
        })
    }

    pub fn end_task_reads(&mut self, session: &SessionId, agent: &AgentId, at: Timestamp) -> StoreResult {
        let whose = (session.as_str(), agent.as_str());
        let any = "SELECT EXISTS (SELECT 1 FROM task_reading WHERE session = ?1 AND agent_id = ?2)";
        // Most agents have read no task, and then there is nothing to lock for.
        if !self.read(|db| db.query_row(any, whose, |row| row.get::<_, bool>(0)))? {
            return Ok(());
        }
        self.write(|db| {
            db.execute(
                "UPDATE task_reading SET ended_at = ?3 WHERE session = ?1 AND agent_id = ?2",
                (session.as_str(), agent.as_str(), at.as_millisecond()),
            )
            .map(drop)
        })
    }

    /// The readings of agents that have not stopped, in sessions that have not ended.
    pub fn active_task_reads(&self, task: u64) -> StoreResult<Vec<TaskRead>> {
        self.read(|db| {
            db.prepare(
                "SELECT session, agent_id, agent_type, version, at FROM task_reading
                 WHERE task = ?1 AND ended_at IS NULL AND NOT EXISTS
                     (SELECT 1 FROM session WHERE session.id = task_reading.session AND closed_at IS NOT NULL)
                 ORDER BY session, agent_id",
            )?
            .query_map([task], |row| {
                let agent_id: String = row.get(1)?;
                Ok(TaskRead {
                    task,
                    session: row.get(0)?,
                    agent_id: (!agent_id.is_empty()).then_some(agent_id),
                    agent_type: row.get(2)?,
                    version: row.get(3)?,
                    at: timestamp_from_millis(row.get(4)?),
                })
            })?
            .collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StateDir;

    #[test]
    fn only_agents_at_work_count_and_their_last_reading() {
        let root = tempfile::tempdir().unwrap();
        let mut store = Store::open(&StateDir::for_project(root.path())).unwrap();
        let [open, closed] = ["open", "closed"].map(|id| SessionId::new(id).unwrap());
        let at = Timestamp::UNIX_EPOCH;
        store.open_session(&closed, at).unwrap();
        let mut read = |session: &SessionId, agent: Option<&str>, version| {
            let (session, agent_id) = (session.to_string(), agent.map(str::to_owned));
            let reading = TaskRead { task: 1, session, agent_id, agent_type: None, version, at };
            store.record_task_read(&reading).unwrap();
        };
        read(&open, None, 1);
        read(&open, Some("a"), 1);
        read(&open, Some("a"), 2);
        read(&open, Some("b"), 1);
        read(&closed, Some("c"), 1);
        let b = AgentId::new("b").unwrap();
        store.end_task_reads(&open, &b, at).unwrap();
        store.close_session(&closed, at).unwrap();
        let active: Vec<_> =
            store.active_task_reads(1).unwrap().into_iter().map(|r| (r.agent_id, r.version)).collect();
        assert_eq!(active, [(None, 1), (Some("a".to_owned()), 2)]);
        assert!(store.active_task_reads(2).unwrap().is_empty());
    }
}
