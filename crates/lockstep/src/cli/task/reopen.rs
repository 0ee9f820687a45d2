//! `lockstep task reopen`.

use super::who::WhoArgs;
use super::{Answer, Context, told};
use crate::clock;
use crate::error::CommandError;
use crate::project::ActiveProject;
use crate::task::Tasks;

/// Open a delivered task again
///
/// Its last phase is IN_PROGRESS then, and everything else stays. It says why with --why.
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
    Ok(told::written(context, written))
}
