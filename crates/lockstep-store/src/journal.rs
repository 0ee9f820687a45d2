//! The journal (boundary B1): one append-only file per session. A hook writes it with one `write`.
//!
//! Reading does not change it. The [`history`](crate::history) stores the lines that were read.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::io::{ErrorKind, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use lockstep_fs::FileStamp;
use lockstep_model::change::JournalLine;
use lockstep_model::ids::SessionId;

use crate::{PathRefusal, StoreError, StoreResult, append_once};

const PREFIX: &str = "src-changes-";
const SUFFIX: &str = ".log";

/// The directory of the sessions' journals (`[journal] dir`).
#[derive(Debug, Clone)]
pub struct JournalDir {
    path: PathBuf,
    /// The reason why nothing is written to the directory or read from it.
    refusal: Option<PathRefusal>,
}

/// A stretch of a journal that was read, as whole lines.
#[derive(Debug)]
pub struct JournalChunk {
    pub lines: Vec<JournalLine>,
    /// The number of invalid lines (torn or foreign).
    pub malformed: usize,
    /// The start of the next read.
    pub end: JournalPosition,
}

/// A place in a journal: which file, how far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JournalPosition {
    /// The file's inode. A file that was removed and recreated is read from its start.
    pub inode: u64,
    /// The number of bytes read.
    pub offset: u64,
}

impl JournalDir {
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), refusal: None }
    }

    /// Returns a directory that is configured but refused: it has no journals, and none can be written.
    pub fn refused(path: impl Into<PathBuf>, refusal: PathRefusal) -> Self {
        Self { path: path.into(), refusal: Some(refusal) }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A session's journal: `src-changes-{session_id}.log`.
    pub fn file(&self, session: &SessionId) -> PathBuf {
        self.path.join(format!("{PREFIX}{session}{SUFFIX}"))
    }

    /// Appends `lines` with one `write`. Returns the position of their end.
    pub fn append(&self, session: &SessionId, lines: &[JournalLine]) -> StoreResult<u64> {
        if let Some(refusal) = self.refusal.clone() {
            return Err(StoreError::Path { path: self.path.clone(), refusal });
        }
        let mut bytes = Vec::with_capacity(lines.len() * 128);
        for line in lines {
            line.write_into(&mut bytes);
        }
        let path = self.file(session);
        match append_once(&path, &bytes) {
            Err(StoreError::Io(error)) if error.source.kind() == ErrorKind::NotFound => {
                // The directory of a relocated journal is missing. Another hook may create it at the same
                // time, so an existing directory is no error.
                fs::create_dir_all(&self.path).map_err(StoreError::io("create", &self.path))?;
                append_once(&path, &bytes)
            }
            result => result,
        }
    }

    /// Returns the end of a session's journal. `None` if there is none.
    pub(crate) fn end(&self, session: &SessionId) -> StoreResult<Option<JournalPosition>> {
        let end = |(_, meta): (File, Metadata)| JournalPosition {
            inode: FileStamp::from(&meta).inode,
            offset: meta.len(),
        };
        Ok(self.open(session)?.map(end))
    }

    /// Reads whole lines from `from` up to the last newline before `to` (the end where absent). A missing file
    /// is an empty one.
    pub fn read(
        &self,
        session: &SessionId,
        from: Option<JournalPosition>,
        to: Option<u64>,
    ) -> StoreResult<JournalChunk> {
        let path = self.file(session);
        let Some((mut file, meta)) = self.open(session)? else {
            let end = from.unwrap_or(JournalPosition { inode: 0, offset: 0 });
            return Ok(JournalChunk { lines: Vec::new(), malformed: 0, end });
        };
        let start = from
            .filter(|from| from.inode == FileStamp::from(&meta).inode && from.offset <= meta.len())
            .map_or(0, |from| from.offset);
        let until = to.unwrap_or(meta.len()).max(start);
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(start))
            .and_then(|_| file.take(until - start).read_to_end(&mut bytes))
            .map_err(StoreError::io("read", &path))?;
        let whole = bytes.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
        let mut stretch = JournalChunk {
            lines: Vec::new(),
            malformed: 0,
            end: JournalPosition { inode: FileStamp::from(&meta).inode, offset: start + whole as u64 },
        };
        for line in bytes[..whole].split(|b| *b == b'\n').filter(|line| !line.is_empty()) {
            match JournalLine::parse(line) {
                Some(line) => stretch.lines.push(line),
                None => stretch.malformed += 1,
            }
        }
        Ok(stretch)
    }

    fn open(&self, session: &SessionId) -> StoreResult<Option<(File, Metadata)>> {
        if self.refusal.is_some() { Ok(None) } else { open_owned(&self.file(session)) }
    }

    /// The sessions that have a journal of ours here, in order of their names.
    pub fn sessions(&self) -> StoreResult<Vec<SessionId>> {
        if self.refusal.is_some() {
            return Ok(Vec::new());
        }
        let entries = match fs::read_dir(&self.path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(StoreError::io("list", &self.path)(error)),
        };
        let mut sessions: Vec<SessionId> =
            entries.filter_map(|entry| session_of(&entry.ok()?.file_name())).collect();
        sessions.sort();
        Ok(sessions)
    }

    /// Removes a session's journal. Returns false if there was none.
    pub(crate) fn remove(&self, session: &SessionId) -> StoreResult<bool> {
        if self.refusal.is_some() {
            return Ok(false);
        }
        let path = self.file(session);
        match fs::remove_file(&path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(StoreError::io("remove", &path)(error)),
        }
    }
}

