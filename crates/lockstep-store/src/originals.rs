//! Original contents: the contents of files before a session's agents changed them. Reports compare with
//! them.
//!
//! There are four sources: the content that an event reported before an edit, the file at the last report,
//! the file when the session started, and the commit that was checked out then. Contents are stored in small
//! files. A missing or damaged one is unknown, never guessed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use lockstep_model::event::OriginalContent;
use lockstep_model::ids::{AgentId, SessionId};
use serde::{Deserialize, Serialize};

use crate::{StateDir, StoreError, StoreResult};

/// Larger contents are not saved, because no analysis reads them.
const MAX_BYTES: usize = 1 << 20;

/// The original contents of files in a session.
#[derive(Debug)]
pub struct OriginalStore<'a> {
    state: &'a StateDir,
    session: &'a SessionId,
}

/// The files when a session started.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SessionBase {
    /// The commit that was checked out; `None` if there was none.
    pub commit: Option<String>,
    /// Contents that were not those of the commit, by path relative to the project's root.
    pub contents: BTreeMap<String, String>,
    /// Files that were not those of the commit, and were too large to save or not text.
    #[serde(default)]
    pub unsaved: BTreeSet<String>,
    /// Files that did not exist, although the commit has them.
    #[serde(default)]
    pub absent: BTreeSet<String>,
    /// True if every other file was that of the commit, or did not exist.
    pub is_complete: bool,
}

impl SessionBase {
    /// Replaces the original content of the file at `path`, relative to the project's root. `None` means
    /// unknown.
    pub fn set(&mut self, path: &str, original: Option<OriginalContent>) {
        self.contents.remove(path);
        self.unsaved.remove(path);
        self.absent.remove(path);
        match original {
            Some(OriginalContent::Text(text)) => drop(self.contents.insert(path.to_owned(), text)),
            Some(OriginalContent::Absent) => drop(self.absent.insert(path.to_owned())),
            None => drop(self.unsaved.insert(path.to_owned())),
        }
    }
}

impl<'a> OriginalStore<'a> {
    pub fn for_session(state: &'a StateDir, session: &'a SessionId) -> Self {
        Self { state, session }
    }

    /// Saves the content of the file at `path` before an agent (`None` is the Lead) changed it, unless one is
    /// saved already.
    pub fn save_first(&self, path: &Path, agent: Option<&AgentId>, former: &OriginalContent) -> StoreResult {
        let content = match former {
            OriginalContent::Absent => None,
            OriginalContent::Text(text) if text.len() > MAX_BYTES => return Ok(()),
            OriginalContent::Text(text) => Some(text.as_str()),
        };
        for file in [self.session_file(path), self.agent_file(path, agent)] {
            write_new(self.state, self.session, &file, &encoded(content))?;
        }
        Ok(())
    }

    /// Records that the content before the agent's first change is unknown, so that later events do not
    /// provide one.
    pub fn keep_unknown(&self, path: &Path, agent: Option<&AgentId>) -> StoreResult {
        for file in [self.session_file(path), self.agent_file(path, agent)] {
            write_new(self.state, self.session, &file, UNKNOWN)?;
        }
        Ok(())
    }

    /// Saves the last content that parsed of a file that no longer does, unless one is saved. Every agent's next report
    /// compares with it.
    pub fn keep_parsed(&self, path: &Path, content: &str) -> StoreResult {
        write_new(self.state, self.session, &self.parsed_file(path), &encoded(Some(content))).map(drop)
    }

    /// Returns the file's content before the agent's first change since the last report: the last one that parsed, or that
    /// of an event, or else that of the last report.
    pub fn at_last_report(&self, path: &Path, agent: Option<&AgentId>) -> Option<OriginalContent> {
        let files = [self.parsed_file(path), self.agent_file(path, agent), self.at_report(path)];
        files.iter().find_map(|file| read(file))
    }

    /// Returns the file's content before the session's first change, as an event reported it.
    pub fn at_session_start(&self, path: &Path) -> Option<OriginalContent> {
        read(&self.session_file(path))
    }

    /// Marks the agent's change of the file as reported: the next report compares with the present content.
    /// If the process dies before, an older content remains, which reports too much rather than too little.
    pub fn clear_reported(&self, path: &Path, agent: Option<&AgentId>) -> StoreResult {
        let (file, saved) = (self.agent_file(path, agent), self.at_report(path));
        let present = match fs::symlink_metadata(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Some(None),
            Ok(meta) if meta.is_file() && meta.len() <= MAX_BYTES as u64 => {
                lockstep_fs::read_text(path).ok().map(Some)
            }
            _ => None,
        };
        match present {
            Some(content) => {
                self.replace(&saved, encoded(content.as_deref()).as_bytes())?;
            }
            None => remove(&saved)?,
        }
        remove(&self.parsed_file(path))?;
        remove(&file)
    }

