//! Checks the clients' settings: that the client accepts them, and that every event is registered.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use lockstep_setup::claude::{HookSwitches, SettingsFindingKind, Severity, inspect};

use super::{DoctorCheck, HookRegistration};
use crate::cache::installed_plugins;
use crate::env_vars::client_directory;
use crate::hook::part::part_of_command;
use crate::hook::routing::{HookRegistrationSpec, REGISTRATIONS, alternatives};
use crate::plugin::{HOOKS_FILE, NAME, hooks_json_of};
use crate::project::ActiveProject;
use crate::setup::{LOCAL_SETTINGS, MANAGED_SETTINGS, PLUGIN_DIR, SHARED_SETTINGS, has_plugin};

/// Checks every settings file that the client reads for this project, and returns our entries in them.
pub(super) fn check(project: &ActiveProject) -> (Vec<DoctorCheck>, Vec<HookRegistration>) {
    let mut checks = Vec::new();
    let mut entries = Vec::new();
    for path in settings_files(&project.root) {
        checks.extend(inspect_file(&path, &mut entries));
    }
    for dir in plugin_dirs(&project.root) {
        checks.extend(inspect_plugin(&dir, &mut entries));
    }
    checks.extend(MANAGED_SETTINGS.iter().filter_map(|path| inspect_managed(Path::new(path))));
    checks.push(registered(&entries));
    (checks, entries)
}

/// Returns the file and the program of every entry of ours that the client reads for a project, as the command names it.
pub(crate) fn registered_commands(root: &Path) -> Vec<(PathBuf, String)> {
    let files = settings_files(root).into_iter();
    let files = files.chain(plugin_dirs(root).into_iter().map(|directory| directory.join(HOOKS_FILE)));
    let mut commands = Vec::new();
    for file in files {
        let Ok(text) = lockstep_fs::read_to_string(&file) else { continue };
        for finding in inspect(&text) {
            if let SettingsFindingKind::LockstepEntry { command, .. } = finding.kind
                && let Some(program) = command.split(" hook").next()
            {
                commands.push((file.clone(), program.to_owned()));
            }
        }
    }
    commands
}

pub(super) fn settings_files(root: &Path) -> Vec<PathBuf> {
    let user = client_directory().map(|dir| dir.join("settings.json"));
    [root.join(SHARED_SETTINGS), root.join(LOCAL_SETTINGS)].into_iter().chain(user).collect()
}

/// Returns a check per problem of one file, or one line if there is none.
fn inspect_file(path: &Path, entries: &mut Vec<HookRegistration>) -> Vec<DoctorCheck> {
    const CHECK: &str = "settings";
    let text = match lockstep_fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Vec::new(),
        Err(error) => {
            let message = format!("{} cannot be read: {error}", path.display());
            return vec![DoctorCheck::failed(CHECK, message, "make it a readable file of UTF-8 text")];
        }
    };
    let mut checks = Vec::new();
    for finding in inspect(&text) {
        let message = format!("{}:{finding}", path.display());
        match (finding.kind.weight(), finding.kind) {
            (Severity::Info, SettingsFindingKind::LockstepEntry { event, matcher, command, .. }) => {
                entries.push(HookRegistration { event, matcher, command, plugin: None });
            }
            (Severity::Info, _) => {}
            (Severity::Warning, _) => {
                checks.push(DoctorCheck::warning(CHECK, message, "as the message says"))
            }
            (Severity::Error, _) => checks.push(DoctorCheck::failed(CHECK, message, "as the message says")),
        }
    }
    if checks.is_empty() {
        checks.push(DoctorCheck::ok(CHECK, format!("{} is as the client reads it", path.display())));
    }
    checks
}

/// Returns a failed check if the settings of the administrator keep the hooks of projects from running.
fn inspect_managed(path: &Path) -> Option<DoctorCheck> {
    let switches = HookSwitches::read(&lockstep_fs::read_to_string(path).ok()?);
    let is_set = |switch: Option<(bool, _)>| switch.is_some_and(|(value, _)| value);
    if !is_set(switches.disable_all) && !is_set(switches.managed_only) {
        return None;
    }
    let message = format!("{} lets the client run no hook of a project", path.display());
    Some(DoctorCheck::failed(
        "settings",
        message,
        "ask the administrator who manages this file to allow hooks",
    ))
}

/// Returns the directories of our plugin for this project: the project's copy, and an installation from a
/// marketplace.
fn plugin_dirs(root: &Path) -> Vec<PathBuf> {
    let copy = has_plugin(root).then(|| root.join(PLUGIN_DIR));
    let installed = installed_plugins(root).into_iter().filter(|plugin| plugin.name == NAME);
    copy.into_iter().chain(installed.map(|plugin| plugin.dir)).collect()
}

