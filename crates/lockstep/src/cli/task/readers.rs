//! `lockstep task readers`.

use lockstep_task::readers::Reader;
use serde::Serialize;

use super::{Answer, Context, present_or_told};
use crate::clock;
use crate::error::CommandError;
use crate::project::ActiveProject;
use crate::task::Tasks;

/// List which agents at work have read which version of the task
///
/// The answer is no when one works from an older version. An agent that never read the task is not known here.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  lockstep task readers --format json")]
pub(crate) struct ReadersArgs {}

#[derive(Serialize)]
struct Listed {
    session: String,
    #[serde(flatten)]
    reader: Reader,
}

#[derive(Serialize)]
struct Listing {
    version: u64,
    readers: Vec<Listed>,
}

pub(crate) fn run(_: &ReadersArgs, context: &Context) -> Result<Answer, CommandError> {
    let project = ActiveProject::of_command(&context.directory)?;
    let tasks = Tasks::open(&project, clock::now().timestamp())?;
    let Some(present) = present_or_told(&tasks, context)? else { return Ok(Answer::No) };
    let (task, version) = (present.record.task, present.record.version);
    let readers = tasks.readers(task, version)?;
    let stale = readers.iter().any(|(_, reader)| reader.behind.is_some_and(|n| n > 0));
    let readers = readers.into_iter().map(|(session, reader)| Listed { session, reader }).collect();
    let listing = Listing { version, readers };
    context.terminal.say(&context.format.render(&listing).unwrap_or_else(|| text(&listing)));
    Ok(if stale { Answer::No } else { Answer::Yes })
}

fn text(listing: &Listing) -> String {
    let mut text = format!("PT-v{}\n", listing.version);
    if listing.readers.is_empty() {
        text.push_str("no agent at work has been seen reading it\n");
    }
    for Listed { session, reader } in &listing.readers {
        let behind = reader.behind.filter(|n| *n > 0).map(|n| format!(", {n} behind")).unwrap_or_default();
        text.push_str(&format!("{reader}{behind}, session {session}\n"));
    }
    text
}
