//! Gate 3: before a commit. Every step that was begun is where a commit needs it to be.

use crate::problem::Problem;
use crate::step::Step;
use crate::step::change::Rules;

use super::{Judge, Judged, Recorded, check_recorded, open_phases, out_of_order};

/// The gate's name.
pub const ID: &str = "GATE_3_PRE_COMMIT";

/// What is known before a commit.
#[derive(Debug, Clone, Default)]
pub struct Commit {
    /// Every step file of the project.
    pub steps: Vec<StepAtCommit>,
    /// Steps the trail knows as begun, whose files are gone.
    pub gone: Vec<String>,
    /// What keeps the audit trail from being whole.
    pub broken_trail: Vec<String>,
}

/// A step file at a commit.
#[derive(Debug, Clone, PartialEq)]
pub struct StepAtCommit {
    /// Its name.
    pub file: String,
    /// The step, or every reason why there is none.
    pub step: Result<Step, Vec<Problem>>,
    /// What the audit trail says about its state.
    pub recorded: Recorded,
    /// Whether the commit changes the file.
    pub touched: bool,
    /// Whether somebody has recorded that it is given up.
    pub abandoned: bool,
    /// Whether gate 2 has passed with the phases as they are.
    pub stop_passed: bool,
}

/// Judges a commit.
pub fn judge(commit: &Commit, rules: Rules<'_>) -> Judged {
    let mut judge = Judge::new(ID);
    for problem in &commit.broken_trail {
        judge.error(
            format!("The audit trail is not whole: {problem}"),
            "`lockstep audit verify` names the place; restore the files of the trail from where they are kept",
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
        // From before there was a trail; nobody commits it now.
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
