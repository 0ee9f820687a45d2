//! `lockstep task show`.

use super::writer_args::WriterArgs;
use super::{CommandContext, CommandStatus, output};
use crate::clock;
use crate::error::CommandResult;
use crate::project::ActiveProject;
use crate::task::TaskContext;

/// Print the task, or an earlier version of it
///
/// Inside a client's session it is noted who read which version, for `lockstep task readers`.
#[derive(Debug, clap::Args)]
// `--version` is a version of the task here.
#[command(disable_version_flag = true)]
#[command(after_help = "Examples:
  lockstep task show > task.yaml             the present version
  lockstep task show --version 3             an earlier one
  lockstep task show --section constraints   one section")]
pub(crate) struct TaskShowArgs {
    /// Show this version instead of the current one
    #[arg(long = "version", value_name = "N")]
    number: Option<u64>,
    /// Show only this section
    #[arg(long, value_name = "NAME")]
    section: Option<String>,
    #[command(flatten)]
    who: WriterArgs,
}

pub(crate) fn run(args: &TaskShowArgs, context: &CommandContext) -> CommandResult {
    let project = ActiveProject::discover(&context.directory)?;
    let mut tasks = TaskContext::open(&project, clock::now().timestamp())?;
    let reader = args.who.writer("task show", &project);
    match tasks.show(Some(&reader), args.number, args.section.as_deref())? {
        Ok(view) => context.print(&view),
        Err(refused) => return Ok(output::print_refusal(context, &refused)),
    }
    Ok(CommandStatus::Success)
}
