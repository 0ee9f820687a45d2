//! `lockstep impact`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use lockstep_model::ids::SessionId;
use lockstep_store::Store;
use lockstep_text::single_line;

use super::{CommandContext, CommandStatus};
use crate::clock;
use crate::error::{CommandError, CommandResult};
use crate::impact::analysis::ImpactAnalysis;
use crate::impact::findings::{Findings, gcc, sarif};
use crate::impact::query::{ChangeSource, ImpactQuery, ImpactResult, shown_path};
use crate::impact::render::{self, ImpactView};
use crate::output_format::OutputFormat;
use crate::progress_bar::ProgressBar;

/// Show which files a change affects, and what it breaks
///
/// Compares the old and the new content of every changed file, finds the definitions that were removed, renamed, given another
/// signature or changed inside, and lists the places that use them. Without arguments: the changes since the last commit or, if
/// there are none, those of the last commit. Works in any git repository, without configuration.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep impact                        the working tree, or else the last commit
  lockstep impact src/parser.rs          one changed file
  lockstep impact --staged               the changes that are about to be committed
  lockstep impact --rev main...HEAD      a branch
  lockstep impact --rev v1.2             everything committed since v1.2
  lockstep impact --patch fix.diff       a patch, applied or not
  lockstep impact --session ID           the changes of a session's agents
  lockstep impact --all                  every file and every place
  lockstep impact --fail-on breaks       for CI: exit code 1 if something breaks
  lockstep impact --dismiss gen.py --why 'is generated'
                                         leave it out until it or the changed file changes again
  lockstep impact --format yaml          the L1 report, for programs
  lockstep impact --format md            the L2 report, for models and people
  lockstep impact --format gcc           breaks as a compiler prints errors, for editors
  lockstep impact --format sarif         breaks as SARIF 2.1.0, for code scanning

Sections: `breaks` no longer fits the change; `breaks?` may not fit, only types or a run can tell;
`uses` still fits; `uses?` may use it; `mentions` names it in text; `behind` depends on one of these
files.

Exit codes: 0 the answer is complete; 1 `--fail-on` found something; 5 the time limit was reached,
and the answer is incomplete (`lockstep index` builds the index once; afterwards the command is fast).")]
pub(crate) struct ImpactArgs {
    /// Files or directories, as they differ from the last commit
    #[arg(value_name = "FILE", conflicts_with_all = ["rev", "staged", "patch", "session"])]
    files: Vec<PathBuf>,
    /// Changes between commits: `A..B`, `A...B` from their common ancestor, `A` for everything committed since A
    #[arg(long, value_name = "A..B", conflicts_with_all = ["staged", "patch", "session"])]
    rev: Option<String>,
    /// Staged changes
    #[arg(long, conflicts_with_all = ["patch", "session"])]
    staged: bool,
    /// Changes of a unified diff; `-` reads it from the standard input
    #[arg(long, value_name = "FILE", conflicts_with = "session")]
    patch: Option<PathBuf>,
    /// Changes of the agents of a session
    #[arg(long, value_name = "ID")]
    session: Option<SessionId>,
    /// Only what this agent changed: its id, its type, or `lead`
    #[arg(long, value_name = "AGENT", requires = "session")]
    agent: Option<String>,
    /// Print the alert that the Lead would get
    #[arg(long, conflicts_with = "format")]
    alert: bool,
    /// Also list files that changed together with the changed ones in git. No text references them, so they are no
    /// dependents, but may need a review
    #[arg(long)]
    history: bool,
    /// Remember that this dependent needs nothing, until it or what it depends on changes again
    #[arg(long, value_name = "FILE", requires = "why")]
    dismiss: Option<PathBuf>,
    /// The reason of a dismissal
    #[arg(long, value_name = "TEXT", requires = "dismiss")]
    why: Option<String>,
    /// List every affected file and every place
    #[arg(long)]
    all: bool,
    /// Exit with code 1 if the change breaks something, or if anything depends on it
    #[arg(long, value_enum, value_name = "WHAT")]
    fail_on: Option<FailOn>,
    /// Stop after so many seconds and report what was found until then, with exit code 5
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
    time_limit: f64,
}

/// The values of `--fail-on`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum FailOn {
    /// A place that certainly breaks
    Breaks,
    /// Any dependent, certain or not
    Any,
}

impl FailOn {
    fn is_met(self, analysis: &ImpactAnalysis) -> bool {
        match self {
            Self::Breaks => render::has_breaks(&analysis.impact),
            Self::Any => analysis.impact.dependents().next().is_some(),
        }
    }
}

pub(crate) fn run(args: &ImpactArgs, context: &CommandContext) -> CommandResult {
    let question = args.question()?;
    let asked = {
        let bar = ProgressBar::new(&context.terminal);
        question.run(&context.directory, &bar)?
    };
    if let (Some(file), Some(why)) = (&args.dismiss, &args.why) {
        let file = asked.tree.relative(&context.directory, file)?;
        return dismiss(&asked, &file, why, context);
    }
    let in_cascade = asked.in_cascade()?;
    show(args, context, &asked, in_cascade)?;
    Ok(match args.fail_on {
        Some(fail_on) if fail_on.is_met(&asked.analysis) => CommandStatus::CheckFailed,
        _ if asked.analysis.impact.truncated => CommandStatus::Partial,
        _ => CommandStatus::Success,
    })
}

