//! `lockstep map`: a file per subcommand; `build` and `update` are one in [`build`].

mod build;
mod check;
mod show;

use std::collections::HashSet;

use super::CommandContext;
use crate::error::CommandResult;
use crate::map::{MapUpdateMode, MapUpdateRequest};

/// Write a map of the codebase: which file references which
///
/// The map is one Markdown document, `.claude/agent-memory/analyst/codebase-map.md` for a scope below
/// `.claude/`, otherwise `.lockstep/codebase-map.md`. It is generated from the index and never edited by
/// hand. Without a subcommand it is updated, or built if there is none. `[map]` in lockstep.toml sets its
/// path and scope.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "Examples:
  lockstep map                           update the map; build it if there is none
  lockstep map src/store.rs              show one file, as `map show` does
  lockstep map build --scope .claude/    build it for an agent framework's files only
  lockstep map check                     check it; exit code 1 if it is wrong
  lockstep map show                      all files, the hottest first
  lockstep map show src/store.rs         one file: its references and dependents
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
    Build(build::MapBuildArgs),
    Update(build::MapUpdateArgs),
    Check(check::MapCheckArgs),
    Show(show::MapShowArgs),
}

pub(crate) fn run(args: &MapArgs, context: &CommandContext) -> CommandResult {
    match &args.command {
        None if args.file.is_some() => show::run(&show::MapShowArgs::for_file(args.file.clone()), context),
        None => build::run_update(
            &MapUpdateRequest { mode: MapUpdateMode::Incremental, scope: None, files: HashSet::new() },
            context,
        ),
        Some(MapCommand::Build(args)) => build::build(args, context),
        Some(MapCommand::Update(args)) => build::update(args, context),
        Some(MapCommand::Check(args)) => check::run(args, context),
        Some(MapCommand::Show(args)) => show::run(args, context),
    }
}
