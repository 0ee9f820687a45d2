//! `lockstep step finish` and `lockstep step resume`.

use clap::ValueEnum;
use lockstep_steps::step::transition::{self, TransitionRules};

use super::{ActorArgs, CommandContext, resolve_step, written};
use crate::steps::{StepContext, StepsResult};

/// End a step
///
/// DONE needs every phase to be over as it should. PARTIAL and FAILED steps can be taken up again with `resume`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep step finish 01-01 --status DONE
  lockstep step finish 01-01 --status PARTIAL --why 'out of turns'")]
pub(crate) struct FinishArgs {
    /// The step file, or the step's id
    #[arg(value_name = "FILE")]
    file: String,
    /// The final status
    #[arg(long, value_enum, value_name = "STATUS", ignore_case = true)]
    status: StatusArg,
    /// Why, for those who take it up again
    #[arg(long, value_name = "TEXT")]
    why: Option<String>,
    #[command(flatten)]
    who: ActorArgs,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
#[value(rename_all = "UPPER")]
enum StatusArg {
    /// Everything is done
    Done,
    /// Some of it is done, the rest can follow
    Partial,
    /// It failed
    Failed,
}

/// Take up a step that is FAILED or PARTIAL
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep step resume 01-01")]
pub(crate) struct ResumeArgs {
    /// The step file, or the step's id
    #[arg(value_name = "FILE")]
    file: String,
    #[command(flatten)]
    who: ActorArgs,
}

pub(super) fn finish(args: &FinishArgs, steps: &StepContext<'_>, context: &CommandContext) -> StepsResult {
    let file = resolve_step(steps, context, &args.file)?;
    let (machine, evidence) = (steps.machine()?, steps.evidence_rules());
    let rules = TransitionRules { machine: &machine, evidence: &evidence };
    let status = match args.status {
        StatusArg::Done => "DONE",
        StatusArg::Partial => "PARTIAL",
        StatusArg::Failed => "FAILED",
    };
    let step = steps.change(
        &file,
        &args.who.who,
        "STEP_FINISHED",
        |step| transition::finish(step, status, args.why.as_deref(), rules),
        |record| record.with("why", args.why.clone()),
    )?;
    Ok(written(context, &file, &step, None))
}

pub(super) fn resume(args: &ResumeArgs, steps: &StepContext<'_>, context: &CommandContext) -> StepsResult {
    let file = resolve_step(steps, context, &args.file)?;
    let (machine, evidence) = (steps.machine()?, steps.evidence_rules());
    let rules = TransitionRules { machine: &machine, evidence: &evidence };
    let step = steps.change(
        &file,
        &args.who.who,
        "STEP_RESUMED",
        |step| transition::resume(step, rules),
        |record| record,
    )?;
    Ok(written(context, &file, &step, None))
}
