//! Which agent of a session runs which step: recorded when the invocation passes gate 1, and found again by the prompt the agent was
//! given. Small files below the state directory: a session without steps costs one look.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use lockstep_model::ids::{AgentId, SessionId};
use lockstep_steps::markers::{self, Dialect, MarkerNames};
use lockstep_store::{StateDir, StoreError, append_once, write_atomically};
use lockstep_wire::claude::transcript;
use serde::{Deserialize, Serialize};

/// An invocation that passed gate 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Invocation {
    /// The BLAKE3 hash of its prompt.
    pub(crate) prompt: String,
    /// The step file its markers name.
    pub(crate) step_file: Option<String>,
    /// The turns it was given.
    pub(crate) budget: Option<u64>,
    /// Whether its command needs no step, and it names none: then its end is not judged.
    #[serde(default)]
    pub(crate) stepless: bool,
}

/// An agent that runs a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Run {
    /// The step file its prompt names.
    pub(crate) step_file: Option<String>,
    /// The turns it was given.
    pub(crate) budget: Option<u64>,
    /// Whether it was asked to mend its step already.
    #[serde(default)]
    pub(crate) asked: bool,
}

/// The runs of one session.
#[derive(Debug)]
pub(crate) struct Runs<'a> {
    state: &'a StateDir,
    session: &'a SessionId,
}

impl<'a> Runs<'a> {
    pub(crate) fn of(state: &'a StateDir, session: &'a SessionId) -> Self {
        Self { state, session }
    }

    fn dir(&self) -> PathBuf {
        self.state.path().join("steps").join("sessions").join(self.session.as_str())
    }

    /// Whether any invocation of the session passed gate 1. Costs one look.
    pub(crate) fn are_there(&self) -> bool {
        self.dir().is_dir()
    }

    fn ensure(&self) -> Result<(), StoreError> {
        self.state.ensure("steps")?;
        self.state.ensure("steps/sessions")?;
        self.state.ensure(&format!("steps/sessions/{}", self.session)).map(drop)
    }

    /// Remembers an invocation.
    pub(crate) fn note(&self, invocation: &Invocation) -> Result<(), StoreError> {
        self.ensure()?;
        let line = serde_json::to_string(invocation).expect("an invocation is plain text") + "\n";
        append_once(&self.dir().join("invocations"), line.as_bytes()).map(drop)
    }

    fn invocations(&self) -> Vec<Invocation> {
        let text = fs::read_to_string(self.dir().join("invocations")).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// What an agent runs; `None` for an agent without a step. `own` is its transcript.
    pub(crate) fn of_agent(
        &self,
        agent: &AgentId,
        own: Option<&Path>,
        names: &MarkerNames,
    ) -> Result<Option<Run>, StoreError> {
        if let Some(kept) = self.kept(agent) {
            return Ok(kept);
        }
        let invocations = self.invocations();
        let Some(prompt) = own.and_then(first_prompt) else {
            // Its prompt cannot be seen. Where only one invocation can be meant, it is that one.
            return Ok(only(&invocations));
        };
        let digest = digest(&prompt);
        let known = invocations.iter().rev().find(|invocation| invocation.prompt == digest);
        let run = match known {
            Some(known) => known.run(),
            None => {
                // An invocation nobody saw: what its own prompt says counts.
                let markers = markers::read_with(&prompt, names);
                let is_step = markers.validation_required && markers.dialect() == Dialect::Steps;
                is_step.then(|| Run::new(markers.step_file, None))
            }
        };
        if self.are_there() || run.is_some() {
            // That it runs no step is worth remembering too: it is asked before every write.
            self.put(agent, run.as_ref())?;
        }
        Ok(run)
    }

    /// What runs where the client does not say who stops: the only invocation there can be. It is kept under `name`.
    pub(crate) fn of_anyone(&self, name: &AgentId) -> Option<Run> {
        self.kept(name).flatten().or_else(|| only(&self.invocations()))
    }

    fn kept(&self, agent: &AgentId) -> Option<Option<Run>> {
        serde_json::from_str(&fs::read_to_string(self.file(agent)).ok()?).ok()
    }

    /// Remembers what an agent runs.
    pub(crate) fn keep(&self, agent: &AgentId, run: &Run) -> Result<(), StoreError> {
        self.put(agent, Some(run))
    }

    fn put(&self, agent: &AgentId, run: Option<&Run>) -> Result<(), StoreError> {
        self.ensure()?;
        let text = serde_json::to_string(&run).expect("a run is plain text");
        write_atomically(&self.file(agent), text.as_bytes(), 0o600)
    }

    /// An agent's id comes from outside: its hash is the name.
    fn file(&self, agent: &AgentId) -> PathBuf {
        self.dir().join(&blake3::hash(agent.as_str().as_bytes()).to_hex()[..32])
    }

    /// Forgets the session.
    pub(crate) fn forget(&self) {
        // Nothing there is fine; what stays is a few small files that nobody asks about again.
        let _ = fs::remove_dir_all(self.dir());
    }
}

impl Invocation {
    fn run(&self) -> Option<Run> {
        (!self.stepless).then(|| Run::new(self.step_file.clone(), self.budget))
    }
}

impl Run {
    pub(crate) fn new(step_file: Option<String>, budget: Option<u64>) -> Self {
        Self { step_file, budget, asked: false }
    }
}

/// The run of the only step that was invoked.
fn only(invocations: &[Invocation]) -> Option<Run> {
    let (first, rest) = invocations.split_first()?;
    let same = rest.iter().all(|other| other.step_file == first.step_file);
    first.run().filter(|_| same)
}

/// The digest a prompt is found by.
pub(crate) fn digest(prompt: &str) -> String {
    blake3::hash(prompt.as_bytes()).to_hex().to_string()
}

/// How far into a transcript its prompt is looked for. The first lines may be about other things.
const LINES: usize = 20;

/// The longest line that is read.
const MAX_LINE: u64 = 8 << 20;

/// The prompt at the beginning of an agent's transcript.
fn first_prompt(path: &Path) -> Option<String> {
    let mut reader = BufReader::new(fs::File::open(path).ok()?);
    for _ in 0..LINES {
        let mut line = Vec::new();
        if reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut line).ok()? == 0 {
            return None;
        }
        if let Some(prompt) = transcript::first_prompt(&line) {
            return Some(prompt);
        }
    }
    None
}
