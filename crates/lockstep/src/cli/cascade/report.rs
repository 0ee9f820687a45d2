//! `lockstep cascade report`.

use super::CascadeSelectorArgs;
use crate::cascade::CascadeContext;
use crate::cli::{CommandContext, CommandStatus};
use crate::error::{CommandError, CommandResult};
use crate::output_format::OutputFormat;

/// Print the report of a cascade: L1 as YAML, L2 as Markdown, everything as JSON
///
/// As text and as Markdown it is the L2: each iteration with what was updated as diffs, skipped files with their errors, scope
/// violations, dismissed dependents with their reasons.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep cascade report --format yaml
  lockstep cascade report --format md
  lockstep cascade report --id 3 --format json")]
pub(crate) struct CascadeReportArgs {
    #[command(flatten)]
    which: CascadeSelectorArgs,
}

pub(crate) fn run(
    args: &CascadeReportArgs,
    context: &CommandContext,
    cascades: &CascadeContext,
) -> CommandResult {
    let opened = cascades.active_or_newest(&args.which.selector())?.ok_or_else(|| {
        CommandError::usage("there was no cascade yet").hint("`lockstep cascade start` starts one")
    })?;
    let text = match context.format {
        OutputFormat::Yaml => opened.state.l1(),
        OutputFormat::Json => serde_json::to_string_pretty(&opened.state.data()).expect("plain data") + "\n",
        _ => cascades.disk(&opened, None)?.l2(&opened.state)?,
    };
    context.terminal.print(&text);
    Ok(CommandStatus::Success)
}
