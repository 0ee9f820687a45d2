//! `lockstep completions`.

use clap_complete::Shell;

use super::{CommandContext, CommandStatus, command};
use crate::error::CommandResult;

/// Print a completion script for a shell
///
/// Bash: `lockstep completions bash > ~/.local/share/bash-completion/completions/lockstep`. Zsh: into a directory of `$fpath`
/// as `_lockstep`. Fish: `lockstep completions fish > ~/.config/fish/completions/lockstep.fish`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  source <(lockstep completions bash)")]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs, context: &CommandContext) -> CommandResult {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command(), "lockstep", &mut script);
    context.terminal.print_content(&String::from_utf8_lossy(&script));
    Ok(CommandStatus::Success)
}
