//! `lockstep task reopen`.

use super::writer_args::WhoArgs;
use super::{Answer, Context, output};
use crate::clock;
use crate::error::CommandError;
use crate::project::ActiveProject;
use crate::task::Tasks;

/// Reopen a delivered task
///
/// Sets its last phase to IN_PROGRESS and keeps everything else. Requires a reason with --why.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  lockstep task reopen --why 'the release was withdrawn'")]
pub(crate) struct ReopenArgs {
    #[command(flatten)]
    who: WhoArgs,
}

pub(crate) fn run(args: &ReopenArgs, context: &Context) -> Result<Answer, CommandError> {
    let project = ActiveProject::of_command(&context.directory)?;
    let mut tasks = Tasks::open(&project, clock::now().timestamp())?;
    let why = args.who.why.clone().unwrap_or_default();
    let written = tasks.reopen(&args.who.writer("task reopen", &project), &why)?;
    Ok(output::print_write_result(context, written))
}
