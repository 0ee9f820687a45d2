//! Pending files: changed files whose dependents were not analysed at the stop that reported them, because
//! there was no index yet or the deadline passed. A later event analyses them.
//!
//! A flag file shows hooks that files may be pending, so that most of them never open the store.

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use lockstep_model::ids::{AgentId, SessionId};
use rusqlite::{Row, Transaction};

use crate::{StateDir, Store, StoreResult};

/// A changed file whose dependents are to be analysed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    /// Absolute path.
    pub path: PathBuf,
    /// The agent that changed it; `None` is the Lead, or an agent that the client did not name.
    pub agent: Option<AgentId>,
    /// The last change before those to analyse.
    pub after: i64,
}

/// Returns true if files of the session may be pending. Costs one `stat`.
pub fn may_be_pending(state: &StateDir, session: &SessionId) -> bool {
    flag(state, session).exists()
}

fn flag(state: &StateDir, session: &SessionId) -> PathBuf {
    state.path().join("pending").join(session.as_str())
}

impl Store {
    /// Returns the session's pending files, sorted by path.
    pub fn pending(&self, session: &SessionId) -> StoreResult<Vec<Pending>> {
        self.read(|db| {
            let mut query =
                db.prepare("SELECT path, agent, after FROM pending WHERE session = ?1 ORDER BY path")?;
            query.query_map([session.as_str()], pending)?.collect()
        })
    }
}

fn pending(row: &Row<'_>) -> rusqlite::Result<Pending> {
    Ok(Pending {
        path: lockstep_text::path_of_bytes(row.get(0)?),
        agent: row.get::<_, Option<String>>(1)?.and_then(|id| AgentId::new(&id)),
        after: row.get(2)?,
    })
}

/// Adds a file, under the write lock of the transaction that enters the report.
pub(crate) fn add(
    db: &Transaction<'_>,
    session: &SessionId,
    file: &Pending,
    state: &str,
) -> rusqlite::Result<()> {
    db.execute(
        "INSERT INTO pending VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (session, path) DO UPDATE SET agent = ?3, after = min(after, ?4), state = ?5",
        (
            session.as_str(),
            file.path.as_os_str().as_encoded_bytes(),
            file.agent.as_ref().map(AgentId::as_str),
            file.after,
            state,
        ),
    )
    .map(drop)
}

/// Removes a file that was analysed; under the same lock.
pub(crate) fn remove(
    db: &Transaction<'_>,
    session: &SessionId,
    path: &std::path::Path,
) -> rusqlite::Result<()> {
    db.execute(
        "DELETE FROM pending WHERE session = ?1 AND path = ?2",
        (session.as_str(), path.as_os_str().as_encoded_bytes()),
    )
    .map(drop)
}

/// Sets or removes the flag, depending on whether files are pending; under the same lock.
pub(crate) fn set_flag(db: &Transaction<'_>, state: &StateDir, session: &SessionId) -> rusqlite::Result<()> {
    let any = db.prepare("SELECT 1 FROM pending WHERE session = ?1")?.exists([session.as_str()])?;
    let path = flag(state, session);
    // Without the flag, a later stop still checks.
    let _ = if any {
        state
            .ensure_dir("pending")
            .map_err(std::io::Error::other)
            .and_then(|_| lockstep_fs::create_if_absent(&path))
    } else {
        match fs::remove_file(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            other => other,
        }
    };
    Ok(())
}
