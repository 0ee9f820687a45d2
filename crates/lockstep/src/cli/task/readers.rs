//! `lockstep task readers`.

use lockstep_task::task_readers::TaskReader;
use serde::Serialize;

use super::{CommandContext, CommandStatus, current_or_print_none};
use crate::clock;
use crate::error::CommandResult;
use crate::project::ActiveProject;
use crate::task::TaskContext;

/// List which agents at work have read which version of the task
///
/// The answer is no when one works from an older version. An agent that never read the task is not known here.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  lockstep task readers --format json")]
pub(crate) struct ReadersArgs {}

#[derive(Serialize)]
struct ReaderRow {
    session: String,
    #[serde(flatten)]
    reader: TaskReader,
}

#[derive(Serialize)]
struct ReadersOutput {
    version: u64,
    readers: Vec<ReaderRow>,
}

pub(crate) fn run(_: &ReadersArgs, context: &CommandContext) -> CommandResult {
    let project = ActiveProject::discover(&context.directory)?;
    let tasks = TaskContext::open(&project, clock::now().timestamp())?;
    let Some(present) = current_or_print_none(&tasks, context)? else {
        return Ok(CommandStatus::CheckFailed);
    };
    let (task, version) = (present.record.task, present.record.version);
    let readers = tasks.readers(task, version)?;
    let stale = readers.iter().any(|(_, reader)| reader.behind.is_some_and(|n| n > 0));
    let readers = readers.into_iter().map(|(session, reader)| ReaderRow { session, reader }).collect();
    let listing = ReadersOutput { version, readers };
    context.terminal.print(&context.format.render(&listing).unwrap_or_else(|| text(&listing)));
    Ok(if stale { CommandStatus::CheckFailed } else { CommandStatus::Success })
}

fn text(listing: &ReadersOutput) -> String {
    let mut text = format!("PT-v{}\n", listing.version);
    if listing.readers.is_empty() {
        text.push_str("no agent at work has been seen reading it\n");
    }
    for ReaderRow { session, reader } in &listing.readers {
        let behind = reader.behind.filter(|n| *n > 0).map(|n| format!(", {n} behind")).unwrap_or_default();
        text.push_str(&format!("{reader}{behind}, session {session}\n"));
    }
    text
}
