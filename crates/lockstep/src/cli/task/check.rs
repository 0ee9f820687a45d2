//! `lockstep task check`.

use lockstep_task::problem::DocumentProblem;
use serde::Serialize;

use super::{CommandContext, CommandStatus, current_or_print_none};
use crate::clock;
use crate::error::CommandResult;
use crate::project::ActiveProject;
use crate::task::TaskContext;
use crate::task::list_comparison::{ListCheck, ListCheckOutcome, ListSource};

/// Check the task: its document, its pointers, and clients' lists against the store
///
/// Exit code 1 if there is an error or a list differs.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  lockstep task check && echo 'all agree'")]
pub(crate) struct TaskCheckArgs {}

#[derive(Serialize)]
struct TaskCheckOutput {
    version: u64,
    subject: String,
    problems: Vec<DocumentProblem>,
    warnings: Vec<DocumentProblem>,
    lists: Vec<ListCheck>,
}

pub(crate) fn run(_: &TaskCheckArgs, context: &CommandContext) -> CommandResult {
    let project = ActiveProject::discover(&context.directory)?;
    let tasks = TaskContext::open(&project, clock::now().timestamp())?;
    let Some(present) = current_or_print_none(&tasks, context)? else {
        return Ok(CommandStatus::CheckFailed);
    };
    let findings = tasks.with_rules(|rules| present.document.check(rules.limits, rules.lookup));
    let checked = TaskCheckOutput {
        version: present.record.version,
        subject: present.record.subject.clone(),
        problems: findings.problems,
        warnings: findings.warnings,
        lists: tasks.compare_lists(&present)?,
    };
    context.terminal.print(&context.format.render(&checked).unwrap_or_else(|| text(&checked)));
    let agree = checked.problems.is_empty() && checked.lists.iter().all(ListCheck::agrees);
    Ok(if agree { CommandStatus::Success } else { CommandStatus::CheckFailed })
}

fn text(checked: &TaskCheckOutput) -> String {
    let mut text = format!("{}\n", checked.subject);
    checked.problems.iter().for_each(|problem| text.push_str(&format!("error: {problem}\n")));
    checked.warnings.iter().for_each(|problem| text.push_str(&format!("warning: {problem}\n")));
    if checked.lists.is_empty() {
        text.push_str("no client's list has it\n");
    }
    for list in &checked.lists {
        let seen = match &list.source {
            ListSource::List => String::new(),
            ListSource::LastSeen(at) => format!(", last seen at {at}"),
        };
        let outcome = match &list.outcome {
            ListCheckOutcome::Compared(agreement) => agreement.to_string(),
            ListCheckOutcome::Unknown { unknown } => format!("it cannot be compared: {unknown}"),
        };
        let outcome = outcome.trim_end().replace('\n', "\n  ");
        text.push_str(&format!("session {}, task {}{seen}: {outcome}\n", list.session, list.task_id));
    }
    text
}
