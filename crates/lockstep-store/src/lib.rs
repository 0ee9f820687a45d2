//! Lockstep's persistent state.
//!
//! There are two kinds. Plain files are contracts or must be cheap to write: the [`journal`], the [`log`],
//! written reports, the [`audit`] trail and the [locks of steps](step_lock). `state.db` (SQLite, WAL) has the
//! [`history`] of changes, [`sessions`], the [`mailbox`], [`reports`], the versions of tasks ([`task_versions`])
//! with their reads ([`task_reads`]), and each session's [`scratch`]. All of it is in the [`StateDir`], except the journal, whose
//! path is a contract.
//!
//! This crate does not know clients, and does not decide what is reported.

pub mod audit;
pub mod cascades;
mod confined;
mod database;
pub mod dismissals;
pub mod history;
pub mod journal;
pub mod log;
pub mod mailbox;
pub mod map_runs;
mod notices;
pub mod originals;
pub mod pending;
mod private_file;
pub mod project_memory;
pub mod reports;
pub mod scratch;
pub mod sessions;
pub mod stale_temp_files;
mod state_dir;
pub mod step_lock;
pub mod task_reads;
pub mod task_versions;
mod user_dir;
pub mod windows;

pub use confined::{PathRefusal, confine, reserved};
pub use database::{SCHEMA_VERSION, Store};
pub use private_file::{append_once, append_to_own, check_replaceable};
pub use state_dir::StateDir;
pub use user_dir::UserDir;

use std::io;
use std::path::{Path, PathBuf};

use lockstep_fs::FsError;

/// The result of reading or writing state.
pub type StoreResult<T = ()> = Result<T, StoreError>;

/// The error for state that could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A file operation failed.
    #[error(transparent)]
    Io(#[from] FsError),
    /// A file cannot be written safely.
    #[error("{} is not written: {why}", path.display())]
    UnsafePath { path: PathBuf, why: &'static str },
    /// A path leads where nothing is written.
    #[error("{} is not used: {refusal}", path.display())]
    Path { path: PathBuf, refusal: PathRefusal },
    /// The audit trail differs from what was recorded, or its record cannot be used.
    #[error("the audit trail cannot be used: {why}")]
    Trail { why: String },
    #[error("the store {} failed", path.display())]
    Database {
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
        path: PathBuf,
        found: i64,
        /// The newest format that this program supports.
        known: i64,
    },
}

impl StoreError {
    /// Returns true if the database is damaged or not a database. Then only deleting it helps.
    pub fn is_corruption(&self) -> bool {
        use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
        let Self::Database { source, .. } = self else { return false };
        matches!(source.sqlite_error_code(), Some(DatabaseCorrupt | NotADatabase))
    }

    pub(crate) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let at = FsError::at(what, path);
        move |source| Self::Io(at(source))
    }
}
