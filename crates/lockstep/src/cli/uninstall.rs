//! `lockstep uninstall`.

use std::fs;

use lockstep_store::StateDir;

use super::planned::Planned;
use super::{Answer, Context};
use crate::error::{CommandError, Kind};
use crate::setup::{
    Installation, LOCAL_SETTINGS, Plan, SHARED_SETTINGS, plan_cache_removal, plan_deactivation,
    plan_git_hook_removal, plan_plugin_removal, plan_removal, root_of,
};

/// Undo `lockstep init`
///
/// Restores the clients' settings byte for byte where nobody edited them since, and takes out exactly Lockstep's entries
/// otherwise. Removes the project's copy of the plugin, and lockstep.toml, unless they were edited. The history in .lockstep stays, unless --purge.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep uninstall --dry-run   show what would be changed
  lockstep uninstall
  lockstep uninstall --purge     remove the history too")]
pub(crate) struct UninstallArgs {
    /// Show what would be changed, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Remove .lockstep with its history, reports and log
    #[arg(long)]
    purge: bool,
}

pub(crate) fn run(args: &UninstallArgs, context: &Context) -> Result<Answer, CommandError> {
    let root = root_of(&context.directory)?;
    let state = StateDir::of(&root);
    let mut plan = Plan { installation: Installation::load(&state)?, ..Plan::default() };
    for settings in [SHARED_SETTINGS, LOCAL_SETTINGS] {
        plan_removal(&root, settings, &mut plan)?;
    }
    plan_plugin_removal(&root, &mut plan)?;
    plan_cache_removal(&root, &mut plan)?;
    plan_git_hook_removal(&mut plan)?;
    plan_deactivation(&root, &mut plan)?;
    if state.exists() && !args.purge {
        plan.notes.push(format!("{} stays with its history; --purge removes it.", state.path().display()));
    }
    if !args.dry_run {
        for edit in &plan.edits {
            edit.apply()?;
        }
        Installation::forget(&state);
        if args.purge {
            purge(&state)?;
        }
    }
    Planned { root: &root, plan: &plan, dry_run: args.dry_run }.show(context, "has no set-up to undo");
    Ok(Answer::Yes)
}

fn purge(state: &StateDir) -> Result<(), CommandError> {
    if !state.exists() {
        return Ok(());
    }
    let path = state.path();
    // A link is not followed: what it leads to is not ours.
    state.ensure("")?;
    fs::remove_dir_all(path)
        .map_err(|error| CommandError::new(Kind::Store, format!("cannot remove {}: {error}", path.display())))
}
