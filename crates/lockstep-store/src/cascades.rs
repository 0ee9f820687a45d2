//! Cascades: their states, the contents they have seen, and the alerts they hold back. States are opaque
//! here.

use jiff::Timestamp;
use lockstep_model::ids::SessionId;
use rusqlite::{OptionalExtension as _, Row, Transaction};

use crate::task_versions::timestamp_from_millis;
use crate::{Store, StoreResult};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CascadeRecord {
    pub id: i64,
    pub session: Option<String>,
    pub state: String,
    /// The number of writes of the state.
    pub revision: u64,
    pub started_at: Timestamp,
    pub ended: bool,
}

/// A state that follows another.
#[derive(Debug, Clone, Copy)]
pub struct CascadeUpdate<'a> {
    pub id: i64,
    pub revision: u64,
    pub state: &'a str,
    /// Set if this state ends the cascade.
    pub ended: bool,
    /// Contents that it names, by digest.
    pub contents: &'a [(String, Vec<u8>)],
    /// The snapshot of the tree when an iteration began, with the iteration's number.
    pub tree: Option<(u8, &'a str)>,
    pub at: Timestamp,
}

impl Store {
    /// Adds a new cascade. `Err` is the active cascade of the same session.
    pub fn insert_cascade(
        &mut self,
        session: Option<&SessionId>,
        first: &CascadeUpdate<'_>,
    ) -> StoreResult<Result<i64, i64>> {
        let session = session.map(SessionId::as_str);
        self.write(|db| {
            let active: Option<i64> = db
                .query_row(
                    "SELECT id FROM cascade WHERE ended_at IS NULL AND session IS ?1 ORDER BY id DESC",
                    [session],
                    |row| row.get(0),
                )
                .optional()?;
            // A cascade that ended as it started conflicts with no other.
            if let Some(active) = active.filter(|_| !first.ended) {
                return Ok(Err(active));
            }
            let at = first.at.as_millisecond();
            db.execute(
                "INSERT INTO cascade (session, state, revision, started_at, changed_at, ended_at)
                 VALUES (?1, ?2, 1, ?3, ?3, ?4)",
                (session, first.state, at, first.ended.then_some(at)),
            )?;
            let id = db.last_insert_rowid();
            save_contents(db, id, first)?;
            Ok(Ok(id))
        })
    }

    /// Replaces the state of a cascade, with all it names. False where another process was first: nothing is written then.
    pub fn update_cascade(&mut self, next: &CascadeUpdate<'_>) -> StoreResult<bool> {
        self.write(|db| {
            let at = next.at.as_millisecond();
            let written = db.execute(
                "UPDATE cascade SET state = ?3, revision = revision + 1, changed_at = ?4, ended_at = ?5
                 WHERE id = ?1 AND revision = ?2",
                (next.id, next.revision, next.state, at, next.ended.then_some(at)),
            )?;
            if written == 1 {
                save_contents(db, next.id, next)?;
            }
            Ok(written == 1)
        })
    }

    /// Ends a cascade whose state cannot be read. Returns false if it had already ended.
    pub fn force_end_cascade(&mut self, id: i64, at: Timestamp) -> StoreResult<bool> {
        let end = "UPDATE cascade SET ended_at = ?2, changed_at = ?2 WHERE id = ?1 AND ended_at IS NULL";
        self.write(|db| db.execute(end, (id, at.as_millisecond())).map(|ended| ended == 1))
    }

    /// The cascades that are not over, oldest first.
    pub fn active_cascades(&self) -> StoreResult<Vec<CascadeRecord>> {
        self.read(|db| {
            db.prepare(&format!("{SELECT} WHERE ended_at IS NULL ORDER BY id"))?
                .query_map([], record)?
                .collect()
        })
    }

    pub fn cascade(&self, id: Option<i64>) -> StoreResult<Option<CascadeRecord>> {
        self.read(|db| {
            db.query_row(
                &format!("{SELECT} WHERE ?1 IS NULL OR id = ?1 ORDER BY id DESC LIMIT 1"),
                [id],
                record,
            )
            .optional()
        })
    }

    pub fn cascade_content(&self, id: i64, digest: &str) -> StoreResult<Option<Vec<u8>>> {
        self.read(|db| {
            db.query_row(
                "SELECT content FROM cascade_content WHERE cascade = ?1 AND digest = ?2",
                (id, digest),
                |row| row.get(0),
            )
            .optional()
        })
    }

    /// Returns the snapshot of the tree when an iteration began.
    pub fn iteration_snapshot(&self, id: i64, iteration: u8) -> StoreResult<Option<String>> {
        self.read(|db| {
            db.query_row(
                "SELECT tree FROM cascade_tree WHERE cascade = ?1 AND iteration = ?2",
                (id, iteration),
                |row| row.get(0),
            )
            .optional()
        })
    }

