//! What Lockstep remembers.
//!
//! Two kinds of memory. Plain files that are contracts or must cost nothing to write: the [`journal`], the [`log`],
//! written reports, the [`audit`] trail, the [locks of steps](step_lock). And `state.db` (SQLite, WAL): the [`history`] of changes, [`sessions`], the [`mailbox`],
//! [`reports`], the versions of [`tasks`] with their [`readings`], and each session's [`scratch`]. All of it lives in the [`StateDir`], except the journal, whose place is a contract.
//! Knows nothing of clients; decides nothing about what is worth telling.

mod atomic;
pub mod audit;
pub mod befores;
pub mod cascades;
mod database;
pub mod dismissals;
pub mod history;
pub mod journal;
mod leftovers;
pub mod log;
pub mod mailbox;
pub mod map_runs;
mod notices;
pub mod pending;
mod private_file;
pub mod readings;
pub mod reports;
pub mod scratch;
pub mod sessions;
pub mod stamp;
mod state_dir;
pub mod step_lock;
pub mod tasks;

pub use atomic::{write_atomically, write_atomically_from};
pub use database::{FORMAT, Store};
pub use private_file::{append_once, note_holder, open_private};
pub use state_dir::StateDir;

use std::io;
use std::path::{Path, PathBuf};

/// Why something could not be remembered or recalled.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A file operation failed.
    #[error("cannot {what} {}", path.display())]
    Io {
        /// What was attempted, as a verb: `read`, `append to`.
        what: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The system's answer.
        #[source]
        source: io::Error,
    },
    /// A file is not what it must be to be written safely.
    #[error("{} is not written: {why}", path.display())]
    Unsafe {
        /// The file or directory.
        path: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The database refused.
    #[error("the store {} failed", path.display())]
    Database {
        /// The database file.
        path: PathBuf,
        /// SQLite's answer.
        #[source]
        source: rusqlite::Error,
    },
    /// The database was written by a newer Lockstep.
    #[error(
        "the store {} has format {found}, but this lockstep knows formats up to {known}: \
         a newer lockstep wrote it. Upgrade lockstep, or delete the file (its history is lost, nothing else)",
        path.display()
    )]
    TooNew {
        /// The database file.
        path: PathBuf,
        /// Its format.
        found: i64,
        /// The newest format this program knows.
        known: i64,
    },
}

impl StoreError {
    /// Whether the database is none, or a damaged one: then only deleting it helps.
    pub fn is_damage(&self) -> bool {
        use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
        let Self::Database { source, .. } = self else { return false };
        matches!(source.sqlite_error_code(), Some(DatabaseCorrupt | NotADatabase))
    }

    pub(crate) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { what, path: path.to_owned(), source }
    }
}
