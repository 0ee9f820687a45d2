//! `lockstep self`.

use lockstep_config::Project;

use super::{CommandContext, CommandStatus, VERSION};
use crate::error::CommandResult;
use crate::installed::Installed;
use crate::project::ActiveProject;
use crate::setup;

/// Show the installed copies of this program
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep self version --check")]
pub(crate) struct SelfArgs {
    #[command(subcommand)]
    command: SelfCommand,
}

#[derive(Debug, clap::Subcommand)]
enum SelfCommand {
    Version(SelfVersionArgs),
}

/// Print the version, and check which copies are installed and used
///
/// With `--check`, lists every `lockstep` on PATH and every program that the hooks of this project, of the user and of git start,
/// each with its version. Nothing is downloaded. Exit code 1 if a copy that is used has another version or cannot be started, or if
/// the project's state was written by a newer version.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep self version
  lockstep self version --check      after an upgrade: is every hook using the new version?
  lockstep self version --check --format json")]
struct SelfVersionArgs {
    /// Check all copies on this machine
    #[arg(long)]
    check: bool,
}

pub(crate) fn run(args: &SelfArgs, context: &CommandContext) -> CommandResult {
    let SelfCommand::Version(args) = &args.command;
    if !args.check {
        let data = context.format.render(&serde_json::json!({ "version": VERSION }));
        context.terminal.print(&data.unwrap_or_else(|| format!("lockstep {VERSION}\n")));
        return Ok(CommandStatus::Success);
    }
    let project = Project::of_directory(&context.directory)?.map(ActiveProject::load).transpose()?;
    let root = setup::root_of(&context.directory)?;
    let installed = Installed::find(&root, project.as_ref().map(|project| &project.state));
    context.print(&installed);
    Ok(if installed.is_consistent() { CommandStatus::Success } else { CommandStatus::CheckFailed })
}
