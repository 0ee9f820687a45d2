//! `lockstep cascade status`.

use super::CascadeSelectorArgs;
use crate::cascade::status::{CascadeStatusOutput, NO_CASCADE};
use crate::cascade::{CascadeContext, LoadedCascade};
use crate::cli::{CommandContext, CommandStatus};
use crate::error::CommandResult;

/// Show the state of the cascade
///
/// The one that is active, or else the last one. Whichever session started it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep cascade status
  lockstep cascade status --format json")]
pub(crate) struct CascadeStatusArgs {
    #[command(flatten)]
    which: CascadeSelectorArgs,
}

pub(crate) fn run(
    args: &CascadeStatusArgs,
    context: &CommandContext,
    cascades: &CascadeContext,
) -> CommandResult {
    match cascades.active_or_newest(&args.which.selector())? {
        Some(opened) => show(context, &opened),
        None => {
            let none = context.format.render(&serde_json::Value::Null);
            context.terminal.print(&none.unwrap_or_else(|| NO_CASCADE.to_owned()));
        }
    }
    Ok(CommandStatus::Success)
}

pub(super) fn show(context: &CommandContext, opened: &LoadedCascade) {
    context.print(&CascadeStatusOutput::of(opened));
}
