//! `lockstep hook`.

use std::process::ExitCode;

use crate::hook::part::HookPart;
use crate::hook::{self, HookClient, HookInvocation, RegistrationSource};

/// Answer an event of a coding agent; its client runs this, not you
///
/// Reads the event as JSON from standard input, writes the reply to standard output, and exits by the client's rules. `lockstep
/// init` registers it. In a project without lockstep.toml it exits 0 at once, silently.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  echo '{\"hook_event_name\":\"Stop\",\"session_id\":\"s\"}' | lockstep hook claude"
)]
pub(crate) struct HookArgs {
    /// The client that sends the event
    #[arg(value_enum, default_value_t)]
    client: HookClient,
    /// Of several entries for a session's start, which one this is: it sends that part of the session cache
    #[arg(long, value_name = "K/N")]
    part: Option<HookPart>,
    /// The plugin registered it: an event that the client's settings have an entry of Lockstep's for is left to that entry
    #[arg(long)]
    plugin: bool,
}

pub(crate) fn run(args: &HookArgs) -> ExitCode {
    let by = if args.plugin { RegistrationSource::Plugin } else { RegistrationSource::Settings };
    hook::main(HookInvocation { client: args.client, part: args.part.unwrap_or_default(), by })
}