    /// Saves the files as they are at the start of the session. An earlier start is replaced.
    pub fn begin(&self, base: &SessionBase) -> StoreResult {
        let text = serde_json::to_string(base).expect("a base is text and lists");
        self.replace(&self.base_file(), text.as_bytes())
    }

    /// Returns the files at the start of the session; `None` if its start was not seen.
    pub fn base(&self) -> Option<SessionBase> {
        serde_json::from_str(&lockstep_fs::read_to_string(self.base_file()).ok()?).ok()
    }

    /// Saves the files as [`Self::begin`] does, unless an earlier start is saved.
    pub fn begin_once(&self, base: &SessionBase) -> StoreResult {
        let text = serde_json::to_string(base).expect("a base is text and lists");
        write_new(self.state, self.session, &self.base_file(), &text).map(drop)
    }

    /// Returns true if the file was reported in the session.
    pub fn is_reported(&self, path: &Path) -> bool {
        self.at_report(path).exists()
    }

    /// Returns true if the start of the session was seen.
    pub fn has_base(&self) -> bool {
        self.base_file().exists()
    }

    /// Returns the time when the start of the session was saved.
    pub fn base_time(&self) -> Option<SystemTime> {
        fs::metadata(self.base_file()).ok()?.modified().ok()
    }

    /// Returns the time up to which changes of unread places were reported, in nanoseconds since 1970.
    pub fn unread_checked(&self) -> Option<i64> {
        lockstep_fs::read_to_string(self.unread_file()).ok()?.trim_end().parse().ok()
    }

    /// Saves the time up to which changes of unread places were reported.
    pub fn set_unread_checked(&self, at: i64) -> StoreResult {
        self.replace(&self.unread_file(), format!("{at}\n").as_bytes())
    }

    pub fn remove_session(&self) -> StoreResult {
        let directory = self.directory();
        match fs::remove_dir_all(&directory) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(StoreError::io("remove", &directory)(error))
            }
            _ => Ok(()),
        }
    }

    /// Replaces a file atomically. It is not synced: a content damaged by a power failure is unknown.
    fn replace(&self, path: &Path, content: &[u8]) -> StoreResult {
        self.state.ensure_dir(&format!("befores/{}", self.session))?;
        Ok(lockstep_fs::replace_unsynced(path, content)?)
    }

    fn directory(&self) -> PathBuf {
        self.state.path().join("befores").join(self.session.as_str())
    }

    fn base_file(&self) -> PathBuf {
        self.directory().join("base.json")
    }

    fn unread_file(&self) -> PathBuf {
        self.directory().join("unread")
    }

    fn session_file(&self, path: &Path) -> PathBuf {
        self.directory().join(format!("{}.first", digest(path)))
    }

    fn at_report(&self, path: &Path) -> PathBuf {
        self.directory().join(format!("{}.reported", digest(path)))
    }

    fn parsed_file(&self, path: &Path) -> PathBuf {
        self.directory().join(format!("{}.parsed", digest(path)))
    }

    fn agent_file(&self, path: &Path, agent: Option<&AgentId>) -> PathBuf {
        let agent = agent.map_or("lead", AgentId::as_str);
        self.directory().join(format!("{}.{}", digest(path), digest(Path::new(agent))))
    }
}

fn remove(file: &Path) -> StoreResult {
    lockstep_fs::remove_if_present(file).map(drop).map_err(StoreError::io("remove", file))
}

/// Marks an unknown content.
const UNKNOWN: &str = "unknown\n";

/// Encodes a content. The length shows whether the content is complete or its writer was killed.
fn encoded(content: Option<&str>) -> String {
    match content {
        Some(text) => format!("text {}\n{text}", text.len()),
        None => "absent\n".to_owned(),
    }
}

fn digest(name: &Path) -> String {
    blake3::hash(name.as_os_str().as_encoded_bytes()).to_hex()[..24].to_owned()
}

/// Writes a file that must not exist. False where it does.
fn write_new(state: &StateDir, session: &SessionId, path: &Path, content: &str) -> StoreResult<bool> {
    let open = || lockstep_fs::no_follow().write(true).create_new(true).open(path);
    let mut opened = open();
    // Another process that ends the session may remove the directory again.
    for _ in 0..3 {
        if opened.as_ref().is_err_and(|error| error.kind() == ErrorKind::NotFound) {
            state.ensure_dir(&format!("befores/{session}"))?;
            opened = open();
        }
    }
    let mut file = match opened {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(false),
        Err(error) => return Err(StoreError::io("create", path)(error)),
    };
    file.write_all(content.as_bytes()).map_err(StoreError::io("write", path))?;
    Ok(true)
}

