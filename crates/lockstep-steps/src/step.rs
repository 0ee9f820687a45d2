//! The step document: the data that is read from a step file. Unknown fields are kept.
//!
//! [`transition`] is the only way to change its state; [`seal`] detects other changes.

pub mod evidence;
pub mod seal;
pub mod transition;

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::boundary::Boundary;
use crate::problem::StepProblem;
use crate::state_machine::{PhaseSet, SkipReason, StepMachines};
use evidence::CommandEvidence;

/// The largest step file that is read.
pub const MAX_BYTES: u64 = 1 << 20;

#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    value: Value,
    task_id: String,
    project_id: String,
    status: String,
    phases: Vec<StepPhase>,
    boundary: Boundary,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct StepPhase {
    pub name: String,
    pub status: String,
    pub started_at: Option<String>,
    pub ended_at: Option<String>,
    /// `PASS` or `FAIL`.
    pub outcome: Option<String>,
    /// The reason for skipping it.
    pub blocked_by: Option<String>,
    pub evidence: Option<CommandEvidence>,
    /// Set if it was deferred and reopened after later phases.
    pub reopened: bool,
}

impl StepPhase {
    /// Returns true if the phase was executed or skipped.
    pub fn is_finished(&self) -> bool {
        matches!(self.status.as_str(), "EXECUTED" | "SKIPPED")
    }

    /// Returns true if the phase was skipped for a reason that blocks a commit.
    pub fn is_deferred(&self, machine: &StepMachines) -> bool {
        let reason = self.blocked_by.as_deref().map(|text| machine.classify_skip_reason(text));
        self.status == "SKIPPED" && reason == Some(SkipReason::BlocksCommit)
    }
}

impl Step {
    pub fn new(task_id: &str, project_id: &str, set: &PhaseSet) -> Self {
        let phase = |name: &String| {
            json!({
                "phase_name": name, "status": "NOT_EXECUTED", "started_at": null, "ended_at": null,
                "outcome": null, "outcome_details": null, "blocked_by": null,
            })
        };
        let value = json!({
            "task_id": task_id,
            "project_id": project_id,
            "state": {"status": "TODO", "failure_reason": null, "recovery_suggestions": []},
            "tdd_cycle": {
                "phase_set": set.name,
                "phase_execution_log": set.phases.iter().map(phase).collect::<Vec<_>>(),
            },
        });
        Self::of(value).expect("a new step is whole")
    }

    /// Reads a step file; every problem at once.
    pub fn parse(text: &str) -> Result<Self, Vec<StepProblem>> {
        let value: Value = serde_json::from_str(text).map_err(|error| {
            vec![StepProblem::invalid(
                "step file",
                format!("Step file error: it is not JSON: {error}"),
                "Check step file exists and contains valid JSON",
            )]
        })?;
        Self::of(value)
    }

    fn of(value: Value) -> Result<Self, Vec<StepProblem>> {
        let mut problems = Vec::new();
        let task_id = text(&value, "task_id", &mut problems);
        let project_id = text(&value, "project_id", &mut problems);
        let status = match &value["state"]["status"] {
            // Older frameworks write it so.
            Value::String(status) if status == "COMPLETED" => "DONE".to_owned(),
            Value::String(status) => status.clone(),
            _ => {
                problems.push(wrong("state.status", "a state such as \"TODO\""));
                String::new()
            }
        };
        let phases = match &value["tdd_cycle"]["phase_execution_log"] {
            Value::Array(phases) => {
                phases.iter().enumerate().map(|(at, one)| phase(at, one, &mut problems)).collect()
            }
            _ => {
                problems.push(wrong("tdd_cycle.phase_execution_log", "a list of phases"));
                Vec::new()
            }
        };
        let mut seen = BTreeSet::new();
        for StepPhase { name, .. } in
            phases.iter().filter(|phase: &&StepPhase| !seen.insert(phase.name.clone()))
        {
            problems.push(StepProblem::invalid(name, format!("The phase {name} occurs twice"), "Keep one"));
        }
        let boundary = Boundary::read(&value["boundary"], &mut problems);
        if problems.is_empty() {
            Ok(Self { value, task_id, project_id, status, phases, boundary })
        } else {
            Err(problems)
        }
    }

    /// The whole document.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// The document as it is written: two spaces, a newline at its end.
    pub fn to_text(&self) -> String {
        serde_json::to_string_pretty(&self.value).expect("a value that was read can be written") + "\n"
    }

    /// The step's id.
    pub fn task_id(&self) -> &str {
        &self.task_id
    }

    /// The project of the step. Another project may have a step with the same id.
    pub fn project_id(&self) -> &str {
        &self.project_id
    }

    /// The state of the task.
    pub fn status(&self) -> &str {
        &self.status
    }

    /// The phases, in the order of the file.
    pub fn phases(&self) -> &[StepPhase] {
        &self.phases
    }

    pub fn phase(&self, name: &str) -> Option<&StepPhase> {
        self.phases.iter().find(|phase| phase.name == name)
    }

    /// The phases that a commit requires: those before `COMMIT`, or all.
    pub fn phases_before_commit(&self) -> &[StepPhase] {
        let commit = self.phases.iter().position(|phase| phase.name == PhaseSet::COMMIT);
        &self.phases[..commit.unwrap_or(self.phases.len())]
    }

    pub fn boundary(&self) -> &Boundary {
        &self.boundary
    }

    /// The maximum number of turns, if the step has one.
    pub fn max_turns(&self) -> Option<u64> {
        self.value["max_turns"].as_u64()
    }

