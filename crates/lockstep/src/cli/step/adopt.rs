//! `lockstep step adopt`.

use super::{ActorArgs, CommandContext, CommandStatus, resolve_step, written};
use crate::steps::{StepContext, StepsError};

/// Take over a step that was started elsewhere, on record
///
/// The state of a step is the one that the audit trail of this working tree recorded. A step that was started
/// in another clone, or by another program, has an unrecorded state and passes no gate. This records its
/// current state, with the reason, so that work can continue. A step whose recorded state was changed by hand
/// afterwards cannot be adopted.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep step adopt docs/feature/auth/steps/01-01.json --why 'begun with nWave'")]
pub(crate) struct AdoptArgs {
    /// The step file, or the step's id
    #[arg(value_name = "FILE")]
    file: String,
    /// Why
    #[arg(long, value_name = "TEXT")]
    why: String,
    #[command(flatten)]
    who: ActorArgs,
}

pub(super) fn run(
    args: &AdoptArgs,
    steps: &StepContext<'_>,
    context: &CommandContext,
) -> Result<CommandStatus, StepsError> {
    let file = resolve_step(steps, context, &args.file)?;
    let step = steps.adopt(&file, &args.who.who, &args.why)?;
    Ok(written(context, &file, &step, None))
}
