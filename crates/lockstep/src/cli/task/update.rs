//! `lockstep task update`.

use std::path::PathBuf;

use lockstep_task::key_path::KeyPath;

use super::writer_args::WriterArgs;
use super::{CommandContext, output, read_input};
use crate::clock;
use crate::error::CommandResult;
use crate::project::ActiveProject;
use crate::task::TaskContext;
use crate::task::update_request::UpdateRequest;

/// Write the next version of the task
///
/// The write names the version it was made from. If another writer was first, it is refused with the current
/// version and both changes; --merge merges them if they do not conflict. A write that loses data of another
/// phase is refused unless --drop names it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep task update task.yaml --base 3
  lockstep task update task.yaml --base 3 --merge --why 'the plan is split in two'
  lockstep task update plan.yaml --section implementation_plan --base 3 --skill agent-teams-write-plan
  lockstep task update task.yaml --base 3 --drop phase_status.P2.l2_path")]
pub(crate) struct TaskUpdateArgs {
    /// The complete document as YAML, or with --section that section's value; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The version it was made from
    #[arg(long, value_name = "N")]
    base: u64,
    /// Replace this section only
    #[arg(long, value_name = "NAME")]
    section: Option<String>,
    /// Bring it together with what others wrote since
    #[arg(long)]
    merge: bool,
    /// Give this place up on purpose, as in phase_status.P2.l2_path
    #[arg(long, value_name = "PLACE")]
    drop: Vec<KeyPath>,
    /// Change the title in its subject
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    #[command(flatten)]
    who: WriterArgs,
}

pub(crate) fn run(args: &TaskUpdateArgs, context: &CommandContext) -> CommandResult {
    let project = ActiveProject::discover(&context.directory)?;
    let mut tasks = TaskContext::open(&project, clock::now().timestamp())?;
    let proposal = UpdateRequest {
        base: args.base,
        text: &read_input(context, &args.file)?,
        section: args.section.as_deref(),
        merge: args.merge,
        drops: args.drop.clone(),
        title: args.title.clone(),
    };
    Ok(output::print_write_result(
        context,
        tasks.submit_update(&args.who.writer("task update", &project), proposal)?,
    ))
}
