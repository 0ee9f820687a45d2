//! `lockstep task context`.

use lockstep_task::fork_context::{ForkContext, render};
use serde::Serialize;

use super::writer_args::SessionArgs;
use super::{CommandContext, CommandStatus};
use crate::clock;
use crate::error::CommandResult;
use crate::project::ActiveProject;
use crate::task::{CurrentTask, TaskContext};

/// Print the complete context of a fork agent: arguments, session, task
///
/// For clients whose fork agents cannot read the Lead's list.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  lockstep task context --for pt-manager --args 'add a constraint'")]
pub(crate) struct ContextArgs {
    /// The agent, by its type
    #[arg(long = "for", value_name = "AGENT")]
    agent: String,
    /// The agent's arguments
    #[arg(long = "args", value_name = "TEXT", num_args = 1..)]
    arguments: Vec<String>,
    #[command(flatten)]
    session: SessionArgs,
}

#[derive(Serialize)]
struct TaskContextOutput {
    agent: String,
    version: Option<u64>,
    context: String,
}

pub(crate) fn run(args: &ContextArgs, context: &CommandContext) -> CommandResult {
    let project = ActiveProject::discover(&context.directory)?;
    let tasks = TaskContext::open(&project, clock::now().timestamp())?;
    let present = tasks.present()?;
    let session = args.session.session();
    let scratch = session.as_ref().map(|session| tasks.scratch(session)).transpose()?.flatten();
    let named: Vec<_> = session.iter().map(|session| ("session".to_owned(), session.to_string())).collect();
    let text = render(&ForkContext {
        agent: &args.agent,
        arguments: &args.arguments,
        session: &named,
        scratch: scratch.as_ref(),
        title: &present.as_ref().map(CurrentTask::title).unwrap_or_default(),
        held: present.as_ref().map(CurrentTask::as_current_version),
        access: &tasks.access,
    });
    let version = present.as_ref().map(|present| present.record.version);
    let data = TaskContextOutput { agent: args.agent.clone(), version, context: text };
    context.terminal.print(&context.format.render(&data).unwrap_or(data.context));
    Ok(CommandStatus::Success)
}
