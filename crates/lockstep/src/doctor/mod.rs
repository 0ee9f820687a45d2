//! The checks of `lockstep doctor`: is everything in place, and do the hooks really fire?
//!
//! One file per subject. A check says what it found and how to mend it; it changes nothing in the project.

mod binary;
mod cache;
mod events;
mod git;
mod live;
mod old_hooks;
mod project;
mod registration;
mod steps;

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::project::ActiveProject;

pub(crate) use live::check as check_live;

/// What came of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Check {
    /// What was checked.
    pub(crate) name: &'static str,
    pub(crate) status: Status,
    /// What was found.
    pub(crate) message: String,
    /// How to mend it, where there is something to mend.
    pub(crate) fix: Option<String>,
}

/// How much a check's finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Status {
    /// As it should be.
    Ok,
    /// Could not be looked at; that is not the same as "ok".
    Skipped,
    /// Works, but is probably not meant so.
    Warning,
    /// Lockstep does not do its work here.
    Failed,
}

impl Check {
    fn ok(name: &'static str, message: impl Into<String>) -> Self {
        Self { name, status: Status::Ok, message: message.into(), fix: None }
    }

    fn skipped(name: &'static str, message: impl Into<String>) -> Self {
        Self { name, status: Status::Skipped, message: message.into(), fix: None }
    }

    fn warning(name: &'static str, message: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { name, status: Status::Warning, message: message.into(), fix: Some(fix.into()) }
    }

    fn failed(name: &'static str, message: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { name, status: Status::Failed, message: message.into(), fix: Some(fix.into()) }
    }
}

/// Every check that needs no client.
pub(crate) fn check_all(dir: &Path) -> Vec<Check> {
    let (mut checks, project) = project::configuration(dir);
    checks.push(git::check(project.as_ref().map_or(dir, |project| &project.root)));
    let Some(project) = project else {
        checks.push(Check::skipped("everything else", "there is no active project to look at"));
        return checks;
    };
    let (registered, entries) = registration::check(&project);
    checks.extend(registered);
    checks.extend(old_hooks::check(&project));
    checks.extend(binary::check(&entries));
    checks.extend(events::check(&entries));
    checks.push(cache::check(&project, &entries));
    checks.extend(steps::check(&project));
    checks.extend(project::state(&project));
    checks
}

/// An entry of ours in a client's settings, or in the plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) event: String,
    pub(crate) matcher: Option<String>,
    pub(crate) command: String,
    /// The plugin it belongs to; `None` for an entry in the settings.
    pub(crate) plugin: Option<PathBuf>,
}

/// The entries that the project's settings have, for the live check.
pub(crate) fn entries(project: &ActiveProject) -> Vec<Entry> {
    registration::check(project).1
}
