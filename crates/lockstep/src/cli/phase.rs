//! `lockstep phase`.

use std::path::PathBuf;

use lockstep_task::phase::Phase;

use super::task::told;
use super::task::who::{SessionArgs, WhoArgs};
use super::{Answer, Context};
use crate::clock;
use crate::error::CommandError;
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

/// Check that a phase can begin, and print what it starts from
///
/// The phase before is COMPLETE, its L2 file is there with a whole handoff, and the sections the phase's skill must read are in the
/// task. Prints the sections and the handoff. Not ready: all reasons at once, and the answer is no.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  lockstep phase enter P4 > context.md")]
pub(crate) struct EnterArgs {
    /// The phase, P1 to P9
    #[arg(value_name = "PHASE")]
    phase: Phase,
    #[command(flatten)]
    session: SessionArgs,
}

/// Complete a phase: its L2 file is whole, its sections are written, its gate holds; then one version
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
        Err(refused) => return Ok(told::no(context, &refused)),
    }
    Ok(Answer::Yes)
}

fn run_complete(args: &CompleteArgs, context: &Context) -> Result<Answer, CommandError> {
    let project = ActiveProject::of_command(&context.directory)?;
    let mut tasks = Tasks::open(&project, clock::now().timestamp())?;
    let produced = Produced { directory: &context.directory, l2: args.l2.clone(), gate: args.gate.clone() };
    let writer = args.who.writer("phase complete", &project);
    Ok(told::told(context, tasks.complete(writer, args.phase, &produced)?))
}
