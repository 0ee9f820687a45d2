//! Sets up a project for its clients, and undoes it. [`init`](crate::cli) and `uninstall` use this module.
//!
//! Everything is planned as [`PlannedFileEdit`]s first, so that `--dry-run` shows exactly the changes.

mod file_edit;
mod git_hook;
mod hook_blockers;
mod installation;
mod own_files;
mod plugin;
mod remaining;
mod session_cache;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lockstep_config::{FILE_NAME, Project};
use lockstep_setup::claude::{self, HookEntry, SettingsError};
use lockstep_setup::install_record::{InstallRecord, RestoreAction, restore};

use crate::error::{CommandError, CommandResult};
use crate::executable;
use crate::hook::part::hook_arguments;
use crate::hook::routing::{HookRegistrationSpec, REGISTRATIONS};

pub(crate) use file_edit::PlannedFileEdit;
pub(crate) use git_hook::{git_hook_programs, plan_git_hook, plan_git_hook_removal, silent_git_hooks};
pub(crate) use hook_blockers::{MANAGED_SETTINGS, hook_blockers};
pub(crate) use installation::Installation;
pub(crate) use own_files::OwnFiles;
pub(crate) use plugin::{PLUGIN_DIR, has_plugin, plan_plugin, plan_plugin_removal};
pub(crate) use remaining::remaining_files;
pub(crate) use session_cache::{build_cache, plan_cache_removal};

/// The paths of a project's Claude Code settings: shared with the team, and the user's own.
pub(crate) const SHARED_SETTINGS: &str = ".claude/settings.json";
pub(crate) const LOCAL_SETTINGS: &str = ".claude/settings.local.json";

/// The root a set-up is about: the active project's, else the repository's, else the directory itself.
pub(crate) fn root_of(dir: &Path) -> CommandResult<PathBuf> {
    if let Some(project) = Project::of_directory(dir)? {
        return Ok(project.root);
    }
    let repository = dir.ancestors().find(|dir| dir.join(".git").exists());
    Ok(repository.unwrap_or(dir).to_owned())
}

/// The entries for every event that leads somewhere; as many for a session's start as the session cache needs.
pub(crate) fn hook_entries(session_starts: usize) -> Vec<HookEntry> {
    let command = format!("{} hook claude", executable::self_command());
    let of_registration = |registration: &HookRegistrationSpec| {
        let entries = if registration.event == "SessionStart" { session_starts } else { 1 };
        let entry = |arguments: String| HookEntry {
            event: registration.event.to_owned(),
            matcher: registration.matcher.map(str::to_owned),
            command: format!("{command}{arguments}"),
            timeout_seconds: registration.timeout_seconds,
        };
        hook_arguments(entries).into_iter().map(entry).collect::<Vec<_>>()
    };
    REGISTRATIONS.iter().flat_map(of_registration).collect()
}

/// The planned changes of a set-up: files and their records.
#[derive(Debug, Default)]
pub(crate) struct SetupPlan {
    pub(crate) edits: Vec<PlannedFileEdit>,
    pub(crate) installation: Installation,
    pub(crate) notes: Vec<String>,
}

/// Plans `lockstep.toml` if it is missing.
pub(crate) fn plan_configuration(root: &Path, plan: &mut SetupPlan) -> CommandResult<()> {
    // A linked worktree may have its configuration in the main one.
    if Project::of_directory(root)?.is_some_and(|project| project.root == root) {
        return Ok(());
    }
    let text = lockstep_config::template::SHORT;
    plan.installation.configuration = Some(InstallRecord::new(None, text));
    let after = Some(text.to_owned());
    plan.edits.push(PlannedFileEdit { path: root.join(FILE_NAME), before: None, after, mode: None });
    Ok(())
}

