//! `lockstep cascade abort`.

use lockstep_cascade::CascadeEvent;
use lockstep_cascade::inspector::advance;

use super::{CascadeSelectorArgs, status};
use crate::cascade::CascadeContext;
use crate::cli::{CommandContext, CommandStatus};
use crate::clock;
use crate::error::CommandResult;

/// End the cascade, with a reason
///
/// Its status is `partial`; the files that no agent reached are named as unresolved. Nothing that agents changed is undone.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep cascade abort --why 'the rename is taken back'")]
pub(crate) struct CascadeAbortArgs {
    /// The reason, for the report
    #[arg(long, value_name = "REASON")]
    why: String,
    #[command(flatten)]
    which: CascadeSelectorArgs,
}

pub(crate) fn run(
    args: &CascadeAbortArgs,
    context: &CommandContext,
    cascades: &mut CascadeContext,
) -> CommandResult {
    if let Some(id) = cascades.force_end(&args.which.selector(), clock::now().timestamp())? {
        context
            .terminal
            .say_line(&format!("Cascade {id}: its state cannot be read, so it was ended without a report."));
        return Ok(CommandStatus::Success);
    }
    let mut opened = cascades.require_active(&args.which.selector())?;
    let mut disk = cascades.disk(&opened, None)?;
    advance(&mut opened.state, CascadeEvent::Aborted { why: args.why.clone() }, &mut disk)?;
    status::show(context, &opened);
    Ok(CommandStatus::Success)
}
