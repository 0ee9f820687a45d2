//! `lockstep step lock` and `lockstep step unlock`.

use jiff::ToSpan as _;
use lockstep_steps::problem::StepProblem;
use lockstep_store::step_lock::StepLock;

use super::{CommandContext, CommandStatus, given_or_deleted, resolve_step};
use crate::steps::{StepContext, StepsError, StepsResult};

/// Exclude other writers of a step for a while
///
/// Others see the owner and the end of the lock. The lock expires automatically; taking it again prolongs it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep step lock 01-01 --as crafter --minutes 60")]
pub(crate) struct LockArgs {
    /// The step file, or the step's id
    #[arg(value_name = "FILE")]
    file: String,
    /// The owner of the lock
    #[arg(long = "as", value_name = "NAME")]
    who: String,
    /// For how long
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(i64).range(1..=10_080))]
    minutes: i64,
}

/// Let others write a step again
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep step unlock 01-01 --as crafter")]
pub(crate) struct UnlockArgs {
    /// The step file, or the step's id
    #[arg(value_name = "FILE")]
    file: String,
    /// The owner of the lock
    #[arg(long = "as", value_name = "NAME")]
    who: String,
    /// Release it for any owner
    #[arg(long)]
    force: bool,
}

pub(super) fn lock(args: &LockArgs, steps: &StepContext<'_>, context: &CommandContext) -> StepsResult {
    let file = resolve_step(steps, context, &args.file)?;
    steps.read(&file).map_err(StepsError::Refused)?;
    let now = steps.now.timestamp();
    let until = now.saturating_add(args.minutes.minutes()).unwrap_or(jiff::Timestamp::MAX);
    let mut lock = StepLock::take(&steps.project.state, &file.path, &args.who, now)?;
    lock.hold(&args.who, now, until)?;
    steps.append_audit(Some(&file), &steps.record("STEP_LOCKED", Some(&file)).with("by", args.who.as_str()));
    context.terminal.say_line(&format!("{}: held by {} until {until:.0}", file.name, args.who));
    Ok(CommandStatus::Success)
}

pub(super) fn unlock(args: &UnlockArgs, steps: &StepContext<'_>, context: &CommandContext) -> StepsResult {
    let file = given_or_deleted(steps, context, &args.file)?;
    let now = steps.now.timestamp();
    let state = &steps.project.state;
    let mut lock = match args.force {
        true => StepLock::take_over(state, &file.path, &args.who, now)?,
        false => StepLock::take(state, &file.path, &args.who, now)?,
    };
    if lock.holder(now).is_none() {
        let message = format!("{} is not locked", file.name);
        return Err(StepsError::Refused(vec![StepProblem::invalid(
            "step file",
            message,
            "There is nothing to release",
        )]));
    }
    lock.release()?;
    steps
        .append_audit(Some(&file), &steps.record("STEP_UNLOCKED", Some(&file)).with("by", args.who.as_str()));
    context.terminal.say_line(&format!("{}: released", file.name));
    Ok(CommandStatus::Success)
}