/// Returns true if the name is that of a session's journal. Writing a journal is no change of the project.
pub fn is_journal(name: &OsStr) -> bool {
    session_of(name).is_some()
}

fn session_of(name: &OsStr) -> Option<SessionId> {
    SessionId::new(name.to_str()?.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?).ok()
}

/// Opens a journal for reading if it exists and is ours. Files planted by others are not read.
fn open_owned(path: &Path) -> StoreResult<Option<(File, Metadata)>> {
    match fs::symlink_metadata(path) {
        Ok(meta) if !meta.is_file() => {
            return Err(StoreError::UnsafePath { path: path.to_owned(), why: "it is not a plain file" });
        }
        Ok(meta) if !lockstep_fs::is_own(&meta) => {
            return Err(StoreError::UnsafePath { path: path.to_owned(), why: "it belongs to someone else" });
        }
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(StoreError::io("look at", path)(error)),
    }
    let file = match lockstep_fs::open(path) {
        // Another session's end has removed it meanwhile.
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        result => result.map_err(StoreError::io("open", path))?,
    };
    let meta = file.metadata().map_err(StoreError::io("look at", path))?;
    Ok(Some((file, meta)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(path: &str) -> JournalLine {
        JournalLine {
            attribution: Default::default(),
            at: "2026-02-14T15:30:42+09:00".to_owned(),
            tool: "Edit".to_owned(),
            path: path.into(),
            agent: None,
            tool_use: None,
        }
    }

    fn paths(stretch: &JournalChunk) -> Vec<&str> {
        stretch.lines.iter().map(|line| line.path.to_str().unwrap()).collect()
    }

    #[test]
    fn the_first_hooks_of_a_relocated_journal_may_come_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let session = SessionId::new("s").unwrap();
        for round in 0..200 {
            let journal = JournalDir::new(dir.path().join(format!("{round}/made/on/demand")));
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| journal.append(&session, &[line("/a")]).unwrap());
                }
            });
            assert_eq!(journal.read(&session, None, None).unwrap().lines.len(), 4);
        }
    }

    #[test]
    fn readers_go_on_where_they_were_and_leave_half_lines_for_later() {
        let dir = tempfile::tempdir().unwrap();
        let journal = JournalDir::new(dir.path().join("made/on/demand"));
        let session = SessionId::new("s").unwrap();
        assert!(journal.read(&session, None, None).unwrap().lines.is_empty());
        journal.append(&session, &[line("/a"), line("/b")]).unwrap();
        let first = journal.read(&session, None, None).unwrap();
        assert_eq!(paths(&first), ["/a", "/b"]);

        let whole = fs::read(journal.file(&session)).unwrap();
        fs::write(journal.file(&session), [&whole[..], b"2026\tEdit\t/hal"].concat()).unwrap();
        assert!(journal.read(&session, Some(first.end), None).unwrap().lines.is_empty());
        fs::write(journal.file(&session), [&whole[..], b"2026\tEdit\t/half\nrubbish\n"].concat()).unwrap();
        let second = journal.read(&session, Some(first.end), None).unwrap();
        assert_eq!((paths(&second), second.malformed), (vec!["/half"], 1));
    }

    #[test]
    fn a_recreated_file_is_read_from_its_start() {
        let dir = tempfile::tempdir().unwrap();
        let journal = JournalDir::new(dir.path());
        let session = SessionId::new("s").unwrap();
        journal.append(&session, &[line("/a"), line("/b")]).unwrap();
        let end = journal.read(&session, None, None).unwrap().end;
        // Keeps the old inode in use, so that the new file cannot get the same.
        fs::rename(journal.file(&session), dir.path().join("old")).unwrap();
        journal.append(&session, &[line("/c")]).unwrap();
        assert_eq!(paths(&journal.read(&session, Some(end), None).unwrap()), ["/c"]);
    }

    #[test]
    fn sessions_are_found_by_name() {
        let dir = tempfile::tempdir().unwrap();
        let journal = JournalDir::new(dir.path());
        for name in ["src-changes-b.log", "src-changes-a.log", "src-changes-.log", "src-changes-..log", "x"] {
            fs::write(dir.path().join(name), "").unwrap();
        }
        let names: Vec<String> = journal.sessions().unwrap().iter().map(ToString::to_string).collect();
        assert_eq!(names, ["a", "b"]);
        assert!(JournalDir::new(dir.path().join("none")).sessions().unwrap().is_empty());
    }
}