impl ImpactArgs {
    fn question(&self) -> CommandResult<ImpactQuery> {
        Ok(ImpactQuery { changed: self.changed()?, history: self.history, limit: self.limit()? })
    }

    fn limit(&self) -> CommandResult<Duration> {
        Duration::try_from_secs_f64(self.time_limit)
            .map_err(|_| CommandError::usage("--time-limit must be a number of seconds from 0 on"))
    }

    fn changed(&self) -> CommandResult<ChangeSource> {
        Ok(match (&self.rev, &self.patch, &self.session) {
            (Some(range), ..) => ChangeSource::Range(range.clone()),
            _ if self.staged => ChangeSource::Staged,
            (_, Some(file), _) => {
                ChangeSource::Patch { text: read_patch(file)?, name: file.display().to_string() }
            }
            (.., Some(session)) => {
                ChangeSource::Session { session: session.clone(), agent: self.agent.clone() }
            }
            _ if self.files.is_empty() => ChangeSource::Tree,
            _ => ChangeSource::Files(self.files.clone()),
        })
    }
}

/// Dismisses every finding about a dependent.
fn dismiss(asked: &ImpactResult, dependent: &str, why: &str, context: &CommandContext) -> CommandResult {
    let ImpactResult { tree, analysis, .. } = asked;
    let Some(project) = &tree.project else {
        return Err(CommandError::usage("a dismissal is remembered only in an active project")
            .hint("`lockstep init` makes it one"));
    };
    let found = analysis.impact.dependents().filter(|(_, found)| found.path == dependent);
    let changed: Vec<&str> = found.map(|(file, _)| &*file.path).collect();
    let earlier = analysis.dismissed.iter().filter(|(_, path)| path == dependent);
    let earlier: Vec<&str> = earlier.map(|(changed, _)| &**changed).collect();
    if changed.is_empty() && !earlier.is_empty() {
        context.terminal.say_line(&format!("{dependent} was already dismissed for {}", earlier.join(", ")));
        return Ok(CommandStatus::Success);
    }
    if changed.is_empty() {
        return Err(CommandError::usage(format!("{dependent} is not a dependent of what changed"))
            .hint("`lockstep impact` lists the dependents"));
    }
    let mut store = Store::open(&project.state)?;
    for path in &changed {
        store.dismiss(&tree.root.join(path), &tree.root.join(dependent), why, clock::now().timestamp())?;
    }
    context.terminal.say_line(&format!("dismissed {dependent} for {}", changed.join(", ")));
    Ok(CommandStatus::Success)
}

fn read_patch(file: &Path) -> CommandResult<String> {
    let read = if file == Path::new("-") {
        std::io::read_to_string(std::io::stdin())
    } else {
        std::fs::read_to_string(file)
    };
    read.map_err(|error| CommandError::store(format!("cannot read the patch {}: {error}", file.display())))
}

fn show(
    args: &ImpactArgs,
    context: &CommandContext,
    asked: &ImpactResult,
    in_cascade: bool,
) -> CommandResult<()> {
    let ImpactResult { analysis, origin, .. } = asked;
    let report = analysis.report();
    let terminal = &context.terminal;
    if args.alert {
        let text = match analysis.impact.files.is_empty() {
            true => "SRC: No file changes detected.".to_owned(),
            false => analysis.alert(false).render(0),
        };
        terminal.print(&(text + "\n"));
        return Ok(());
    }
    match context.format {
        OutputFormat::Json => terminal.print(&report.json(in_cascade, analysis.timings)),
        OutputFormat::Yaml => terminal.print(&report.l1()),
        OutputFormat::Md => terminal.print(&report.l2()),
        OutputFormat::Gcc => {
            let findings = Findings::new(analysis, args.all || terminal.verbose());
            terminal.print(&gcc::render(&findings, &context.directory));
        }
        OutputFormat::Sarif => {
            let findings = Findings::new(analysis, args.all || terminal.verbose());
            terminal.print(&sarif::render(&findings, &report.general_notes()));
        }
        OutputFormat::Text if analysis.impact.files.is_empty() => terminal.print(&nothing_changed(asked)),
        OutputFormat::Text => {
            let (limit, all) = (args.limit()?, args.all || terminal.verbose());
            terminal.print(&ImpactView { analysis, origin, limit, all }.render(terminal));
            for note in report.general_notes() {
                terminal.print_note(&format!("note: {note}\n"));
            }
            show_unread(context, analysis);
        }
    }
    Ok(())
}

/// Says that nothing changed; for paths that were named, how to ask for their references instead.
fn nothing_changed(asked: &ImpactResult) -> String {
    if asked.unchanged.is_empty() {
        return format!("No file changed {}.\n", asked.origin);
    }
    let line = |path: &String| {
        let path = shown_path(path);
        format!(
            "{path} has not changed since the last commit; `lockstep refs {path}` shows what references it.\n"
        )
    };
    asked.unchanged.iter().map(line).collect()
}

/// With `--verbose`, names the files whose content could not be read.
fn show_unread(context: &CommandContext, analysis: &ImpactAnalysis) {
    if !context.terminal.verbose() {
        return;
    }
    for (path, reason) in &analysis.unread {
        context.terminal.print_note(&format!("not read: {} ({reason})\n", single_line(path)));
    }
}
