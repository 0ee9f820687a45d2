//! `lockstep phase`.

use std::path::{Path, PathBuf};

use lockstep_task::phase::TaskPhase;

use super::task::output;
use super::task::writer_args::{SessionArgs, WriterArgs};
use super::{CommandContext, CommandStatus};
use crate::clock;
use crate::error::{CommandError, CommandResult};
use crate::project::ActiveProject;
use crate::task::TaskContext;
use crate::task::phases::PhaseFiles;

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
    Enter(PhaseEnterArgs),
    Complete(PhaseCompleteArgs),
}

/// Check that a phase can begin, and print its inputs
///
/// Requires that the previous phase is COMPLETE, that its L2 file exists with a complete handoff, and that
/// the task has the sections that the phase's skill must read. Prints the sections and the handoff. If it is
/// not ready, lists all reasons and exits with code 1.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  lockstep phase enter P4 > context.md")]
pub(crate) struct PhaseEnterArgs {
    /// The phase, P1 to P9
    #[arg(value_name = "PHASE")]
    phase: TaskPhase,
    #[command(flatten)]
    session: SessionArgs,
}

/// Complete a phase: checks its L2 file, its sections and its gate, then writes one version
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  lockstep phase complete P4 --l2 work/phase-4/L2-summary.md")]
pub(crate) struct PhaseCompleteArgs {
    /// The phase, P1 to P9
    #[arg(value_name = "PHASE")]
    phase: TaskPhase,
    /// The phase's L2 file
    #[arg(long, value_name = "FILE")]
    l2: PathBuf,
    /// The record of its gate
    #[arg(long, value_name = "FILE")]
    gate: Option<PathBuf>,
    #[command(flatten)]
    who: WriterArgs,
}

pub(crate) fn run(args: &PhaseArgs, context: &CommandContext) -> CommandResult {
    match &args.command {
        PhaseCommand::Enter(args) => run_enter(args, context),
        PhaseCommand::Complete(args) => run_complete(args, context),
    }
}

fn run_enter(args: &PhaseEnterArgs, context: &CommandContext) -> CommandResult {
    let project = ActiveProject::discover(&context.directory)?;
    let tasks = TaskContext::open(&project, clock::now().timestamp())?;
    match tasks.enter(args.phase, args.session.session().as_ref())? {
        Ok(entry) => context.print(&entry),
        Err(refused) => return Ok(output::print_refusal(context, &refused)),
    }
    Ok(CommandStatus::Success)
}

fn run_complete(args: &PhaseCompleteArgs, context: &CommandContext) -> CommandResult {
    let project = ActiveProject::discover(&context.directory)?;
    let mut tasks = TaskContext::open(&project, clock::now().timestamp())?;
    let produced = PhaseFiles { directory: &context.directory, l2: args.l2.clone(), gate: args.gate.clone() };
    let writer = args.who.writer("phase complete", &project);
    let answer = output::print_write_result(context, tasks.complete(writer, args.phase, &produced)?);
    match missing_file(args, &context.directory) {
        Some(error) => Err(error),
        None => Ok(answer),
    }
}

/// The error about a named file that does not exist. The other reasons against the phase are printed before it.
fn missing_file(args: &PhaseCompleteArgs, directory: &Path) -> Option<CommandError> {
    let mut named = std::iter::once(&args.l2).chain(&args.gate);
    let missing = named.find(|path| !directory.join(path).exists())?;
    let message = format!("there is no file {}", missing.display());
    Some(CommandError::store(message).hint("paths are taken from the current directory"))
}