    /// Returns true if the step has not been started.
    pub fn is_pristine(&self) -> bool {
        let untouched = |phase: &StepPhase| phase.status == "NOT_EXECUTED" && phase.started_at.is_none();
        self.status == "TODO" && self.phases.iter().all(untouched)
    }

    /// Returns the phase set: the recorded one, otherwise the one with the same phases.
    pub fn phase_set<'m>(&self, machine: &'m StepMachines) -> Option<&'m PhaseSet> {
        match &self.value["tdd_cycle"]["phase_set"] {
            Value::String(name) => machine.phase_set(name),
            _ => machine
                .phase_sets
                .iter()
                .find(|set| set.phases.iter().eq(self.phases.iter().map(|phase| &phase.name))),
        }
    }

    /// Returns the contradictions to the machines: unknown states, and phases that are not in the step's set.
    pub fn problems(&self, machine: &StepMachines) -> Vec<StepProblem> {
        let mut problems = Vec::new();
        if !machine.task.iter().any(|state| state.name == self.status) {
            let states: Vec<_> = machine.task.iter().map(|state| state.name.as_str()).collect();
            problems.push(StepProblem::invalid(
                "state.status",
                format!("{:?} is not a state of a task", self.status),
                format!("The states are {}", states.join(", ")),
            ));
        }
        for phase in self.phases.iter().filter(|phase| !machine.phase.iter().any(|s| s.name == phase.status))
        {
            let states: Vec<_> = machine.phase.iter().map(|state| state.name.as_str()).collect();
            problems.push(StepProblem::invalid(
                &phase.name,
                format!("Phase {} has the state {:?}, which there is not", phase.name, phase.status),
                format!("The states are {}", states.join(", ")),
            ));
        }
        self.check_set(machine, &mut problems);
        problems
    }

    fn check_set(&self, machine: &StepMachines, problems: &mut Vec<StepProblem>) {
        let Some(set) = self.phase_set(machine) else {
            let recorded = self.value["tdd_cycle"]["phase_set"].as_str();
            let message = match recorded {
                Some(name) => format!("There is no phase set {name:?}"),
                None => "The phases are those of no phase set, and none is recorded".to_owned(),
            };
            let fix = format!("Record one of {} in tdd_cycle.phase_set", machine.set_names());
            return problems.push(StepProblem::invalid("tdd_cycle.phase_set", message, fix));
        };
        for name in set.phases.iter().filter(|name| self.phase(name).is_none()) {
            let message = format!("The phase {name} of {} is not in the log", set.name);
            problems.push(StepProblem::missing(name, message, format!("Add {name} to phase_execution_log")));
        }
        let foreign = self.phases.iter().filter(|phase| !set.phases.contains(&phase.name));
        problems.extend(foreign.map(|phase| {
            let message = format!("{} is not a phase of {}", phase.name, set.name);
            StepProblem::invalid(&phase.name, message, "Take it out of phase_execution_log")
        }));
        let known = self.phases.iter().map(|phase| &phase.name).filter(|name| set.phases.contains(name));
        let logged: Vec<_> = known.collect();
        if logged.len() == set.phases.len() && !set.phases.iter().eq(logged) {
            let message = format!("The phases are not in the order of {}", set.name);
            problems.push(StepProblem::invalid("phase_execution_log", message, set.phases.join(", ")));
        }
    }
}

fn wrong(element: &str, wanted: &str) -> StepProblem {
    StepProblem::invalid(
        element,
        format!("Step file error: {element} is not {wanted}"),
        format!("Write {wanted} there; `lockstep schema step-file` describes the file"),
    )
}

fn text(value: &Value, name: &str, problems: &mut Vec<StepProblem>) -> String {
    match &value[name] {
        Value::String(text) if !text.trim().is_empty() => text.clone(),
        _ => {
            problems.push(wrong(name, "a text"));
            String::new()
        }
    }
}

fn phase(at: usize, value: &Value, problems: &mut Vec<StepProblem>) -> StepPhase {
    let place = format!("phase_execution_log[{at}]");
    let mut optional = |name: &str| match &value[name] {
        Value::Null => None,
        Value::String(text) if text.is_empty() => None,
        Value::String(text) => Some(text.clone()),
        _ => {
            problems.push(wrong(&format!("{place}.{name}"), "a text or null"));
            None
        }
    };
    let (name, status) = (optional("phase_name"), optional("status"));
    let (started_at, ended_at) = (optional("started_at"), optional("ended_at"));
    let (outcome, blocked_by) = (optional("outcome"), optional("blocked_by"));
    if name.is_none() {
        problems.push(wrong(&format!("{place}.phase_name"), "the name of a phase"));
    }
    if outcome.as_deref().is_some_and(|outcome| !matches!(outcome, "PASS" | "FAIL")) {
        problems.push(wrong(&format!("{place}.outcome"), "\"PASS\" or \"FAIL\""));
    }
    let evidence = match &value["evidence"] {
        Value::Null => None,
        evidence => match serde_json::from_value(evidence.clone()) {
            Ok(evidence) => Some(evidence),
            Err(_) => {
                problems.push(wrong(&format!("{place}.evidence"), "what `--run` records"));
                None
            }
        },
    };
    StepPhase {
        name: name.unwrap_or_default(),
        status: status.unwrap_or_else(|| "NOT_EXECUTED".to_owned()),
        started_at,
        ended_at,
        outcome,
        blocked_by,
        evidence,
        reopened: value["reopened"].as_bool().unwrap_or(false),
    }
}

/// An object of a document, made where it is not there.
fn object<'v>(value: &'v mut Value, name: &str) -> &'v mut Map<String, Value> {
    if !value[name].is_object() {
        value[name] = Value::Object(Map::new());
    }
    value[name].as_object_mut().expect("it was just made")
}
