//! `lockstep cascade status`.

use super::WhichArgs;
use crate::cascade::status::{CascadeStatusOutput, NO_CASCADE};
use crate::cascade::{Cascades, Opened};
use crate::cli::{Answer, Context};
use crate::error::CommandError;

/// Show where the cascade stands
///
/// The one that is active, or else the last one. Whichever session started it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep cascade status
  lockstep cascade status --format json")]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    which: WhichArgs,
}

pub(crate) fn run(args: &StatusArgs, context: &Context, cascades: &Cascades) -> Result<Answer, CommandError> {
    match cascades.newest(&args.which.which())? {
        Some(opened) => show(context, &opened),
        None => {
            let none = context.format.render(&serde_json::Value::Null);
            context.terminal.say(&none.unwrap_or_else(|| NO_CASCADE.to_owned()));
        }
    }
    Ok(Answer::Yes)
}

/// Shows a cascade.
pub(super) fn show(context: &Context, opened: &Opened) {
    context.say(&CascadeStatusOutput::of(opened));
}
