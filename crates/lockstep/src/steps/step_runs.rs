//! Maps agents of a session to steps, by the prompts that the agents got. The data is in small files below
//! the state directory: a session without steps costs one check.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use lockstep_fs::write_atomically;
use lockstep_model::ids::{AgentId, SessionId};
use lockstep_steps::markers::Dialect;
use lockstep_store::{StateDir, StoreError, append_once};
use lockstep_wire::claude::transcript;
use serde::{Deserialize, Serialize};

use super::{StepContext, StepsResult};

/// An invocation that passed gate 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RecordedInvocation {
    /// The step file its markers name.
    pub(crate) step_file: Option<String>,
    /// The maximum number of turns.
    pub(crate) budget: Option<u64>,
    /// Set if its command needs no step, and it names none. Then its end is not judged.
    #[serde(default)]
    pub(crate) stepless: bool,
}

#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct StepRun {
    /// The step file its prompt names.
    pub(crate) step_file: Option<String>,
    /// The maximum number of turns.
    pub(crate) budget: Option<u64>,
    /// Set if the agent was already asked to fix its step.
    pub(crate) asked: bool,
    /// Set if gate 2 has made its final decision. The step is judged again while it is the agent's latest.
    pub(crate) ended: bool,
}

/// The steps of one agent, in the order of its prompts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct AgentRuns {
    /// The prompts with markers that were read.
    prompts: usize,
    /// The invocations that had passed gate 1 when they were read.
    invocations: usize,
    runs: Vec<StepRun>,
}

impl AgentRuns {
    /// The steps that the agent works at: the latest, and those before it that did not end.
    fn open(self) -> Vec<StepRun> {
        let latest = self.runs.len().saturating_sub(1);
        let open = |(at, run): (usize, StepRun)| (at == latest || !run.ended).then_some(run);
        self.runs.into_iter().enumerate().filter_map(open).collect()
    }

    fn begin(&mut self, run: StepRun) {
        self.runs.retain(|other| other.step_file != run.step_file);
        self.runs.push(run);
    }
}

/// The file with the invocations of a session that passed gate 1.
const INVOCATIONS: &str = "invocations";

#[derive(Debug)]
pub(crate) struct SessionRuns<'a> {
    state: &'a StateDir,
    session: &'a SessionId,
}

impl<'a> SessionRuns<'a> {
    pub(crate) fn of(state: &'a StateDir, session: &'a SessionId) -> Self {
        Self { state, session }
    }

    fn dir(&self) -> PathBuf {
        self.state.path().join("steps").join("sessions").join(self.session.as_str())
    }

    /// Returns true if any invocation of the session passed gate 1. Costs one check.
    pub(crate) fn are_there(&self) -> bool {
        self.dir().is_dir()
    }

    fn ensure(&self) -> Result<(), StoreError> {
        self.state.ensure_dir("steps")?;
        self.state.ensure_dir("steps/sessions")?;
        self.state.ensure_dir(&format!("steps/sessions/{}", self.session)).map(drop)
    }

    pub(crate) fn note(&self, invocation: &RecordedInvocation) -> Result<(), StoreError> {
        self.ensure()?;
        let line = serde_json::to_string(invocation).expect("an invocation is plain text") + "\n";
        append_once(&self.dir().join(INVOCATIONS), line.as_bytes()).map(drop)
    }

