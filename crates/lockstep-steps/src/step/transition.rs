//! Changing a step: one function per verb, each from a step to the step after it, or every reason why not.

use serde_json::{Value, json};

use super::evidence::{CommandEvidence, EvidenceRules, PhaseOutcome};
use super::{Step, StepPhase, object};
use crate::problem::StepProblem;
use crate::state_machine::{SkipReason, StepMachines};

#[derive(Debug, Clone, Copy)]
pub struct TransitionRules<'a> {
    pub machine: &'a StepMachines,
    /// Which phases must have evidence.
    pub evidence: &'a EvidenceRules,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PhaseAction {
    Start,
    Done {
        /// The outcome; if it is missing, the evidence decides.
        outcome: Option<PhaseOutcome>,
        details: Option<String>,
        evidence: Option<CommandEvidence>,
    },
    Skip {
        /// The reason, as `PREFIX: reason`.
        blocked_by: String,
        details: Option<String>,
    },
    /// Abort the phase. It can be started again.
    Fail {
        details: Option<String>,
        evidence: Option<CommandEvidence>,
    },
}

impl PhaseAction {
    /// The resulting state.
    pub fn target(&self) -> &'static str {
        match self {
            Self::Start => "IN_PROGRESS",
            Self::Done { .. } => "EXECUTED",
            Self::Skip { .. } => "SKIPPED",
            Self::Fail { .. } => "FAILED",
        }
    }
}

/// Does something with a phase.
pub fn apply_phase_action(
    step: &Step,
    name: &str,
    act: &PhaseAction,
    rules: TransitionRules<'_>,
    now: &str,
) -> Result<Step, Vec<StepProblem>> {
    let mut problems = step.problems(rules.machine);
    let Some(phase) = step.phase(name) else {
        let names: Vec<_> = step.phases.iter().map(|phase| phase.name.as_str()).collect();
        let message = format!("The step has no phase {name:?}");
        problems.push(StepProblem::invalid(name, message, format!("Its phases are {}", names.join(", "))));
        return Err(problems);
    };
    check_task(step, rules.machine, &mut problems);
    check_transition(phase, act.target(), rules.machine, &mut problems);
    if matches!(act, PhaseAction::Start | PhaseAction::Skip { .. }) {
        check_order(step, phase, act, rules.machine, &mut problems);
    }
    check_action(name, act, rules, &mut problems);
    if !problems.is_empty() {
        return Err(problems);
    }
    let mut value = step.value.clone();
    if step.status == "TODO" {
        object(&mut value, "state").insert("status".to_owned(), "IN_PROGRESS".into());
    }
    let deferred = phase.is_deferred(rules.machine);
    let at = step.phases.iter().position(|one| one.name == name).expect("the phase was just found");
    write_phase(&mut value["tdd_cycle"]["phase_execution_log"][at], name, act, rules, deferred, now);
    Step::of(value)
}

fn check_task(step: &Step, machine: &StepMachines, problems: &mut Vec<StepProblem>) {
    match step.status.as_str() {
        "IN_PROGRESS" => {}
        "TODO" => {
            if let Err(error) = machine.task_transition("TODO", "IN_PROGRESS") {
                problems.push(StepProblem::invalid(
                    "state.status",
                    error.to_string(),
                    "See step-execution-fsm.yaml",
                ));
            }
        }
        status => {
            let fix = match machine.task_transition(status, "IN_PROGRESS") {
                Ok(()) => "Take it up again: `lockstep step resume FILE`",
                Err(_) => "Begin a new step: `lockstep step new`",
            };
            let message = format!("The step is {status}, so its phases stay as they are");
            problems.push(StepProblem::invalid("state.status", message, fix));
        }
    }
}

fn check_transition(phase: &StepPhase, to: &str, machine: &StepMachines, problems: &mut Vec<StepProblem>) {
    if let Err(error) = machine.phase_transition(&phase.status, to, phase.is_deferred(machine)) {
        let state = machine.phase.iter().find(|state| state.name == phase.status);
        let next = state.map(|state| state.transitions.join(", ")).unwrap_or_default();
        let fix = if next.is_empty() {
            format!("{} is its end", phase.status)
        } else {
            format!("From {} it can go to {next}", phase.status)
        };
        problems.push(StepProblem::invalid(&phase.name, error.to_string(), fix));
    }
}

