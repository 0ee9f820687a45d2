//! `state.db`: opening, format and migrations. The modules named after the tables define their contents.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use lockstep_fs::FileStamp;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};

use crate::{StateDir, StoreError, StoreResult};

/// The newest format this program reads and writes, kept in SQLite's `user_version`.
pub const SCHEMA_VERSION: i64 = MIGRATIONS.len() as i64;

/// Each entry migrates the store from the format of its index to the next. Entries are only added.
const MIGRATIONS: &[&str] = &[
    include_str!("schema/1.sql"),
    include_str!("schema/2.sql"),
    include_str!("schema/3.sql"),
    include_str!("schema/4.sql"),
    include_str!("schema/5.sql"),
    include_str!("schema/6.sql"),
    include_str!("schema/7.sql"),
];

/// The maximum wait for another process's transaction. Hooks hold theirs for a millisecond or two.
const BUSY_TIMEOUT: Duration = Duration::from_secs(3);

/// The log size above which it is moved into the database. A process that opens the store alone reads the
/// complete log. This is about sixty pages, written by about twenty hooks.
const WAL_CHECKPOINT_BYTES: u64 = 64 * 4_120;

#[derive(Debug)]
pub struct Store {
    connection: Connection,
    pub(crate) path: PathBuf,
    pub(crate) state: StateDir,
}

impl Store {
    /// Opens the store, made or migrated when needed.
    pub fn open(state: &StateDir) -> StoreResult<Self> {
        state.ensure_dir("")?;
        let path = state.database();
        create_private(&path)?;
        let failed = |source| StoreError::Database { path: path.clone(), source };
        let connection = Connection::open_with_flags(
            &path,
            OpenFlags::SQLITE_OPEN_READ_WRITE
                | OpenFlags::SQLITE_OPEN_NO_MUTEX
                | OpenFlags::SQLITE_OPEN_NOFOLLOW,
        )
        .map_err(failed)?;
        connection.busy_timeout(BUSY_TIMEOUT).map_err(failed)?;
        // Otherwise every process that has the store open alone would checkpoint and sync three times before
        // it exits. The process that makes the log long checkpoints it instead.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map_err(failed)?;
        let mut store = Self { connection, path: path.clone(), state: state.clone() };
        store.migrate()?;
        Ok(store)
    }

    /// Opens the store if it exists. Reading does not create one.
    pub fn open_existing(state: &StateDir) -> StoreResult<Option<Self>> {
        if state.database().is_file() { Self::open(state).map(Some) } else { Ok(None) }
    }

    pub fn state(&self) -> &StateDir {
        &self.state
    }

    /// Returns a stamp that stays the same as long as nothing is written to the store. Does not open it.
    /// `None` if something was written too recently to be sure.
    pub fn change_stamp(state: &StateDir) -> Option<[u8; 64]> {
        let now = lockstep_fs::now();
        let log = wal_path(state);
        let mut bytes = [0; 64];
        // Every commit is in the write-ahead log, or was moved from it to the database.
        for (to, path) in bytes.chunks_exact_mut(32).zip([state.database(), log]) {
            match fs::symlink_metadata(&path) {
                Ok(meta) => {
                    // SQLite sets the owner of its log whenever root opens it, which is no write.
                    let stamp = FileStamp { ctime: 0, ..FileStamp::from(&meta) };
                    to.copy_from_slice(&Some(stamp).filter(|stamp| !stamp.is_racy(now))?.to_bytes());
                }
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(_) => return None,
            }
        }
        Some(bytes)
    }

    fn migrate(&mut self) -> StoreResult {
        let found = self.format()?;
        if found == SCHEMA_VERSION {
            return Ok(());
        }
        if found > SCHEMA_VERSION {
            return Err(StoreError::TooNew { path: self.path.clone(), found, known: SCHEMA_VERSION });
        }
        self.read(enable_wal)?;
        self.write(|transaction| {
            // Another process may have migrated while this one waited for the lock.
            let found: i64 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
            for migration in MIGRATIONS.iter().skip(usize::try_from(found).unwrap_or(0)) {
                transaction.execute_batch(migration)?;
            }
            transaction.pragma_update(None, "user_version", SCHEMA_VERSION)
        })
    }

