//! Reports: numbering, the written files, and which file was reported in which state.

use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use lockstep_model::ids::{AgentId, SessionId};
use rusqlite::OptionalExtension as _;

use crate::{Store, StoreError, write_atomically};

/// Files over this size are told apart by size and time instead of content.
const MAX_DIGESTED_BYTES: u64 = 1 << 20;

impl Store {
    /// Those of `paths` that are in another state than when they were last reported in this session.
    pub fn unreported(
        &self,
        session: &SessionId,
        paths: Vec<PathBuf>,
    ) -> Result<Vec<(PathBuf, String)>, StoreError> {
        let mut news = Vec::new();
        for path in paths {
            let state = state_of(&path);
            let last: Option<String> = self.on(|db| {
                db.query_row(
                    "SELECT state FROM reported WHERE session = ?1 AND path = ?2",
                    (session.as_str(), path.as_os_str().as_bytes()),
                    |row| row.get(0),
                )
                .optional()
            })?;
            if last.as_ref() != Some(&state) {
                news.push((path, state));
            }
        }
        Ok(news)
    }

    /// Takes the next report number of the session and remembers the files' states as reported.
    pub fn number_report(
        &mut self,
        session: &SessionId,
        agent: Option<&AgentId>,
        files: &[(PathBuf, String)],
        at: Timestamp,
    ) -> Result<u32, StoreError> {
        self.write(|db| {
            let number: u32 = db.query_row(
                "SELECT coalesce(max(number), 0) + 1 FROM report WHERE session = ?1",
                [session.as_str()],
                |row| row.get(0),
            )?;
            db.execute(
                "INSERT INTO report VALUES (?1, ?2, ?3, ?4)",
                (session.as_str(), number, at.as_millisecond(), agent.map(AgentId::as_str)),
            )?;
            for (path, state) in files {
                db.execute(
                    "INSERT INTO reported VALUES (?1, ?2, ?3)
                     ON CONFLICT (session, path) DO UPDATE SET state = ?3",
                    (session.as_str(), path.as_os_str().as_bytes(), state),
                )?;
            }
            Ok(number)
        })
    }

    /// Writes a report's file, private: `.lockstep/reports/{session}/{number}.{extension}`.
    pub fn write_report(
        &self,
        session: &SessionId,
        number: u32,
        extension: &str,
        text: &str,
    ) -> Result<PathBuf, StoreError> {
        self.state.ensure(&format!("reports/{session}"))?;
        let path = self.state.reports(session).join(format!("{number}.{extension}"));
        write_atomically(&path, text.as_bytes(), 0o600)?;
        Ok(path)
    }
}

/// What a file is now, to be compared with what it was: equal texts, equal states.
fn state_of(path: &Path) -> String {
    let meta = match std::fs::symlink_metadata(path) {
        Ok(meta) => meta,
        Err(error) if error.kind() == ErrorKind::NotFound => return "absent".to_owned(),
        Err(error) => return format!("unreadable: {error}"),
    };
    let by_stat = || format!("stat:{}:{}:{}", meta.len(), meta.mtime(), meta.mtime_nsec());
    let special = meta.file_type().is_fifo() || meta.file_type().is_socket() || !meta.is_file();
    if special || meta.len() > MAX_DIGESTED_BYTES {
        return by_stat();
    }
    let mut content = Vec::new();
    match File::open(path).and_then(|file| file.take(MAX_DIGESTED_BYTES + 1).read_to_end(&mut content)) {
        Ok(_) => format!("blake3:{}", blake3::hash(&content).to_hex()),
        Err(_) => by_stat(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::StateDir;

    #[test]
    fn a_file_is_reported_once_per_state() {
        let root = tempfile::tempdir().unwrap();
        let mut store = Store::open(&StateDir::of(root.path())).unwrap();
        let session = SessionId::new("s").unwrap();
        let file = root.path().join("a");
        let at = Timestamp::UNIX_EPOCH;
        let mut report = |expected: Option<u32>| {
            let news = store.unreported(&session, vec![file.clone()]).unwrap();
            assert_eq!(!news.is_empty(), expected.is_some());
            if let Some(number) = expected {
                assert_eq!(store.number_report(&session, None, &news, at).unwrap(), number);
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
    fn special_files_are_not_read() {
        assert!(state_of(Path::new("/dev/zero")).starts_with("stat:"));
        assert!(state_of(Path::new("/")).starts_with("stat:"));
    }
}
