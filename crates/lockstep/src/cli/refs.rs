//! `lockstep refs`.

use std::fmt::Write as _;
use std::time::Duration;

use anstyle::Style;
use lockstep_index::index::Unwatched;
use lockstep_refs::reference::Certainty;

use super::{Answer, Context};
use crate::error::{CommandError, Kind};
use crate::impact::lookup::{Direction, References, one_line};

/// Show who references a file, a symbol or a name
///
/// Every place that imports it, uses it, leads to it by a path, or names it. With --out: what a file references. With
/// --dangling: references to what no longer exists.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep refs src/parser.rs            who uses this file
  lockstep refs crate::parser            the same by its module; also pkg.mod, ./parser
  lockstep refs parse_line               who uses the symbol, wherever it is defined
  lockstep refs Parser.parse             a method of a type
  lockstep refs execution-code           who names this skill
  lockstep refs --out src/parser.rs      what this file uses
  lockstep refs --dangling               references to files and names that are gone; exit code 1 if any")]
pub(crate) struct RefsArgs {
    /// A path, a module, a symbol, or the name of a skill or agent
    #[arg(value_name = "NAME", required_unless_present = "dangling", conflicts_with = "dangling")]
    name: Option<String>,
    /// What the file references, instead of who references it
    #[arg(long, conflicts_with = "dangling")]
    out: bool,
    /// List references to what no longer exists
    #[arg(long)]
    dangling: bool,
    /// With --dangling: stop after so many seconds and list what was found until then, with exit code 5 if that is nothing
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, requires = "dangling")]
    time_limit: f64,
}

pub(crate) fn run(args: &RefsArgs, context: &Context) -> Result<Answer, CommandError> {
    let direction = if args.out { Direction::Out } else { Direction::In };
    let found = match &args.name {
        None => References::dangling(&context.directory, limit(args)?, &Unwatched)?,
        Some(name) => References::of(&context.directory, name, direction, &Unwatched)?,
    };
    show(context, &found);
    Ok(match found.references.is_empty() {
        false if args.dangling => Answer::No,
        _ if found.truncated => Answer::Partial,
        _ => Answer::Yes,
    })
}

fn limit(args: &RefsArgs) -> Result<Duration, CommandError> {
    Duration::try_from_secs_f64(args.time_limit)
        .map_err(|_| CommandError::new(Kind::Usage, "--time-limit must be a number of seconds from 0 on"))
}

fn show(context: &Context, answer: &References) {
    let terminal = &context.terminal;
    if let Some(data) = context.format.render(answer) {
        return terminal.say(&data);
    }
    let (dim, bold) = (Style::new().dimmed(), Style::new().bold());
    let mut out = String::new();
    let mut group = None;
    for found in &answer.references {
        let key = (&found.file, found.kind);
        if group.is_some_and(|(file, _)| file != &found.file) {
            out.push('\n');
        }
        if group.replace(key) != Some(key) {
            let heading = format!("{} ({})", found.file, found.kind.word());
            let _ = writeln!(out, "{}", terminal.styled(bold, &one_line(&heading)));
        }
        let target = found.target.as_ref().map(|it| one_line(&format!("  → {it}"))).unwrap_or_default();
        let doubt = if found.certainty == Certainty::Resolved { "" } else { "  (perhaps)" };
        let line = one_line(&format!("{}:{}:{}", found.file, found.line, found.text));
        let _ = writeln!(out, "{line}{}{}", terminal.styled(dim, &target), terminal.styled(dim, doubt));
    }
    terminal.say(&out);
    terminal.note(&answer.summary());
}
