//! The versions of the task, and its state in clients' lists.
//!
//! Every version is stored as text; the callers validate it and check who may write it. A version is only
//! written if the version it is based on is still the present one: [`Store::swap_task`].

use jiff::Timestamp;
use lockstep_model::ids::SessionId;
use rusqlite::{Connection, OptionalExtension as _, Row};

use crate::{Store, StoreResult};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskVersion {
    /// Which of the project's tasks, from one on.
    pub task: u64,
    /// The number, starting at 1.
    pub version: u64,
    pub subject: String,
    pub delivered: bool,
    pub document: String,
    pub author: VersionAuthor,
    pub at: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VersionAuthor {
    /// The agent's type; `None` is the Lead, or a person at the command line.
    pub agent_type: Option<String>,
    pub agent_id: Option<String>,
    pub skill: Option<String>,
    pub session: Option<String>,
    pub why: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpectedVersion {
    /// No task at all, or this one, which is delivered: the new version is the first of the next task.
    NoOpenTask(Option<u64>),
    Version {
        task: u64,
        version: u64,
    },
}

/// The next version, before it has a number.
#[derive(Debug, Clone, Copy)]
pub struct NewVersion<'a> {
    pub subject: &'a str,
    /// Set if the task is delivered.
    pub delivered: bool,
    pub document: &'a str,
    pub author: &'a VersionAuthor,
    pub at: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SwapOutcome {
    Written {
        task: u64,
        version: u64,
    },
    /// Another process wrote first: nothing was written.
    Conflict,
}

/// The task in a client's own list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskMirror {
    pub session: SessionId,
    pub client_id: String,
    /// Which of the project's tasks.
    pub task: u64,
    /// The subject that was last seen there.
    pub subject: String,
    /// The description that was last seen there; `None` if only the subject was.
    pub description: Option<String>,
    /// When it was last seen.
    pub at: Timestamp,
}

const COLUMNS: &str =
    "task, version, subject, delivered, document, agent_type, agent_id, skill, session, why, at";

impl Store {
    /// The newest version of the project's newest task.
    pub fn current_task(&self) -> StoreResult<Option<TaskVersion>> {
        self.read(|db| {
            let newest =
                format!("SELECT {COLUMNS} FROM task_version ORDER BY task DESC, version DESC LIMIT 1");
            db.query_row(&newest, [], version).optional()
        })
    }

    pub fn task_version(&self, task: u64, number: u64) -> StoreResult<Option<TaskVersion>> {
        self.read(|db| {
            let one = format!("SELECT {COLUMNS} FROM task_version WHERE task = ?1 AND version = ?2");
            db.query_row(&one, (task, number), version).optional()
        })
    }

    /// Every version of a task, oldest first.
    pub fn task_versions(&self, task: u64) -> StoreResult<Vec<TaskVersion>> {
        self.read(|db| {
            let all = format!("SELECT {COLUMNS} FROM task_version WHERE task = ?1 ORDER BY version");
            db.prepare(&all)?.query_map([task], version)?.collect()
        })
    }

    /// Compare and swap: writes `new` if the present version is still the one it follows. Runs in one
    /// transaction, which takes the write lock before it compares.
    pub fn swap_task(&mut self, follows: ExpectedVersion, new: NewVersion<'_>) -> StoreResult<SwapOutcome> {
        self.swap_task_with(follows, new, |_| Ok(()))
    }

    /// The same; `record` puts the new version on record before it is written. If it fails, nothing is written.
    pub fn swap_task_with(
        &mut self,
        follows: ExpectedVersion,
        new: NewVersion<'_>,
        record: impl FnOnce(u64) -> StoreResult,
    ) -> StoreResult<SwapOutcome> {
        let mut failure = None;
        let swapped = self.write(|db| {
            let present = present(db)?;
            let (task, version) = match (follows, present) {
                (ExpectedVersion::NoOpenTask(None), None) => (1, 1),
                (ExpectedVersion::NoOpenTask(Some(task)), Some((present, _, true))) if task == present => {
                    (task + 1, 1)
                }
                (ExpectedVersion::Version { task, version }, Some(present))
                    if (task, version) == (present.0, present.1) =>
                {
                    (task, version + 1)
                }
                _ => return Ok(SwapOutcome::Conflict),
            };
            insert(db, task, version, &new)?;
            if let Err(error) = record(version) {
                failure = Some(error);
                return Err(rusqlite::Error::QueryReturnedNoRows);
            }
            Ok(SwapOutcome::Written { task, version })
        });
        failure.map_or(swapped, Err)
    }

    /// Records the state of the task in a client's list. An id belongs to one task, the last it was seen as.
    pub fn record_mirror(&mut self, mirror: &TaskMirror) -> StoreResult {
        self.write(|db| {
            db.execute(
                "INSERT INTO task_mirror VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                 ON CONFLICT (session, client_id) DO UPDATE
                 SET task = ?3, subject = ?4, description = coalesce(?5, description), at = ?6",
                (
                    mirror.session.as_str(),
                    &mirror.client_id,
                    mirror.task,
                    &mirror.subject,
                    &mirror.description,
                    mirror.at.as_millisecond(),
                ),
            )
            .map(drop)
        })
    }

    /// Returns the entries of a task in clients' lists, last seen first.
    pub fn mirrors(&self, task: u64) -> StoreResult<Vec<TaskMirror>> {
        let rows: Vec<(String, TaskMirror)> = self.read(|db| {
            db.prepare(
                "SELECT session, client_id, task, subject, description, at FROM task_mirror
                 WHERE task = ?1 ORDER BY at DESC, session, client_id",
            )?
            .query_map([task], |row| {
                // The id was checked when it came in; a row that holds no id is left out below.
                let session = SessionId::new("-").expect("a dash is an id");
                let mirror = TaskMirror {
                    session,
                    client_id: row.get(1)?,
                    task: row.get(2)?,
                    subject: row.get(3)?,
                    description: row.get(4)?,
                    at: timestamp_from_millis(row.get(5)?),
                };
                Ok((row.get(0)?, mirror))
            })?
            .collect()
        })?;
        let named = |(id, mirror): (String, TaskMirror)| {
            Some(TaskMirror { session: SessionId::new(&id).ok()?, ..mirror })
        };
        Ok(rows.into_iter().filter_map(named).collect())
    }

    pub fn mirror_id(&self, session: &SessionId, task: u64) -> StoreResult<Option<String>> {
        self.read(|db| {
            db.query_row(
                "SELECT client_id FROM task_mirror WHERE session = ?1 AND task = ?2 ORDER BY at DESC LIMIT 1",
                (session.as_str(), task),
                |row| row.get(0),
            )
            .optional()
        })
    }
}

/// Task, version and whether it is delivered.
fn present(db: &Connection) -> rusqlite::Result<Option<(u64, u64, bool)>> {
    db.query_row(
        "SELECT task, version, delivered FROM task_version ORDER BY task DESC, version DESC LIMIT 1",
        [],
        |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
    )
    .optional()
}

fn insert(db: &Connection, task: u64, version: u64, new: &NewVersion<'_>) -> rusqlite::Result<()> {
    let VersionAuthor { agent_type, agent_id, skill, session, why } = new.author;
    db.execute(
        &format!(
            "INSERT INTO task_version ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)"
        ),
        rusqlite::params![
            task,
            version,
            new.subject,
            new.delivered,
            new.document,
            agent_type,
            agent_id,
            skill,
            session,
            why,
            new.at.as_millisecond(),
        ],
    )
    .map(drop)
}

fn version(row: &Row<'_>) -> rusqlite::Result<TaskVersion> {
    Ok(TaskVersion {
        task: row.get(0)?,
        version: row.get(1)?,
        subject: row.get(2)?,
        delivered: row.get(3)?,
        document: row.get(4)?,
        author: VersionAuthor {
            agent_type: row.get(5)?,
            agent_id: row.get(6)?,
            skill: row.get(7)?,
            session: row.get(8)?,
            why: row.get(9)?,
        },
        at: timestamp_from_millis(row.get(10)?),
    })
}

/// A stored time. One that no calendar has is the earliest: it must not hide the row.
pub(crate) fn timestamp_from_millis(milliseconds: i64) -> Timestamp {
    Timestamp::from_millisecond(milliseconds).unwrap_or(Timestamp::MIN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StateDir;

    fn new<'a>(document: &'a str, delivered: bool, author: &'a VersionAuthor) -> NewVersion<'a> {
        NewVersion { subject: "[PERMANENT]", delivered, document, author, at: Timestamp::UNIX_EPOCH }
    }

    #[test]
    fn a_version_follows_the_one_it_was_made_from() {
        let root = tempfile::tempdir().unwrap();
        let mut store = Store::open(&StateDir::for_project(root.path())).unwrap();
        let author = VersionAuthor {
            skill: Some("s".to_owned()),
            why: Some("w".to_owned()),
            ..VersionAuthor::default()
        };
        let mut swap =
            |follows, text: &str, delivered| store.swap_task(follows, new(text, delivered, &author)).unwrap();
        let at = |task, version| ExpectedVersion::Version { task, version };
        let written = |task, version| SwapOutcome::Written { task, version };
        assert_eq!(swap(at(1, 1), "x", false), SwapOutcome::Conflict);
        assert_eq!(swap(ExpectedVersion::NoOpenTask(None), "a", false), written(1, 1));
        assert_eq!(swap(ExpectedVersion::NoOpenTask(None), "b", false), SwapOutcome::Conflict);
        assert_eq!(
            swap(ExpectedVersion::NoOpenTask(Some(1)), "b", false),
            SwapOutcome::Conflict,
            "it is not delivered"
        );
        assert_eq!(swap(at(1, 1), "b", true), written(1, 2));
        assert_eq!(swap(at(1, 1), "c", false), SwapOutcome::Conflict);
        assert_eq!(swap(ExpectedVersion::NoOpenTask(Some(1)), "next", false), written(2, 1));
        assert_eq!(swap(at(1, 2), "c", false), SwapOutcome::Conflict, "an earlier task is over");
        let present = store.current_task().unwrap().unwrap();
        assert_eq!((present.task, present.version, present.document.as_str()), (2, 1, "next"));
        assert_eq!(present.author, author);
        let first: Vec<_> = store.task_versions(1).unwrap().into_iter().map(|v| v.document).collect();
        assert_eq!(first, ["a", "b"]);
        assert_eq!(store.task_version(1, 2).unwrap().unwrap().document, "b");
        assert_eq!(store.task_version(1, 3).unwrap(), None);
    }

    #[test]
    fn list_is_keyed_by_session_and_subject_keeps_description() {
        let root = tempfile::tempdir().unwrap();
        let mut store = Store::open(&StateDir::for_project(root.path())).unwrap();
        let [a, b] = ["a", "b"].map(|id| SessionId::new(id).unwrap());
        let mut mirror = TaskMirror {
            session: a.clone(),
            client_id: "1".to_owned(),
            task: 1,
            subject: "PT-v1".to_owned(),
            description: Some("text".to_owned()),
            at: Timestamp::UNIX_EPOCH,
        };
        store.record_mirror(&mirror).unwrap();
        mirror.subject = "PT-v2".to_owned();
        mirror.description = None;
        store.record_mirror(&mirror).unwrap();
        assert_eq!(store.mirror_id(&a, 1).unwrap().as_deref(), Some("1"));
        assert_eq!(store.mirror_id(&b, 1).unwrap(), None);
        assert_eq!(store.mirror_id(&a, 2).unwrap(), None);
        let seen = store.mirrors(1).unwrap();
        assert_eq!((seen.len(), seen[0].subject.as_str()), (1, "PT-v2"));
        assert_eq!(seen[0].description.as_deref(), Some("text"));
    }
}
