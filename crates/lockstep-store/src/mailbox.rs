//! The mailbox: alerts that wait for the first event of the Lead that can carry them. Each is taken once.
//!
//! A flag file tells hooks that something may wait, so that most of them never open the store. It is an
//! optimisation: it is set and cleared under the store's write lock, and the events that open the store
//! anyway look without it.

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use jiff::Timestamp;
use lockstep_model::alert::Alert;
use lockstep_model::ids::SessionId;

use crate::{StateDir, Store, StoreError};

/// An alert that was taken out of the mailbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// Its row, to put it back.
    pub id: i64,
    /// The alert.
    pub alert: Alert,
}

/// Whether something may wait for the session. Costs one `stat`.
pub fn may_wait(state: &StateDir, session: &SessionId) -> bool {
    flag(state, session).exists()
}

fn flag(state: &StateDir, session: &SessionId) -> PathBuf {
    state.path().join("mailbox").join(session.as_str())
}

impl Store {
    /// Puts a report's alert in. A second alert for the same report replaces nothing and is not kept.
    pub fn put_alert(
        &mut self,
        session: &SessionId,
        report: u32,
        alert: &Alert,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let text = serde_json::to_string(alert).expect("an alert is plain text and lists");
        self.state.ensure("mailbox")?;
        let flag = flag(&self.state, session);
        let flagged = self.write(|db| {
            db.execute(
                "INSERT INTO mailbox (session, report, alert, put_at) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (session, report) DO NOTHING",
                (session.as_str(), report, text, at.as_millisecond()),
            )?;
            Ok(fs::write(&flag, ""))
        })?;
        flagged.map_err(StoreError::io("write", &flag))
    }

    /// Takes all that wait, oldest first. Two processes never take the same one.
    pub fn take_alerts(&mut self, session: &SessionId, at: Timestamp) -> Result<Vec<Taken>, StoreError> {
        let flag = flag(&self.state, session);
        let (rows, cleared) = self.write(|db| {
            let rows: Vec<(i64, String)> = db
                .prepare("SELECT id, alert FROM mailbox WHERE session = ?1 AND taken_at IS NULL ORDER BY id")?
                .query_map([session.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect::<rusqlite::Result<_>>()?;
            db.execute(
                "UPDATE mailbox SET taken_at = ?2 WHERE session = ?1 AND taken_at IS NULL",
                (session.as_str(), at.as_millisecond()),
            )?;
            Ok((rows, fs::remove_file(&flag)))
        })?;
        match cleared {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(StoreError::io("remove", &flag)(error));
            }
            _ => {}
        }
        Ok(rows
            .into_iter()
            .filter_map(|(id, text)| Some(Taken { id, alert: serde_json::from_str(&text).ok()? }))
            .collect())
    }

    /// Puts back what could not be delivered.
    pub fn put_back(&mut self, session: &SessionId, taken: &[Taken]) -> Result<(), StoreError> {
        let flag = flag(&self.state, session);
        let flagged = self.write(|db| {
            for Taken { id, .. } in taken {
                db.execute("UPDATE mailbox SET taken_at = NULL WHERE id = ?1", [id])?;
            }
            Ok(fs::write(&flag, ""))
        })?;
        flagged.map_err(StoreError::io("write", &flag))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn alert(name: &str) -> Alert {
        Alert { changed: vec![name.to_owned()], action: "look".to_owned() }
    }

    #[test]
    fn alerts_wait_are_taken_once_and_can_be_put_back() {
        let root = tempfile::tempdir().unwrap();
        let state = StateDir::of(root.path());
        let mut store = Store::open(&state).unwrap();
        let [session, other] = ["s", "t"].map(|id| SessionId::new(id).unwrap());
        let at = Timestamp::UNIX_EPOCH;
        assert!(!may_wait(&state, &session));
        store.put_alert(&session, 1, &alert("a"), at).unwrap();
        store.put_alert(&session, 2, &alert("b"), at).unwrap();
        store.put_alert(&session, 2, &alert("again"), at).unwrap();
        assert!(may_wait(&state, &session) && !may_wait(&state, &other));
        assert!(store.take_alerts(&other, at).unwrap().is_empty());
        let taken = store.take_alerts(&session, at).unwrap();
        assert_eq!(taken.iter().map(|t| &t.alert).collect::<Vec<_>>(), [&alert("a"), &alert("b")]);
        assert!(!may_wait(&state, &session));
        assert!(store.take_alerts(&session, at).unwrap().is_empty());
        store.put_back(&session, &taken[1..]).unwrap();
        assert!(may_wait(&state, &session));
        assert_eq!(store.take_alerts(&session, at).unwrap(), taken[1..]);
    }

    #[test]
    fn takers_at_the_same_time_share_nothing_and_lose_nothing() {
        let root = tempfile::tempdir().unwrap();
        let state = StateDir::of(root.path());
        Store::open(&state).unwrap();
        let session = SessionId::new("s").unwrap();
        let taken = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for putter in 0..2_u32 {
                let (state, session) = (&state, &session);
                scope.spawn(move || {
                    let mut store = Store::open(state).unwrap();
                    for n in 0..25 {
                        store
                            .put_alert(session, putter * 100 + n, &alert("a"), Timestamp::UNIX_EPOCH)
                            .unwrap();
                    }
                });
            }
            for _ in 0..3 {
                let (state, session, taken) = (&state, &session, &taken);
                scope.spawn(move || {
                    let mut store = Store::open(state).unwrap();
                    for _ in 0..40 {
                        let some = store.take_alerts(session, Timestamp::UNIX_EPOCH).unwrap();
                        taken.fetch_add(some.len(), Ordering::Relaxed);
                    }
                });
            }
        });
        let mut store = Store::open(&state).unwrap();
        let waits = may_wait(&state, &session);
        let rest = store.take_alerts(&session, Timestamp::UNIX_EPOCH).unwrap().len();
        assert_eq!(taken.into_inner() + rest, 50);
        assert_eq!(waits, rest > 0, "the flag is never lost");
    }
}
