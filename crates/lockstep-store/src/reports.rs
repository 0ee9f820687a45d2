//! Reports: numbering, the written files, and which file was reported in which state.

use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use lockstep_fs::{FileStamp, StagedFile, sync_dir};
use lockstep_model::alert::Alert;
use lockstep_model::ids::{AgentId, SessionId};
use rusqlite::{Connection, Transaction};

use crate::pending::{self, Pending};
use crate::{StateDir, Store, StoreResult, mailbox};

/// Larger files are compared by size and time instead of content.
const MAX_DIGESTED_BYTES: u64 = 1 << 20;

impl Store {
    /// Returns the files among `paths` whose state differs from the last report of this session, with their
    /// states. A file that is pending in its present state counts as reported, because it is on a separate
    /// list.
    pub fn unreported(&self, session: &SessionId, paths: &[PathBuf]) -> StoreResult<Vec<(PathBuf, String)>> {
        let mut news = Vec::new();
        for path in paths {
            let state = content_fingerprint(path);
            if !self.read(|db| is_known(db, session, path, &state))? {
                news.push((path.clone(), state));
            }
        }
        Ok(news)
    }

    /// Returns the present state of each file, as reports keep it.
    pub fn states(&self, paths: &[PathBuf]) -> Vec<(PathBuf, String)> {
        paths.iter().map(|path| (path.clone(), content_fingerprint(path))).collect()
    }

    /// Adds a report with its alert in one transaction, because a reported state is never reported again.
    /// `None` if another process has reported one of the files in the same state meanwhile.
    pub fn insert_report(&mut self, draft: &ReportDraft<'_>) -> StoreResult<Option<u32>> {
        let state = self.state.clone();
        let dir = state.ensure_dir(&format!("reports/{}", draft.session))?;
        // Written and synced before the write lock is held; under it they only get their names.
        let mut texts = Vec::new();
        for (extension, text) in draft.texts {
            texts.push((*extension, StagedFile::new(&dir, text.as_bytes(), 0o600)?));
        }
        let number = self.write(|db| {
            if any_reported(db, draft)? {
                return Ok(Ok(None));
            }
            let number = next_number(db, draft.session)?;
            // Before any row: when this fails, nothing is entered. Files of a report that was not entered are the next one's.
            if let Err(error) = persist_files(&state, draft, &dir, number, texts) {
                return Ok(Err(error));
            }
            insert(db, draft, number)?;
            pending::set_flag(db, &state, draft.session)?;
            Ok(Ok(Some(number)))
        })??;
        sync_dir(&dir)?;
        Ok(number)
    }
}

#[derive(Debug)]
pub struct ReportDraft<'a> {
    pub session: &'a SessionId,
    /// The agent whose changes it reports; `None` for the Lead.
    pub agent: Option<&'a AgentId>,
    /// The files, in the states in which they are reported.
    pub files: &'a [(PathBuf, String)],
    /// Files whose dependents were not analysed. They are not reported, and stay pending.
    pub pending: &'a [(PathBuf, String)],
    /// The last change before those that the report is about.
    pub after: i64,
    /// The texts for `.lockstep/reports/{session}/{number}.{extension}`, by extension.
    pub texts: &'a [(&'a str, String)],
    /// The alert for the Lead, if there is one.
    pub alert: Option<&'a Alert>,
    pub at: Timestamp,
}

