//! `lockstep step accept`.

use super::{ActorArgs, CommandContext, CommandStatus, resolve_step};
use crate::steps::{StepContext, StepsError};

/// Accept, on record, rules that changed after a step began
///
/// A step records the digest of the rules it began under: the gates, the tables of the steps and the place of the trail. When they
/// change, the gates block until a person accepts the present ones. An agent's session accepts nothing.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep step accept 01-01 --why 'the review phase was added on purpose'")]
pub(crate) struct AcceptArgs {
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
    args: &AcceptArgs,
    steps: &StepContext<'_>,
    context: &CommandContext,
) -> Result<CommandStatus, StepsError> {
    let file = resolve_step(steps, context, &args.file)?;
    steps.accept_rules(&file, &args.who.who, &args.why)?;
    context.terminal.say_line(&format!("{}: the present rules are accepted", file.name));
    Ok(CommandStatus::Success)
}
