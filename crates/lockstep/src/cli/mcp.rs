//! `lockstep mcp`.

use super::{CommandContext, CommandStatus};
use crate::error::CommandResult;
use crate::mcp::{self, CallerIdentity};

/// Run an MCP server that offers these commands to agents as tools
///
/// Speaks the Model Context Protocol on standard input and output, for the client that starts it, until standard input ends.
/// impact, references, dangling_references and map_entry work in any directory; the other tools need an active project.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  claude mcp add lockstep -- lockstep mcp        register it with Claude Code
  lockstep mcp --as delivery-agent               a server that acts for one agent only
  lockstep -C ../other mcp                       for another directory")]
pub(crate) struct McpArgs {
    /// Act only for this agent, by its type, or for the lead; by default a writer of the task names itself
    #[arg(long = "as", value_name = "AGENT")]
    agent: Option<String>,
    /// Let `step_phase_done` run the commands it is given, as evidence: any caller of the tool may then run
    /// anything
    #[arg(long)]
    allow_run: bool,
}

pub(crate) fn run(args: &McpArgs, context: &CommandContext) -> CommandResult {
    let caller = CallerIdentity { bound: args.agent.clone(), may_run: args.allow_run };
    mcp::serve(context.directory.clone(), caller)?;
    Ok(CommandStatus::Success)
}
