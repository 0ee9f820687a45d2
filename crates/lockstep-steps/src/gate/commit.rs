//! Gate 3: before a commit. Every step that was started must be in a state that allows a commit.

use crate::problem::Problem;
use crate::step::Step;
use crate::step::change::Rules;

use super::{Judge, Judged, Recorded, check_recorded, open_phases, out_of_order};

/// The gate's name.
pub const ID: &str = "GATE_3_PRE_COMMIT";

/// The state before a commit.
#[derive(Debug, Clone, Default)]
pub struct Commit {
    /// Every step file of the project.
    pub steps: Vec<StepAtCommit>,
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
    /// The step file.
    pub step: String,
    /// The file, from the root.
    pub path: String,
    /// The boundary's reason.
    pub why: String,
}

/// A step file at a commit.
#[derive(Debug, Clone, PartialEq)]
pub struct StepAtCommit {
    /// The file name.
    pub file: String,
    /// The step, or every reason why it cannot be read.
    pub step: Result<Step, Vec<Problem>>,
    /// The recorded state.
    pub recorded: Recorded,
    /// Set if the commit changes the file.
    pub touched: bool,
    /// Set if the step was recorded as abandoned.
    pub abandoned: bool,
    /// Set if gate 2 has passed with the present state of the phases.
    pub stop_passed: bool,
}

/// Judges a commit.
pub fn judge(commit: &Commit, rules: Rules<'_>) -> Judged {
    let mut judge = Judge::new(ID);
    for problem in &commit.broken_trail {
        judge.error(
            format!("The audit trail is not whole: {problem}"),
            "`lockstep audit verify` names the place; restore the files of the trail from where they are kept, or let a person accept \
             it: `lockstep audit accept --why …`",
        );
    }
    if !commit.broken_trail.is_empty() {
        judge.look("the audit trail", "it is not whole", 0);
    }
    for file in &commit.gone {
        let before = judge.errors();
        judge.error(
            format!("{file} was begun and is gone"),
            format!("Restore it, or record that it is given up: `lockstep step abandon {file} --why …`"),
        );
        judge.look(file, "it is gone", before);
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
        judge.look(path, "outside the boundary", before);
    }
    judge.verdict()
}

fn check_step(judge: &mut Judge, at: &StepAtCommit, rules: Rules<'_>) {
    let file = &at.file;
    let before = judge.errors();
    let step = match &at.step {
        Ok(step) => step,
        Err(problems) => {
            for problem in problems {
                judge.error(format!("{file}: {problem}"), problem.suggestion.clone());
            }
            return judge.look(file, "it cannot be used", before);
        }
    };
    if at.abandoned {
        return judge.look(file, "it is given up", before);
    }
    if step.is_pristine() && matches!(at.recorded, Recorded::Nothing | Recorded::Same) {
        return judge.look(file, "it is not begun", before);
    }
    if step.status() == "DONE" && !at.touched && at.recorded == Recorded::Nothing {
        // The step is older than the trail, and this commit does not contain it.
        judge.warn(format!("{file} is DONE, and nothing about it is recorded"));
        return judge.look(file, "DONE, from before the trail", before);
    }
    check_recorded(judge, file, step, &at.recorded);
    if step.status() == "DONE" && !at.touched {
        return judge.look(file, "DONE", before);
    }
    check_ready(judge, at, step, rules);
    judge.look(
        file,
        format!("step {} of {} is {}", step.task_id(), step.project_id(), step.status()),
        before,
    );
}

fn check_ready(judge: &mut Judge, at: &StepAtCommit, step: &Step, rules: Rules<'_>) {
    let file = &at.file;
    let mut found = step.problems(rules.machine);
    found.extend(out_of_order(step, rules.machine));
    found.extend(open_phases(step.phases_before_commit(), rules));
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
