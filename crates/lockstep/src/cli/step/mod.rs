//! `lockstep step`: making steps, recording their phases, ending them.

mod abandon;
mod boundary;
mod finish;
mod hold;
mod new;
mod phase;
mod show;
mod stale;

use lockstep_steps::problem::Problem;
use lockstep_steps::step::Step;
use serde::Serialize;

use super::{Answer, Context};
use crate::clock;
use crate::error::CommandError;
use crate::project::ActiveProject;
use crate::steps::files::StepFile;
use crate::steps::{Steps, StepsError};

/// Make steps and record their phases
///
/// A step is a unit of an agent's work. Its phases are recorded as they happen, in their order; the gates look at what was recorded,
/// and at nothing else.
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
    New(new::NewArgs),
    Show(show::ShowArgs),
    List(show::ListArgs),
    Phase(phase::PhaseArgs),
    Finish(finish::FinishArgs),
    Resume(finish::ResumeArgs),
    Boundary(boundary::BoundaryArgs),
    Abandon(abandon::AbandonArgs),
    Lock(hold::LockArgs),
    Unlock(hold::UnlockArgs),
    Stale(stale::StaleArgs),
}

pub(crate) fn run(args: &StepArgs, context: &Context) -> Result<Answer, CommandError> {
    let project = ActiveProject::of_command(&context.directory)?;
    let steps = Steps::new(&project, clock::now());
    let answer = match &args.command {
        StepCommand::New(args) => new::run(args, &steps, context),
        StepCommand::Show(args) => show::show(args, &steps, context),
        StepCommand::List(args) => show::list(args, &steps, context),
        StepCommand::Phase(args) => phase::run(args, &steps, context),
        StepCommand::Finish(args) => finish::finish(args, &steps, context),
        StepCommand::Resume(args) => finish::resume(args, &steps, context),
        StepCommand::Boundary(args) => boundary::run(args, &steps, context),
        StepCommand::Abandon(args) => abandon::run(args, &steps, context),
        StepCommand::Lock(args) => hold::lock(args, &steps, context),
        StepCommand::Unlock(args) => hold::unlock(args, &steps, context),
        StepCommand::Stale(args) => stale::run(args, &steps, context),
    };
    match answer {
        Err(StepsError::Refused(problems)) => Ok(refused(context, &problems)),
        Err(StepsError::Locked(holder)) => Ok(refused(
            context,
            &[Problem::invalid(
                "step file",
                holder.to_string(),
                "Wait, or write in the holder's name with --as",
            )],
        )),
        answer => Ok(answer?),
    }
}

/// Who writes.
#[derive(Debug, Clone, clap::Args)]
struct WhoArgs {
    /// Write in this name: what a lock is held by, and what the audit trail says
    #[arg(long = "as", value_name = "NAME", default_value = "someone")]
    who: String,
}

/// The step file that is named on the command line.
fn given(steps: &Steps<'_>, context: &Context, name: &str) -> Result<StepFile, StepsError> {
    steps.given(&context.directory, name).map_err(|problem| StepsError::Refused(vec![problem]))
}

#[derive(Serialize)]
struct Refused<'a> {
    refused: bool,
    errors: &'a [Problem],
}

/// Tells every reason why nothing was done.
pub(crate) fn refused(context: &Context, problems: &[Problem]) -> Answer {
    let text = || {
        let lines: String = problems
            .iter()
            .map(|problem| format!("- {}\n  {}\n", problem.message, problem.suggestion))
            .collect();
        let count =
            if problems.len() == 1 { "1 reason".to_owned() } else { format!("{} reasons", problems.len()) };
        format!("refused, for {count}; nothing was changed\n{lines}")
    };
    let data = Refused { refused: true, errors: problems };
    context.terminal.say(&context.format.render(&data).unwrap_or_else(text));
    Answer::No
}

#[derive(Serialize)]
struct Written<'a> {
    step_file: &'a str,
    task_id: &'a str,
    project_id: &'a str,
    status: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    phase: Option<PhaseData<'a>>,
}

#[derive(Serialize)]
struct PhaseData<'a> {
    phase_name: &'a str,
    status: &'a str,
    outcome: Option<&'a str>,
}

/// Tells what was written.
fn written(context: &Context, file: &StepFile, step: &Step, phase: Option<&str>) -> Answer {
    let phase = phase.and_then(|name| step.phase(name));
    let data = Written {
        step_file: &file.name,
        task_id: step.task_id(),
        project_id: step.project_id(),
        status: step.status(),
        phase: phase.map(|phase| PhaseData {
            phase_name: &phase.name,
            status: &phase.status,
            outcome: phase.outcome.as_deref(),
        }),
    };
    let text = || match phase {
        Some(phase) => {
            let outcome = phase.outcome.as_ref().map(|outcome| format!(" {outcome}")).unwrap_or_default();
            format!("{}: {} is {}{outcome}\n", file.name, phase.name, phase.status)
        }
        None => format!("{}: {}\n", file.name, step.status()),
    };
    context.terminal.say(&context.format.render(&data).unwrap_or_else(text));
    Answer::Yes
}
