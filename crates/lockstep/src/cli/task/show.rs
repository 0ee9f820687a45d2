//! `lockstep task show`.

use super::who::WhoArgs;
use super::{Answer, Context, told};
use crate::clock;
use crate::error::CommandError;
use crate::project::ActiveProject;
use crate::task::Tasks;

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
pub(crate) struct ShowArgs {
    /// This version instead of the present one
    #[arg(long = "version", value_name = "N")]
    number: Option<u64>,
    /// This section only
    #[arg(long, value_name = "NAME")]
    section: Option<String>,
    #[command(flatten)]
    who: WhoArgs,
}

pub(crate) fn run(args: &ShowArgs, context: &Context) -> Result<Answer, CommandError> {
    let project = ActiveProject::of_command(&context.directory)?;
    let mut tasks = Tasks::open(&project, clock::now().timestamp())?;
    let reader = args.who.writer("task show", &project);
    match tasks.show(Some(&reader), args.number, args.section.as_deref())? {
        Ok(shown) => context.say(&shown),
        Err(refused) => return Ok(told::no(context, &refused)),
    }
    Ok(Answer::Yes)
}
