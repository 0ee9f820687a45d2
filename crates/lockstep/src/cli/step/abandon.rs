//! `lockstep step abandon`.

use lockstep_steps::problem::Problem;

use super::{Answer, Context, WhoArgs, given};
use crate::steps::trail::event;
use crate::steps::{Steps, StepsError};

/// Put on record that a step is given up
///
/// A step that was begun blocks commits until it is ready for one. This says that nobody will get it there, whether its file is still
/// there or not. The file stays as it is.
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
    who: WhoArgs,
}

pub(super) fn run(args: &AbandonArgs, steps: &Steps<'_>, context: &Context) -> Result<Answer, StepsError> {
    let file = given(steps, context, &args.file)?;
    if !file.path.exists() && !steps.known().contains(&file.name) {
        let message = format!("There is no step {}, and none was recorded", file.name);
        return Err(StepsError::Refused(vec![Problem::missing(
            "step file",
            message,
            "`lockstep step list` tells those there are",
        )]));
    }
    let record = steps
        .record(event::ABANDONED, Some(&file))
        .with("by", args.who.who.as_str())
        .with("why", args.why.as_str());
    steps.note_known(&file.name)?;
    steps.trail_of(&file).append(&record)?;
    context.terminal.say(&format!("{}: given up\n", file.name));
    Ok(Answer::Yes)
}
