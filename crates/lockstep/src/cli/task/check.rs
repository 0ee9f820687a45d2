//! `lockstep task check`.

use lockstep_task::problem::Problem;
use serde::Serialize;

use super::{Answer, Context, present_or_told};
use crate::clock;
use crate::error::CommandError;
use crate::project::ActiveProject;
use crate::task::Tasks;
use crate::task::list_comparison::{Compared, Outcome, Source};

/// Check the task: its document, its pointers, and clients' lists against the store
///
/// Exit code 1 if there is an error or a list differs.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  lockstep task check && echo 'all agree'")]
pub(crate) struct CheckArgs {}

#[derive(Serialize)]
struct Checked {
    version: u64,
    subject: String,
    problems: Vec<Problem>,
    warnings: Vec<Problem>,
    lists: Vec<Compared>,
}

pub(crate) fn run(_: &CheckArgs, context: &Context) -> Result<Answer, CommandError> {
    let project = ActiveProject::of_command(&context.directory)?;
    let tasks = Tasks::open(&project, clock::now().timestamp())?;
    let Some(present) = present_or_told(&tasks, context)? else { return Ok(Answer::No) };
    let findings = tasks.with_rules(|rules| present.document.check(rules.limits, rules.lookup));
    let checked = Checked {
        version: present.record.version,
        subject: present.record.subject.clone(),
        problems: findings.problems,
        warnings: findings.warnings,
        lists: tasks.compare_lists(&present)?,
    };
    context.terminal.say(&context.format.render(&checked).unwrap_or_else(|| text(&checked)));
    let agree = checked.problems.is_empty() && checked.lists.iter().all(Compared::agrees);
    Ok(if agree { Answer::Yes } else { Answer::No })
}

fn text(checked: &Checked) -> String {
    let mut text = format!("{}\n", checked.subject);
    checked.problems.iter().for_each(|problem| text.push_str(&format!("error: {problem}\n")));
    checked.warnings.iter().for_each(|problem| text.push_str(&format!("warning: {problem}\n")));
    if checked.lists.is_empty() {
        text.push_str("no client's list has it\n");
    }
    for list in &checked.lists {
        let seen = match &list.source {
            Source::List => String::new(),
            Source::LastSeen(at) => format!(", last seen at {at}"),
        };
        let outcome = match &list.outcome {
            Outcome::Compared(agreement) => agreement.to_string(),
            Outcome::Unknown { unknown } => format!("it cannot be compared: {unknown}"),
        };
        let outcome = outcome.trim_end().replace('\n', "\n  ");
        text.push_str(&format!("session {}, task {}{seen}: {outcome}\n", list.session, list.task_id));
    }
    text
}
