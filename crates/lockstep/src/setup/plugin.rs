//! The plugin in a project: a copy that Claude Code loads automatically, `.claude/skills/lockstep`, and its
//! removal.
//!
//! A project's copy needs no marketplace, is shared with the team like every other file, and belongs to the
//! version that wrote it. If the plugin is installed from a marketplace, nothing is copied.

use std::collections::BTreeSet;
use std::path::Path;

use lockstep_setup::install_record::InstallRecord;

use super::session_cache::session_starts;
use super::{PlannedFileEdit, SetupPlan, confined, read};
use crate::cache::installed_plugins;
use crate::error::CommandResult;
use crate::plugin::{FILES, HOOKS_FILE, NAME, hooks_json_of};

/// The path of a project's copy.
pub(crate) const PLUGIN_DIR: &str = ".claude/skills/lockstep";

/// The file that identifies a plugin to the client.
const MANIFEST: &str = ".claude-plugin/plugin.json";

/// Returns true if the project at `root` has a copy of the plugin.
pub(crate) fn has_plugin(root: &Path) -> bool {
    root.join(PLUGIN_DIR).join(MANIFEST).is_file()
}

/// Returns true if the client has installed the plugin from a marketplace and enabled it for the project.
fn is_installed(root: &Path) -> bool {
    installed_plugins(root).iter().any(|plugin| plugin.name == NAME)
}

/// Plans the copy: writes missing files and those of an earlier version; keeps edited files.
pub(crate) fn plan_plugin(root: &Path, plan: &mut SetupPlan) -> CommandResult<()> {
    if !has_plugin(root) && is_installed(root) {
        plan.notes
            .push("The plugin is installed from a marketplace: no copy is put into the project.".to_owned());
        return Ok(());
    }
    let hooks = hooks_json_of(session_starts(root)?);
    for (name, text) in FILES {
        let text = if *name == HOOKS_FILE { &*hooks } else { *text };
        let relative = format!("{PLUGIN_DIR}/{name}");
        check_folders(root, &relative)?;
        let path = confined(root, &relative)?;
        let before = read(&path)?;
        let known = plan.installation.plugin.get(&relative);
        match &before {
            Some(before) if before == text => {}
            Some(before) if !known.is_some_and(|record| record.matches(before)) => {
                plan.notes.push(format!("{relative} was edited: it stays as it is."));
                continue;
            }
            _ => plan.edits.push(PlannedFileEdit { path, before, after: Some(text.to_owned()), mode: None }),
        }
        plan.installation.plugin.insert(relative, InstallRecord::new(None, text));
    }
    plan_obsolete_files(root, plan)
}

/// Plans the removal of files that an earlier version wrote and this one does not have.
fn plan_obsolete_files(root: &Path, plan: &mut SetupPlan) -> CommandResult<()> {
    let present: BTreeSet<String> = FILES.iter().map(|(name, _)| format!("{PLUGIN_DIR}/{name}")).collect();
    let old: Vec<String> =
        plan.installation.plugin.keys().filter(|path| !present.contains(*path)).cloned().collect();
    for relative in old {
        plan_file_removal(root, &relative, None, plan)?;
    }
    Ok(())
}

/// Plans taking the copy out: every file that is as it was written.
pub(crate) fn plan_plugin_removal(root: &Path, plan: &mut SetupPlan) -> CommandResult<()> {
    for (name, text) in FILES {
        plan_file_removal(root, &format!("{PLUGIN_DIR}/{name}"), Some(text), plan)?;
    }
    plan_obsolete_files(root, plan)
}

fn plan_file_removal(
    root: &Path,
    relative: &str,
    written: Option<&str>,
    plan: &mut SetupPlan,
) -> CommandResult<()> {
    let record = plan.installation.plugin.remove(relative);
    let path = confined(root, relative)?;
    let Some(before) = read(&path)? else { return Ok(()) };
    // Without a record, a file with exactly our content is ours.
    let ours = match record {
        Some(record) => record.matches(&before),
        None => written == Some(before.as_str()),
    };
    match ours {
        true => plan.edits.push(PlannedFileEdit { path, before: Some(before), after: None, mode: None }),
        false => plan.notes.push(format!("{relative} was edited, or is not Lockstep's: it stays.")),
    }
    Ok(())
}

/// Refuses a parent folder that is outside the project.
fn check_folders(root: &Path, relative: &str) -> CommandResult<()> {
    let places = relative.match_indices('/').map(|(at, _)| &relative[..at]);
    places.into_iter().try_for_each(|folder| confined(root, folder).map(drop))
}
