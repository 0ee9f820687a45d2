//! The clients' settings: would the client take them, and is every event registered?

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use lockstep_setup::claude::{FindingKind, Weight, inspect};

use super::{Check, Entry};
use crate::cache::entry::of_command;
use crate::env_vars::HOME;
use crate::hook::route::{REGISTRATIONS, Registration};
use crate::project::ActiveProject;
use crate::setup::{LOCAL_SETTINGS, SHARED_SETTINGS};

/// Looks at every settings file the client reads for this project, and gives the entries of ours in them.
pub(super) fn check(project: &ActiveProject) -> (Vec<Check>, Vec<Entry>) {
    let mut checks = Vec::new();
    let mut entries = Vec::new();
    for path in settings_files(&project.root) {
        checks.extend(inspect_file(&path, &mut entries));
    }
    checks.push(registered(&entries));
    (checks, entries)
}

fn settings_files(root: &Path) -> Vec<PathBuf> {
    let user = HOME.get().map(|home| Path::new(&home).join(SHARED_SETTINGS));
    [root.join(SHARED_SETTINGS), root.join(LOCAL_SETTINGS)].into_iter().chain(user).collect()
}

/// What is wrong with one file, each for itself; one line if nothing is.
fn inspect_file(path: &Path, entries: &mut Vec<Entry>) -> Vec<Check> {
    const NAME: &str = "settings";
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Vec::new(),
        Err(error) => {
            let message = format!("{} cannot be read: {error}", path.display());
            return vec![Check::failed(NAME, message, "make it a readable file of UTF-8 text")];
        }
    };
    let mut checks = Vec::new();
    for finding in inspect(&text) {
        let message = format!("{}:{finding}", path.display());
        match (finding.kind.weight(), finding.kind) {
            (Weight::Information, FindingKind::Ours { event, matcher, command, .. }) => {
                entries.push(Entry { event, matcher, command });
            }
            (Weight::Information, _) => {}
            (Weight::Warning, _) => checks.push(Check::warning(NAME, message, "as the message says")),
            (Weight::Fault, _) => checks.push(Check::failed(NAME, message, "as the message says")),
        }
    }
    if checks.is_empty() {
        checks.push(Check::ok(NAME, format!("{} is as the client reads it", path.display())));
    }
    checks
}

/// The tools that an event must be registered for and is not.
fn unmatched(wanted: &Registration, entries: &[Entry]) -> Option<(&'static str, Vec<&'static str>)> {
    let matchers: Vec<&str> = entries
        .iter()
        .filter(|entry| entry.event == wanted.event)
        // Without a matcher, it is for all tools.
        .map(|entry| entry.matcher.as_deref().filter(|matcher| !matcher.is_empty() && *matcher != "*"))
        .collect::<Option<_>>()?;
    let matched = |tool: &&str| matchers.iter().any(|matcher| matcher.split('|').any(|one| one == *tool));
    let tools: Vec<&str> = wanted.matcher?.split('|').filter(|tool| !matched(tool)).collect();
    (!tools.is_empty()).then_some((wanted.event, tools))
}

/// Whether each event that leads somewhere is registered, and not twice.
fn registered(entries: &[Entry]) -> Check {
    const NAME: &str = "registration";
    // An event may have several entries, but no part of it two.
    let mut count: BTreeMap<(&str, usize), usize> = BTreeMap::new();
    for entry in entries {
        *count.entry((&entry.event, of_command(&entry.command).number)).or_default() += 1;
    }
    let events = || REGISTRATIONS.iter().map(|registration| registration.event);
    let missing: Vec<&str> = events().filter(|event| !count.contains_key(&(*event, 1))).collect();
    let doubled = |event: &&str| count.iter().any(|((of, _), n)| of == event && *n > 1);
    let twice: Vec<&str> = events().filter(doubled).collect();
    if !missing.is_empty() {
        let message = format!("no hook of Lockstep's is registered for {}", missing.join(", "));
        return Check::failed(NAME, message, "`lockstep init` registers them");
    }
    if let Some((event, tools)) = REGISTRATIONS.iter().find_map(|wanted| unmatched(wanted, entries)) {
        let message =
            format!("{event} is registered, but not for {}: no gate is asked about them", tools.join(", "));
        return Check::failed(NAME, message, "`lockstep init` brings the entry up to date");
    }
    if !twice.is_empty() {
        let message = format!("{} registered more than once, so the work is done twice", twice.join(", "));
        return Check::warning(
            NAME,
            message,
            "keep one of the settings files; `lockstep uninstall` cleans the project's",
        );
    }
    Check::ok(NAME, format!("all {} events are registered", REGISTRATIONS.len()))
}