    /// A report's alert was held back because of an active cascade.
    pub fn hold_alert(&mut self, id: i64, session: &SessionId, report: u32) -> StoreResult {
        self.write(|db| {
            db.execute(
                "INSERT INTO cascade_held VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
                (id, session.as_str(), report),
            )
            .map(drop)
        })
    }

    /// Returns the reports whose alerts a cascade has held back: session and number.
    pub fn held_alerts(&self, id: i64) -> StoreResult<Vec<(String, u32)>> {
        self.read(|db| {
            db.prepare(
                "SELECT session, report FROM cascade_held WHERE cascade = ?1 ORDER BY session, report",
            )?
            .query_map([id], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect()
        })
    }
}

const SELECT: &str = "SELECT id, session, state, revision, started_at, ended_at IS NOT NULL FROM cascade";

fn record(row: &Row<'_>) -> rusqlite::Result<CascadeRecord> {
    Ok(CascadeRecord {
        id: row.get(0)?,
        session: row.get(1)?,
        state: row.get(2)?,
        revision: row.get(3)?,
        started_at: timestamp_from_millis(row.get(4)?),
        ended: row.get(5)?,
    })
}

fn save_contents(db: &Transaction<'_>, id: i64, next: &CascadeUpdate<'_>) -> rusqlite::Result<()> {
    for (digest, content) in next.contents {
        db.execute(
            "INSERT INTO cascade_content VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
            (id, digest, content),
        )?;
    }
    if let Some((iteration, tree)) = next.tree {
        // The first snapshot of an iteration is kept.
        db.execute(
            "INSERT INTO cascade_tree VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
            (id, iteration, tree),
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StateDir;

    fn next<'a>(id: i64, revision: u64, state: &'a str, ended: bool) -> CascadeUpdate<'a> {
        CascadeUpdate { id, revision, state, ended, contents: &[], tree: None, at: Timestamp::UNIX_EPOCH }
    }

    #[test]
    fn one_is_active_for_a_session_and_states_follow_each_other() {
        let root = tempfile::tempdir().unwrap();
        let mut store = Store::open(&StateDir::for_project(root.path())).unwrap();
        let session = SessionId::new("s").unwrap();
        assert_eq!(store.cascade(None).unwrap(), None);
        let id = store.insert_cascade(Some(&session), &next(0, 0, "one", false)).unwrap().unwrap();
        assert_eq!(store.insert_cascade(Some(&session), &next(0, 0, "two", false)).unwrap(), Err(id));
        let skipped = store.insert_cascade(Some(&session), &next(0, 0, "skipped", true)).unwrap().unwrap();
        let other = store.insert_cascade(None, &next(0, 0, "other", false)).unwrap().unwrap();
        assert!(store.update_cascade(&next(id, 1, "three", false)).unwrap());
        assert!(!store.update_cascade(&next(id, 1, "lost", false)).unwrap(), "another was first");
        let active: Vec<_> =
            store.active_cascades().unwrap().into_iter().map(|c| (c.id, c.state, c.revision)).collect();
        assert_eq!(active, [(id, "three".to_owned(), 2), (other, "other".to_owned(), 1)]);
        assert!(store.update_cascade(&next(id, 2, "end", true)).unwrap());
        assert_eq!(store.active_cascades().unwrap().len(), 1);
        assert!(store.cascade(Some(skipped)).unwrap().unwrap().ended);
        assert_eq!(store.cascade(None).unwrap().unwrap().id, other);
    }

    #[test]
    fn contents_and_trees_are_stored_with_the_state_or_not_at_all() {
        let root = tempfile::tempdir().unwrap();
        let mut store = Store::open(&StateDir::for_project(root.path())).unwrap();
        let contents = [("d".to_owned(), b"text\xff".to_vec())];
        let with = |revision| CascadeUpdate {
            contents: &contents,
            tree: Some((1, "tree")),
            ..next(1, revision, "s", false)
        };
        let id = store.insert_cascade(None, &next(0, 0, "s", false)).unwrap().unwrap();
        assert!(!store.update_cascade(&with(7)).unwrap());
        assert_eq!(store.cascade_content(id, "d").unwrap(), None);
        assert!(store.update_cascade(&with(1)).unwrap());
        assert_eq!(store.cascade_content(id, "d").unwrap(), Some(b"text\xff".to_vec()));
        assert_eq!(store.iteration_snapshot(id, 1).unwrap().as_deref(), Some("tree"));
        let again = CascadeUpdate { tree: Some((1, "other")), ..next(id, 2, "s", false) };
        assert!(store.update_cascade(&again).unwrap());
        assert_eq!(store.iteration_snapshot(id, 1).unwrap().as_deref(), Some("tree"));
        let session = SessionId::new("s").unwrap();
        store.hold_alert(id, &session, 3).unwrap();
        store.hold_alert(id, &session, 3).unwrap();
        assert_eq!(store.held_alerts(id).unwrap(), [("s".to_owned(), 3)]);
    }
}
