//! `step-execution-fsm.yaml`: the two state machines of a step, its phase sets, and the reasons for which a
//! phase may be skipped.
//!
//! All of it is data. The states and phases that verbs and gates use by name must exist; a project may change
//! everything else. The file is validated when it is loaded, and all problems are reported at once.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::yaml;

/// The machines of the documents.
const BUILT_IN: &str = include_str!("../data/step-execution-fsm.json");

/// The states of a task that verbs and gates rely on.
pub const TASK_STATES: [&str; 5] = ["TODO", "IN_PROGRESS", "DONE", "FAILED", "PARTIAL"];

/// The states of a phase that verbs and gates rely on.
pub const PHASE_STATES: [&str; 5] = ["NOT_EXECUTED", "IN_PROGRESS", "EXECUTED", "SKIPPED", "FAILED"];

/// Both state machines with their phase sets and reasons.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepMachines {
    /// The states of a task; the first is where it begins.
    pub task: Vec<StateDef>,
    /// The states of a phase; the first is where it begins.
    pub phase: Vec<StateDef>,
    /// Beginnings of reasons with which a skipped phase lets a commit pass.
    pub allow_commit: Vec<String>,
    /// Beginnings of reasons with which a skipped phase blocks a commit.
    pub block_commit: Vec<String>,
    pub phase_sets: Vec<PhaseSet>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StateDef {
    #[serde(skip)]
    pub name: String,
    pub description: String,
    /// Set if no state follows.
    pub terminal: bool,
    /// The states that may follow.
    pub transitions: Vec<String>,
    /// The states that may follow where the reason blocks a commit.
    pub deferred_transitions: Vec<String>,
    /// Fields of a phase that must be filled in.
    pub requires: Vec<String>,
    blocked_by_prefixes: Option<SkipPrefixes>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct SkipPrefixes {
    allow_commit: Vec<String>,
    block_commit: Vec<String>,
}

/// The phases of a step, by name.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PhaseSet {
    #[serde(skip)]
    pub name: String,
    pub phases: Vec<String>,
    /// Set if a phase may only begin when all earlier phases are over.
    #[serde(default = "default_true")]
    pub ordered: bool,
}

fn default_true() -> bool {
    true
}

impl PhaseSet {
    /// The phase in which the commit is made. A commit requires the phases before it; in a set without it,
    /// all phases.
    pub const COMMIT: &'static str = "COMMIT";
}