/// Plans the registration in one settings file of Claude Code.
pub(crate) fn plan_registration(root: &Path, settings: &str, plan: &mut SetupPlan) -> CommandResult<()> {
    let path = confined(root, settings)?;
    let before = read_settings(&path)?;
    let refused = |error| refused(&path, error);
    let edit = claude::install(before.as_deref(), &hook_entries(session_cache::session_starts(root)?))
        .map_err(refused)?;
    if before.as_deref() == Some(&edit.text) {
        return Ok(());
    }
    let without = match &before {
        Some(text) => Some(claude::uninstall(text).map_err(refused)?.text),
        None => None,
    };
    let record = match (plan.installation.settings.get(settings), &before, &without) {
        (Some(record), Some(before), Some(without)) => record.update(before, without, &edit.text),
        _ => InstallRecord::new(without.as_deref(), &edit.text),
    };
    plan.installation.settings.insert(settings.to_owned(), record);
    plan.edits.push(PlannedFileEdit { path, before, after: Some(edit.text), mode: None });
    Ok(())
}

/// Plans removing Lockstep from one settings file: restores the original if it was not edited since,
/// otherwise removes only our entries.
pub(crate) fn plan_removal(root: &Path, settings: &str, plan: &mut SetupPlan) -> CommandResult<()> {
    let path = confined(root, settings)?;
    let Some(before) = read_settings(&path)? else { return Ok(()) };
    let exact = plan.installation.settings.remove(settings).and_then(|record| restore(&record, &before));
    let after = match exact {
        Some(RestoreAction::Remove) => None,
        Some(RestoreAction::Write(text)) => Some(text),
        None => Some(claude::uninstall(&before).map_err(|error| refused(&path, error))?.text),
    };
    if after.as_ref() != Some(&before) {
        plan.edits.push(PlannedFileEdit { path, before: Some(before), after, mode: None });
    }
    Ok(())
}

/// Plans removing `lockstep.toml` if `init` wrote it and it was not edited since.
pub(crate) fn plan_deactivation(root: &Path, plan: &mut SetupPlan) -> CommandResult<()> {
    let path = root.join(FILE_NAME);
    let Some(before) = read(&path)? else { return Ok(()) };
    let ours = plan.installation.configuration.take().is_some_and(|record| record.matches(&before));
    if ours {
        plan.edits.push(PlannedFileEdit { path, before: Some(before), after: None, mode: None });
    } else {
        plan.notes.push(format!(
            "{} was not written by `lockstep init`, or edited since: it stays.",
            path.display()
        ));
    }
    Ok(())
}

/// A file of the project, also through a link, as long as that does not lead out of it.
pub(crate) fn confined(root: &Path, relative: &str) -> CommandResult<PathBuf> {
    let path = root.join(relative);
    let real = path.canonicalize().or_else(|_| {
        let parent = path.parent().unwrap_or(root).canonicalize()?;
        Ok::<PathBuf, std::io::Error>(parent.join(path.file_name().unwrap_or_default()))
    });
    match (real, root.canonicalize()) {
        (Ok(real), Ok(root)) if !real.starts_with(&root) => Err(CommandError::config(format!(
            "{} points outside the project, to {}; it is not changed",
            path.display(),
            real.display()
        ))
        .hint("register the hooks there by hand, or replace the link by a file")),
        (Ok(real), Ok(_)) => Ok(real),
        // Nothing there yet.
        _ => Ok(path),
    }
}

/// The time between two reads of settings that are being written, and the number of reads.
const REREAD: (Duration, usize) = (Duration::from_millis(5), 60);

/// Reads settings that another program may be writing at this moment: an empty or incomplete file is read again.
fn read_settings(path: &Path) -> CommandResult<Option<String>> {
    let (interval, most) = REREAD;
    for _ in 0..most {
        let text = read(path)?;
        if text.as_deref().is_none_or(|text| text.trim_end().ends_with('}')) {
            return Ok(text);
        }
        std::thread::sleep(interval);
    }
    read(path)
}

pub(crate) fn read(path: &Path) -> CommandResult<Option<String>> {
    match lockstep_fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(CommandError::store(format!("cannot read {}: {error}", path.display()))),
    }
}

fn refused(path: &Path, error: SettingsError) -> CommandError {
    let path = path.display();
    let refused = |message| CommandError::config(message);
    match error {
        SettingsError::Syntax { .. } => refused(format!("{path}:{error}")),
        SettingsError::Shape(problems) => {
            let causes: Vec<String> = problems.iter().map(|problem| format!("{path}:{problem}")).collect();
            refused(format!("hooks cannot be added to {path}")).because(&causes)
        }
        other => refused(format!("{path}: {other}")),
    }
}
