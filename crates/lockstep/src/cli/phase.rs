//! `lockstep phase`.

use std::path::{Path, PathBuf};

use lockstep_task::gate::GateReading;
use lockstep_task::phase::Phase;
use lockstep_task::phase::complete::{Completing, Given, complete};
use lockstep_task::phase::enter::{Entering, enter};
use lockstep_task::pointer::Lookup;
use lockstep_task::problem::Problem;

use super::task::who::{SessionArgs, WhoArgs};
use super::task::{present_or_told, told};
use super::{Answer, Context};
use crate::clock;
use crate::error::CommandError;
use crate::project::ActiveProject;
use crate::task::write::Written;
use crate::task::{Tasks, files};

/// Enter and complete the phases of the task, P1 to P9
///
/// A phase is entered through the handoff of the one before, and completed by its own.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep phase enter P4
  lockstep phase complete P4 --l2 work/phase-4/L2-summary.md --gate work/phase-4/gate-record.yaml")]
pub(crate) struct PhaseArgs {
    #[command(subcommand)]
    command: PhaseCommand,
}

#[derive(Debug, clap::Subcommand)]
enum PhaseCommand {
    Enter(EnterArgs),
    Complete(CompleteArgs),
}

/// Check that a phase can begin, and print what it starts from
///
/// The phase before is COMPLETE, its L2 file is there with a whole handoff, and the sections the phase's skill must read are in the
/// task. Prints the sections and the handoff. Not ready: all reasons at once, and the answer is no.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  lockstep phase enter P4 > context.md")]
pub(crate) struct EnterArgs {
    /// The phase, P1 to P9
    #[arg(value_name = "PHASE")]
    phase: Phase,
    #[command(flatten)]
    session: SessionArgs,
}

/// Complete a phase: its L2 file is whole, its sections are written, its gate holds; then one version
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  lockstep phase complete P4 --l2 work/phase-4/L2-summary.md")]
pub(crate) struct CompleteArgs {
    /// The phase, P1 to P9
    #[arg(value_name = "PHASE")]
    phase: Phase,
    /// The phase's L2 file
    #[arg(long, value_name = "FILE")]
    l2: PathBuf,
    /// The record of its gate
    #[arg(long, value_name = "FILE")]
    gate: Option<PathBuf>,
    #[command(flatten)]
    who: WhoArgs,
}

pub(crate) fn run(args: &PhaseArgs, context: &Context) -> Result<Answer, CommandError> {
    match &args.command {
        PhaseCommand::Enter(args) => run_enter(args, context),
        PhaseCommand::Complete(args) => run_complete(args, context),
    }
}

fn run_enter(args: &EnterArgs, context: &Context) -> Result<Answer, CommandError> {
    let project = ActiveProject::of_command(&context.directory)?;
    let tasks = Tasks::open(&project, clock::now().timestamp())?;
    let Some(present) = present_or_told(&tasks, context)? else { return Ok(Answer::No) };
    let session = args.session.known();
    let (exists, content) = (|path: &Path| tasks.files.exists(path), |path: &Path| tasks.files.read(path));
    let entered = enter(&Entering {
        phase: args.phase,
        held: present.held(),
        access: &tasks.access,
        session: session.as_ref().map(|session| session.as_str()),
        l2_template: &project.config().task.l2_path.0,
        lookup: &Lookup::new(&exists),
        content: &content,
    });
    match entered {
        Ok(entry) => {
            context.terminal.say(&context.format.render(&entry).unwrap_or_else(|| entry.to_string()));
            Ok(Answer::Yes)
        }
        Err(problems) => Ok(told::not_ready(context, present.record.version, problems)),
    }
}

fn run_complete(args: &CompleteArgs, context: &Context) -> Result<Answer, CommandError> {
    let project = ActiveProject::of_command(&context.directory)?;
    let mut tasks = Tasks::open(&project, clock::now().timestamp())?;
    let mut missing = Vec::new();
    let mut given = |path: &Path| match read_given(&tasks, context, path) {
        Ok(file) => file,
        Err(problem) => {
            missing.push(problem);
            (path.display().to_string(), Vec::new())
        }
    };
    let l2 = given(&args.l2);
    let gate = args.gate.as_deref().map(&mut given);
    let mut writer = args.who.writer("phase complete");
    writer.why.get_or_insert_with(|| format!("{} is complete", args.phase));
    let mut notes = Vec::new();
    let written = tasks.rewrite(&writer, |present, rules| {
        let as_given = |(path, bytes): &'_ (String, Vec<u8>)| (path.clone(), bytes.clone());
        let (l2, gate) = (as_given(&l2), gate.as_ref().map(as_given));
        let done = complete(&Completing {
            phase: args.phase,
            held: present.held(),
            l2: Given { path: &l2.0, bytes: &l2.1 },
            gate: gate.as_ref().map(|(path, bytes)| Given { path, bytes }),
            lookup: rules.lookup,
        });
        match done {
            Ok(completion) if missing.is_empty() => {
                notes = completion.gate.map(|gate: GateReading| gate.notes).unwrap_or_default();
                Ok(completion.document)
            }
            Ok(_) => Err(missing.clone()),
            Err(problems) => Err(told_once(&missing, problems)),
        }
    })?;
    let answer = told::written(context, &written);
    if let (Written::Version { .. }, crate::document::Format::Text) = (&written, context.format) {
        notes.iter().for_each(|note| context.terminal.note(&format!("note: {note}\n")));
    }
    Ok(answer)
}

/// A file that cannot be read is one problem; what its absence breaks further on is not told again.
fn told_once(missing: &[Problem], problems: Vec<Problem>) -> Vec<Problem> {
    let about = |problem: &Problem| missing.iter().any(|m| problem.at.starts_with(&m.at));
    let rest: Vec<_> = problems.into_iter().filter(|problem| !about(problem)).collect();
    missing.iter().cloned().chain(rest).collect()
}

fn read_given(tasks: &Tasks<'_>, context: &Context, path: &Path) -> Result<(String, Vec<u8>), Problem> {
    let problem = |why: String| {
        let what = format!("it cannot be read: {why}");
        Problem::of(&path.display().to_string(), what, "give a file of the project")
    };
    let relative = tasks.files.relative(&context.directory, path).map_err(problem)?;
    let bytes = files::read(&context.directory.join(path)).map_err(problem)?;
    Ok((relative, bytes))
}
