//! The agent behind a call of Lockstep in a shell. The hook sees the agent and the command before it runs; the process sees neither.
//!
//! Before a shell command that shows such a call, the hook notes the agent, in a small file for each tool call. The process finds the note by its
//! session, its verb and its arguments. After the command the note is removed. A call that no hook saw has an unknown caller.

use std::fs;
use std::path::PathBuf;

use jiff::{SignedDuration, Timestamp};
use lockstep_fs::write_atomically;
use lockstep_model::ids::SessionId;
use lockstep_steps::commit_detection::OwnCall;
use lockstep_store::{StateDir, StoreError};
use serde::{Deserialize, Serialize};

use crate::env_vars::{CLAUDE_CODE_SESSION_ID, CLAUDECODE};

/// The lifetime of a note whose command never ended. No client allows a command to run longer.
const LIFETIME: SignedDuration = SignedDuration::from_mins(30);

/// An agent that a hook saw. Without an id it is the Lead.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct SeenAgent {
    pub(crate) agent_id: Option<String>,
    pub(crate) agent_type: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Caller {
    /// No client runs it: a person at the command line.
    Person,
    /// A hook saw the caller.
    Seen(SeenAgent),
    /// A client runs it, and no hook saw the call.
    Unknown,
}

#[derive(Debug, Serialize, Deserialize)]
struct Note {
    at: Timestamp,
    agent: SeenAgent,
    calls: Vec<NotedCall>,
}

#[derive(Debug, Serialize, Deserialize)]
struct NotedCall {
    verb: String,
    words: Option<Vec<String>>,
}

/// The notes of one session.
#[derive(Debug)]
pub(crate) struct Callers<'a> {
    state: &'a StateDir,
    session: &'a SessionId,
}

impl<'a> Callers<'a> {
    pub(crate) fn of(state: &'a StateDir, session: &'a SessionId) -> Self {
        Self { state, session }
    }

    fn dir(&self) -> PathBuf {
        self.state.path().join("callers").join(self.session.as_str())
    }

    /// Returns the file of a tool call. The id is untrusted, so its hash is the name.
    fn file(&self, tool_call: &str) -> PathBuf {
        self.dir().join(&blake3::hash(tool_call.as_bytes()).to_hex()[..32])
    }

    /// Records the caller of these calls.
    pub(crate) fn note(
        &self,
        tool_call: &str,
        agent: SeenAgent,
        calls: &[OwnCall],
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let noted = |call: &OwnCall| NotedCall { verb: call.verb.clone(), words: call.words.clone() };
        let note = Note { at, agent, calls: calls.iter().map(noted).collect() };
        self.state.ensure_dir("callers")?;
        self.state.ensure_dir(&format!("callers/{}", self.session))?;
        let text = serde_json::to_string(&note).expect("a note is plain text");
        Ok(write_atomically(&self.file(tool_call), text.as_bytes(), 0o600)?)
    }

    /// The command has ended.
    pub(crate) fn remove(&self, tool_call: &str) {
        // A note that stays expires.
        let _ = fs::remove_file(self.file(tool_call));
    }

    /// The session has ended.
    pub(crate) fn forget(&self) {
        let _ = fs::remove_dir_all(self.dir());
    }

    /// Returns the agent whose command calls this verb now. `None` if no hook saw the call, or if several
    /// agents make it at the same time with the same arguments.
    fn find(&self, verb: &str, arguments: &[String], now: Timestamp) -> Option<SeenAgent> {
        let read =
            |path: PathBuf| serde_json::from_str::<Note>(&lockstep_fs::read_to_string(path).ok()?).ok();
        let notes =
            fs::read_dir(self.dir()).into_iter().flatten().flatten().filter_map(|entry| read(entry.path()));
        let (mut exact, mut alike) = (Vec::new(), Vec::new());
        for note in notes.filter(|note| now.duration_since(note.at) < LIFETIME) {
            let calls = || note.calls.iter().filter(|call| call.verb == verb);
            if calls().any(|call| call.words.as_deref() == Some(arguments)) {
                exact.push(note.agent);
            } else if calls().next().is_some() {
                alike.push(note.agent);
            }
        }
        let mut agents = if exact.is_empty() { alike } else { exact };
        agents.sort();
        agents.dedup();
        agents.pop().filter(|_| agents.is_empty())
    }
}

/// Returns the principal that runs this process, for a verb such as `task update`.
pub(crate) fn caller(state: &StateDir, verb: &str, now: Timestamp) -> Caller {
    let session = CLAUDE_CODE_SESSION_ID.get();
    if session.is_none() && CLAUDECODE.get().is_none() {
        return Caller::Person;
    }
    let session = session.and_then(|id| SessionId::new(id.to_str()?).ok());
    let arguments: Option<Vec<String>> =
        std::env::args_os().skip(1).map(|argument| argument.into_string().ok()).collect();
    let seen = session.zip(arguments);
    let seen = seen.and_then(|(session, arguments)| Callers::of(state, &session).find(verb, &arguments, now));
    seen.map_or(Caller::Unknown, Caller::Seen)
}

#[cfg(test)]
mod tests {
    use lockstep_steps::commit_detection::own_calls;

    use super::*;

    fn agent(id: &str, agent_type: &str) -> SeenAgent {
        SeenAgent { agent_id: Some(id.to_owned()), agent_type: Some(agent_type.to_owned()) }
    }

    #[test]
    fn a_caller_is_found_by_verb_and_arguments_until_its_command_ends() {
        let root = tempfile::tempdir().unwrap();
        let (state, session) = (StateDir::for_project(root.path()), SessionId::new("s1").unwrap());
        let callers = Callers::of(&state, &session);
        let now: Timestamp = "2026-02-14T06:30:42Z".parse().unwrap();
        let lead = SeenAgent { agent_id: None, agent_type: None };
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let note = |id: &str, agent: SeenAgent, command: &str| {
            callers.note(id, agent, &own_calls(command), now).unwrap();
        };
        assert_eq!(callers.find("task update", &words("task update a"), now), None);
        note("t1", lead.clone(), "lockstep task update a");
        assert_eq!(callers.find("task update", &words("task update other"), now), Some(lead.clone()));
        assert_eq!(callers.find("task new", &words("task new"), now), None);
        note("t2", agent("m1", "pt-manager"), "lockstep task update b");
        assert_eq!(
            callers.find("task update", &words("task update b"), now),
            Some(agent("m1", "pt-manager"))
        );
        assert_eq!(callers.find("task update", &words("task update c"), now), None, "either could be meant");
        callers.remove("t1");
        assert_eq!(
            callers.find("task update", &words("task update c"), now),
            Some(agent("m1", "pt-manager"))
        );
        assert_eq!(
            callers.find("task update", &words("task update b"), now + LIFETIME),
            None,
            "it has expired"
        );
        callers.forget();
        assert_eq!(callers.find("task update", &words("task update b"), now), None);
    }
}
