//! `lockstep step boundary`.

use lockstep_steps::step::transition::set_boundary;
use serde_json::json;

use super::{ActorArgs, CommandContext, resolve_step, written};
use crate::steps::{StepContext, StepsResult};

/// Change which files a step may change
///
/// The given patterns replace the existing boundary; without patterns, it is removed. The change is recorded with its author and the former boundary.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep step boundary 01-01 --allow 'src/auth/**' --allow 'tests/**' --why 'the tests belong to it'")]
pub(crate) struct BoundaryArgs {
    /// The step file, or the step's id
    #[arg(value_name = "FILE")]
    file: String,
    /// Files that may be changed, as a pattern from the project's root; may be repeated
    #[arg(long, value_name = "PATTERN")]
    allow: Vec<String>,
    /// Files that may not be changed; may be repeated
    #[arg(long, value_name = "PATTERN")]
    forbid: Vec<String>,
    /// Why
    #[arg(long, value_name = "TEXT")]
    why: String,
    #[command(flatten)]
    who: ActorArgs,
}

pub(super) fn run(args: &BoundaryArgs, steps: &StepContext<'_>, context: &CommandContext) -> StepsResult {
    let file = resolve_step(steps, context, &args.file)?;
    let machine = steps.machine()?;
    let step = steps.change(
        &file,
        &args.who.who,
        "STEP_BOUNDARY_CHANGED",
        |step| set_boundary(step, &args.allow, &args.forbid, &machine),
        |record| {
            let (allowed, forbidden) = (json!(args.allow), json!(args.forbid));
            record.with("allowed", allowed).with("forbidden", forbidden).with("why", args.why.as_str())
        },
    )?;
    Ok(written(context, &file, &step, None))
}
