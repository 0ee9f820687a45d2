//! `lockstep step abandon`.

use lockstep_store::audit::Append;

use super::{ActorArgs, CommandContext, CommandStatus, given_or_deleted};
use crate::steps::audit::event;
use crate::steps::{StepContext, StepsError};

/// Abandon a step, on record
///
/// A started step blocks commits until it is ready for one. Abandoning records that it will not be finished,
/// whether its file still exists or not. The file stays unchanged.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep step abandon 01-01 --why 'superseded by 02-01'")]
pub(crate) struct AbandonArgs {
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
    args: &AbandonArgs,
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