    fn format(&self) -> StoreResult<i64> {
        self.read(|db| {
            // This keeps consistency; only the last transactions can be lost in a power failure. SQLite's
            // automatic checkpoint would not shorten the log until the same process writes again, which a
            // hook never does: see `checkpoint_wal`.
            db.execute_batch("PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0;")?;
            db.query_row("PRAGMA user_version", [], |row| row.get(0))
        })
    }

    /// Runs a read-only query.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> StoreResult<T> {
        read(&self.connection).map_err(|source| StoreError::Database { path: self.path.clone(), source })
    }

    /// Runs a transaction that holds the write lock from its start, so that data it read cannot change before
    /// it writes.
    pub(crate) fn write<T>(
        &mut self,
        write: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> StoreResult<T> {
        let path = self.path.clone();
        let failed = |source| StoreError::Database { path, source };
        let run = || {
            let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let result = write(&transaction)?;
            transaction.commit()?;
            Ok(result)
        };
        let written = run().map_err(failed)?;
        self.checkpoint_wal();
        Ok(written)
    }

    /// Checkpoints a long log and truncates it. If another process is reading or writing, this is left to the
    /// next writer.
    fn checkpoint_wal(&self) {
        let is_long =
            fs::symlink_metadata(wal_path(&self.state)).is_ok_and(|log| log.len() > WAL_CHECKPOINT_BYTES);
        if is_long && self.connection.busy_timeout(Duration::ZERO).is_ok() {
            let moved = self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
            // The data is stored in either case.
            let _ = moved.and_then(|()| self.connection.busy_timeout(BUSY_TIMEOUT));
        }
    }
}

/// Returns the path of SQLite's write-ahead log.
fn wal_path(state: &StateDir) -> PathBuf {
    state.path().join("state.db-wal")
}

/// Enables write-ahead logging, so that readers are not blocked by a writer. The mode is persistent and
/// cannot be set inside a transaction.
///
/// Retries, because SQLite does not wait here: processes that create a store at the same time would block
/// each other.
fn enable_wal(db: &Connection) -> rusqlite::Result<()> {
    let start = Instant::now();
    loop {
        match db.execute_batch("PRAGMA journal_mode = WAL;") {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && start.elapsed() < BUSY_TIMEOUT =>
            {
                std::thread::sleep(Duration::from_millis(2));
            }
            result => return result,
        }
    }
}

/// Makes the file before SQLite would, so that it and the files beside it are private from the start.
fn create_private(path: &Path) -> StoreResult {
    lockstep_fs::create_if_absent(path).map_err(StoreError::io("create", path))
}

#[cfg(test)]
mod tests {

    use lockstep_model::ids::SessionId;

    use super::*;

    fn session(n: usize) -> SessionId {
        SessionId::new(&format!("s{n}")).unwrap()
    }

    #[test]
    fn a_new_store_has_the_newest_format_and_is_private() {
        let root = tempfile::tempdir().unwrap();
        let state = StateDir::for_project(root.path());
        assert!(Store::open_existing(&state).unwrap().is_none());
        assert!(!state.exists(), "asking makes nothing");
        assert_eq!(Store::open(&state).unwrap().format().unwrap(), SCHEMA_VERSION);
        for (path, mode) in [(state.path(), 0o700), (&state.database(), 0o600)] {
            assert_eq!(lockstep_fs::mode_of(&fs::metadata(path).unwrap()), mode);
        }
        assert!(Store::open_existing(&state).unwrap().is_some());
    }

    #[test]
    fn newer_schema_is_refused_without_writing() {
        let root = tempfile::tempdir().unwrap();
        let state = StateDir::for_project(root.path());
        Store::open(&state)
            .unwrap()
            .read(|db| db.pragma_update(None, "user_version", SCHEMA_VERSION + 7))
            .unwrap();
        let error = Store::open(&state).unwrap_err();
        assert!(matches!(error, StoreError::TooNew { .. }));
        assert!(error.to_string().contains("Upgrade lockstep"), "{error}");
    }

