//! `lockstep refs`.

use std::time::Duration;

use super::{CommandContext, CommandStatus};
use crate::error::{CommandError, CommandResult};
use crate::progress_bar::ProgressBar;
use crate::refs::query::{ReferenceDirection, ReferencesOutput};
use crate::refs::text;

/// Show the places that reference a file, a symbol or a name
///
/// Lists every place that imports it, uses it, has a path to it or names it, the certain ones first. Several definitions of a name
/// are listed apart. A name that nothing defines any more is searched for all the same: which places still use it? With --out: the
/// files that a file or a symbol references. With --dangling: references to files and names that no longer exist.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep refs src/parser.rs            a file; also by the end of its path: parser.rs
  lockstep refs src/parser               the files of a directory
  lockstep refs crate::parser            a module; also pkg.mod, ./parser
  lockstep refs parse_line               a symbol, wherever it is defined; also one that was renamed
  lockstep refs Parser.parse             a method of a type
  lockstep refs src/parser.rs:parse      the symbol of this file; also src/parser.rs:12, docs/use.md#options
  lockstep refs @scope/pkg               a package of the project, by the name in its manifest
  lockstep refs execution-code           a skill or an agent
  lockstep refs parse_line --all         every place, also the uncertain ones
  lockstep refs --out src/parser.rs      what this file references; also a symbol
  lockstep refs --dangling               references to files and names that are gone; exit code 1 if any

Exit code 5: the time limit was reached, and the answer is incomplete.")]
pub(crate) struct RefsArgs {
    /// A path, a place in a file, a module, a symbol, a package, or the name of a skill or agent
    #[arg(value_name = "NAME", required_unless_present = "dangling", conflicts_with = "dangling")]
    name: Option<String>,
    /// List what the file or the symbol references instead
    #[arg(long, conflicts_with = "dangling")]
    out: bool,
    /// List references to what no longer exists
    #[arg(long)]
    dangling: bool,
    /// List every place, also the uncertain ones
    #[arg(long)]
    all: bool,
    /// Stop after so many seconds and list what was found until then, with exit code 5
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
    time_limit: f64,
}

pub(crate) fn run(args: &RefsArgs, context: &CommandContext) -> CommandResult {
    let direction = if args.out { ReferenceDirection::Out } else { ReferenceDirection::In };
    let limit = Duration::try_from_secs_f64(args.time_limit)
        .map_err(|_| CommandError::usage("--time-limit must be a number of seconds from 0 on"))?;
    let found = {
        let bar = ProgressBar::new(&context.terminal);
        match &args.name {
            None => ReferencesOutput::dangling(&context.directory, limit, &bar)?,
            Some(name) => ReferencesOutput::of(&context.directory, name, direction, limit, &bar)?,
        }
    };
    show(args, context, &found);
    Ok(match () {
        () if args.dangling && !found.references.is_empty() => CommandStatus::CheckFailed,
        () if found.truncated => CommandStatus::Partial,
        () => CommandStatus::Success,
    })
}

fn show(args: &RefsArgs, context: &CommandContext, answer: &ReferencesOutput) {
    let terminal = &context.terminal;
    match context.format.render(answer) {
        Some(data) => terminal.print(&data),
        None => {
            let all = args.all || terminal.verbose();
            terminal.print(&text::render(answer, all, Some(terminal)));
        }
    }
}
