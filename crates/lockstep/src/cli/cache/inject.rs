//! `lockstep cache inject`.

use std::time::{Duration, Instant};

use serde::Serialize;

use crate::cache::delivery::{self, Delivered, To, deliver};
use crate::cache::entry::HookPart;
use crate::cli::{Answer, Context};
use crate::clock;
use crate::error::CommandError;
use crate::project::ActiveProject;

/// Enough for any build: no session waits for this command.
const PATIENCE: Duration = Duration::from_secs(60);

/// Print the text that a new session or a subagent receives
///
/// Prints exactly the text of the hook, for clients without hooks and for inspection. With `[cache] deliver =
/// "full"`, prints all parts. Rebuilds a stale cache, as the hook does. Exit code 1 if nothing is delivered.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep cache inject
  lockstep cache inject --source compact             after the client compacted its context
  lockstep cache inject --agent software-developer   a subagent's part
  lockstep cache inject --part 2/5                   the second of five entries")]
pub(crate) struct InjectArgs {
    /// Why the session starts: startup, resume, clear or compact
    #[arg(long, value_name = "WHY", default_value = "startup", conflicts_with = "agent")]
    source: String,
    /// For a subagent of this type
    #[arg(long, value_name = "TYPE")]
    agent: Option<String>,
    /// Only what this one of several hook entries sends
    #[arg(long, value_name = "K/N", conflicts_with = "agent")]
    part: Option<HookPart>,
}

#[derive(Serialize)]
struct Data {
    hash: String,
    chars: usize,
    text: String,
}

pub(crate) fn run(args: &InjectArgs, context: &Context) -> Result<Answer, CommandError> {
    let project = ActiveProject::of_cache_command(&context.directory)?;
    let mut delivered = Vec::new();
    for to in receivers(args, &project)? {
        delivered.extend(deliver(&project, None, to, clock::now().timestamp(), Instant::now() + PATIENCE)?);
    }
    let data: Vec<Data> =
        delivered.into_iter().map(|Delivered { text, hash, chars, .. }| Data { hash, chars, text }).collect();
    let text = || data.iter().map(|part| format!("{}\n", part.text)).collect();
    context.terminal.say(&context.format.render(&data).unwrap_or_else(text));
    Ok(if data.is_empty() { Answer::No } else { Answer::Yes })
}

fn receivers<'a>(args: &'a InjectArgs, project: &ActiveProject) -> Result<Vec<To<'a>>, CommandError> {
    if let Some(agent_type) = &args.agent {
        return Ok(vec![To::Subagent { agent_type }]);
    }
    let session = |part| To::Session { source: &args.source, part };
    if let Some(part) = args.part {
        return Ok(vec![session(part)]);
    }
    let of = delivery::entries(project)?;
    Ok((1..=of).map(|number| session(HookPart { number, of })).collect())
}
