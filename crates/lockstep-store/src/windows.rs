//! The windows of a session's shell commands: an empty file each, named after the call and its agent.
//!
//! The file's modification time is the start of the command; the status time of a closed window is its end.
//! Both come from the clock that stamps the files that the command changes, so they can be compared exactly.
//!
//! A file tool has a window too, for its file alone: until its event is journaled, a sweep ignores the file.
//!
//! A closed window stays as long as an overlapping command runs: a change that this command reports late may
//! have been made in either of them.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lockstep_fs::FileStamp;
use lockstep_model::ids::{AgentId, SessionId};

use crate::{StateDir, StoreError, StoreResult};

/// The Lead in the name of a file. An agent's id cannot be this text.
const LEAD: &str = "-";

/// The last part of the name of a closed window. The hash of a background task cannot be this text.
const CLOSED: &str = "closed";

/// The prefix of the last part in the name of a file tool's window; the hash of the path follows.
const EDIT: &str = "edit-";

/// An older window of a file tool is ignored: the tool has failed, which no event reports, or it waits for a permission.
const MAX_EDIT_AGE: Duration = Duration::from_secs(60);

/// The windows of a session's shell commands.
#[derive(Debug)]
pub struct Windows<'a> {
    state: &'a StateDir,
    session: &'a SessionId,
}

/// The window of a shell command, in nanoseconds since 1970.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// `None` is the Lead.
    pub agent: Option<AgentId>,
    pub start: i64,
    /// The end of the command; `None` while it runs.
    pub end: Option<i64>,
}

/// The files that file tools are writing.
#[derive(Debug, Default)]
pub struct PendingEdits(HashSet<String>);

impl PendingEdits {
    /// Returns true if a tool is writing this file.
    pub fn contains(&self, path: &Path) -> bool {
        !self.0.is_empty() && self.0.contains(&digest_of_path(path))
    }
}

impl Window {
    /// Returns true if a closed window overlaps with this one, which is open.
    fn overlaps(&self, closed: &Self) -> bool {
        self.end.is_none() && closed.end.is_some_and(|end| self.start <= end)
    }
}

impl<'a> Windows<'a> {
    pub fn of(state: &'a StateDir, session: &'a SessionId) -> Self {
        Self { state, session }
    }

    /// Records that a command starts. Does nothing in a project without a session.
    pub fn open(&self, call: &str, agent: Option<&AgentId>) -> StoreResult {
        self.create(&self.path(call, agent, ""))
    }

    /// Notes that a file tool is about to write a file.
    pub fn open_edit(&self, call: &str, agent: Option<&AgentId>, path: &Path) -> StoreResult {
        self.create(&self.edit_path(call, agent, path))
    }

    /// Notes that the change of a file tool is journaled.
    pub fn close_edit(&self, call: &str, agent: Option<&AgentId>, path: &Path) {
        // The start may not have been recorded.
        let _ = fs::remove_file(self.edit_path(call, agent, path));
    }

    /// The files that tools of other agents, or of other sessions, are writing.
    pub fn edits_of_others(&self, agent: Option<&AgentId>) -> PendingEdits {
        let own = agent.map_or(LEAD, AgentId::as_str);
        let sessions = fs::read_dir(self.state.path().join("windows")).into_iter().flatten().flatten();
        let entries = sessions.flat_map(|session| {
            let is_own = session.file_name() == self.session.as_str();
            let entries = fs::read_dir(session.path()).into_iter().flatten().flatten();
            entries.map(move |entry| (is_own, entry))
        });
        let pending = entries.filter_map(|(is_own, entry)| {
            let name = entry.file_name().into_string().ok()?;
            let mut words = name.split(' ').skip(1);
            let (agent, path) = (words.next()?, words.next()?.strip_prefix(EDIT)?);
            let age = entry.metadata().ok()?.modified().ok()?.elapsed().unwrap_or_default();
            (age <= MAX_EDIT_AGE && !(is_own && agent == own)).then(|| path.to_owned())
        });
        PendingEdits(pending.collect())
    }

    fn create(&self, path: &Path) -> StoreResult {
        if !self.state.path().exists() {
            return Ok(());
        }
        self.state.ensure_dir(&format!("windows/{}", self.session))?;
        let created = lockstep_fs::open_to_write(path).and_then(|file| file.set_len(0));
        created.map_err(StoreError::io("create", path))
    }

