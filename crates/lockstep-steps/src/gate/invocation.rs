//! Gate 1: before an agent is started. Its prompt is whole, and its step may begin.

use crate::markers::Markers;
use crate::problem::StepProblem;
use crate::prompt_check::{PromptRules, check};
use crate::state_machine::StepMachines;
use crate::step::Step;

use super::{AuditMatch, GateEvaluator, GateResult, check_recorded};

/// The gate's name.
pub const ID: &str = "GATE_1_PRE_INVOCATION";

/// The state when an agent is to be started.
#[derive(Debug, Clone, Copy)]
pub struct InvocationContext<'a> {
    pub prompt: &'a str,
    pub markers: &'a Markers,
    /// The step that the markers name; `None` if they name none.
    pub step: Option<&'a ReferencedStep>,
    /// The holder of the step, if there is one: `STEP_LOCKED by … since …`.
    pub locked: Option<&'a str>,
}

/// The result of looking up a step file.
#[derive(Debug, Clone, PartialEq)]
pub struct ReferencedStep {
    /// The name in the prompt.
    pub file: String,
    /// The step, or every reason why it cannot be read.
    pub step: Result<Step, Vec<StepProblem>>,
    pub recorded: AuditMatch,
}

/// Judges an invocation.
pub fn evaluate(
    invocation: InvocationContext<'_>,
    machine: &StepMachines,
    rules: PromptRules<'_>,
) -> GateResult {
    let mut judge = GateEvaluator::new(ID);
    let InvocationContext { prompt, markers, step, locked } = invocation;
    if markers.is_ad_hoc() {
        markers.warnings.iter().for_each(|warning| judge.warn(warning));
        judge.record_check("the prompt's markers", "no DES-VALIDATION marker - ad-hoc invocation", 0);
        return judge.finish();
    }
    let checked = check(prompt, markers, rules);
    checked.errors.iter().for_each(|problem| judge.problem(problem));
    checked.warnings.iter().for_each(|warning| judge.warn(warning));
    let command = markers.command().unwrap_or("no command");
    let found = format!("{command}: {} errors", checked.errors.len());
    judge.record_check("the prompt's markers and sections", found, 0);
    if let Some(found) = step {
        check_step(&mut judge, found, machine);
    }
    if let Some(locked) = locked {
        let before = judge.errors();
        judge.error(locked, "Wait until the lock is released or expires: `lockstep step show FILE` tells");
        judge.record_check("the step's lock", locked, before);
    }
    judge.finish()
}

fn check_step(judge: &mut GateEvaluator, found: &ReferencedStep, machine: &StepMachines) {
    let before = judge.errors();
    let file = &found.file;
    let step = match &found.step {
        Ok(step) => step,
        Err(problems) => {
            problems.iter().for_each(|problem| judge.problem(problem));
            return judge.record_check(format!("the step file {file}"), "it cannot be used", before);
        }
    };
    step.problems(machine).iter().for_each(|problem| judge.problem(problem));
    judge.record_check(
        format!("the step file {file}"),
        format!("step {} of {}", step.task_id(), step.project_id()),
        before,
    );
    let before = judge.errors();
    let status = step.status();
    if status != "IN_PROGRESS"
        && let Err(error) = machine.task_transition(status, "IN_PROGRESS")
    {
        judge.error(format!("The step cannot start: {error}"), "Begin a new step: `lockstep step new`");
    }
    judge.record_check("whether it may start", format!("it is {status}"), before);
    check_recorded(judge, file, step, &found.recorded);
}