/// Every reason why the machines cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.join("; "))]
pub struct MachineError(pub Vec<String>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MachineFile {
    #[serde(default, rename = "name")]
    _name: Option<String>,
    #[serde(default, rename = "version")]
    _version: Option<Value>,
    task_states: Option<Map<String, Value>>,
    phase_states: Option<Map<String, Value>>,
    phase_sets: Option<Map<String, Value>>,
}

impl StepMachines {
    /// The machines of the documents.
    pub fn built_in() -> Self {
        let (machine, problems) = Self::of(yaml::parse_bundled(BUILT_IN), None);
        assert!(problems.is_empty(), "the built-in machines are tested: {problems:?}");
        machine
    }

    /// Reads a project's machines. Anything that the file does not define has its default. Its phase sets are
    /// added to the built-in ones, and replace those of the same name.
    pub fn parse(text: &str) -> Result<Self, MachineError> {
        let file: MachineFile = yaml::read(text).map_err(|error| MachineError(vec![error]))?;
        let (machine, mut problems) = Self::of(file, Some(Self::built_in()));
        problems.extend(machine.problems());
        if problems.is_empty() { Ok(machine) } else { Err(MachineError(problems)) }
    }

    fn of(file: MachineFile, base: Option<Self>) -> (Self, Vec<String>) {
        let mut problems = Vec::new();
        let mut machine = base.unwrap_or(Self {
            task: Vec::new(),
            phase: Vec::new(),
            allow_commit: Vec::new(),
            block_commit: Vec::new(),
            phase_sets: Vec::new(),
        });
        if let Some(states) = file.task_states {
            machine.task = read_states("task_states", states, &mut problems);
        }
        if let Some(states) = file.phase_states {
            machine.phase = read_states("phase_states", states, &mut problems);
        }
        let prefixes = machine.phase.iter().find_map(|state| state.blocked_by_prefixes.clone());
        if let Some(SkipPrefixes { allow_commit, block_commit }) = prefixes {
            (machine.allow_commit, machine.block_commit) = (allow_commit, block_commit);
        }
        for (name, value) in file.phase_sets.unwrap_or_default() {
            match serde_json::from_value::<PhaseSet>(value) {
                Ok(set) => {
                    machine.phase_sets.retain(|other| other.name != name);
                    machine.phase_sets.push(PhaseSet { name, ..set });
                }
                Err(error) => problems.push(format!("phase_sets.{name}: {error}")),
            }
        }
        (machine, problems)
    }

    /// Returns all problems that make the machines unusable.
    fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        check_states("task_states", &self.task, &TASK_STATES, &mut problems);
        check_states("phase_states", &self.phase, &PHASE_STATES, &mut problems);
        for set in &self.phase_sets {
            check_set(set, &mut problems);
        }
        for prefix in self.allow_commit.iter().chain(&self.block_commit) {
            if !prefix.ends_with(':') || prefix.len() < 2 {
                problems.push(format!("blocked_by_prefixes: {prefix:?} must be a word followed by a colon"));
            }
        }
        for prefix in self.allow_commit.iter().filter(|prefix| self.block_commit.contains(prefix)) {
            problems.push(format!("blocked_by_prefixes: {prefix:?} cannot both allow and block a commit"));
        }
        problems
    }

    pub fn phase_set(&self, name: &str) -> Option<&PhaseSet> {
        self.phase_sets.iter().find(|set| set.name == name)
    }

    /// The names of the phase sets, for a message.
    pub fn set_names(&self) -> String {
        self.phase_sets.iter().map(|set| set.name.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// Checks that a task may change from one state to another.
    pub fn task_transition(&self, from: &str, to: &str) -> Result<(), InvalidTransition> {
        transition(&self.task, from, to, false)
    }

    /// Checks that a phase may change from one state to another. `deferred` is set if it was skipped for a
    /// reason that blocks a commit.
    pub fn phase_transition(&self, from: &str, to: &str, deferred: bool) -> Result<(), InvalidTransition> {
        transition(&self.phase, from, to, deferred)
    }

    /// Classifies a reason for skipping a phase.
    pub fn classify_skip_reason(&self, blocked_by: &str) -> SkipReason {
        let starts = |prefixes: &[String]| {
            let prefix = prefixes.iter().find(|prefix| blocked_by.starts_with(prefix.as_str()))?;
            Some(!blocked_by[prefix.len()..].trim().is_empty())
        };
        match (starts(&self.allow_commit), starts(&self.block_commit)) {
            (Some(true), _) => SkipReason::AllowsCommit,
            (_, Some(true)) => SkipReason::BlocksCommit,
            (Some(false), _) | (_, Some(false)) => SkipReason::Empty,
            (None, None) => SkipReason::Unknown,
        }
    }

    /// The beginnings of reasons, for a message.
    pub fn prefixes(&self) -> String {
        self.allow_commit.iter().chain(&self.block_commit).map(String::as_str).collect::<Vec<_>>().join(", ")
    }
}

/// The class of a reason for skipping a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkipReason {
    /// The phase is over.
    AllowsCommit,
    /// The phase is still to be executed.
    BlocksCommit,
    /// The prefix is known, but no text follows.
    Empty,
    Unknown,
}

/// A transition that is not allowed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Invalid transition: {from} -> {to}")]
pub struct InvalidTransition {
    pub from: String,
    /// The state it was to go to.
    pub to: String,
}

fn transition(states: &[StateDef], from: &str, to: &str, deferred: bool) -> Result<(), InvalidTransition> {
    let state = states.iter().find(|state| state.name == from);
    let named = |targets: &[String]| targets.iter().any(|target| target == to);
    let allowed = state
        .is_some_and(|state| named(&state.transitions) || (deferred && named(&state.deferred_transitions)));
    if allowed { Ok(()) } else { Err(InvalidTransition { from: from.to_owned(), to: to.to_owned() }) }
}

fn read_states(machine: &str, states: Map<String, Value>, problems: &mut Vec<String>) -> Vec<StateDef> {
    let mut read = Vec::new();
    for (name, value) in states {
        let value = if value.is_null() { Value::Object(Map::new()) } else { value };
        match serde_json::from_value::<StateDef>(value) {
            Ok(state) => read.push(StateDef { name, ..state }),
            Err(error) => problems.push(format!("{machine}.{name}: {error}")),
        }
    }
    read
}

fn check_states(machine: &str, states: &[StateDef], needed: &[&str], problems: &mut Vec<String>) {
    let names: BTreeSet<&str> = states.iter().map(|state| state.name.as_str()).collect();
    for name in needed.iter().filter(|name| !names.contains(**name)) {
        problems.push(format!("{machine}: the state {name} is missing; `lockstep step` relies on it"));
    }
    if let (Some(first), Some(needed)) = (states.first(), needed.first())
        && first.name != *needed
    {
        problems.push(format!("{machine}: the first state must be {needed}, where a new step begins"));
    }
    for state in states {
        for target in state.transitions.iter().chain(&state.deferred_transitions) {
            if !names.contains(target.as_str()) {
                problems.push(format!("{machine}.{}: the target {target} is not a state", state.name));
            }
        }
        if state.terminal && !state.transitions.is_empty() {
            problems.push(format!("{machine}.{}: it is terminal, yet has transitions", state.name));
        }
    }
    let reachable = reachable(states);
    for state in states.iter().filter(|state| !reachable.contains(state.name.as_str())) {
        problems.push(format!("{machine}.{}: no transition leads to it", state.name));
    }
}

fn reachable(states: &[StateDef]) -> BTreeSet<&str> {
    let mut reached = BTreeSet::new();
    let mut next: Vec<&str> = states.first().map(|state| state.name.as_str()).into_iter().collect();
    while let Some(name) = next.pop() {
        if reached.insert(name)
            && let Some(state) = states.iter().find(|state| state.name == name)
        {
            next.extend(state.transitions.iter().chain(&state.deferred_transitions).map(String::as_str));
        }
    }
    reached
}

fn check_set(set: &PhaseSet, problems: &mut Vec<String>) {
    let name = &set.name;
    if set.phases.is_empty() {
        problems.push(format!("phase_sets.{name}: it has no phases"));
    }
    let mut seen = BTreeSet::new();
    for phase in &set.phases {
        if !seen.insert(phase) {
            problems.push(format!("phase_sets.{name}: the phase {phase} occurs twice"));
        }
        let plain = phase.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !phase.is_empty();
        if !plain {
            problems.push(format!("phase_sets.{name}: {phase:?} must be letters, digits and underscores"));
        }
    }
}
