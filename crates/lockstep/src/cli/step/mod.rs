//! `lockstep step`: making steps, recording their phases, ending them.

mod boundary;
mod exceptions;
mod finish;
mod lock;
mod new;
mod phase;
mod show;
mod stale;

use lockstep_steps::problem::StepProblem;
use lockstep_steps::step::Step;

use super::{CommandContext, CommandStatus, refuse_in_session};
use crate::clock;
use crate::error::CommandResult;
use crate::project::ActiveProject;
use crate::steps::files::StepFile;
use crate::steps::output::{StepRefusalOutput, StepWriteOutput};
use crate::steps::{StepContext, StepsError, StepsResult};

/// Create steps, the units of an agent's work, and record their phases
///
/// The phases of a step are recorded as they happen, in their order. The gates decide from what was recorded, and from nothing else.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep step new 01-01 --project auth
  lockstep step phase start steps/01-01.json PREPARE
  lockstep step phase done steps/01-01.json PREPARE --outcome PASS
  lockstep step finish steps/01-01.json --status DONE

A step can be named by its id as well: `lockstep step show 01-01`.")]
pub(crate) struct StepArgs {
    #[command(subcommand)]
    command: StepCommand,
}

#[derive(Debug, clap::Subcommand)]
enum StepCommand {
    New(new::StepNewArgs),
    Show(show::StepShowArgs),
    List(show::StepListArgs),
    Phase(phase::StepPhaseArgs),
    Finish(finish::FinishArgs),
    Resume(finish::ResumeArgs),
    Boundary(boundary::BoundaryArgs),
    Abandon(exceptions::AbandonArgs),
    Adopt(exceptions::AdoptArgs),
    Accept(exceptions::AcceptArgs),
    Lock(lock::LockArgs),
    Unlock(lock::UnlockArgs),
    Stale(stale::StepStaleArgs),
}

pub(crate) fn run(args: &StepArgs, context: &CommandContext) -> CommandResult {
    let project = ActiveProject::discover(&context.directory)?;
    let steps = StepContext::new(&project, clock::now());
    let answer = match &args.command {
        StepCommand::New(args) => new::run(args, &steps, context),
        StepCommand::Show(args) => show::show(args, &steps, context),
        StepCommand::List(args) => show::list(args, &steps, context),
        StepCommand::Phase(args) => phase::run(args, &steps, context),
        StepCommand::Finish(args) => finish::finish(args, &steps, context),
        StepCommand::Resume(args) => finish::resume(args, &steps, context),
        StepCommand::Boundary(args) => boundary::run(args, &steps, context),
        StepCommand::Abandon(args) => exceptions::abandon(args, &steps, context),
        StepCommand::Adopt(args) => exceptions::adopt(args, &steps, context),
        StepCommand::Accept(args) => {
            refuse_in_session("accept other rules")?;
            exceptions::accept(args, &steps, context)
        }
        StepCommand::Lock(args) => lock::lock(args, &steps, context),
        StepCommand::Unlock(args) => lock::unlock(args, &steps, context),
        StepCommand::Stale(args) => stale::run(args, &steps, context),
    };
    match answer {
        Err(error) => Ok(refused(context, &error.into_refusal()?)),
        Ok(answer) => Ok(answer),
    }
}

/// The writer's identity.
#[derive(Debug, Clone, clap::Args)]
struct ActorArgs {
    /// Write under this name: the owner of a lock, and the name in the audit trail
    #[arg(long = "as", value_name = "NAME", default_value = "someone")]
    who: String,
}

/// The existing step file that is named on the command line.
pub(crate) fn resolve_step(
    steps: &StepContext<'_>,
    context: &CommandContext,
    name: &str,
) -> StepsResult<StepFile> {
    let file = given_or_deleted(steps, context, name)?;
    if file.path.exists() { Ok(file) } else { Err(StepsError::NoFile(file.name)) }
}

/// The step file that is named on the command line, which may have been deleted after it was recorded.
pub(crate) fn given_or_deleted(
    steps: &StepContext<'_>,
    context: &CommandContext,
    name: &str,
) -> StepsResult<StepFile> {
    let file = steps
        .resolve_from_directory(&context.directory, name)
        .map_err(|problem| StepsError::Refused(vec![problem]))?;
    if file.path.exists() || steps.known_steps().contains(&file.name) {
        Ok(file)
    } else {
        Err(StepsError::NoFile(file.name))
    }
}

/// Tells every reason why nothing was done.
pub(crate) fn refused(context: &CommandContext, problems: &[StepProblem]) -> CommandStatus {
    context.print(&StepRefusalOutput::new(problems.to_vec()));
    CommandStatus::CheckFailed
}

/// Tells what was written.
fn written(context: &CommandContext, file: &StepFile, step: &Step, phase: Option<&str>) -> CommandStatus {
    context.print(&StepWriteOutput::new(file, step, phase));
    CommandStatus::Success
}
