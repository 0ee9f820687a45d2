//! `lockstep task reopen`.

use super::writer_args::WriterArgs;
use super::{CommandContext, output};
use crate::clock;
use crate::error::CommandResult;
use crate::project::ActiveProject;
use crate::task::TaskContext;

/// Reopen a delivered task
///
/// Sets its last phase to IN_PROGRESS and keeps everything else. Requires a reason with --why.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  lockstep task reopen --why 'the release was withdrawn'")]
pub(crate) struct ReopenArgs {
    #[command(flatten)]
    who: WriterArgs,
}

pub(crate) fn run(args: &ReopenArgs, context: &CommandContext) -> CommandResult {
    let project = ActiveProject::discover(&context.directory)?;
    let mut tasks = TaskContext::open(&project, clock::now().timestamp())?;
    let why = args.who.why.clone().unwrap_or_default();
    let written = tasks.reopen(&args.who.writer("task reopen", &project), &why)?;
    Ok(output::print_write_result(context, written.into_output()))
}
