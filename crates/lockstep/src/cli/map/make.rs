//! `lockstep map build` and `lockstep map update`.

use std::collections::HashSet;
use std::path::PathBuf;

use lockstep_map::l1::{L1, Mode};
use lockstep_map::scope;
use serde::Serialize;

use super::count;
use crate::cli::{Answer, Context};
use crate::document::Format;
use crate::error::{CommandError, Kind};
use crate::impact::tree::Tree;
use crate::map::{Done, Order, Way};
use crate::project::ActiveProject;

/// Make the whole map anew
///
/// Every file in scope is scanned, and every entry gets today's date. The former document is kept as `.bak` until the new one
/// is written.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep map build
  lockstep map build --scope .claude/
  lockstep map build --scope 'src/**/*.rs'")]
pub(crate) struct BuildArgs {
    /// Only files that match: a directory, a file, or a pattern with `*`, `?` and `**`; `.` is the whole project. Updates keep
    /// to it, unless `[map] scope` says another
    #[arg(long, value_name = "GLOB")]
    scope: Option<String>,
}

/// Bring the map up to date
///
/// Finds out by itself what changed since the last time: modified files are scanned again, new ones get an entry, those that
/// are gone lose theirs, renamed ones take their history along. Who else is concerned, because a name now means another file,
/// is mended too. The result is the same as that of a build, dates aside. Where there is no map it is built.
///
/// With FILES only those are looked at, which takes less time the more files there are. Whatever else changed is found by the next update
/// without.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep map update
  lockstep map update src/store.rs       look at this file only
  lockstep map update src/               at everything below a directory")]
pub(crate) struct UpdateArgs {
    /// Files to scan again, whatever is known of them, and directories to look through; no others are looked at
    #[arg(value_name = "FILES")]
    files: Vec<PathBuf>,
}

pub(super) fn build(args: &BuildArgs, context: &Context) -> Result<Answer, CommandError> {
    if let Some(scope) = &args.scope
        && let Some(problem) = scope::problem(scope)
    {
        return Err(CommandError::new(Kind::Usage, format!("{scope:?} is no scope: it {problem}"))
            .hint("give a directory such as `.claude/`, or a pattern such as `src/**/*.rs`"));
    }
    bring(&Order { way: Way::Full, scope: args.scope.clone(), files: HashSet::new() }, context)
}

pub(super) fn update(args: &UpdateArgs, context: &Context) -> Result<Answer, CommandError> {
    let mut files = HashSet::new();
    if !args.files.is_empty() {
        let tree = Tree::of_command(&context.directory)?;
        for file in &args.files {
            files.insert(tree.relative(&context.directory, file)?);
        }
    }
    bring(&Order { way: Way::Incremental, scope: None, files }, context)
}

#[derive(Serialize)]
struct Data<'a> {
    #[serde(flatten)]
    l1: &'a L1,
    pruned: usize,
    added: &'a [String],
    removed: &'a [String],
    updated: &'a [String],
    renamed: &'a [(String, String)],
    notes: &'a [String],
}

pub(super) fn bring(order: &Order, context: &Context) -> Result<Answer, CommandError> {
    let project = ActiveProject::of_command(&context.directory)?;
    let done = project.bring_map(order, &context.terminal)?;
    let terminal = &context.terminal;
    match context.format {
        Format::Yaml => terminal.say(&done.l1.to_yaml()),
        Format::Json => {
            let full = done.l1.mode == Mode::FullGeneration;
            let data = Data {
                l1: &done.l1,
                pruned: done.pruned.total(),
                // Of a whole map they are all its files.
                added: if full { &[] } else { &done.changes.added },
                removed: &done.changes.removed,
                updated: &done.changes.modified,
                renamed: &done.renamed,
                notes: &done.notes,
            };
            terminal.say(&context.format.render(&data).unwrap_or_default());
        }
        Format::Text | Format::Md => text(&done, context),
    }
    Ok(Answer::Yes)
}

fn text(done: &Done, context: &Context) {
    let terminal = &context.terminal;
    let (l1, path) = (&done.l1, &done.l1.map_path);
    let entries = count(l1.entries, "entry", "entries");
    let moved = done.renamed.len();
    terminal.say(&match (l1.mode, done.is_written) {
        (Mode::FullGeneration, _) => format!("Built {path}: {entries}.\n"),
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
            let told: Vec<String> = parts.iter().map(|(count, what)| format!("{count} {what}")).collect();
            let told = if told.is_empty() { String::new() } else { format!("; {}", told.join(", ")) };
            format!("Updated {path}: {entries}{told}.\n")
        }
    });
    if done.pruned.total() > 0 {
        let verb = if done.pruned.total() == 1 { "entry is" } else { "entries are" };
        let left = done.pruned.describe();
        terminal.note(&format!("note: {left} {verb} left out; `lockstep map show` lists all\n"));
    }
    done.notes.iter().for_each(|note| terminal.note(&format!("note: {note}\n")));
    if terminal.verbose() {
        let lines = [
            ("updated", &done.changes.modified),
            ("added", &done.changes.added),
            ("removed", &done.changes.removed),
        ];
        for (what, paths) in lines {
            paths.iter().for_each(|path| terminal.note(&format!("  {what} {path}\n")));
        }
    }
}