/// In an ordered set a phase begins when those before it are over, and one at a time. A phase that is left out from the start is at
/// its own turn too.
fn check_order(
    step: &Step,
    phase: &StepPhase,
    act: &PhaseAction,
    machine: &StepMachines,
    problems: &mut Vec<StepProblem>,
) {
    if !step.phase_set(machine).is_none_or(|set| set.ordered) || phase.status == "IN_PROGRESS" {
        return;
    }
    let before = step.phases.iter().take_while(|one| one.name != phase.name);
    let open: Vec<_> = before.filter(|one| !one.is_finished()).map(|one| one.name.as_str()).collect();
    if !open.is_empty() {
        problems.push(StepProblem::invalid(
            &phase.name,
            format!("The phases before {} are not over: {}", phase.name, open.join(", ")),
            "End or skip them first, in their order",
        ));
    }
    let running = step.phases.iter().find(|one| one.status == "IN_PROGRESS" && one.name != phase.name);
    if let Some(other) =
        running.filter(|other| *act == PhaseAction::Start && !open.contains(&other.name.as_str()))
    {
        let message = format!("Phase {} is still IN_PROGRESS", other.name);
        problems.push(StepProblem::invalid(&phase.name, message, format!("End {} first", other.name)));
    }
}

fn check_action(name: &str, act: &PhaseAction, rules: TransitionRules<'_>, problems: &mut Vec<StepProblem>) {
    match act {
        PhaseAction::Done { outcome: None, evidence: None, .. } => problems.push(StepProblem::missing(
            name,
            format!("Phase {name} EXECUTED without outcome"),
            "Add --outcome PASS or FAIL, or --run with the command that decides it",
        )),
        PhaseAction::Done { outcome, evidence, .. } => {
            let claimed = outcome.or_else(|| Some(rules.evidence.outcome(name, evidence.as_ref()?)));
            let refuted =
                claimed.and_then(|claimed| rules.evidence.claim_problem(name, claimed, evidence.as_ref()));
            problems.extend(refuted.map(|message| {
                StepProblem::invalid(
                    name,
                    message,
                    "Add --run with a command that shows it, or break the phase off with `fail`",
                )
            }));
        }
        PhaseAction::Skip { blocked_by, .. } => {
            problems.extend(reason_problem(name, blocked_by, rules.machine))
        }
        PhaseAction::Start | PhaseAction::Fail { .. } => {}
    }
}

/// Returns the problem with a reason for skipping a phase.
pub fn reason_problem(name: &str, blocked_by: &str, machine: &StepMachines) -> Option<StepProblem> {
    let fix = format!("Begin it with one of {}, and say why", machine.prefixes());
    match machine.classify_skip_reason(blocked_by) {
        SkipReason::AllowsCommit | SkipReason::BlocksCommit => None,
        SkipReason::Empty => {
            Some(StepProblem::incomplete(name, format!("Phase {name}: {blocked_by:?} says no reason"), fix))
        }
        SkipReason::Unknown => {
            let message = format!("Phase {name}: {blocked_by:?} begins with no known prefix");
            Some(StepProblem::invalid(name, message, fix))
        }
    }
}

fn write_phase(
    phase: &mut Value,
    name: &str,
    act: &PhaseAction,
    rules: TransitionRules<'_>,
    deferred: bool,
    now: &str,
) {
    phase["status"] = act.target().into();
    match act {
        PhaseAction::Start => {
            phase["started_at"] = now.into();
            for field in ["ended_at", "outcome", "outcome_details", "blocked_by"] {
                phase[field] = Value::Null;
            }
            if let Some(fields) = phase.as_object_mut() {
                fields.shift_remove("evidence");
                if deferred {
                    fields.insert("reopened".to_owned(), true.into());
                }
            }
        }
        PhaseAction::Done { outcome, details, evidence } => {
            let verdict = evidence.as_ref().map(|evidence| rules.evidence.outcome(name, evidence));
            phase["ended_at"] = now.into();
            phase["outcome"] = json!(outcome.or(verdict).map(PhaseOutcome::as_str));
            phase["outcome_details"] = json!(details);
            put_evidence(phase, evidence.as_ref());
        }
        PhaseAction::Skip { blocked_by, details } => {
            phase["ended_at"] = now.into();
            phase["blocked_by"] = blocked_by.as_str().into();
            phase["outcome_details"] = json!(details);
        }
        PhaseAction::Fail { details, evidence } => {
            phase["ended_at"] = now.into();
            phase["outcome_details"] = json!(details);
            put_evidence(phase, evidence.as_ref());
        }
    }
}

