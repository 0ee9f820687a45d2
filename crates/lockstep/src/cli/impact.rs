//! `lockstep impact`.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use lockstep_git::patch;
use lockstep_model::ids::SessionId;
use lockstep_store::Store;

use super::{Answer, Context};
use crate::clock;
use crate::document::Format;
use crate::error::{CommandError, Kind};
use crate::impact::analysis::{Analysis, milliseconds};
use crate::impact::edits::Edits;
use crate::impact::text;
use crate::impact::tree::Tree;
use crate::progress_bar::ProgressBar;

/// Show which files depend on what changed
///
/// From the old and the new content of every changed file it finds which definitions were removed, renamed, given another
/// signature or changed inside, and who uses them. Without arguments: what differs from the last commit or, where nothing does,
/// what the last commit changed. Works in any git repository, without configuration.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep impact                        of the working tree, or else of the last commit
  lockstep impact src/parser.rs          of one file
  lockstep impact --staged               of what is about to be committed
  lockstep impact --rev main...HEAD      of a branch
  lockstep impact --patch fix.diff       of a patch, applied or not
  lockstep impact --session ID           of what a session's agents changed
  lockstep impact --dismiss gen.py --why 'is generated'
                                         needs nothing, until it or what it depends on changes again
  lockstep impact --format yaml          the L1 report, for programs
  lockstep impact --format md            the L2 report, for models and people

Dependents marked `breaks` no longer fit the change; `breaks?` cannot be decided without types; `uses` still fits; `behind`
depends on a dependent.")]
pub(crate) struct ImpactArgs {
    /// Files or directories, as they differ from the last commit
    #[arg(value_name = "FILE", conflicts_with_all = ["rev", "staged", "patch", "session"])]
    files: Vec<PathBuf>,
    /// What changed from one commit to another: `A..B`, `A...B` from their common ancestor, `A` to what is checked out
    #[arg(long, value_name = "A..B", conflicts_with_all = ["staged", "patch", "session"])]
    rev: Option<String>,
    /// What is staged
    #[arg(long, conflicts_with_all = ["patch", "session"])]
    staged: bool,
    /// What a unified diff changes; `-` reads it from the standard input
    #[arg(long, value_name = "FILE", conflicts_with = "session")]
    patch: Option<PathBuf>,
    /// What the agents of a session changed
    #[arg(long, value_name = "ID")]
    session: Option<SessionId>,
    /// Only what this agent changed: its id, its type, or `lead`
    #[arg(long, value_name = "AGENT", requires = "session")]
    agent: Option<String>,
    /// Print the alert that the Lead would get
    #[arg(long, conflicts_with = "format")]
    alert: bool,
    /// Also list files that changed together with the changed ones in git: no trace in any text, so no dependents, but
    /// worth a look
    #[arg(long)]
    history: bool,
    /// Remember that this dependent needs nothing, until it or what it depends on changes again
    #[arg(long, value_name = "FILE", requires = "why")]
    dismiss: Option<PathBuf>,
    /// The reason of a dismissal
    #[arg(long, value_name = "TEXT", requires = "dismiss")]
    why: Option<String>,
    /// Stop after so many seconds and report what was found until then
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
    time_limit: f64,
}

pub(crate) fn run(args: &ImpactArgs, context: &Context) -> Result<Answer, CommandError> {
    let limit = Duration::try_from_secs_f64(args.time_limit)
        .map_err(|_| CommandError::new(Kind::Usage, "--time-limit must be a number of seconds from 0 on"))?;
    let tree = Tree::of_command(&context.directory)?;
    let started = Instant::now();
    let edits = edits(args, context, &tree)?;
    let changes = milliseconds(started);
    let mut analysis = tree.analyse(&edits.edits, limit, &ProgressBar::new(&context.terminal))?;
    analysis.timings.changes = changes;
    if let (Some(file), Some(why)) = (&args.dismiss, &args.why) {
        return dismiss(&tree, &analysis, &tree.relative(&context.directory, file)?, why, context);
    }
    if args.history {
        analysis.add_history(tree.repository()?)?;
    }
    show(args, context, &analysis, &edits.origin, in_cascade(&tree)?);
    Ok(Answer::Yes)
}

