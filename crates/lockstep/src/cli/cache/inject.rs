//! `lockstep cache inject`.

use std::time::{Duration, Instant};

use serde::Serialize;

use crate::cache::delivery::{self, DeliveredPart, Recipient, deliver};
use crate::cli::{CommandContext, CommandStatus};
use crate::clock;
use crate::error::CommandResult;
use crate::hook::part::HookPart;
use crate::project::ActiveProject;

/// Enough for any build: no session waits for this command.
const BUILD_TIMEOUT: Duration = Duration::from_secs(60);

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
pub(crate) struct CacheInjectArgs {
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
struct InjectOutput {
    hash: String,
    chars: usize,
    text: String,
}

pub(crate) fn run(args: &CacheInjectArgs, context: &CommandContext) -> CommandResult {
    let project = ActiveProject::of_cache_command(&context.directory)?;
    let mut delivered = Vec::new();
    for to in recipients(args, &project)? {
        delivered.extend(deliver(
            &project,
            None,
            to,
            clock::now().timestamp(),
            Instant::now() + BUILD_TIMEOUT,
        )?);
    }
    let data: Vec<InjectOutput> = delivered
        .into_iter()
        .map(|DeliveredPart { text, hash, chars, .. }| InjectOutput { hash, chars, text })
        .collect();
    let text = || data.iter().map(|part| format!("{}\n", part.text)).collect();
    context.terminal.print(&context.format.render(&data).unwrap_or_else(text));
    Ok(if data.is_empty() { CommandStatus::CheckFailed } else { CommandStatus::Success })
}

fn recipients<'a>(args: &'a CacheInjectArgs, project: &ActiveProject) -> CommandResult<Vec<Recipient<'a>>> {
    if let Some(agent_type) = &args.agent {
        return Ok(vec![Recipient::Subagent { agent_type }]);
    }
    let session = |part| Recipient::Session { source: &args.source, part };
    if let Some(part) = args.part {
        return Ok(vec![session(part)]);
    }
    let of = delivery::required_entries(project)?;
    Ok((1..=of).map(|number| session(HookPart { number, of })).collect())
}
