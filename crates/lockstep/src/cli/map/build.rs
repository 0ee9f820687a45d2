//! `lockstep map build` and `lockstep map update`.

use std::collections::HashSet;
use std::path::PathBuf;

use lockstep_map::report::{MapReport, MapRunMode};
use lockstep_map::scope;
use lockstep_text::count_of;
use serde::Serialize;

use crate::cli::{CommandContext, CommandStatus};
use crate::error::{CommandError, CommandResult};
use crate::map::{MapUpdateMode, MapUpdateReport, MapUpdateRequest};
use crate::output_format::OutputFormat;
use crate::project::ActiveProject;
use crate::workspace::Workspace;

/// Rebuild the map
///
/// Scans every file in scope, and gives every entry today's date. The old document stays in `.lockstep/map`
/// until the new one is written.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep map build
  lockstep map build --scope .claude/
  lockstep map build --scope 'src/**/*.rs'")]
pub(crate) struct MapBuildArgs {
    /// Only files that match: a directory, a file, or a pattern with `*`, `?` and `**`; `.` is the complete
    /// project. Updates keep the scope, unless `[map] scope` sets another
    #[arg(long, value_name = "GLOB")]
    scope: Option<String>,
}

/// Update the map
///
/// Finds the changes since the last run: modified files are scanned again, new files get an entry, entries of
/// deleted files are removed, renamed files keep their history. Entries of other files are updated if a name
/// now means another file. The result equals a build, except for dates. Builds the map if there is none.
///
/// With FILES only those are checked, which is faster in large projects. The next update without FILES finds
/// all other changes.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep map update
  lockstep map update src/store.rs       look at this file only
  lockstep map update src/               at everything below a directory")]
pub(crate) struct MapUpdateArgs {
    /// Files to scan again in any case, and directories to check; no others are checked
    #[arg(value_name = "FILES")]
    files: Vec<PathBuf>,
}

pub(super) fn build(args: &MapBuildArgs, context: &CommandContext) -> CommandResult {
    if let Some(scope) = &args.scope
        && let Some(problem) = scope::validate(scope)
    {
        return Err(CommandError::usage(format!("{scope:?} is not a scope: it {problem}"))
            .hint("give a directory such as `.claude/`, or a pattern such as `src/**/*.rs`"));
    }
    run_update(
        &MapUpdateRequest { mode: MapUpdateMode::Full, scope: args.scope.clone(), files: HashSet::new() },
        context,
    )
}

pub(super) fn update(args: &MapUpdateArgs, context: &CommandContext) -> CommandResult {
    let mut files = HashSet::new();
    if !args.files.is_empty() {
        let tree = Workspace::discover(&context.directory)?;
        for file in &args.files {
            files.insert(tree.relative(&context.directory, file)?);
        }
    }
    run_update(&MapUpdateRequest { mode: MapUpdateMode::Incremental, scope: None, files }, context)
}

#[derive(Serialize)]
struct MapUpdateOutput<'a> {
    #[serde(flatten)]
    l1: &'a MapReport,
    pruned: usize,
    added: &'a [String],
    removed: &'a [String],
    updated: &'a [String],
    renamed: &'a [(String, String)],
    notes: &'a [String],
}

pub(super) fn run_update(request: &MapUpdateRequest, context: &CommandContext) -> CommandResult {
    let project = ActiveProject::discover(&context.directory)?;
    let done = project.update_map(request, &context.terminal)?;
    if let Some(path) = done.unknown.iter().find(|path| !project.root.join(path).exists()) {
        let message = format!("there is no file {path}, and the map has no entry for it");
        return Err(CommandError::store(message).hint("paths are taken from the current directory"));
    }
    let terminal = &context.terminal;
    match context.format {
        OutputFormat::Yaml => terminal.print(&done.l1.to_yaml()),
        OutputFormat::Json => {
            let full = done.l1.mode == MapRunMode::FullGeneration;
            let data = MapUpdateOutput {
                l1: &done.l1,
                pruned: done.pruned.total(),
                // For a full map this would be all of its files.
                added: if full { &[] } else { &done.changes.added },
                removed: &done.changes.removed,
                updated: &done.changes.modified,
                renamed: &done.renamed,
                notes: &done.notes,
            };
            terminal.print(&context.format.render(&data).unwrap_or_default());
        }
        _ => text(&done, context),
    }
    Ok(CommandStatus::Success)
}

fn text(done: &MapUpdateReport, context: &CommandContext) {
    let terminal = &context.terminal;
    let (l1, path) = (&done.l1, &done.l1.map_path);
    let entries = count_of(l1.entries, "entry", "entries");
    let moved = done.renamed.len();
    terminal.print(&match (l1.mode, done.is_written) {
        (MapRunMode::FullGeneration, _) => format!("Built {path}: {entries}.\n"),
        (_, false) if done.changes.is_empty() && done.is_partial => {
            format!("{path} needs no change for what was named: {entries}.\n")
        }
        (_, false) if done.changes.is_empty() => format!("{path} is up to date: {entries}.\n"),
        _ => {
            let mut parts = vec![
                (l1.entries_updated, "updated"),
                (l1.new_entries_added - moved, "added"),
                (l1.stale_entries_removed - moved, "removed"),
                (moved, "renamed"),
            ];
            parts.retain(|(count, _)| *count > 0);
            let details: Vec<String> = parts.iter().map(|(count, what)| format!("{count} {what}")).collect();
            let details =
                if details.is_empty() { String::new() } else { format!("; {}", details.join(", ")) };
            format!("Updated {path}: {entries}{details}.\n")
        }
    });
    if done.pruned.total() > 0 {
        let verb = if done.pruned.total() == 1 { "entry is" } else { "entries are" };
        let left = done.pruned.describe();
        terminal.print_note(&format!("note: {left} {verb} left out; `lockstep map show` lists all\n"));
    }
    done.notes.iter().for_each(|note| terminal.print_note(&format!("note: {note}\n")));
    if terminal.verbose() {
        let lines = [
            ("updated", &done.changes.modified),
            ("added", &done.changes.added),
            ("removed", &done.changes.removed),
        ];
        for (what, paths) in lines {
            paths.iter().for_each(|path| terminal.print_note(&format!("  {what} {path}\n")));
        }
    }
}