/// Dismisses every finding about a dependent.
fn dismiss(
    tree: &Tree,
    analysis: &Analysis,
    dependent: &str,
    why: &str,
    context: &Context,
) -> Result<Answer, CommandError> {
    let Some(project) = &tree.project else {
        return Err(CommandError::new(Kind::Usage, "a dismissal is remembered only in an active project")
            .hint("`lockstep init` makes it one"));
    };
    let found = analysis.impact.dependents().filter(|(_, found)| found.path == dependent);
    let changed: Vec<&str> = found.map(|(file, _)| &*file.path).collect();
    if changed.is_empty() {
        return Err(CommandError::new(Kind::Usage, format!("{dependent} is no dependent of what changed"))
            .hint("`lockstep impact` lists the dependents"));
    }
    let mut store = Store::open(&project.state)?;
    for path in &changed {
        store.dismiss(&tree.root.join(path), &tree.root.join(dependent), why, clock::now().timestamp())?;
    }
    context.terminal.say(&format!("dismissed {dependent} for {}\n", changed.join(", ")));
    Ok(Answer::Yes)
}

fn edits(args: &ImpactArgs, context: &Context, tree: &Tree) -> Result<Edits, CommandError> {
    if let Some(range) = &args.rev {
        let between = tree.repository()?.range(range)?;
        return tree.edits_between(&between, range.clone());
    }
    if args.staged {
        return tree.edits_between(&lockstep_git::Between::HeadAndStaged, "what is staged".to_owned());
    }
    if let Some(file) = &args.patch {
        return tree.edits_of_patch(&read_patch(file)?, &file.display().to_string());
    }
    if let Some(session) = &args.session {
        return tree.edits_of_session(session, args.agent.as_deref());
    }
    if args.files.is_empty() {
        return tree.edits_by_default();
    }
    let paths: Vec<String> =
        args.files.iter().map(|file| tree.relative(&context.directory, file)).collect::<Result<_, _>>()?;
    tree.edits_of_files(&paths)
}

fn read_patch(file: &Path) -> Result<Vec<patch::FilePatch>, CommandError> {
    let read = if file == Path::new("-") {
        std::io::read_to_string(std::io::stdin())
    } else {
        std::fs::read_to_string(file)
    };
    let text = read.map_err(|error| {
        CommandError::new(Kind::Usage, format!("cannot read the patch {}: {error}", file.display()))
    })?;
    let patches = patch::parse(&text).map_err(|error| {
        CommandError::new(Kind::Usage, format!("{} is no patch: {error}", file.display()))
            .hint("write one with `git diff > fix.diff`")
    })?;
    if patches.is_empty() {
        return Err(CommandError::new(Kind::Usage, format!("{} changes no file", file.display()))
            .hint("write a patch with `git diff > fix.diff`"));
    }
    Ok(patches)
}

/// Whether a cascade is under way: then it goes on, whatever the report says.
fn in_cascade(tree: &Tree) -> Result<bool, CommandError> {
    let Some(project) = &tree.project else { return Ok(false) };
    let store = Store::open_existing(&project.state)?;
    Ok(store.map(|store| store.active_cascades()).transpose()?.is_some_and(|active| !active.is_empty()))
}

fn show(args: &ImpactArgs, context: &Context, analysis: &Analysis, origin: &str, in_cascade: bool) {
    let report = analysis.report();
    let terminal = &context.terminal;
    if args.alert {
        let text = match analysis.impact.files.is_empty() {
            true => "SRC: No file changes detected.".to_owned(),
            false => analysis.alert(false).render(0),
        };
        return terminal.say(&(text + "\n"));
    }
    match context.format {
        Format::Json => terminal.say(&report.json(in_cascade, analysis.timings)),
        Format::Yaml => terminal.say(&report.l1()),
        Format::Md => terminal.say(&report.l2()),
        Format::Text if analysis.impact.files.is_empty() => {
            terminal.say(&format!("No file changed in {origin}.\n"));
        }
        Format::Text => {
            terminal.say(&text::render(analysis, origin, terminal));
            for note in report.notes_on_the_whole() {
                terminal.note(&format!("note: {note}\n"));
            }
        }
    }
}
