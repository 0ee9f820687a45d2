//! Gate 3: before a commit. Every step that was started must be in a state that allows a commit.

use crate::problem::StepProblem;
use crate::step::Step;
use crate::step::transition::TransitionRules;

use super::{AuditMatch, GateEvaluator, GateResult, check_recorded, incomplete_phases, out_of_order};

/// The gate's name.
pub const ID: &str = "GATE_3_PRE_COMMIT";

/// The state before a commit.
#[derive(Debug, Clone, Default)]
pub struct CommitContext {
    /// Every step file of the project.
    pub steps: Vec<CommitStep>,
    /// Steps that are recorded as started, but whose files are missing.
    pub gone: Vec<String>,
    /// Problems of the audit trail.
    pub broken_trail: Vec<String>,
    /// Files of the commit outside the boundaries of the active steps.
    pub outside: Vec<Outside>,
}

/// A file in a commit that no active step may change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outside {
    pub step: String,
    /// The file, from the root.
    pub path: String,
    /// The boundary's reason.
    pub why: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct CommitStep {
    pub file: String,
    /// The step, or every reason why it cannot be read.
    pub step: Result<Step, Vec<StepProblem>>,
    pub recorded: AuditMatch,
    /// Set if the commit changes the file.
    pub touched: bool,
    /// Set if the step was recorded as abandoned.
    pub abandoned: bool,
    /// Set if gate 2 has passed with the present state of the phases.
    pub stop_passed: bool,
}

pub fn evaluate(commit: &CommitContext, rules: TransitionRules<'_>) -> GateResult {
    let mut judge = GateEvaluator::new(ID);
    for problem in &commit.broken_trail {
        judge.error(
            format!("The audit trail is not whole: {problem}"),
            "`lockstep audit verify` names the place; restore the files of the trail from where they are kept, or let a person accept \
             it: `lockstep audit accept --why …`",
        );
    }
    if !commit.broken_trail.is_empty() {
        judge.record_check("the audit trail", "it is not whole", 0);
    }
    for file in &commit.gone {
        let before = judge.errors();
        judge.error(
            format!("{file} was begun and is gone"),
            format!("Restore it, or record that it is given up: `lockstep step abandon {file} --why …`"),
        );
        judge.record_check(file, "it is gone", before);
    }
    for step in &commit.steps {
        check_step(&mut judge, step, rules);
    }
    for Outside { step, path, why } in &commit.outside {
        let before = judge.errors();
        judge.error(
            format!("{path} was changed since {step} began, outside the step's boundary: {why}"),
            format!("Undo the change, or widen the boundary: `lockstep step boundary {step}`"),
        );
        judge.record_check(path, "outside the boundary", before);
    }
    judge.finish()
}

fn check_step(judge: &mut GateEvaluator, at: &CommitStep, rules: TransitionRules<'_>) {
    let file = &at.file;
    let before = judge.errors();
    let step = match &at.step {
        Ok(step) => step,
        Err(problems) => {
            for problem in problems {
                judge.error(format!("{file}: {problem}"), problem.suggestion.clone());
            }
            return judge.record_check(file, "it cannot be used", before);
        }
    };
    if at.abandoned {
        return judge.record_check(file, "it is given up", before);
    }
    if step.is_pristine() && matches!(at.recorded, AuditMatch::Missing | AuditMatch::Matches) {
        return judge.record_check(file, "it is not begun", before);
    }
    if step.status() == "DONE" && !at.touched && at.recorded == AuditMatch::Missing {
        // The step is older than the trail, and this commit does not contain it.
        judge.warn(format!("{file} is DONE, and nothing about it is recorded"));
        return judge.record_check(file, "DONE, from before the trail", before);
    }
    check_recorded(judge, file, step, &at.recorded);
    if step.status() == "DONE" && !at.touched {
        return judge.record_check(file, "DONE", before);
    }
    check_ready(judge, at, step, rules);
    judge.record_check(
        file,
        format!("step {} of {} is {}", step.task_id(), step.project_id(), step.status()),
        before,
    );
}

fn check_ready(judge: &mut GateEvaluator, at: &CommitStep, step: &Step, rules: TransitionRules<'_>) {
    let file = &at.file;
    let mut found = step.problems(rules.machine);
    found.extend(out_of_order(step, rules.machine));
    found.extend(incomplete_phases(step.phases_before_commit(), rules));
    for problem in &found {
        judge.error(format!("{file}: {}", problem.message), problem.suggestion.replace("FILE", file));
    }
    if step.status() == "FAILED" {
        judge.error(
            format!("{file}: the step is FAILED"),
            format!("Take it up again (`lockstep step resume {file}`) and end what is open"),
        );
    }
    if !at.stop_passed {
        judge.error(
            format!("{file}: gate 2 has not passed since the last change"),
            format!("Let its agent end, or run `lockstep gate stop {file}`"),
        );
    }
}
