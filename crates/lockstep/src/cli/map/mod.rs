//! `lockstep map`: a file per subcommand; `build` and `update` are one in [`make`].

mod check;
mod make;
mod show;

use std::collections::HashSet;

use super::{Answer, Context};
use crate::error::CommandError;
use crate::map::{Order, Way};

/// Write a map of the codebase: which file references which
///
/// The map is one Markdown document, `.claude/agent-memory/analyst/codebase-map.md` for a scope below `.claude/`, else
/// `.lockstep/codebase-map.md`. It is computed from the index and never edited by hand. Without a subcommand it is updated or,
/// where there is none, built. `[map]` in lockstep.toml says where it is and what it is of.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "Examples:
  lockstep map                           update the map; build it where there is none
  lockstep map src/store.rs              show one file, as `map show` does
  lockstep map build --scope .claude/    build it anew, of an agent framework's files only
  lockstep map check                     is it right? exit code 1 where it is not
  lockstep map show                      all files, the hottest first
  lockstep map show src/store.rs         one file: what it references, and who references it
  lockstep map show --graph dot | dot -Tsvg > map.svg
  lockstep map --format yaml             the L1 report, for programs")]
pub(crate) struct MapArgs {
    #[command(subcommand)]
    command: Option<MapCommand>,
    /// Show this file, by its path or its short name, instead of updating the map
    file: Option<String>,
}

#[derive(Debug, clap::Subcommand)]
enum MapCommand {
    Build(make::BuildArgs),
    Update(make::UpdateArgs),
    Check(check::CheckArgs),
    Show(show::ShowArgs),
}

pub(crate) fn run(args: &MapArgs, context: &Context) -> Result<Answer, CommandError> {
    match &args.command {
        None if args.file.is_some() => show::run(&show::ShowArgs::for_file(args.file.clone()), context),
        None => make::bring(&Order { way: Way::Incremental, scope: None, files: HashSet::new() }, context),
        Some(MapCommand::Build(args)) => make::build(args, context),
        Some(MapCommand::Update(args)) => make::update(args, context),
        Some(MapCommand::Check(args)) => check::run(args, context),
        Some(MapCommand::Show(args)) => show::run(args, context),
    }
}

/// So many of something.
fn count(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}
