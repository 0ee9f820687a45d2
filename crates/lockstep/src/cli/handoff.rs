//! `lockstep handoff`.

use std::fs;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use lockstep_fs::write_atomically;
use lockstep_store::confine;
use lockstep_task::gate_record;
use lockstep_task::handoff::{l1, l2, scaffold};
use lockstep_task::phase::TaskPhase;
use lockstep_task::pointer::PointerResolver;
use lockstep_task::problem::DocumentProblem;
use lockstep_text::{printable_path, single_line};
use serde::Serialize;

use super::task::read_input;
use super::task::writer_args::SessionArgs;
use super::{CommandContext, CommandStatus};
use crate::clock;
use crate::error::{CommandError, CommandResult};
use crate::project::ActiveProject;
use crate::task::TaskContext;
use crate::task::files::ProjectFiles;

/// Check the report that a phase of the task hands over, or start a new one
///
/// The report is called the L2 file of the phase: a Markdown document with the sections that the next phase starts from.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep handoff new P4 > L2-summary.md
  lockstep handoff check L2-summary.md
  lockstep handoff check gate-record.yaml")]
pub(crate) struct HandoffArgs {
    #[command(subcommand)]
    command: HandoffCommand,
}

#[derive(Debug, clap::Subcommand)]
enum HandoffCommand {
    Check(HandoffCheckArgs),
    New(HandoffNewArgs),
}

/// Check an L2 file, a gate record or an L1 index, with all problems at once
///
/// A record in an older dialect is read with a note for each translation. Exit code 1 if there are errors.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep handoff check work/phase-4/L2-summary.md
  lockstep handoff check work/phase-4/gate-record.yaml
  lockstep handoff check notes.yaml --kind l1")]
pub(crate) struct HandoffCheckArgs {
    /// The file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The kind of file; by default derived from its name
    #[arg(long, value_enum)]
    kind: Option<HandoffFileKind>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum HandoffFileKind {
    /// An L2 file, with its Downstream Handoff
    L2,
    /// An L1 index
    L1,
    /// The record of a gate
    Gate,
}

/// Print a new L2 file to be filled in, or write it where the phase's L2 file belongs
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep handoff new P4
  lockstep handoff new P4 --write --session s1")]
pub(crate) struct HandoffNewArgs {
    /// The phase, P1 to P9
    #[arg(value_name = "PHASE")]
    phase: TaskPhase,
    /// Write it to the path of `[task] l2_path`; a file that is there stays
    #[arg(long)]
    write: bool,
    #[command(flatten)]
    session: SessionArgs,
}

/// The findings of a check, for any kind of file.
#[derive(Serialize)]
struct FileCheckOutput<T: Serialize> {
    kind: &'static str,
    valid: bool,
    #[serde(flatten)]
    data: T,
}

pub(crate) fn run(args: &HandoffArgs, context: &CommandContext) -> CommandResult {
    match &args.command {
        HandoffCommand::Check(args) => run_check(args, context),
        HandoffCommand::New(args) => run_new(args, context),
    }
}

fn run_check(args: &HandoffCheckArgs, context: &CommandContext) -> CommandResult {
    let project = ActiveProject::discover(&context.directory)?;
    let files = ProjectFiles::of(&project.root);
    let begin =
        "`lockstep handoff new PHASE` prints a new L2 file; `--write` writes it where the phase's belongs";
    let bytes = read_input(context, &args.file).map_err(|error| error.hint(begin))?;
    let exists = |path: &Path| files.exists(path);
    let lookup = PointerResolver::new(&exists);
    let relative = files.relative(&context.directory, &args.file);
    let file = PathBuf::from(relative.unwrap_or_else(|_| args.file.display().to_string()));
    match args.kind.map_or_else(|| kind_of(&args.file), Ok)? {
        HandoffFileKind::L2 => {
            let report = l2::check(&file, &bytes, &lookup);
            let (problems, warnings) = (report.problems.clone(), report.warnings.clone());
            let found = FileCheck { file: &file, problems: &problems, warnings: &warnings, notes: &[] };
            Ok(found.show(context, "l2", &report))
        }
        HandoffFileKind::L1 => {
            let reading = l1::read(&bytes);
            let (findings, notes) = (reading.findings.clone(), reading.notes.clone());
            let (problems, warnings) = (&findings.problems, &findings.warnings);
            let found = FileCheck { file: &file, problems, warnings, notes: &notes };
            Ok(found.show(context, "l1", &reading))
        }
        HandoffFileKind::Gate => {
            let reading = gate_record::read(&bytes, &lookup);
            let (findings, notes) = (reading.findings.clone(), reading.notes.clone());
            let (problems, warnings) = (&findings.problems, &findings.warnings);
            let found = FileCheck { file: &file, problems, warnings, notes: &notes };
            Ok(found.show(context, "gate", &reading))
        }
    }
}

/// Derives the kind of file from its name.
fn kind_of(path: &Path) -> CommandResult<HandoffFileKind> {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let yaml = name.ends_with(".yaml") || name.ends_with(".yml");
    match () {
        () if name.ends_with(".md") => Ok(HandoffFileKind::L2),
        () if yaml && name.contains("gate") => Ok(HandoffFileKind::Gate),
        () if yaml && name.starts_with("l1") => Ok(HandoffFileKind::L1),
        () => Err(CommandError::usage(format!(
            "the name {:?} does not say what kind of file it is",
            single_line(&path.to_string_lossy())
        ))
        .hint("say it with --kind l2, --kind l1 or --kind gate")),
    }
}

struct FileCheck<'a> {
    file: &'a Path,
    problems: &'a [DocumentProblem],
    warnings: &'a [DocumentProblem],
    notes: &'a [String],
}

