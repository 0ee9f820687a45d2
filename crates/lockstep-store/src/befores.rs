//! Befores: what files were before a session's agents changed them, as the client told it. A report compares with them.
//!
//! One small file per changed file, kept with one write: hooks do it for every edit. What is missing or damaged is unknown, never
//! guessed.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use lockstep_model::event::Former;
use lockstep_model::ids::{AgentId, SessionId};
use rustix::fs::OFlags;

use crate::{StateDir, StoreError};

/// Larger contents are not kept: nobody analyses them.
const MAX_BYTES: usize = 1 << 20;

/// The contents that files had before a session changed them: before its first change of each, and before each agent's first
/// change since that agent was last reported.
#[derive(Debug)]
pub struct Befores<'a> {
    state: &'a StateDir,
    session: &'a SessionId,
}

impl<'a> Befores<'a> {
    /// Those of a session.
    pub fn of(state: &'a StateDir, session: &'a SessionId) -> Self {
        Self { state, session }
    }

    /// Keeps what the file at `path` was before an agent (`None` is the Lead) changed it, if nothing is kept yet.
    pub fn keep(&self, path: &Path, agent: Option<&AgentId>, former: &Former) -> Result<(), StoreError> {
        let content = match former {
            Former::Absent => None,
            Former::Text(text) if text.len() > MAX_BYTES => return Ok(()),
            Former::Text(text) => Some(text.as_str()),
        };
        for file in [self.of_session(path), self.of_agent(path, agent)] {
            write_new(self.state, self.session, &file, content)?;
        }
        Ok(())
    }

    /// What the file was before the agent changed it first since it was last reported; `None` where that is not known.
    pub fn since_report(&self, path: &Path, agent: Option<&AgentId>) -> Option<Former> {
        read(&self.of_agent(path, agent))
    }

    /// What the file was before the session changed it first; `None` where that is not known.
    pub fn since_start(&self, path: &Path) -> Option<Former> {
        read(&self.of_session(path))
    }

    /// Takes the agent's change of the file for reported. A process that dies before leaves an older content to compare with, which
    /// reports too much rather than too little.
    pub fn reported(&self, path: &Path, agent: Option<&AgentId>) -> Result<(), StoreError> {
        let file = self.of_agent(path, agent);
        match fs::remove_file(&file) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(StoreError::io("remove", &file)(error)),
            _ => Ok(()),
        }
    }

    /// Forgets the session's.
    pub fn forget(&self) -> Result<(), StoreError> {
        let directory = self.directory();
        match fs::remove_dir_all(&directory) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(StoreError::io("remove", &directory)(error))
            }
            _ => Ok(()),
        }
    }

    fn directory(&self) -> PathBuf {
        self.state.path().join("befores").join(self.session.as_str())
    }

    fn of_session(&self, path: &Path) -> PathBuf {
        self.directory().join(format!("{}.first", digest(path)))
    }

    fn of_agent(&self, path: &Path, agent: Option<&AgentId>) -> PathBuf {
        let agent = agent.map_or("lead", AgentId::as_str);
        self.directory().join(format!("{}.{}", digest(path), digest(Path::new(agent))))
    }
}

/// A name for a name from outside.
fn digest(name: &Path) -> String {
    blake3::hash(name.as_os_str().as_bytes()).to_hex()[..24].to_owned()
}

/// Writes a file that must not exist. False where it does.
fn write_new(
    state: &StateDir,
    session: &SessionId,
    path: &Path,
    content: Option<&str>,
) -> Result<bool, StoreError> {
    let open = || {
        OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .custom_flags((OFlags::NOFOLLOW | OFlags::CLOEXEC).bits().cast_signed())
            .open(path)
    };
    let mut opened = open();
    // Another one that ends the session may take the directory away again.
    for _ in 0..3 {
        if opened.as_ref().is_err_and(|error| error.kind() == ErrorKind::NotFound) {
            state.ensure(&format!("befores/{session}"))?;
            opened = open();
        }
    }
    let mut file = match opened {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(false),
        Err(error) => return Err(StoreError::io("create", path)(error)),
    };
    // The length tells a whole content from one whose writer was killed.
    let bytes = match content {
        Some(text) => format!("text {}\n{text}", text.len()),
        None => "absent\n".to_owned(),
    };
    file.write_all(bytes.as_bytes()).map_err(StoreError::io("write", path))?;
    Ok(true)
}

fn read(path: &Path) -> Option<Former> {
    let mut text = String::new();
    File::open(path).ok()?.read_to_string(&mut text).ok()?;
    let (header, content) = text.split_once('\n')?;
    if header == "absent" {
        return Some(Former::Absent);
    }
    let length: usize = header.strip_prefix("text ")?.parse().ok()?;
    (content.len() == length).then(|| Former::Text(content.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Former {
        Former::Text(text.to_owned())
    }

    #[test]
    fn the_first_content_counts_for_the_session_and_until_a_report_for_an_agent() {
        let root = tempfile::tempdir().unwrap();
        let (state, session) = (StateDir::of(root.path()), SessionId::new("s").unwrap());
        let befores = Befores::of(&state, &session);
        let (path, agent) = (Path::new("/r/a.py"), AgentId::new("a1"));
        assert_eq!(befores.since_report(path, None), None);
        befores.keep(path, None, &text("one")).unwrap();
        befores.keep(path, None, &text("two")).unwrap();
        befores.keep(path, agent.as_ref(), &text("three\n")).unwrap();
        assert_eq!(befores.since_report(path, None), Some(text("one")));
        assert_eq!(befores.since_report(path, agent.as_ref()), Some(text("three\n")));
        befores.reported(path, None).unwrap();
        assert_eq!(befores.since_report(path, None), None);
        befores.keep(path, None, &text("four")).unwrap();
        assert_eq!(befores.since_report(path, None), Some(text("four")));
        assert_eq!(befores.since_start(path), Some(text("one")));
        befores.forget().unwrap();
        assert_eq!(befores.since_start(path), None);
    }

    #[test]
    fn what_did_not_exist_is_told_from_what_is_unknown() {
        let root = tempfile::tempdir().unwrap();
        let (state, session) = (StateDir::of(root.path()), SessionId::new("s").unwrap());
        let befores = Befores::of(&state, &session);
        befores.keep(Path::new("/r/new"), None, &Former::Absent).unwrap();
        assert_eq!(befores.since_start(Path::new("/r/new")), Some(Former::Absent));
        befores.keep(Path::new("/r/large"), None, &text(&"x".repeat(MAX_BYTES + 1))).unwrap();
        assert_eq!(befores.since_start(Path::new("/r/large")), None);
    }

    #[test]
    fn a_content_whose_writer_was_killed_is_unknown() {
        let root = tempfile::tempdir().unwrap();
        let (state, session) = (StateDir::of(root.path()), SessionId::new("s").unwrap());
        let befores = Befores::of(&state, &session);
        let path = Path::new("/r/a");
        befores.keep(path, None, &text("whole content")).unwrap();
        let file = befores.of_session(path);
        let length = fs::metadata(&file).unwrap().len();
        File::options().write(true).open(&file).unwrap().set_len(length - 3).unwrap();
        assert_eq!(befores.since_start(path), None);
    }
}
