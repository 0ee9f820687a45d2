//! `lockstep task history`.

use lockstep_store::task_versions::TaskVersion;
use serde::Serialize;

use super::{CommandContext, CommandStatus, current_or_print_none};
use crate::clock;
use crate::error::CommandResult;
use crate::project::ActiveProject;
use crate::task::TaskContext;

/// List the versions of the task: who wrote each, by which skill, when and why
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  lockstep task history --format json")]
pub(crate) struct HistoryArgs {}

#[derive(Serialize)]
struct VersionRow<'a> {
    version: u64,
    subject: &'a str,
    delivered: bool,
    at: String,
    agent: Option<&'a str>,
    agent_id: Option<&'a str>,
    skill: Option<&'a str>,
    session: Option<&'a str>,
    why: Option<&'a str>,
}

pub(crate) fn run(_: &HistoryArgs, context: &CommandContext) -> CommandResult {
    let project = ActiveProject::discover(&context.directory)?;
    let tasks = TaskContext::open(&project, clock::now().timestamp())?;
    let Some(present) = current_or_print_none(&tasks, context)? else {
        return Ok(CommandStatus::CheckFailed);
    };
    let versions = tasks.store.task_versions(present.record.task)?;
    let entries: Vec<_> = versions.iter().map(entry).collect();
    let text = || entries.iter().map(line).collect();
    context.terminal.print(&context.format.render(&entries).unwrap_or_else(text));
    Ok(CommandStatus::Success)
}

fn entry(version: &TaskVersion) -> VersionRow<'_> {
    VersionRow {
        version: version.version,
        subject: &version.subject,
        delivered: version.delivered,
        at: version.at.to_string(),
        agent: version.author.agent_type.as_deref(),
        agent_id: version.author.agent_id.as_deref(),
        skill: version.author.skill.as_deref(),
        session: version.author.session.as_deref(),
        why: version.author.why.as_deref(),
    }
}

fn line(entry: &VersionRow<'_>) -> String {
    let by = entry.agent.unwrap_or("lead");
    let skill = entry.skill.map(|skill| format!(" ({skill})")).unwrap_or_default();
    let why = entry.why.map(|why| format!("  {}", why.replace('\n', " "))).unwrap_or_default();
    format!("{}  {by}{skill}  {}{why}\n", entry.at, entry.subject)
}
