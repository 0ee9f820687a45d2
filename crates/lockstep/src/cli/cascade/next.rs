//! `lockstep cascade next`.

use super::CascadeSelectorArgs;
use crate::cascade::CascadeContext;
use crate::cli::{CommandContext, CommandStatus};
use crate::error::CommandResult;

/// Print the groups to run now, each with the prompt for its agent
///
/// The groups that wait are handed out. Those that were handed out before and are not done are printed again, so that a Lead that
/// lost its context can go on.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep cascade next
  lockstep cascade next --format json
  lockstep cascade next --analyst         the prompt for a second opinion on convergence")]
pub(crate) struct CascadeNextArgs {
    #[command(flatten)]
    which: CascadeSelectorArgs,
    /// Print the prompt for a second opinion on what the iteration changed, and hand out nothing
    #[arg(long)]
    analyst: bool,
}

pub(crate) fn run(
    args: &CascadeNextArgs,
    context: &CommandContext,
    cascades: &CascadeContext,
) -> CommandResult {
    let which = args.which.selector();
    if args.analyst {
        let opened = cascades.require_active(&which)?;
        let disk = cascades.disk(&opened, None)?;
        let prompt = disk.analyst_prompt(&opened.state, "Answer in text: the list, and how you found it.")?;
        context.terminal.print(&context.format.render(&prompt.text).unwrap_or(prompt.text));
        return Ok(CommandStatus::Success);
    }
    context.print(&cascades.dispatch_waiting(&which)?);
    Ok(CommandStatus::Success)
}