    fn invocations(&self) -> Vec<RecordedInvocation> {
        let text = lockstep_fs::read_to_string(self.dir().join(INVOCATIONS)).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// Returns the steps of an agent; none for an agent without a step. `own` is its transcript. It is read
    /// again if `refresh` is set or an invocation has passed gate 1 since: a message may have assigned
    /// another step to the agent.
    pub(crate) fn of_agent(
        &self,
        agent: &AgentId,
        own: Option<&Path>,
        refresh: bool,
        steps: &StepContext<'_>,
    ) -> StepsResult<Vec<StepRun>> {
        let stored = self.kept(agent);
        let invocations = self.invocations();
        if *agent == AgentId::unnamed() && own.and_then(read_transcript).is_none() {
            return Ok(self.run_of_unknown_agent(agent));
        }
        if let Some(stored) =
            stored.as_ref().filter(|stored| !refresh && stored.invocations == invocations.len())
        {
            return Ok(stored.clone().open());
        }
        // The client may write the transcript later than it reports the agent's end.
        let Some(transcript) = own.and_then(read_transcript).filter(|text| has_prompts(text)) else {
            let only = || single_run(&self.unclaimed(invocations)).into_iter().collect();
            return Ok(stored.map_or_else(only, AgentRuns::open));
        };
        let mut found = stored.clone().unwrap_or_default();
        found.invocations = invocations.len();
        let marked = transcript::prompts(&transcript)
            .map(|prompt| (steps.markers(&prompt), prompt))
            .filter(|(markers, _)| markers.validation_required && markers.dialect() == Dialect::Steps);
        for (markers, prompt) in marked.skip(found.prompts).collect::<Vec<_>>() {
            found.prompts += 1;
            if let Some(run) = steps.run_of(&prompt, &markers)? {
                found.begin(run);
            }
        }
        if stored.as_ref() != Some(&found) && (self.are_there() || !found.runs.is_empty()) {
            // It is also recorded that an agent runs no step, because this is checked before every write.
            self.put(agent, &found)?;
        }
        Ok(found.open())
    }

    /// Returns the invocations that are not known to belong to another agent. Each agent that runs a step
    /// accounts for one invocation of it.
    fn unclaimed(&self, mut invocations: Vec<RecordedInvocation>) -> Vec<RecordedInvocation> {
        let files = fs::read_dir(self.dir()).into_iter().flatten().flatten();
        let agents = files.filter(|file| file.file_name() != INVOCATIONS);
        for run in agents.filter_map(|file| read_runs(&file.path())).flat_map(|agent| agent.runs) {
            let claimed = |invocation: &RecordedInvocation| invocation.step_file == run.step_file;
            if let Some(at) = invocations.iter().position(claimed) {
                invocations.remove(at);
            }
        }
        invocations
    }

    /// Returns the runs if the client does not identify the stopping agent: the only possible invocation. It
    /// is stored under `name`.
    pub(crate) fn run_of_unknown_agent(&self, name: &AgentId) -> Vec<StepRun> {
        let only = || single_run(&self.invocations()).into_iter().collect();
        self.kept(name).map_or_else(only, AgentRuns::open)
    }

    fn kept(&self, agent: &AgentId) -> Option<AgentRuns> {
        read_runs(&self.file(agent))
    }

    /// Saves the decision of gate 2 about a step of an agent.
    pub(crate) fn keep(&self, agent: &AgentId, run: &StepRun) -> Result<(), StoreError> {
        let mut stored = self.kept(agent).unwrap_or_default();
        match stored.runs.iter_mut().find(|other| other.step_file == run.step_file) {
            Some(other) => other.clone_from(run),
            None => stored.runs.push(run.clone()),
        }
        self.put(agent, &stored)
    }

    fn put(&self, agent: &AgentId, runs: &AgentRuns) -> Result<(), StoreError> {
        self.ensure()?;
        let text = serde_json::to_string(runs).expect("runs are plain text");
        Ok(write_atomically(&self.file(agent), text.as_bytes(), 0o600)?)
    }

    /// Returns the file of an agent. The id is untrusted, so its hash is the name.
    fn file(&self, agent: &AgentId) -> PathBuf {
        self.dir().join(&blake3::hash(agent.as_str().as_bytes()).to_hex()[..32])
    }

    pub(crate) fn forget(&self) {
        // A missing directory is fine. If it cannot be removed, a few small unused files remain.
        let _ = fs::remove_dir_all(self.dir());
    }
}

impl RecordedInvocation {
    pub(crate) fn run(&self) -> Option<StepRun> {
        (!self.stepless).then(|| StepRun::new(self.step_file.clone(), self.budget))
    }
}

impl StepRun {
    pub(crate) fn new(step_file: Option<String>, budget: Option<u64>) -> Self {
        Self { step_file, budget, asked: false, ended: false }
    }
}

fn read_runs(path: &Path) -> Option<AgentRuns> {
    serde_json::from_str(&lockstep_fs::read_to_string(path).ok()?).ok()
}

/// Returns true if a transcript has at least the prompt that started its agent.
fn has_prompts(transcript: &[u8]) -> bool {
    transcript::prompts(transcript).next().is_some()
}

/// The run of the only step that was invoked.
fn single_run(invocations: &[RecordedInvocation]) -> Option<StepRun> {
    let (first, rest) = invocations.split_first()?;
    let same = rest.iter().all(|other| other.step_file == first.step_file);
    first.run().filter(|_| same)
}

/// The most of a transcript that is read.
const MAX_TRANSCRIPT: u64 = 64 << 20;

/// Reads an agent's transcript.
pub(crate) fn read_transcript(path: &Path) -> Option<Vec<u8>> {
    let file = lockstep_fs::open(locate_transcript(path)?).ok()?;
    let size = file.metadata().ok()?.len().min(MAX_TRANSCRIPT);
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default() + 1);
    file.take(MAX_TRANSCRIPT).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Finds an agent's transcript. Those of a workflow's agents lie in a directory of the workflow, which tool events do not name.
fn locate_transcript(path: &Path) -> Option<PathBuf> {
    if path.exists() {
        return Some(path.to_owned());
    }
    let (folder, name) = (path.parent()?, path.file_name()?);
    let workflows = fs::read_dir(folder.join("workflows")).ok()?;
    workflows.flatten().map(|workflow| workflow.path().join(name)).find(|path| path.exists())
}
