//! Gate 2: when an agent wants to end. Its step is in a state that can be answered for.

use crate::problem::StepProblem;
use crate::step::Step;
use crate::step::evidence::PhaseOutcome;
use crate::step::transition::TransitionRules;

use super::{
    AuditMatch, GateEvaluator, GateResult, check_recorded, incomplete_phases, out_of_order, skip_problem,
};

/// The gate's name.
pub const ID: &str = "GATE_2_SUBAGENT_STOP";

/// The state when an agent wants to end.
#[derive(Debug, Clone, Copy)]
pub enum StopContext<'a> {
    /// The prompt had no markers.
    AdHoc,
    /// The prompt required validation and named no step.
    NoStep,
    /// The agent ran a step.
    Step(StepStopContext<'a>),
}

/// The end of a step's agent.
#[derive(Debug, Clone, Copy)]
pub struct StepStopContext<'a> {
    /// The step file's name.
    pub file: &'a str,
    /// The step, or every reason why it cannot be read.
    pub step: &'a Result<Step, Vec<StepProblem>>,
    pub recorded: &'a AuditMatch,
    /// The files that the agent changed, relative to the project's root (`None`: outside of it), without
    /// those of the step itself. `None` if unknown.
    pub changed: Option<&'a [(String, Option<String>)]>,
    pub turns: Option<u64>,
    /// The number of turns that the agent was given.
    pub budget: Option<u64>,
    /// Set if exceeding the budget is an error.
    pub over_budget_blocks: bool,
}

pub fn evaluate(stop: StopContext<'_>, rules: TransitionRules<'_>) -> GateResult {
    let mut judge = GateEvaluator::new(ID);
    match stop {
        StopContext::AdHoc => {
            judge.record_check(
                "the prompt's markers",
                "No DES-VALIDATION marker - ad-hoc Task invocation",
                0,
            );
        }
        StopContext::NoStep => {
            judge.error(
                "DES-VALIDATION marker present but DES-STEP-FILE marker missing",
                "Add <!-- DES-STEP-FILE: path --> marker to prompt",
            );
            judge.record_check("the prompt's markers", "validation is required, and no step is named", 0);
        }
        StopContext::Step(stop) => check_stop(&mut judge, stop, rules),
    }
    judge.finish()
}

fn check_stop(judge: &mut GateEvaluator, stop: StepStopContext<'_>, rules: TransitionRules<'_>) {
    let file = stop.file;
    let step = match stop.step {
        Ok(step) => step,
        Err(problems) => {
            problems.iter().for_each(|problem| judge.problem(problem));
            return judge.record_check(format!("the step file {file}"), "it cannot be used", 0);
        }
    };
    let before = judge.errors();
    step.problems(rules.machine).iter().for_each(|problem| judge.problem(problem));
    out_of_order(step, rules.machine).iter().for_each(|problem| judge.problem(problem));
    judge.record_check(
        format!("the step file {file}"),
        format!("step {} of {}", step.task_id(), step.project_id()),
        before,
    );
    check_phases(judge, step, rules);
    check_recorded(judge, file, step, stop.recorded);
    check_boundary(judge, step, stop.changed);
    check_budget(judge, stop);
}

fn check_phases(judge: &mut GateEvaluator, step: &Step, rules: TransitionRules<'_>) {
    let before = judge.errors();
    if step.status() == "DONE" {
        for phase in step.phases().iter().filter(|phase| phase.status == "NOT_EXECUTED") {
            judge.error(
                format!("Task DONE but {} NOT_EXECUTED", phase.name),
                "Review agent transcript for skipped phases",
            );
        }
        let not_begun = |problem: &&StepProblem| {
            step.phase(&problem.element)
                .is_none_or(|phase| phase.status != "NOT_EXECUTED" && phase.status != "IN_PROGRESS")
        };
        incomplete_phases(step.phases(), rules)
            .iter()
            .filter(not_begun)
            .for_each(|problem| judge.problem(problem));
    }
    for phase in step.phases() {
        let name = &phase.name;
        match phase.status.as_str() {
            "IN_PROGRESS" => judge.error(
                format!("Phase {name} left IN_PROGRESS (abandoned)"),
                format!("End {name} with `lockstep step phase done`, or break it off with `fail`"),
            ),
            // Reported above.
            _ if step.status() == "DONE" => {}
            "EXECUTED" => match phase.outcome.as_deref().and_then(PhaseOutcome::parse) {
                None => judge.error(
                    format!("Phase {name} EXECUTED without outcome"),
                    format!("Add outcome to {name}"),
                ),
                Some(outcome) => {
                    if let Some(message) =
                        rules.evidence.claim_problem(name, outcome, phase.evidence.as_ref())
                    {
                        judge.error(message, format!("Prove {name} with --run"));
                    }
                    if outcome == PhaseOutcome::Fail {
                        judge.warn(format!("Phase {name} EXECUTED with outcome FAIL - blocks commit"));
                    }
                }
            },
            "SKIPPED" => {
                if let Some(problem) = skip_problem(phase, rules.machine) {
                    judge.problem(&problem);
                }
            }
            _ => {}
        }
    }
    for phase in step.phases().iter().filter(|phase| phase.is_deferred(rules.machine)) {
        judge.warn(format!("Phase {} DEFERRED - blocks commit", phase.name));
    }
    let over = step.phases().iter().filter(|phase| phase.is_finished()).count();
    judge.record_check(
        "the phases",
        format!("{over} of {} are over; the task is {}", step.phases().len(), step.status()),
        before,
    );
}

fn check_boundary(judge: &mut GateEvaluator, step: &Step, changed: Option<&[(String, Option<String>)]>) {
    if step.boundary().is_unrestricted() {
        return;
    }
    let before = judge.errors();
    let Some(changed) = changed else {
        judge.warn("What the agent changed is not known, so the boundary was not checked");
        return judge.record_check("the boundary", "what was changed is not known", before);
    };
    for (name, path) in changed {
        if let Some(why) = step.boundary().refusal_reason(path.as_deref()) {
            judge.error(
                format!("{name} was changed, outside the step's boundary: {why}"),
                format!("Undo the change of {name}, or widen the boundary: `lockstep step boundary`"),
            );
        }
    }
    judge.record_check("the boundary", format!("changed files: {}", changed.len()), before);
}

fn check_budget(judge: &mut GateEvaluator, stop: StepStopContext<'_>) {
    let (Some(turns), Some(budget)) = (stop.turns, stop.budget) else { return };
    let before = judge.errors();
    if turns > budget {
        let message = format!("The agent took {turns} turns, and was given {budget}");
        if stop.over_budget_blocks {
            judge.error(message, "Split the step, or give it more turns (max_turns in the step file)");
        } else {
            judge.warn(message);
        }
    }
    judge.record_check("the turns", format!("{turns} of {budget}"), before);
}