fn read(path: &Path) -> Option<OriginalContent> {
    let mut text = String::new();
    lockstep_fs::open(path).ok()?.read_to_string(&mut text).ok()?;
    let (header, content) = text.split_once('\n')?;
    if header == "absent" {
        return Some(OriginalContent::Absent);
    }
    let length: usize = header.strip_prefix("text ")?.parse().ok()?;
    (content.len() == length).then(|| OriginalContent::Text(content.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    fn text(text: &str) -> OriginalContent {
        OriginalContent::Text(text.to_owned())
    }

    #[test]
    fn the_first_content_counts_for_the_session_and_until_a_report_for_an_agent() {
        let root = tempfile::tempdir().unwrap();
        let (state, session) = (StateDir::for_project(root.path()), SessionId::new("s").unwrap());
        let befores = OriginalStore::for_session(&state, &session);
        let (path, agent) = (Path::new("/r/a.py"), AgentId::new("a1"));
        assert_eq!(befores.at_last_report(path, None), None);
        befores.save_first(path, None, &text("one")).unwrap();
        befores.save_first(path, None, &text("two")).unwrap();
        befores.save_first(path, agent.as_ref(), &text("three\n")).unwrap();
        assert_eq!(befores.at_last_report(path, None), Some(text("one")));
        assert_eq!(befores.at_last_report(path, agent.as_ref()), Some(text("three\n")));
        befores.clear_reported(path, None).unwrap();
        assert_eq!(
            befores.at_last_report(path, None),
            Some(OriginalContent::Absent),
            "as it was at the report"
        );
        befores.save_first(path, None, &text("four")).unwrap();
        assert_eq!(befores.at_last_report(path, None), Some(text("four")));
        assert_eq!(befores.at_session_start(path), Some(text("one")));
        befores.remove_session().unwrap();
        assert_eq!(befores.at_session_start(path), None);
    }

    #[test]
    fn event_after_an_unknown_change_does_not_reveal_the_original() {
        let root = tempfile::tempdir().unwrap();
        let (state, session) = (StateDir::for_project(root.path()), SessionId::new("s").unwrap());
        let befores = OriginalStore::for_session(&state, &session);
        let path = root.path().join("a.py");
        befores.keep_unknown(&path, None).unwrap();
        befores.save_first(&path, None, &text("later")).unwrap();
        assert_eq!((befores.at_last_report(&path, None), befores.at_session_start(&path)), (None, None));
    }

    #[test]
    fn a_report_and_the_start_of_the_session_are_saved() {
        let root = tempfile::tempdir().unwrap();
        let (state, session) = (StateDir::for_project(root.path()), SessionId::new("s").unwrap());
        let befores = OriginalStore::for_session(&state, &session);
        let path = root.path().join("a.py");
        fs::write(&path, "one").unwrap();
        befores.clear_reported(&path, None).unwrap();
        fs::write(&path, "two").unwrap();
        assert_eq!(befores.at_last_report(&path, AgentId::new("a1").as_ref()), Some(text("one")));
        assert_eq!(befores.base(), None);
        let base = SessionBase {
            commit: Some("c".to_owned()),
            contents: [("a.py".to_owned(), "zero".to_owned())].into(),
            is_complete: true,
            ..SessionBase::default()
        };
        befores.begin(&base).unwrap();
        assert_eq!(befores.base(), Some(base));
    }

    #[test]
    fn distinguishes_absent_from_unknown_original() {
        let root = tempfile::tempdir().unwrap();
        let (state, session) = (StateDir::for_project(root.path()), SessionId::new("s").unwrap());
        let befores = OriginalStore::for_session(&state, &session);
        befores.save_first(Path::new("/r/new"), None, &OriginalContent::Absent).unwrap();
        assert_eq!(befores.at_session_start(Path::new("/r/new")), Some(OriginalContent::Absent));
        befores.save_first(Path::new("/r/large"), None, &text(&"x".repeat(MAX_BYTES + 1))).unwrap();
        assert_eq!(befores.at_session_start(Path::new("/r/large")), None);
    }

    #[test]
    fn a_content_whose_writer_was_killed_is_unknown() {
        let root = tempfile::tempdir().unwrap();
        let (state, session) = (StateDir::for_project(root.path()), SessionId::new("s").unwrap());
        let befores = OriginalStore::for_session(&state, &session);
        let path = Path::new("/r/a");
        befores.save_first(path, None, &text("whole content")).unwrap();
        let file = befores.session_file(path);
        let length = fs::metadata(&file).unwrap().len();
        File::options().write(true).open(&file).unwrap().set_len(length - 3).unwrap();
        assert_eq!(befores.at_session_start(path), None);
    }
}
