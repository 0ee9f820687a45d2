//! The mailbox: alerts and notices that wait for the first event of the Lead that can deliver them. Each is
//! delivered once.
//!
//! A flag file shows hooks that messages may wait, so that most of them never open the store. It is an
//! optimisation: it is set and cleared under the store's write lock, and events that open the store anyway
//! ignore it.

use std::path::PathBuf;

use jiff::Timestamp;
use lockstep_model::alert::Alert;
use lockstep_model::ids::SessionId;
use rusqlite::Transaction;

use crate::{StateDir, Store, StoreError, StoreResult};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenAlert {
    /// The row, to put it back.
    pub id: i64,
    pub alert: Alert,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenNotice {
    /// The row, to put it back.
    pub id: i64,
    pub subject: String,
    pub text: String,
}

/// All that waited, oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Mail {
    pub alerts: Vec<TakenAlert>,
    /// Other messages.
    pub notices: Vec<TakenNotice>,
}

impl Mail {
    pub fn is_empty(&self) -> bool {
        self.alerts.is_empty() && self.notices.is_empty()
    }
}

/// Returns true if mail may wait for the session. Costs one `stat`.
pub fn may_have_mail(state: &StateDir, session: &SessionId) -> bool {
    flag(state, session).exists()
}

fn flag(state: &StateDir, session: &SessionId) -> PathBuf {
    state.path().join("mailbox").join(session.as_str())
}

/// Adds a report's alert, under the write lock of the transaction that adds the report. A second alert for
/// the same report is ignored.
pub(crate) fn put(
    db: &Transaction<'_>,
    session: &SessionId,
    report: u32,
    alert: &Alert,
    at: Timestamp,
) -> rusqlite::Result<()> {
    let text = serde_json::to_string(alert).expect("an alert is plain text and lists");
    db.execute(
        "INSERT INTO mailbox (session, report, alert, put_at) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (session, report) DO NOTHING",
        (session.as_str(), report, text, at.as_millisecond()),
    )
    .map(drop)
}

/// Sets the flag that mail waits; under the same lock.
pub(crate) fn set_flag(state: &StateDir, session: &SessionId) -> StoreResult {
    state.ensure_dir("mailbox")?;
    let flag = flag(state, session);
    lockstep_fs::create_if_absent(&flag).map_err(StoreError::io("write", &flag))
}

fn clear_flag(state: &StateDir, session: &SessionId) -> StoreResult {
    if !state.path().join("mailbox").exists() {
        return Ok(());
    }
    state.ensure_dir("mailbox")?;
    let flag = flag(state, session);
    lockstep_fs::remove_if_present(&flag).map(drop).map_err(StoreError::io("remove", &flag))
}

impl Store {
    /// Takes all mail, oldest first. Two processes never take the same.
    pub fn take_mail(&mut self, session: &SessionId, at: Timestamp) -> StoreResult<Mail> {
        let state = self.state.clone();
        let (alerts, notices, lowered) = self.write(|db| {
            let alerts = take(db, "mailbox", "'', alert", session, at)?;
            let notices = take(db, "notice", "subject, text", session, at)?;
            Ok((alerts, notices, clear_flag(&state, session)))
        })?;
        let alert = |(id, _, text): Row| Some(TakenAlert { id, alert: serde_json::from_str(&text).ok()? });
        let mail = Mail {
            alerts: alerts.into_iter().filter_map(alert).collect(),
            notices: notices
                .into_iter()
                .map(|(id, subject, text)| TakenNotice { id, subject, text })
                .collect(),
        };
        // A remaining flag costs the next hooks one check, but mail that was taken must be delivered.
        if mail.is_empty() { lowered.map(|()| mail) } else { Ok(mail) }
    }

    /// The alerts that wait in all sessions, newest first. They go on waiting.
    pub fn waiting_alerts(&self) -> StoreResult<Vec<(String, Alert)>> {
        let rows: Vec<(String, String)> = self.read(|db| {
            db.prepare("SELECT session, alert FROM mailbox WHERE taken_at IS NULL ORDER BY id DESC")?
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect()
        })?;
        let alert = |(session, text): (String, String)| Some((session, serde_json::from_str(&text).ok()?));
        Ok(rows.into_iter().filter_map(alert).collect())
    }

