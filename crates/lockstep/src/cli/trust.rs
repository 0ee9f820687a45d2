//! `lockstep trust`.

use lockstep_text::printable_path;
use serde::Serialize;

use super::{CommandContext, CommandStatus, refuse_in_session};
use crate::error::{CommandError, CommandResult};
use crate::project::inactive;
use crate::trust::{OutsideKey, approve, outside_keys, revoke, user_dir};

/// Approve the paths outside the project that its lockstep.toml names
///
/// A path that points outside the project, directly or through a link, is ignored until you approve it. The approval is kept in
/// your state directory and holds for these paths only: another path, or a link that leads elsewhere, needs another one. Paths
/// in a git directory are never used. `[paths] allow` in `~/.config/lockstep/config.toml` approves directories for all projects.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep trust              approve the paths that `lockstep doctor` calls ignored
  lockstep trust --revoke     ignore them again")]
pub(crate) struct TrustArgs {
    /// Take the approval back
    #[arg(long)]
    revoke: bool,
}

#[derive(Serialize)]
struct TrustOutput {
    approved: Vec<OutsideKey>,
    revoked: bool,
}

pub(crate) fn run(args: &TrustArgs, context: &CommandContext) -> CommandResult {
    let found = lockstep_config::Project::of_directory(&context.directory)?
        .ok_or_else(|| inactive(&context.directory))?;
    refuse_in_session("approve paths outside the project")?;
    let user = user_dir().ok_or_else(|| {
        CommandError::store("neither XDG_STATE_HOME nor HOME names a directory for the approval")
    })?;
    let approved = if args.revoke { Vec::new() } else { outside_keys(&found.load()?, &found.root) };
    let revoked = approved.is_empty() && revoke(&user, &found.root)?;
    if !approved.is_empty() {
        approve(&user, &found.root, &approved)?;
    }
    let output = TrustOutput { approved, revoked };
    match context.format.render(&output) {
        Some(data) => context.terminal.print(&data),
        None => context.terminal.print(&text(&output)),
    }
    Ok(CommandStatus::Success)
}

fn text(output: &TrustOutput) -> String {
    match &output.approved[..] {
        [] if output.revoked => "The approval is taken back.\n".to_owned(),
        [] => "lockstep.toml names no path outside the project: there is nothing to approve.\n".to_owned(),
        approved => approved
            .iter()
            .map(|key| {
                format!(
                    "Approved: [{}] {} = {:?}, which is {}\n",
                    key.section,
                    key.name,
                    key.value,
                    printable_path(&key.place)
                )
            })
            .collect(),
    }
}
