//! `lockstep phase`.

use std::path::{Path, PathBuf};

use lockstep_task::phase::Phase;

use super::task::output;
use super::task::writer_args::{SessionArgs, WhoArgs};
use super::{Answer, Context};
use crate::clock;
use crate::error::{CommandError, Kind};
use crate::project::ActiveProject;
use crate::task::Tasks;
use crate::task::phases::Produced;

/// Enter and complete the phases of the task
///
/// A task has nine phases, P1 to P9. A phase is entered with the report of the phase before it, and completed with its own.
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

/// Check that a phase can begin, and print its inputs
///
/// Requires that the previous phase is COMPLETE, that its L2 file exists with a complete handoff, and that
/// the task has the sections that the phase's skill must read. Prints the sections and the handoff. If it is
/// not ready, lists all reasons and exits with code 1.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  lockstep phase enter P4 > context.md")]
pub(crate) struct EnterArgs {
    /// The phase, P1 to P9
    #[arg(value_name = "PHASE")]
    phase: Phase,
    #[command(flatten)]
    session: SessionArgs,
}

/// Complete a phase: checks its L2 file, its sections and its gate, then writes one version
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  lockstep phase complete P4 --l2 work/phase-4/L2-summary.md")]
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
    match tasks.enter(args.phase, args.session.known().as_ref())? {
        Ok(entry) => context.say(&entry),
        Err(refused) => return Ok(output::print_refusal(context, &refused)),
    }
    Ok(Answer::Yes)
}

fn run_complete(args: &CompleteArgs, context: &Context) -> Result<Answer, CommandError> {
    let project = ActiveProject::of_command(&context.directory)?;
    let mut tasks = Tasks::open(&project, clock::now().timestamp())?;
    let produced = Produced { directory: &context.directory, l2: args.l2.clone(), gate: args.gate.clone() };
    let writer = args.who.writer("phase complete", &project);
    let answer = output::print_output(context, tasks.complete(writer, args.phase, &produced)?);
    match missing_file(args, &context.directory) {
        Some(error) => Err(error),
        None => Ok(answer),
    }
}

/// The error about a named file that does not exist. The other reasons against the phase are printed before it.
fn missing_file(args: &CompleteArgs, directory: &Path) -> Option<CommandError> {
    let mut named = std::iter::once(&args.l2).chain(&args.gate);
    let missing = named.find(|path| !directory.join(path).exists())?;
    let message = format!("there is no file {}", missing.display());
    Some(CommandError::new(Kind::Store, message).hint("paths are taken from the current directory"))
}