    /// Records that a command has ended, or that it continues as this background task.
    pub fn close(&self, call: &str, agent: Option<&AgentId>, background: Option<&str>) -> StoreResult {
        let path = self.path(call, agent, "");
        let done = match background {
            Some(task) => fs::rename(&path, self.path(call, agent, &digest(task))),
            None => self.close_file(&path),
        };
        match done {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(StoreError::io("remove", &path)(error))
            }
            _ => Ok(()),
        }
    }

    /// Records that an agent has ended, and with it every command whose end was not seen. Background tasks
    /// continue.
    pub fn close_all(&self, agent: Option<&AgentId>) {
        let is_plain = |path: &Path| path.to_str().is_some_and(|name| name.ends_with(' '));
        self.close_those(|path, window| window.agent.as_ref() == agent && is_plain(path));
        let own = format!(" {} {EDIT}", agent.map_or(LEAD, AgentId::as_str));
        for entry in fs::read_dir(self.dir()).into_iter().flatten().flatten() {
            if entry.file_name().to_str().is_some_and(|name| name.contains(&own)) {
                // The window's own event may have removed it.
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    /// Returns true if a command runs as this background task.
    pub fn has_task(&self, task: &str) -> bool {
        self.entries().any(|(path, _)| is_of_task(&path, task))
    }

    /// Notes that a background task has ended.
    pub fn close_task(&self, task: &str) {
        self.close_those(|path, _| is_of_task(path, task));
    }

    fn close_those(&self, is_meant: impl Fn(&Path, &Window) -> bool) {
        for (path, window) in self.entries() {
            if is_meant(&path, &window) {
                // Another event may have closed it.
                let _ = self.close_file(&path);
            }
        }
    }

    /// Closes a window, and removes every closed one that overlaps with no open one.
    fn close_file(&self, path: &Path) -> io::Result<()> {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let call_and_agent: Vec<&str> = name.split(' ').take(2).collect();
        // The new name sets the status time.
        fs::rename(path, self.dir().join(format!("{} {CLOSED}", call_and_agent.join(" "))))?;
        let windows: Vec<(PathBuf, Window)> = self.entries().collect();
        for (path, closed) in windows.iter().filter(|(_, window)| window.end.is_some()) {
            if !windows.iter().any(|(_, open)| open.overlaps(closed)) {
                // Another event may have removed it.
                let _ = fs::remove_file(path);
            }
        }
        Ok(())
    }

    /// The open windows, and the closed ones that overlap with one of them.
    pub fn list(&self) -> Vec<Window> {
        self.entries().map(|(_, window)| window).collect()
    }

    pub fn forget(&self) {
        // Files that stay are never read again.
        let _ = fs::remove_dir_all(self.dir());
    }

    fn entries(&self) -> impl Iterator<Item = (PathBuf, Window)> {
        fs::read_dir(self.dir()).into_iter().flatten().flatten().filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let mut words = name.split(' ').skip(1);
            let (agent, end) = (AgentId::new(words.next()?), words.next()?);
            if end.starts_with(EDIT) {
                return None;
            }
            let stamp = FileStamp::from(&entry.metadata().ok()?);
            let end = (end == CLOSED).then_some(stamp.ctime);
            Some((entry.path(), Window { agent, start: stamp.mtime, end }))
        })
    }

    fn dir(&self) -> PathBuf {
        self.state.path().join("windows").join(self.session.as_str())
    }

    /// Returns the path of a window. The ids of calls and tasks are untrusted, so the name contains their
    /// hashes. `end` is the hash of the background task.
    fn path(&self, call: &str, agent: Option<&AgentId>, end: &str) -> PathBuf {
        self.dir().join(format!("{} {} {end}", digest(call), agent.map_or(LEAD, AgentId::as_str)))
    }

    fn edit_path(&self, call: &str, agent: Option<&AgentId>, path: &Path) -> PathBuf {
        self.path(call, agent, &format!("{EDIT}{}", digest_of_path(path)))
    }
}

/// Returns true if the window at `path` is that of a background task.
fn is_of_task(path: &Path, task: &str) -> bool {
    path.to_str().is_some_and(|name| name.ends_with(&format!(" {}", digest(task))))
}

fn digest_of_path(path: &Path) -> String {
    blake3::hash(path.as_os_str().as_encoded_bytes()).to_hex()[..16].to_owned()
}

