//! Which sessions ran here, which agents they had, and which journals may go.

use jiff::{SignedDuration, Timestamp};
use lockstep_model::ids::{AgentId, SessionId};
use rusqlite::OptionalExtension as _;

use crate::journal::JournalDir;
use crate::{Store, StoreResult};

impl Store {
    /// Records that a session begins or continues.
    pub fn open_session(&mut self, session: &SessionId, at: Timestamp) -> StoreResult {
        self.write(|db| {
            db.execute(
                "INSERT INTO session (id, opened_at) VALUES (?1, ?2)
                 ON CONFLICT (id) DO UPDATE SET closed_at = NULL",
                (session.as_str(), at.as_millisecond()),
            )
            .map(drop)
        })
    }

    pub fn close_session(&mut self, session: &SessionId, at: Timestamp) -> StoreResult {
        self.write(|db| {
            db.execute(
                "INSERT INTO session (id, opened_at, closed_at) VALUES (?1, ?2, ?2)
                 ON CONFLICT (id) DO UPDATE SET closed_at = ?2",
                (session.as_str(), at.as_millisecond()),
            )
            .map(drop)
        })
    }

    /// Returns true if the session ran in this project.
    pub fn has_session(&self, session: &SessionId) -> StoreResult<bool> {
        self.read(|db| {
            db.query_row("SELECT 1 FROM session WHERE id = ?1", [session.as_str()], |_| Ok(()))
                .optional()
                .map(|found| found.is_some())
        })
    }

    /// Returns true if a session other than `this` began after `since` and has not ended.
    pub fn has_other_open_session(&self, this: &SessionId, since: Timestamp) -> StoreResult<bool> {
        self.read(|db| {
            db.query_row(
                "SELECT EXISTS (SELECT 1 FROM session WHERE id <> ?1 AND closed_at IS NULL AND opened_at >= ?2)",
                (this.as_str(), since.as_millisecond()),
                |row| row.get(0),
            )
        })
    }

    /// The sessions that ended at least `grace` before `now` and still have a journal: it may be removed. Found by the journals,
    /// of which there are few, and not by the sessions, of which there are ever more.
    pub fn expired_journals(
        &self,
        journal: &JournalDir,
        now: Timestamp,
        grace: SignedDuration,
    ) -> StoreResult<Vec<SessionId>> {
        let latest = now.as_millisecond().saturating_sub(grace.as_millis().try_into().unwrap_or(i64::MAX));
        let mut sessions = journal.sessions()?;
        let expired = self.read(|db| {
            let mut query = db.prepare("SELECT 1 FROM session WHERE id = ?1 AND closed_at <= ?2")?;
            sessions
                .iter()
                .map(|session| query.exists((session.as_str(), latest)))
                .collect::<Result<Vec<_>, _>>()
        })?;
        let mut expired = expired.into_iter();
        sessions.retain(|_| expired.next().unwrap_or(false));
        Ok(sessions)
    }

    /// Records the type of an agent; the journal has only its id.
    pub fn record_agent_type(
        &mut self,
        session: &SessionId,
        agent: &AgentId,
        agent_type: &str,
    ) -> StoreResult {
        self.write(|db| {
            db.execute(
                "INSERT INTO agent (session, id, agent_type) VALUES (?1, ?2, ?3)
                 ON CONFLICT (session, id) DO UPDATE SET agent_type = ?3",
                (session.as_str(), agent.as_str(), agent_type),
            )
            .map(drop)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StateDir;

    #[test]
    fn only_journals_of_ended_sessions_expire_unless_resumed() {
        let root = tempfile::tempdir().unwrap();
        let mut store = Store::open(&StateDir::for_project(root.path())).unwrap();
        let journal = JournalDir::new(root.path());
        let at = |seconds| Timestamp::from_second(seconds).unwrap();
        let [a, b, without, foreign] = ["a", "b", "without", "foreign"].map(|id| SessionId::new(id).unwrap());
        for session in [&a, &b, &foreign] {
            std::fs::write(journal.file(session), "").unwrap();
        }
        for session in [&a, &b, &without] {
            store.open_session(session, at(100)).unwrap();
        }
        store.close_session(&a, at(200)).unwrap();
        store.close_session(&without, at(200)).unwrap();
        let expired = |store: &Store, now| {
            store.expired_journals(&journal, at(now), SignedDuration::from_secs(50)).unwrap()
        };
        assert!(expired(&store, 249).is_empty());
        assert_eq!(expired(&store, 250), std::slice::from_ref(&a));
        assert!(store.has_other_open_session(&a, at(0)).unwrap());
        assert!(!store.has_other_open_session(&b, at(0)).unwrap());
        store.open_session(&a, at(300)).unwrap();
        assert!(expired(&store, 900).is_empty());
        assert!(store.has_session(&a).unwrap() && !store.has_session(&foreign).unwrap());
    }
}
