//! `lockstep impact`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use lockstep_model::ids::SessionId;
use lockstep_store::Store;

use super::{Answer, Context};
use crate::clock;
use crate::document::Format;
use crate::error::{CommandError, Kind};
use crate::impact::question::{Asked, Changed, Question};
use crate::impact::text;
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
    let question = args.question()?;
    let asked = {
        let bar = ProgressBar::new(&context.terminal);
        question.ask(&context.directory, &bar)?
    };
    if let (Some(file), Some(why)) = (&args.dismiss, &args.why) {
        let file = asked.tree.relative(&context.directory, file)?;
        return dismiss(&asked, &file, why, context);
    }
    let in_cascade = asked.in_cascade()?;
    show(args, context, &asked, in_cascade);
    Ok(Answer::Yes)
}

impl ImpactArgs {
    fn question(&self) -> Result<Question, CommandError> {
        let limit = Duration::try_from_secs_f64(self.time_limit).map_err(|_| {
            CommandError::new(Kind::Usage, "--time-limit must be a number of seconds from 0 on")
        })?;
        Ok(Question { changed: self.changed()?, history: self.history, limit })
    }

    fn changed(&self) -> Result<Changed, CommandError> {
        Ok(match (&self.rev, &self.patch, &self.session) {
            (Some(range), ..) => Changed::Range(range.clone()),
            _ if self.staged => Changed::Staged,
            (_, Some(file), _) => {
                Changed::Patch { text: read_patch(file)?, name: file.display().to_string() }
            }
            (.., Some(session)) => Changed::Session { session: session.clone(), agent: self.agent.clone() },
            _ if self.files.is_empty() => Changed::Tree,
            _ => Changed::Files(self.files.clone()),
        })
    }
}

/// Dismisses every finding about a dependent.
fn dismiss(asked: &Asked, dependent: &str, why: &str, context: &Context) -> Result<Answer, CommandError> {
    let Asked { tree, analysis, .. } = asked;
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

fn read_patch(file: &Path) -> Result<String, CommandError> {
    let read = if file == Path::new("-") {
        std::io::read_to_string(std::io::stdin())
    } else {
        std::fs::read_to_string(file)
    };
    read.map_err(|error| {
        CommandError::new(Kind::Usage, format!("cannot read the patch {}: {error}", file.display()))
    })
}

fn show(args: &ImpactArgs, context: &Context, asked: &Asked, in_cascade: bool) {
    let Asked { analysis, origin, .. } = asked;
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
