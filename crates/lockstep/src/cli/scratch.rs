//! `lockstep scratch`.

use lockstep_task::place::Place;
use lockstep_task::scratch::{MAX_BYTES, Scratch};
use lockstep_task::yaml;

use super::task::output;
use super::task::writer_args::{SessionArgs, WhoArgs};
use super::{Answer, Context};
use crate::clock;
use crate::error::{CommandError, Kind};
use crate::project::ActiveProject;
use crate::task::Tasks;

/// Store values that belong to one session only
///
/// It accepts execution metrics, summaries of gates and a version marker. Other phases do not read it: what they need belongs in
/// the task or in a phase's report.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep scratch set execution_metrics.spawn_count 3 --session s1
  lockstep scratch show --session s1")]
pub(crate) struct ScratchArgs {
    #[command(subcommand)]
    command: ScratchCommand,
}

#[derive(Debug, clap::Subcommand)]
enum ScratchCommand {
    Show(ShowArgs),
    Set(SetArgs),
}

/// Print the scratch of a session
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  lockstep scratch show --session s1")]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    session: SessionArgs,
}

/// Set a place of the scratch of a session
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep scratch set gc_version 3
  lockstep scratch set gate_summaries.G4 'PASS, 5 items'")]
pub(crate) struct SetArgs {
    /// The place, as in execution_metrics.spawn_count
    #[arg(value_name = "PLACE")]
    place: Place,
    /// The value, as YAML
    #[arg(value_name = "VALUE")]
    value: String,
    #[command(flatten)]
    who: WhoArgs,
}

pub(crate) fn run(args: &ScratchArgs, context: &Context) -> Result<Answer, CommandError> {
    let project = ActiveProject::of_command(&context.directory)?;
    let mut tasks = Tasks::open(&project, clock::now().timestamp())?;
    match &args.command {
        ScratchCommand::Show(args) => {
            let scratch = tasks.scratch(&args.session.needed()?)?.unwrap_or_default();
            show(context, &scratch);
            Ok(Answer::Yes)
        }
        ScratchCommand::Set(args) => {
            let session = args.who.session().needed()?;
            if let Err(reason) = tasks.may_write_scratch(&args.who.writer("scratch set", &project)) {
                return Ok(output::refused(context, None, &[reason]));
            }
            let value = yaml::read(args.value.as_bytes(), MAX_BYTES)
                .map_err(|error| CommandError::new(Kind::Usage, error.to_string()))?;
            match tasks.set_scratch(&session, |scratch| scratch.with(&args.place, value.clone()))? {
                Ok(scratch) => {
                    show(context, &scratch);
                    Ok(Answer::Yes)
                }
                Err(findings) => Ok(output::unreadable(context, findings)),
            }
        }
    }
}

fn show(context: &Context, scratch: &Scratch) {
    let text = || if scratch.root().is_empty() { String::new() } else { scratch.to_yaml() };
    context.terminal.say(&context.format.render(scratch.root()).unwrap_or_else(text));
}