/// The entries that a plugin brings, with its own directory in their commands.
fn inspect_plugin(dir: &Path, entries: &mut Vec<HookRegistration>) -> Option<DoctorCheck> {
    const CHECK: &str = "plugin";
    let path = dir.join(HOOKS_FILE);
    let Ok(text) = lockstep_fs::read_to_string(&path) else {
        let fix = "install the plugin again, or `lockstep init --plugin`";
        return Some(DoctorCheck::failed(CHECK, format!("{} cannot be read", path.display()), fix));
    };
    for finding in inspect(&text) {
        if let SettingsFindingKind::LockstepEntry { event, matcher, command, .. } = finding.kind {
            let command = command.replace("${CLAUDE_PLUGIN_ROOT}", &dir.display().to_string());
            entries.push(HookRegistration { event, matcher, command, plugin: Some(dir.to_owned()) });
        }
    }
    let starts =
        entries.iter().filter(|entry| entry.event == "SessionStart" && entry.plugin.as_deref() == Some(dir));
    let message = match text == hooks_json_of(starts.count()) {
        true => {
            return Some(DoctorCheck::ok(
                CHECK,
                format!("{} brings the hooks of this version", dir.display()),
            ));
        }
        false => format!("{} brings other hooks than this version has", dir.display()),
    };
    let fix = "`lockstep init --plugin` brings a project's copy up to date, `claude plugin update lockstep@lockstep` an installed one";
    Some(DoctorCheck::warning(CHECK, message, fix))
}

/// The tools that an event must be registered for and is not.
fn unmatched(
    wanted: &HookRegistrationSpec,
    entries: &[HookRegistration],
) -> Option<(&'static str, Vec<&'static str>)> {
    let matchers: Vec<&str> = entries
        .iter()
        .filter(|entry| entry.event == wanted.event)
        // Without a matcher, it is for all tools.
        .map(|entry| entry.matcher.as_deref().filter(|matcher| !matcher.is_empty() && *matcher != "*"))
        .collect::<Option<_>>()?;
    let matched = |tool: &&str| matchers.iter().any(|matcher| alternatives(matcher).any(|one| one == *tool));
    let tools: Vec<&str> = alternatives(wanted.matcher?).filter(|tool| !matched(tool)).collect();
    (!tools.is_empty()).then_some((wanted.event, tools))
}

/// Checks that each routed event is registered exactly once.
fn registered(entries: &[HookRegistration]) -> DoctorCheck {
    const CHECK: &str = "registration";
    // An event may have several entries, but no part of it two.
    let mut count: BTreeMap<(&str, usize), usize> = BTreeMap::new();
    for entry in entries {
        *count.entry((&entry.event, part_of_command(&entry.command).number)).or_default() += 1;
    }
    let events = || REGISTRATIONS.iter().map(|registration| registration.event);
    let missing: Vec<&str> = events().filter(|event| !count.contains_key(&(*event, 1))).collect();
    let doubled = |event: &&str| count.iter().any(|((of, _), n)| of == event && *n > 1);
    let twice: Vec<&str> = events().filter(doubled).collect();
    if !missing.is_empty() {
        let message = format!("no hook of Lockstep's is registered for {}", missing.join(", "));
        return DoctorCheck::failed(CHECK, message, "`lockstep init --client claude` registers them");
    }
    if let Some((event, tools)) = REGISTRATIONS.iter().find_map(|wanted| unmatched(wanted, entries)) {
        let message =
            format!("{event} is registered, but not for {}: no gate is asked about them", tools.join(", "));
        return DoctorCheck::failed(CHECK, message, "`lockstep init` brings the entry up to date");
    }
    let sources = [
        entries.iter().any(|entry| entry.plugin.is_some()),
        entries.iter().any(|entry| entry.plugin.is_none()),
    ];
    if sources == [true, true] {
        let message = "both the plugin and the settings register hooks; the plugin's leave every event to those of the settings";
        let fix = "keep one: `lockstep init --plugin` takes the entries out of the project's settings; `claude plugin disable lockstep` \
                   is the other way";
        return DoctorCheck::warning(CHECK, message, fix);
    }
    if !twice.is_empty() {
        let message = format!("{} registered more than once, so the work is done twice", twice.join(", "));
        return DoctorCheck::warning(
            CHECK,
            message,
            "keep one of the settings files; `lockstep uninstall` cleans the project's",
        );
    }
    DoctorCheck::ok(CHECK, format!("all {} events are registered", REGISTRATIONS.len()))
}
