//! The checks of `lockstep doctor`: is everything in place, and do the hooks run?
//!
//! One file per subject. A check reports its finding and the fix; it changes nothing in the project.

mod binary;
mod cache;
mod client;
mod events;
mod git;
mod live;
mod old_hooks;
mod project;
mod registration;
mod steps;

use std::path::{Path, PathBuf};

use lockstep_text::single_line;
use serde::Serialize;

use crate::project::ActiveProject;

pub(crate) use live::check as check_live;
pub(crate) use registration::registered_commands;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct DoctorCheck {
    pub(crate) name: &'static str,
    pub(crate) status: CheckStatus,
    pub(crate) message: String,
    /// The fix, if one is needed.
    pub(crate) fix: Option<String>,
}

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum CheckStatus {
    /// No problem was found.
    Ok,
    /// Could not be checked, which is not the same as "ok".
    Skipped,
    /// Works, but is probably a mistake.
    Warning,
    /// Lockstep does not do its work here.
    Failed,
}

impl DoctorCheck {
    fn ok(name: &'static str, message: impl Into<String>) -> Self {
        Self { name, status: CheckStatus::Ok, message: single_line(&message.into()), fix: None }
    }

    fn skipped(name: &'static str, message: impl Into<String>) -> Self {
        Self { name, status: CheckStatus::Skipped, message: single_line(&message.into()), fix: None }
    }

    fn warning(name: &'static str, message: impl Into<String>, fix: impl Into<String>) -> Self {
        Self {
            name,
            status: CheckStatus::Warning,
            message: single_line(&message.into()),
            fix: Some(single_line(&fix.into())),
        }
    }

    fn failed(name: &'static str, message: impl Into<String>, fix: impl Into<String>) -> Self {
        Self {
            name,
            status: CheckStatus::Failed,
            message: single_line(&message.into()),
            fix: Some(single_line(&fix.into())),
        }
    }
}

/// Every check that needs no client.
pub(crate) fn check_all(dir: &Path) -> Vec<DoctorCheck> {
    let (mut checks, project) = project::configuration(dir);
    checks.push(git::check(project.as_ref().map_or(dir, |project| &project.root)));
    let Some(project) = project else {
        checks.push(DoctorCheck::skipped("everything else", "there is no active project to look at"));
        return checks;
    };
    let (registered, entries) = registration::check(&project);
    checks.extend(registered);
    checks.extend(client::check());
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
pub(crate) struct HookRegistration {
    pub(crate) event: String,
    pub(crate) matcher: Option<String>,
    pub(crate) command: String,
    /// The plugin of the entry; `None` for an entry in the settings.
    pub(crate) plugin: Option<PathBuf>,
}

/// The entries that the project's settings have, for the live check.
pub(crate) fn entries(project: &ActiveProject) -> Vec<HookRegistration> {
    registration::check(project).1
}
