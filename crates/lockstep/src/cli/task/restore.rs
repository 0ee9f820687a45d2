//! `lockstep task restore`.

use lockstep_task::key_path::KeyPath;

use super::writer_args::WriterArgs;
use super::{CommandContext, CommandStatus, current_or_print_none, output};
use crate::clock;
use crate::error::CommandResult;
use crate::project::ActiveProject;
use crate::task::TaskContext;

/// Make an earlier version of the task the next one
///
/// The next version has the content of the earlier one, and all versions in between are kept.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  lockstep task restore 3 --why 'PT-v4 was made from a wrong plan'")]
pub(crate) struct RestoreArgs {
    /// The earlier version
    #[arg(value_name = "N")]
    number: u64,
    /// Give this place up on purpose, as in phase_status.P4.l2_path
    #[arg(long, value_name = "PLACE")]
    drop: Vec<KeyPath>,
    #[command(flatten)]
    who: WriterArgs,
}

pub(crate) fn run(args: &RestoreArgs, context: &CommandContext) -> CommandResult {
    let project = ActiveProject::discover(&context.directory)?;
    let mut tasks = TaskContext::open(&project, clock::now().timestamp())?;
    let Some(present) = current_or_print_none(&tasks, context)? else {
        return Ok(CommandStatus::CheckFailed);
    };
    let earlier = tasks.version_or_error(&present, args.number)?;
    let mut writer = args.who.writer("task restore", &project);
    writer.why.get_or_insert_with(|| format!("restores PT-v{}", args.number));
    let written = tasks.restore(&writer, &earlier.document, &args.drop)?;
    Ok(output::print_write_result(context, written.into_output()))
}