    /// A store as the first release made it, with something in it.
    #[test]
    fn a_store_of_an_older_format_is_migrated_and_keeps_what_it_has() {
        let root = tempfile::tempdir().unwrap();
        let state = StateDir::for_project(root.path());
        state.ensure_dir("").unwrap();
        let old = Connection::open(state.database()).unwrap();
        old.execute_batch(include_str!("schema/fixture/1.sql")).unwrap();
        drop(old);
        let store = Store::open(&state).unwrap();
        assert_eq!(store.format().unwrap(), SCHEMA_VERSION);
        assert!(store.has_session(&session(1)).unwrap());
        assert_eq!(store.changes(&Default::default()).unwrap().len(), 1);
        assert_eq!(store.current_task().unwrap(), None);
    }

    #[test]
    fn every_write_changes_the_stamp_and_reading_does_not() {
        let root = tempfile::tempdir().unwrap();
        let state = StateDir::for_project(root.path());
        let settled = || {
            std::thread::sleep(Duration::from_millis(40));
            Store::change_stamp(&state).expect("nothing was written for a while")
        };
        let mut seen = vec![settled()];
        for n in 0..3 {
            let mut store = Store::open(&state).unwrap();
            store.open_session(&session(n), jiff::Timestamp::UNIX_EPOCH).unwrap();
            let database = fs::File::options().append(true).open(state.database()).unwrap();
            let written = database.metadata().unwrap().modified().unwrap();
            // However slow this machine is.
            database.set_modified(std::time::SystemTime::now() + Duration::from_secs(3600)).unwrap();
            assert_eq!(Store::change_stamp(&state), None, "what is too young is not told");
            database.set_modified(written).unwrap();
            drop(store);
            assert!(!seen.contains(&settled()));
            seen.push(settled());
            assert!(Store::open(&state).unwrap().has_session(&session(n)).unwrap());
            assert_eq!(seen.last(), Some(&settled()));
        }
        // Moving the log into the database is a write too, though it changes nothing.
        Store::open(&state).unwrap().read(|db| db.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")).unwrap();
        assert!(!seen.contains(&settled()));
    }

    #[test]
    fn the_log_stays_short_however_many_processes_write_once_each() {
        let root = tempfile::tempdir().unwrap();
        let state = StateDir::for_project(root.path());
        let mut longest = 0;
        for n in 0..200 {
            // While one connection is open, new ones need not read the log.
            Store::open(&state).unwrap().open_session(&session(n), jiff::Timestamp::UNIX_EPOCH).unwrap();
            longest = longest.max(fs::metadata(wal_path(&state)).unwrap().len());
        }
        assert!((WAL_CHECKPOINT_BYTES / 2..=2 * WAL_CHECKPOINT_BYTES).contains(&longest), "{longest}");
        assert!(Store::open(&state).unwrap().has_session(&session(199)).unwrap());
    }

    #[test]
    fn a_log_in_use_is_left_for_the_next_writer() {
        let root = tempfile::tempdir().unwrap();
        let state = StateDir::for_project(root.path());
        let reader = Store::open(&state).unwrap();
        reader.read(|db| db.execute_batch("BEGIN; SELECT * FROM sqlite_schema;")).unwrap();
        for n in 0..100 {
            Store::open(&state).unwrap().open_session(&session(n), jiff::Timestamp::UNIX_EPOCH).unwrap();
        }
        assert!(fs::metadata(wal_path(&state)).unwrap().len() > WAL_CHECKPOINT_BYTES);
        reader.read(|db| db.execute_batch("COMMIT")).unwrap();
        Store::open(&state).unwrap().open_session(&session(100), jiff::Timestamp::UNIX_EPOCH).unwrap();
        assert_eq!(fs::metadata(wal_path(&state)).unwrap().len(), 0);
    }

    #[test]
    fn a_store_that_is_none_is_a_clear_error() {
        let root = tempfile::tempdir().unwrap();
        let state = StateDir::for_project(root.path());
        state.ensure_dir("").unwrap();
        fs::write(state.database(), vec![b'x'; 4_096]).unwrap();
        let error = Store::open(&state).unwrap_err();
        assert!(error.is_corruption() && error.to_string().contains("state.db"), "{error}");
    }

    #[test]
    fn many_processes_may_open_a_new_store_at_once() {
        let root = tempfile::tempdir().unwrap();
        let state = StateDir::for_project(root.path());
        std::thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| Store::open(&state).unwrap());
            }
        });
    }
}
