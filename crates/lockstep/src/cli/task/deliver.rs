//! `lockstep task deliver`.

use lockstep_task::phase::TaskPhase;
use lockstep_task::value::{Map, Value};
use lockstep_task::yaml;

use super::writer_args::WriterArgs;
use super::{CommandContext, output};
use crate::clock;
use crate::error::CommandResult;
use crate::project::ActiveProject;
use crate::task::TaskContext;

/// Deliver the task: every phase COMPLETE, its subject DELIVERED, and final
///
/// Refused while a phase before P9 is not COMPLETE; --assume marks one that was left out on purpose. After delivery only
/// `lockstep task reopen --why` opens it again.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep task deliver --metric spawns=12 --metric duration='3 h'
  lockstep task deliver --assume P5 --why 'the plan was one line'")]
pub(crate) struct DeliverArgs {
    /// A metric to keep, as in spawns=12
    #[arg(long, value_name = "NAME=VALUE", value_parser = metric)]
    metric: Vec<(String, Value)>,
    /// Treat a phase as complete although it was skipped; it is marked as assumed
    #[arg(long, value_name = "PHASE")]
    assume: Vec<TaskPhase>,
    #[command(flatten)]
    who: WriterArgs,
}

fn metric(text: &str) -> Result<(String, Value), String> {
    let (name, value) = text.split_once('=').ok_or("write it as NAME=VALUE")?;
    if name.trim().is_empty() {
        return Err("it has no name".to_owned());
    }
    let value = yaml::read(value.as_bytes(), 4_096).map_err(|error| error.to_string())?;
    Ok((name.trim().to_owned(), value))
}

pub(crate) fn run(args: &DeliverArgs, context: &CommandContext) -> CommandResult {
    let project = ActiveProject::discover(&context.directory)?;
    let mut tasks = TaskContext::open(&project, clock::now().timestamp())?;
    let metrics: Map = args.metric.iter().cloned().collect();
    let written = tasks.deliver(&args.who.writer("task deliver", &project), &metrics, &args.assume)?;
    Ok(output::print_write_result(context, written.into_output()))
}
