//! `lockstep step abandon`, `adopt` and `accept`: exceptions, recorded with their reason.

use lockstep_store::audit::Append;

use super::{ActorArgs, CommandContext, CommandStatus, given_or_deleted, resolve_step, written};
use crate::steps::audit::event;
use crate::steps::{StepContext, StepsError};

#[derive(Debug, clap::Args)]
struct ExceptionArgs {
    /// The step file, or the step's id
    #[arg(value_name = "FILE")]
    file: String,
    /// Why
    #[arg(long, value_name = "TEXT")]
    why: String,
    #[command(flatten)]
    who: ActorArgs,
}

/// Abandon a step, on record
///
/// A started step blocks commits until it is ready for one. Abandoning records that it will not be finished,
/// whether its file still exists or not. The file stays unchanged.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep step abandon 01-01 --why 'superseded by 02-01'")]
pub(crate) struct AbandonArgs {
    #[command(flatten)]
    exception: ExceptionArgs,
}

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
    #[command(flatten)]
    exception: ExceptionArgs,
}

/// Accept, on record, rules that changed after a step began
///
/// A step records the digest of the rules it began under: the gates, the tables of the steps and the place of the trail. When they
/// change, the gates block until a person accepts the present ones. An agent's session accepts nothing.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep step accept 01-01 --why 'the review phase was added on purpose'")]
pub(crate) struct AcceptArgs {
    #[command(flatten)]
    exception: ExceptionArgs,
}

pub(super) fn abandon(
    AbandonArgs { exception: args }: &AbandonArgs,
    steps: &StepContext<'_>,
    context: &CommandContext,
) -> Result<CommandStatus, StepsError> {
    let file = given_or_deleted(steps, context, &args.file)?;
    let record = steps
        .record(event::ABANDONED, Some(&file))
        .with("by", args.who.who.as_str())
        .with("why", args.why.as_str());
    steps.note_known(&file.name)?;
    steps
        .append(Some(&file), Append { record: &record, unwritten: None, rules: Some((&file.name, None)) })?;
    context.terminal.say_line(&format!("{}: given up", file.name));
    Ok(CommandStatus::Success)
}

pub(super) fn adopt(
    AdoptArgs { exception: args }: &AdoptArgs,
    steps: &StepContext<'_>,
    context: &CommandContext,
) -> Result<CommandStatus, StepsError> {
    let file = resolve_step(steps, context, &args.file)?;
    let step = steps.adopt(&file, &args.who.who, &args.why)?;
    Ok(written(context, &file, &step, None))
}

pub(super) fn accept(
    AcceptArgs { exception: args }: &AcceptArgs,
    steps: &StepContext<'_>,
    context: &CommandContext,
) -> Result<CommandStatus, StepsError> {
    let file = resolve_step(steps, context, &args.file)?;
    steps.accept_rules(&file, &args.who.who, &args.why)?;
    context.terminal.say_line(&format!("{}: the present rules are accepted", file.name));
    Ok(CommandStatus::Success)
}