fn put_evidence(phase: &mut Value, evidence: Option<&CommandEvidence>) {
    if let Some(evidence) = evidence {
        phase["evidence"] = json!(evidence);
    }
}

/// Ends a step as `status`.
pub fn finish(
    step: &Step,
    status: &str,
    why: Option<&str>,
    rules: TransitionRules<'_>,
) -> Result<Step, Vec<StepProblem>> {
    let mut problems = step.problems(rules.machine);
    check_task_transition(step, status, rules.machine, &mut problems);
    for phase in step.phases.iter().filter(|phase| phase.status == "IN_PROGRESS") {
        let message = format!("Phase {} is still IN_PROGRESS", phase.name);
        problems.push(StepProblem::invalid(
            &phase.name,
            message,
            "End it, or break it off with `phase fail`",
        ));
    }
    if status == "DONE" {
        problems.extend(crate::gate::incomplete_phases(&step.phases, rules));
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    Ok(with_status(step, status, why, &[]))
}

/// Takes a step up again.
pub fn resume(step: &Step, rules: TransitionRules<'_>) -> Result<Step, Vec<StepProblem>> {
    let mut problems = step.problems(rules.machine);
    check_task_transition(step, "IN_PROGRESS", rules.machine, &mut problems);
    if problems.is_empty() { Ok(with_status(step, "IN_PROGRESS", None, &[])) } else { Err(problems) }
}

fn check_task_transition(step: &Step, to: &str, machine: &StepMachines, problems: &mut Vec<StepProblem>) {
    if let Err(error) = machine.task_transition(&step.status, to) {
        let state = machine.task.iter().find(|state| state.name == step.status);
        let next = state.map(|state| state.transitions.join(", ")).unwrap_or_default();
        let fix = if next.is_empty() {
            format!("{} is its end", step.status)
        } else {
            format!("From {} it can go to {next}", step.status)
        };
        problems.push(StepProblem::invalid("state.status", error.to_string(), fix));
    }
}

/// Replaces the boundary; without patterns, removes it. The boundary of a finished step cannot be changed.
pub fn set_boundary(
    step: &Step,
    allowed: &[String],
    forbidden: &[String],
    machine: &StepMachines,
) -> Result<Step, Vec<StepProblem>> {
    if machine.task.iter().any(|state| state.name == step.status && state.terminal) {
        let message = format!("The step is {}, so its boundary stays as it is", step.status);
        return Err(vec![StepProblem::invalid("boundary", message, "Begin a new step: `lockstep step new`")]);
    }
    let mut value = step.value.clone();
    value["boundary"] = json!({"allowed": allowed, "forbidden": forbidden});
    Step::of(value)
}

/// The gate's own transition: from any state to FAILED, with the reason and suggestions.
pub fn fail_by_gate(step: &Step, reason: &str, suggestions: &[String]) -> Step {
    with_status(step, "FAILED", Some(reason), suggestions)
}

/// Abandons phases: each of them and the step become FAILED.
pub fn abandon_phases(
    step: &Step,
    names: &[String],
    reason: &str,
    suggestions: &[String],
    now: &str,
) -> Step {
    let mut value = step.value.clone();
    for (at, phase) in step.phases.iter().enumerate() {
        if names.contains(&phase.name) {
            let phase = &mut value["tdd_cycle"]["phase_execution_log"][at];
            phase["status"] = "FAILED".into();
            phase["ended_at"] = now.into();
            phase["outcome_details"] = reason.into();
        }
    }
    let step = Step::of(value).expect("only texts of a whole step were changed");
    with_status(&step, "FAILED", Some(reason), suggestions)
}

fn with_status(step: &Step, status: &str, reason: Option<&str>, suggestions: &[String]) -> Step {
    let mut value = step.value.clone();
    let state = object(&mut value, "state");
    state.insert("status".to_owned(), status.into());
    state.insert("failure_reason".to_owned(), json!(reason));
    state.insert("recovery_suggestions".to_owned(), json!(suggestions));
    Step::of(value).expect("only the state of a whole step was changed")
}