/// Returns true if another process has reported one of the files in the same state, or has marked it as
/// pending.
fn any_reported(db: &Transaction<'_>, draft: &ReportDraft<'_>) -> rusqlite::Result<bool> {
    for (path, state) in draft.files {
        if exists(db, "reported", draft.session, path, state)? {
            return Ok(true);
        }
    }
    for (path, state) in draft.pending {
        if is_known(db, draft.session, path, state)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns true if a file was reported in this state, or is pending in it.
fn is_known(db: &Connection, session: &SessionId, path: &Path, state: &str) -> rusqlite::Result<bool> {
    Ok(exists(db, "reported", session, path, state)? || exists(db, "pending", session, path, state)?)
}

fn exists(
    db: &Connection,
    table: &str,
    session: &SessionId,
    path: &Path,
    state: &str,
) -> rusqlite::Result<bool> {
    db.prepare_cached(&format!("SELECT 1 FROM {table} WHERE session = ?1 AND path = ?2 AND state = ?3"))?
        .exists((session.as_str(), path.as_os_str().as_encoded_bytes(), state))
}

fn next_number(db: &Transaction<'_>, session: &SessionId) -> rusqlite::Result<u32> {
    db.query_row(
        "SELECT coalesce(max(number), 0) + 1 FROM report WHERE session = ?1",
        [session.as_str()],
        |row| row.get(0),
    )
}

fn persist_files(
    state: &StateDir,
    draft: &ReportDraft<'_>,
    dir: &Path,
    number: u32,
    texts: Vec<(&str, StagedFile)>,
) -> StoreResult {
    for (extension, text) in texts {
        text.put(&dir.join(format!("{number}.{extension}")))?;
    }
    if draft.alert.is_some() { mailbox::set_flag(state, draft.session) } else { Ok(()) }
}

fn insert(db: &Transaction<'_>, draft: &ReportDraft<'_>, number: u32) -> rusqlite::Result<()> {
    let session = draft.session.as_str();
    db.execute(
        "INSERT INTO report VALUES (?1, ?2, ?3, ?4)",
        (session, number, draft.at.as_millisecond(), draft.agent.map(AgentId::as_str)),
    )?;
    for (path, state) in draft.files {
        db.execute(
            "INSERT INTO reported VALUES (?1, ?2, ?3)
             ON CONFLICT (session, path) DO UPDATE SET state = ?3",
            (session, path.as_os_str().as_encoded_bytes(), state),
        )?;
        pending::remove(db, draft.session, path)?;
    }
    for (path, state) in draft.pending {
        let file = Pending { path: path.clone(), agent: draft.agent.cloned(), after: draft.after };
        pending::add(db, draft.session, &file, state)?;
    }
    match draft.alert {
        Some(alert) => mailbox::put(db, draft.session, number, alert, draft.at),
        None => Ok(()),
    }
}

/// Returns the present state of a file, for comparison: equal texts, equal states.
pub(crate) fn content_fingerprint(path: &Path) -> String {
    let meta = match std::fs::symlink_metadata(path) {
        Ok(meta) => meta,
        Err(error) if error.kind() == ErrorKind::NotFound => return "absent".to_owned(),
        Err(error) => return format!("unreadable: {error}"),
    };
    let by_stat = || {
        let FileStamp { size, mtime, .. } = FileStamp::from(&meta);
        format!("stat:{size}:{}:{}", mtime.div_euclid(1_000_000_000), mtime.rem_euclid(1_000_000_000))
    };
    if !meta.is_file() || meta.len() > MAX_DIGESTED_BYTES {
        return by_stat();
    }
    let mut content = Vec::new();
    match lockstep_fs::open(path).and_then(|file| file.take(MAX_DIGESTED_BYTES + 1).read_to_end(&mut content))
    {
        Ok(_) => format!("blake3:{}", blake3::hash(&content).to_hex()),
        Err(_) => by_stat(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_is_reported_once_per_state() {
        let root = tempfile::tempdir().unwrap();
        let mut store = Store::open(&StateDir::for_project(root.path())).unwrap();
        let session = SessionId::new("s").unwrap();
        let file = root.path().join("a");
        let mut report = |expected: Option<u32>| {
            let news = store.unreported(&session, std::slice::from_ref(&file)).unwrap();
            assert_eq!(!news.is_empty(), expected.is_some());
            if let Some(number) = expected {
                let draft = ReportDraft {
                    session: &session,
                    agent: None,
                    files: &news,
                    pending: &[],
                    after: 0,
                    texts: &[("md", format!("report {number}"))],
                    alert: None,
                    at: Timestamp::UNIX_EPOCH,
                };
                assert_eq!(store.insert_report(&draft).unwrap(), Some(number));
                assert_eq!(store.insert_report(&draft).unwrap(), None, "another was first");
                let written = fs::read_dir(store.state().reports(&session)).unwrap().count();
                assert_eq!(written, number as usize, "one file each, nothing left over");
            }
        };
        fs::write(&file, "one").unwrap();
        report(Some(1));
        report(None);
        fs::write(&file, "one").unwrap();
        report(None);
        fs::write(&file, "two").unwrap();
        report(Some(2));
        fs::remove_file(&file).unwrap();
        report(Some(3));
        report(None);
    }

    #[test]
    fn a_file_that_was_not_analysed_stays_pending_until_it_is_reported() {
        let root = tempfile::tempdir().unwrap();
        let state = StateDir::for_project(root.path());
        let mut store = Store::open(&state).unwrap();
        let session = SessionId::new("s").unwrap();
        let file = root.path().join("a");
        fs::write(&file, "one").unwrap();
        let news = store.unreported(&session, std::slice::from_ref(&file)).unwrap();
        let draft = |files, pending| ReportDraft {
            session: &session,
            agent: None,
            files,
            pending,
            after: 7,
            texts: &[],
            alert: None,
            at: Timestamp::UNIX_EPOCH,
        };
        assert_eq!(store.insert_report(&draft(&[], &news)).unwrap(), Some(1));
        assert_eq!(store.insert_report(&draft(&[], &news)).unwrap(), None, "another process said so");
        assert!(pending::may_be_pending(&state, &session));
        assert_eq!(store.pending(&session).unwrap(), [Pending { path: file.clone(), agent: None, after: 7 }]);
        assert!(store.unreported(&session, std::slice::from_ref(&file)).unwrap().is_empty());
        assert_eq!(store.insert_report(&draft(&news, &[])).unwrap(), Some(2));
        assert!(store.pending(&session).unwrap().is_empty() && !pending::may_be_pending(&state, &session));
    }

    #[test]
    fn special_files_are_not_read() {
        assert!(content_fingerprint(Path::new("/dev/zero")).starts_with("stat:"));
        assert!(content_fingerprint(Path::new("/")).starts_with("stat:"));
    }
}
