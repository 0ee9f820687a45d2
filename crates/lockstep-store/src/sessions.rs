//! Which sessions ran here, which agents they had, and which journals may go.

use jiff::{SignedDuration, Timestamp};
use lockstep_model::ids::{AgentId, SessionId};
use rusqlite::OptionalExtension as _;

use crate::{Store, StoreError};

impl Store {
    /// A session begins, or goes on after an end.
    pub fn open_session(&mut self, session: &SessionId, at: Timestamp) -> Result<(), StoreError> {
        self.write(|db| {
            db.execute(
                "INSERT INTO session (id, opened_at) VALUES (?1, ?2)
                 ON CONFLICT (id) DO UPDATE SET closed_at = NULL",
                (session.as_str(), at.as_millisecond()),
            )
            .map(drop)
        })
    }

    /// A session ends.
    pub fn close_session(&mut self, session: &SessionId, at: Timestamp) -> Result<(), StoreError> {
        self.write(|db| {
            db.execute(
                "INSERT INTO session (id, opened_at, closed_at) VALUES (?1, ?2, ?2)
                 ON CONFLICT (id) DO UPDATE SET closed_at = ?2",
                (session.as_str(), at.as_millisecond()),
            )
            .map(drop)
        })
    }

    /// Whether the session ran in this project.
    pub fn knows_session(&self, session: &SessionId) -> Result<bool, StoreError> {
        self.on(|db| {
            db.query_row("SELECT 1 FROM session WHERE id = ?1", [session.as_str()], |_| Ok(()))
                .optional()
                .map(|found| found.is_some())
        })
    }

    /// Whether a session other than `this` began after `since` and has not ended.
    pub fn another_session_is_open(&self, this: &SessionId, since: Timestamp) -> Result<bool, StoreError> {
        self.on(|db| {
            db.query_row(
                "SELECT EXISTS (SELECT 1 FROM session WHERE id <> ?1 AND closed_at IS NULL AND opened_at >= ?2)",
                (this.as_str(), since.as_millisecond()),
                |row| row.get(0),
            )
        })
    }

    /// The sessions that ended at least `grace` before `now`: their journals may be removed.
    pub fn expired_sessions(
        &self,
        now: Timestamp,
        grace: SignedDuration,
    ) -> Result<Vec<SessionId>, StoreError> {
        let latest = now.as_millisecond().saturating_sub(grace.as_millis().try_into().unwrap_or(i64::MAX));
        self.on(|db| {
            let mut query =
                db.prepare("SELECT id FROM session WHERE closed_at <= ?1 ORDER BY closed_at, id")?;
            let ids = query.query_map([latest], |row| row.get::<_, String>(0))?;
            Ok(ids
                .collect::<rusqlite::Result<Vec<_>>>()?
                .iter()
                .filter_map(|id| SessionId::new(id).ok())
                .collect())
        })
    }

    /// Remembers what kind of agent an id stands for; the journal has only the id.
    pub fn name_agent(
        &mut self,
        session: &SessionId,
        agent: &AgentId,
        agent_type: &str,
    ) -> Result<(), StoreError> {
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
    fn only_ended_sessions_expire_and_a_resumed_one_lives_again() {
        let root = tempfile::tempdir().unwrap();
        let mut store = Store::open(&StateDir::of(root.path())).unwrap();
        let at = |seconds| Timestamp::from_second(seconds).unwrap();
        let [a, b] = ["a", "b"].map(|id| SessionId::new(id).unwrap());
        store.open_session(&a, at(100)).unwrap();
        store.open_session(&b, at(100)).unwrap();
        store.close_session(&a, at(200)).unwrap();
        let grace = SignedDuration::from_secs(50);
        assert!(store.expired_sessions(at(249), grace).unwrap().is_empty());
        assert_eq!(store.expired_sessions(at(250), grace).unwrap(), std::slice::from_ref(&a));
        assert!(store.another_session_is_open(&a, at(0)).unwrap());
        assert!(!store.another_session_is_open(&b, at(0)).unwrap());
        store.open_session(&a, at(300)).unwrap();
        assert!(store.expired_sessions(at(900), grace).unwrap().is_empty());
        assert!(store.knows_session(&a).unwrap());
        assert!(!store.knows_session(&SessionId::new("c").unwrap()).unwrap());
    }
}