fn digest(id: &str) -> String {
    blake3::hash(id.as_bytes()).to_hex()[..16].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_run_from_their_start_to_their_end() {
        let root = tempfile::tempdir().unwrap();
        let (state, session) = (StateDir::for_project(root.path()), SessionId::new("s").unwrap());
        let windows = Windows::of(&state, &session);
        windows.open("t0", None).unwrap();
        assert!(!state.path().exists());
        state.ensure_dir("").unwrap();
        let running = || {
            let open = windows.list().into_iter().filter(|window| window.end.is_none());
            let mut agents: Vec<_> = open.map(|window| window.agent.map(|id| id.to_string())).collect();
            agents.sort();
            agents
        };
        let a1 = AgentId::new("a1");
        assert!(running().is_empty());
        windows.close("t0", None, None).unwrap();
        windows.open("t1", None).unwrap();
        windows.open("t2", a1.as_ref()).unwrap();
        assert_eq!(running(), [None, Some("a1".to_owned())]);
        windows.close("t1", None, None).unwrap();
        assert_eq!(running(), [Some("a1".to_owned())]);
        windows.close("t2", a1.as_ref(), Some("b1")).unwrap();
        windows.open("../t3", a1.as_ref()).unwrap();
        windows.close_all(a1.as_ref());
        assert_eq!(running(), [Some("a1".to_owned())], "it runs in the background");
        assert!(windows.has_task("b1") && !windows.has_task("b2"));
        windows.close_task("b1");
        assert!(running().is_empty() && !windows.has_task("b1"));
        windows.open("t4", None).unwrap();
        windows.forget();
        assert!(running().is_empty());
    }

    #[test]
    fn a_closed_window_stays_while_a_command_runs_that_overlapped_with_it() {
        let root = tempfile::tempdir().unwrap();
        let (state, session) = (StateDir::for_project(root.path()), SessionId::new("s").unwrap());
        let windows = Windows::of(&state, &session);
        state.ensure_dir("").unwrap();
        let (a1, a2, a3) = (AgentId::new("a1"), AgentId::new("a2"), AgentId::new("a3"));
        let closed = || {
            let mut closed: Vec<Window> = windows.list();
            closed.retain(|window| window.end.is_some());
            closed.iter().map(|window| window.agent.clone()).collect::<Vec<_>>()
        };
        windows.open("t1", a1.as_ref()).unwrap();
        windows.open("t2", a2.as_ref()).unwrap();
        windows.close("t1", a1.as_ref(), None).unwrap();
        assert_eq!(closed(), [a1]);
        assert!(windows.list().iter().all(|window| window.end.is_none_or(|end| end >= window.start)));
        std::thread::sleep(Duration::from_millis(30));
        windows.open("t3", a3.as_ref()).unwrap();
        windows.close_all(a2.as_ref());
        assert_eq!(closed(), [a2], "the third command started after the end of the first");
        windows.close("t3", a3.as_ref(), None).unwrap();
        assert!(windows.list().is_empty());
    }

    #[test]
    fn edits_of_others_are_pending_until_they_are_journaled() {
        let root = tempfile::tempdir().unwrap();
        let (state, session) = (StateDir::for_project(root.path()), SessionId::new("s").unwrap());
        let other = SessionId::new("other").unwrap();
        let windows = Windows::of(&state, &session);
        state.ensure_dir("").unwrap();
        let (a1, path) = (AgentId::new("a1"), Path::new("/p/a.py"));
        windows.open_edit("t1", a1.as_ref(), path).unwrap();
        assert!(windows.list().is_empty(), "it is not a command");
        assert!(windows.edits_of_others(None).contains(path));
        assert!(!windows.edits_of_others(None).contains(Path::new("/p/b.py")));
        assert!(!windows.edits_of_others(a1.as_ref()).contains(path), "it is its own");
        assert!(Windows::of(&state, &other).edits_of_others(a1.as_ref()).contains(path));
        windows.close_edit("t1", a1.as_ref(), path);
        assert!(!windows.edits_of_others(None).contains(path));
        windows.open_edit("t2", a1.as_ref(), path).unwrap();
        windows.close_all(a1.as_ref());
        assert!(!windows.edits_of_others(None).contains(path));
    }

    #[test]
    fn a_file_that_is_written_later_is_not_older_than_the_start() {
        let root = tempfile::tempdir().unwrap();
        let (state, session) = (StateDir::for_project(root.path()), SessionId::new("s").unwrap());
        let windows = Windows::of(&state, &session);
        state.ensure_dir("").unwrap();
        for call in 0..50 {
            windows.open(&call.to_string(), None).unwrap();
            let file = root.path().join("f");
            fs::write(&file, "x").unwrap();
            let written = FileStamp::from(&fs::metadata(&file).unwrap()).ctime;
            assert!(windows.list().iter().all(|window| window.start <= written));
        }
    }
}
