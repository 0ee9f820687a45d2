//! `lockstep cascade next`.

use super::WhichArgs;
use crate::cascade::Cascades;
use crate::cli::{Answer, Context};
use crate::error::CommandError;

/// Print the groups to run now, each with the prompt for its agent
///
/// The groups that wait are handed out. Those that were handed out before and are not done are printed again, so that a Lead that
/// lost its context can go on.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep cascade next
  lockstep cascade next --format json
  lockstep cascade next --analyst         the prompt for a second opinion on convergence")]
pub(crate) struct NextArgs {
    #[command(flatten)]
    which: WhichArgs,
    /// Print the prompt for a second opinion on what the iteration changed, and hand out nothing
    #[arg(long)]
    analyst: bool,
}

pub(crate) fn run(args: &NextArgs, context: &Context, cascades: &Cascades) -> Result<Answer, CommandError> {
    let which = args.which.which();
    if args.analyst {
        let opened = cascades.needed(&which)?;
        let disk = cascades.disk(&opened, None)?;
        let prompt = disk.analyst(&opened.state, "Answer in text: the list, and how you found it.")?;
        context.terminal.say(&context.format.render(&prompt.text).unwrap_or(prompt.text));
        return Ok(Answer::Yes);
    }
    context.say(&cascades.next(&which)?);
    Ok(Answer::Yes)
}
