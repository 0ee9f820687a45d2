//! `lockstep scratch`.

use lockstep_task::key_path::KeyPath;
use lockstep_task::scratch::{MAX_BYTES, Scratch};
use lockstep_task::yaml;

use super::task::output;
use super::task::writer_args::{SessionArgs, WriterArgs};
use super::{CommandContext, CommandStatus};
use crate::clock;
use crate::error::{CommandError, CommandResult};
use crate::project::ActiveProject;
use crate::task::TaskContext;
use crate::task::output::TaskRefusalOutput;

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
    Show(ScratchShowArgs),
    Set(ScratchSetArgs),
}

/// Print the scratch of a session
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  lockstep scratch show --session s1")]
pub(crate) struct ScratchShowArgs {
    #[command(flatten)]
    session: SessionArgs,
}

/// Set a place of the scratch of a session
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep scratch set gc_version 3
  lockstep scratch set gate_summaries.G4 'PASS, 5 items'")]
pub(crate) struct ScratchSetArgs {
    /// The place, as in execution_metrics.spawn_count
    #[arg(value_name = "PLACE")]
    place: KeyPath,
    /// The value, as YAML
    #[arg(value_name = "VALUE")]
    value: String,
    #[command(flatten)]
    who: WriterArgs,
}

pub(crate) fn run(args: &ScratchArgs, context: &CommandContext) -> CommandResult {
    let project = ActiveProject::discover(&context.directory)?;
    let mut tasks = TaskContext::open(&project, clock::now().timestamp())?;
    match &args.command {
        ScratchCommand::Show(args) => {
            let scratch = tasks.scratch(&args.session.require_session()?)?.unwrap_or_default();
            show(context, &scratch);
            Ok(CommandStatus::Success)
        }
        ScratchCommand::Set(args) => {
            let session = args.who.session().require_session()?;
            if let Err(reason) = tasks.may_write_scratch(&args.who.writer("scratch set", &project)) {
                return Ok(output::print_refusal(context, &TaskRefusalOutput::new(None, vec![reason])));
            }
            let value = yaml::read(args.value.as_bytes(), MAX_BYTES)
                .map_err(|error| CommandError::usage(error.to_string()))?;
            match tasks.set_scratch(&session, |scratch| scratch.with(&args.place, value.clone()))? {
                Ok(scratch) => {
                    show(context, &scratch);
                    Ok(CommandStatus::Success)
                }
                Err(findings) => Ok(output::print_refusal(context, &TaskRefusalOutput::unreadable(findings))),
            }
        }
    }
}

fn show(context: &CommandContext, scratch: &Scratch) {
    let text = || if scratch.root().is_empty() { String::new() } else { scratch.to_yaml() };
    context.terminal.print(&context.format.render(scratch.root()).unwrap_or_else(text));
}
