//! `lockstep cascade abort`.

use lockstep_cascade::Event;
use lockstep_cascade::inspect::advance;

use super::{WhichArgs, status};
use crate::cascade::Cascades;
use crate::cli::{Answer, Context};
use crate::clock;
use crate::error::CommandError;

/// End the cascade, with a reason
///
/// Its status is `partial`; the files that nobody got to are named as unresolved. Nothing that agents changed is undone.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep cascade abort --why 'the rename is taken back'")]
pub(crate) struct AbortArgs {
    /// Why; it stands in the report
    #[arg(long, value_name = "REASON")]
    why: String,
    #[command(flatten)]
    which: WhichArgs,
}

pub(crate) fn run(
    args: &AbortArgs,
    context: &Context,
    cascades: &mut Cascades,
) -> Result<Answer, CommandError> {
    if let Some(id) = cascades.give_up(&args.which.which(), clock::now().timestamp())? {
        context
            .terminal
            .say_line(&format!("Cascade {id}: its state cannot be read, so it was ended without a report."));
        return Ok(Answer::Yes);
    }
    let mut opened = cascades.needed(&args.which.which())?;
    let mut disk = cascades.disk(&opened, None)?;
    advance(&mut opened.state, Event::Aborted { why: args.why.clone() }, &mut disk)?;
    status::show(context, &opened);
    Ok(Answer::Yes)
}