    pub fn put_back(&mut self, session: &SessionId, mail: &Mail) -> StoreResult {
        let state = self.state.clone();
        self.write(|db| {
            for TakenAlert { id, .. } in &mail.alerts {
                db.execute("UPDATE mailbox SET taken_at = NULL WHERE id = ?1", [id])?;
            }
            for TakenNotice { id, .. } in &mail.notices {
                db.execute("UPDATE notice SET taken_at = NULL WHERE id = ?1", [id])?;
            }
            Ok(set_flag(&state, session))
        })?
    }
}

/// Id, subject and text.
type Row = (i64, String, String);

/// Returns the waiting rows of a table for a session, and marks them as taken.
fn take(
    db: &Transaction<'_>,
    table: &str,
    columns: &str,
    session: &SessionId,
    at: Timestamp,
) -> rusqlite::Result<Vec<Row>> {
    let waiting = "session = ?1 AND taken_at IS NULL";
    let rows = db
        .prepare(&format!("SELECT id, {columns} FROM {table} WHERE {waiting} ORDER BY id"))?
        .query_map([session.as_str()], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<rusqlite::Result<_>>()?;
    db.execute(
        &format!("UPDATE {table} SET taken_at = ?2 WHERE {waiting}"),
        (session.as_str(), at.as_millisecond()),
    )?;
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn alert(name: &str) -> Alert {
        Alert { changed: vec![name.to_owned()], action: "look".to_owned(), findings: None, files: Vec::new() }
    }

    impl Store {
        fn put_alert(&mut self, session: &SessionId, report: u32, name: &str) {
            let state = self.state.clone();
            self.write(|db| {
                put(db, session, report, &alert(name), Timestamp::UNIX_EPOCH)?;
                Ok(set_flag(&state, session))
            })
            .unwrap()
            .unwrap();
        }
    }

    #[test]
    fn alerts_wait_are_taken_once_and_can_be_put_back() {
        let root = tempfile::tempdir().unwrap();
        let state = StateDir::for_project(root.path());
        let mut store = Store::open(&state).unwrap();
        let [session, other] = ["s", "t"].map(|id| SessionId::new(id).unwrap());
        let at = Timestamp::UNIX_EPOCH;
        assert!(!may_have_mail(&state, &session));
        store.put_alert(&session, 1, "a");
        store.put_alert(&session, 2, "b");
        store.put_alert(&session, 2, "again");
        assert!(may_have_mail(&state, &session) && !may_have_mail(&state, &other));
        assert!(store.take_mail(&other, at).unwrap().is_empty());
        let waiting: Vec<Alert> =
            store.waiting_alerts().unwrap().into_iter().map(|(_, alert)| alert).collect();
        assert_eq!(waiting, [alert("b"), alert("a")]);
        let taken = store.take_mail(&session, at).unwrap();
        assert_eq!(taken.alerts.iter().map(|t| &t.alert).collect::<Vec<_>>(), [&alert("a"), &alert("b")]);
        assert!(!may_have_mail(&state, &session));
        assert!(store.take_mail(&session, at).unwrap().is_empty());
        let later = Mail { alerts: taken.alerts[1..].to_vec(), ..Mail::default() };
        store.put_back(&session, &later).unwrap();
        assert!(may_have_mail(&state, &session));
        assert_eq!(store.take_mail(&session, at).unwrap(), later);
    }

    #[test]
    fn concurrent_takers_receive_each_alert_once() {
        let root = tempfile::tempdir().unwrap();
        let state = StateDir::for_project(root.path());
        Store::open(&state).unwrap();
        let session = SessionId::new("s").unwrap();
        let taken = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for putter in 0..2_u32 {
                let (state, session) = (&state, &session);
                scope.spawn(move || {
                    let mut store = Store::open(state).unwrap();
                    for n in 0..25 {
                        store.put_alert(session, putter * 100 + n, "a");
                    }
                });
            }
            for _ in 0..3 {
                let (state, session, taken) = (&state, &session, &taken);
                scope.spawn(move || {
                    let mut store = Store::open(state).unwrap();
                    for _ in 0..40 {
                        let some = store.take_mail(session, Timestamp::UNIX_EPOCH).unwrap().alerts;
                        taken.fetch_add(some.len(), Ordering::Relaxed);
                    }
                });
            }
        });
        let mut store = Store::open(&state).unwrap();
        let waits = may_have_mail(&state, &session);
        let rest = store.take_mail(&session, Timestamp::UNIX_EPOCH).unwrap().alerts.len();
        assert_eq!(taken.into_inner() + rest, 50);
        assert_eq!(waits, rest > 0, "the flag is never lost");
    }
}
