//! `lockstep task diff`.

use lockstep_task::version::diff::diff;

use super::{CommandContext, CommandStatus, current_or_print_none};
use crate::clock;
use crate::error::CommandResult;
use crate::project::ActiveProject;
use crate::task::TaskContext;

/// Show what changed between two versions of the task, by section
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep task diff 3      from PT-v3 to the present version
  lockstep task diff 3 5")]
pub(crate) struct DiffArgs {
    /// The version before
    #[arg(value_name = "A")]
    before: u64,
    /// The version after; the present one where absent
    #[arg(value_name = "B")]
    after: Option<u64>,
}

pub(crate) fn run(args: &DiffArgs, context: &CommandContext) -> CommandResult {
    let project = ActiveProject::discover(&context.directory)?;
    let tasks = TaskContext::open(&project, clock::now().timestamp())?;
    let Some(present) = current_or_print_none(&tasks, context)? else {
        return Ok(CommandStatus::CheckFailed);
    };
    let before = tasks.version_or_error(&present, args.before)?;
    let after = match args.after {
        Some(number) => tasks.version_or_error(&present, number)?,
        None => present,
    };
    let changes = diff(&before.document, &after.document);
    let text = || match changes.is_empty() {
        true => format!("PT-v{} and PT-v{} say the same\n", before.record.version, after.record.version),
        false => changes.to_string(),
    };
    context.terminal.print(&context.format.render(&changes).unwrap_or_else(text));
    Ok(CommandStatus::Success)
}