impl FileCheck<'_> {
    fn show(&self, context: &CommandContext, kind: &'static str, data: &impl Serialize) -> CommandStatus {
        let valid = self.problems.is_empty();
        // The report of an L2 file has its own validity.
        let rendered = match kind {
            "l2" => context.format.render(data),
            _ => context.format.render(&FileCheckOutput { kind, valid, data }),
        };
        context.terminal.print(&rendered.unwrap_or_else(|| self.text(valid)));
        if valid { CommandStatus::Success } else { CommandStatus::CheckFailed }
    }

    fn text(&self, valid: bool) -> String {
        let verdict = match (valid, self.problems.len()) {
            (true, _) => "is complete".to_owned(),
            (false, 1) => "has 1 problem".to_owned(),
            (false, n) => format!("has {n} problems"),
        };
        let mut text = format!("{} {verdict}\n", printable_path(self.file));
        self.notes.iter().for_each(|note| text.push_str(&format!("note: {}\n", single_line(note))));
        self.problems
            .iter()
            .for_each(|problem| text.push_str(&format!("error: {}\n", single_line(&problem.to_string()))));
        self.warnings
            .iter()
            .for_each(|problem| text.push_str(&format!("warning: {}\n", single_line(&problem.to_string()))));
        text
    }
}

fn run_new(args: &HandoffNewArgs, context: &CommandContext) -> CommandResult {
    let project = ActiveProject::discover(&context.directory)?;
    let tasks = TaskContext::open_existing(&project, clock::now().timestamp())?;
    let version = tasks.map(|tasks| tasks.present()).transpose()?.flatten().map(|p| p.record.version);
    let text = scaffold::l2_template(args.phase, version);
    if !args.write {
        context.terminal.print_content(&text);
        return Ok(CommandStatus::Success);
    }
    let session = args.session.require_session()?;
    let relative = scaffold::default_path(&project.config().task.l2_path.0, session.as_str(), args.phase);
    let path = project.root.join(&relative);
    let failed =
        |error: std::io::Error| CommandError::store(format!("cannot write {}: {error}", path.display()));
    confine(&project.root, &path).map_err(|refusal| failed(std::io::Error::other(refusal)))?;
    if fs::symlink_metadata(&path).is_ok() {
        context.terminal.say_line(&format!("{relative} is there already; it was not changed"));
        return Ok(CommandStatus::CheckFailed);
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    write_atomically(&path, text.as_bytes(), 0o644)?;
    context.terminal.say_line(&relative);
    Ok(CommandStatus::Success)
}
