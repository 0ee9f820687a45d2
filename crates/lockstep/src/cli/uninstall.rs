//! `lockstep uninstall`.

use std::fs;
use std::path::Path;
use std::time::Duration;

use lockstep_index::index::wait_for_writer;
use lockstep_store::StateDir;

use super::plan_output::PlanOutput;
use super::{CommandContext, CommandStatus, refuse_in_session};
use crate::clock;
use crate::error::{CommandError, CommandResult};
use crate::project::ActiveProject;
use crate::setup::{
    Installation, LOCAL_SETTINGS, SHARED_SETTINGS, SetupPlan, plan_cache_removal, plan_deactivation,
    plan_git_hook_removal, plan_plugin_removal, plan_removal, remaining_files, root_of,
};
use crate::steps::{StepContext, has_step_state};

/// Returns true if the project has steps. A project that cannot be read is judged by its state.
fn uses_steps(root: &Path, state: &StateDir) -> bool {
    let has_steps = |project: ActiveProject| StepContext::new(&project, clock::now()).has_steps();
    has_step_state(state)
        || ActiveProject::of_git_hook(root).is_ok_and(|project| project.is_some_and(has_steps))
}

/// The time that a removal waits for a build of the index to end.
const WRITER_WAIT: Duration = Duration::from_secs(10);

/// Undo `lockstep init`
///
/// Restores the clients' settings byte for byte if they were not edited since; otherwise removes exactly Lockstep's entries.
/// Removes the project's copy of the plugin, and lockstep.toml, unless they were edited. The history in .lockstep stays, unless
/// --purge. Names everything that it leaves: documents that Lockstep's commands wrote, edited files, journals.
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

pub(crate) fn run(args: &UninstallArgs, context: &CommandContext) -> CommandResult {
    let root = root_of(&context.directory)?;
    let state = StateDir::for_project(&root);
    if !args.dry_run && uses_steps(&root, &state) {
        refuse_in_session("uninstall Lockstep from a project with steps, which would open its gates")?;
    }
    let mut plan = SetupPlan { installation: Installation::load(&state)?, ..SetupPlan::default() };
    // Read before lockstep.toml, which names them, is removed.
    let remaining = remaining_files(&root);
    for settings in [SHARED_SETTINGS, LOCAL_SETTINGS] {
        plan_removal(&root, settings, &mut plan)?;
    }
    plan_plugin_removal(&root, &mut plan)?;
    plan_cache_removal(&root, &mut plan)?;
    plan_git_hook_removal(&mut plan)?;
    plan_deactivation(&root, &mut plan)?;
    if state.exists() {
        let state = state.path().display();
        plan.notes.push(match (args.purge, args.dry_run) {
            (false, _) => format!("{state} stays with its history; --purge removes it."),
            (true, true) => format!("{state} would be removed with its history."),
            (true, false) => format!("{state} was removed with its history."),
        });
    }
    let is_removed = |path: &str| {
        let path = root.join(path);
        plan.edits.iter().any(|edit| edit.path == path && edit.after.is_none())
    };
    let remaining: Vec<String> =
        remaining.into_iter().filter(|file| !is_removed(&file.path)).map(|file| file.to_string()).collect();
    if !remaining.is_empty() {
        plan.notes.push(format!(
            "These stay; remove them by hand if you do not want them: {}.",
            remaining.join(", ")
        ));
    }
    if !args.dry_run {
        for edit in &plan.edits {
            if !edit.apply()? {
                let message = format!("{} was changed by another process meanwhile", edit.path.display());
                return Err(CommandError::store(message).hint("run `lockstep uninstall` again"));
            }
        }
        Installation::forget(&state);
        if args.purge {
            purge(&state)?;
        }
    }
    PlanOutput { root: &root, plan: &plan, dry_run: args.dry_run }.show(context, "has no set-up to undo");
    Ok(CommandStatus::Success)
}

fn purge(state: &StateDir) -> CommandResult<()> {
    if !state.exists() {
        return Ok(());
    }
    let path = state.path();
    // A link is not followed: its target is not Lockstep's.
    state.ensure_dir("")?;
    // A build in the background would create the directory again.
    let Some(_lock) = wait_for_writer(state, WRITER_WAIT)? else {
        let message = format!("cannot remove {}: the index is being written", path.display());
        return Err(CommandError::store(message).hint("run `lockstep uninstall --purge` again"));
    };
    fs::remove_dir_all(path)
        .map_err(|error| CommandError::store(format!("cannot remove {}: {error}", path.display())))
}
