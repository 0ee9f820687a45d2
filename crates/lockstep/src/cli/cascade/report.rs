//! `lockstep cascade report`.

use super::WhichArgs;
use crate::cascade::Cascades;
use crate::cli::{Answer, Context};
use crate::document::Format;
use crate::error::{CommandError, Kind};

/// Print the report of a cascade: L1 as YAML, L2 as Markdown, everything as JSON
///
/// As text and as Markdown it is the L2: each iteration with what was updated as diffs, skipped files with their errors, scope
/// violations, dismissed dependents with their reasons.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep cascade report --format yaml
  lockstep cascade report --format md
  lockstep cascade report --id 3 --format json")]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    which: WhichArgs,
}

pub(crate) fn run(args: &ReportArgs, context: &Context, cascades: &Cascades) -> Result<Answer, CommandError> {
    let opened = cascades.newest(&args.which.which())?.ok_or_else(|| {
        CommandError::new(Kind::Usage, "there was no cascade yet").hint("`lockstep cascade start` starts one")
    })?;
    let text = match context.format {
        Format::Yaml => opened.state.l1(),
        Format::Json => serde_json::to_string_pretty(&opened.state.data()).expect("plain data") + "\n",
        _ => cascades.disk(&opened, None)?.l2(&opened.state)?,
    };
    context.terminal.say(&text);
    Ok(Answer::Yes)
}
