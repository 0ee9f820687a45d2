//! Checks the project's configuration, journal directory, store, catalogue and log.

use std::path::Path;

use jiff::ToSpan as _;
use lockstep_config::Project;
use lockstep_index::index::{Index, IndexLocation, NoProgress, UpdatePolicy};
use lockstep_index::sweep::drift;
use lockstep_store::{Store, log};

use super::DoctorCheck;
use crate::clock;
use crate::project::ActiveProject;
use crate::setup::{LOCAL_SETTINGS, SHARED_SETTINGS};

pub(super) fn configuration(dir: &Path) -> (Vec<DoctorCheck>, Option<ActiveProject>) {
    const NAME: &str = "configuration";
    let found = Project::of_directory(dir).and_then(|found| found.map(ActiveProject::load).transpose());
    match found {
        Err(fault) => {
            (vec![DoctorCheck::failed(NAME, fault.to_string(), "mend or remove the file it names")], None)
        }
        Ok(None) => {
            let message = format!("there is no lockstep.toml in {} or above it", dir.display());
            (vec![DoctorCheck::failed(NAME, message, "`lockstep init` sets the project up")], None)
        }
        Ok(Some(project)) if project.loaded.problems.is_empty() => {
            let mut checks = vec![DoctorCheck::ok(NAME, format!("{} is active", project.root.display()))];
            checks.extend(ignored_paths(&project));
            checks.extend(started_below(dir, &project));
            (checks, Some(project))
        }
        Ok(Some(project)) => {
            let details = lockstep_config::diagnostic::render(&project.config_path, &project.loaded.problems);
            let check = DoctorCheck::failed(
                NAME,
                details.trim_end(),
                "correct the lines above; hooks use the other keys",
            );
            (vec![check], Some(project))
        }
    }
}

/// Reports the keys of the configuration whose paths are not used.
fn ignored_paths(project: &ActiveProject) -> Option<DoctorCheck> {
    let ignored: Vec<String> = project.ignored.iter().map(ToString::to_string).collect();
    let fix = "name a path inside the project, or run `lockstep trust` if you know what it is for";
    (!ignored.is_empty()).then(|| DoctorCheck::failed("paths", ignored.join("\n"), fix))
}

/// Warns in a subdirectory of the project: a client that is started there does not read the project's settings.
fn started_below(dir: &Path, project: &ActiveProject) -> Option<DoctorCheck> {
    let has_settings =
        |dir: &Path| [SHARED_SETTINGS, LOCAL_SETTINGS].iter().any(|name| dir.join(name).exists());
    let root = &project.root;
    let is_below = dir.canonicalize().ok()? != root.canonicalize().ok()?;
    if !is_below || !has_settings(root) || has_settings(dir) {
        return None;
    }
    let message = format!(
        "Claude Code reads {SHARED_SETTINGS} of the directory it is started in; started in {}, it runs no hook",
        dir.display()
    );
    Some(DoctorCheck::warning("directory", message, format!("start it in {}", root.display())))
}

/// Checks the files that hooks write to, and their log.
pub(super) fn state(project: &ActiveProject) -> Vec<DoctorCheck> {
    vec![journal(project), store(project), catalogue(project), index(project), faults(project)]
}

fn journal(project: &ActiveProject) -> DoctorCheck {
    const NAME: &str = "journal";
    let dir = project.journal();
    let dir = dir.path();
    if !dir.exists() {
        return DoctorCheck::ok(NAME, format!("{} is made with the first change", dir.display()));
    }
    match tempfile::NamedTempFile::new_in(dir) {
        Ok(_) => DoctorCheck::ok(NAME, format!("journals are kept in {}", dir.display())),
        Err(error) => DoctorCheck::failed(
            NAME,
            format!("{} cannot be written: {error}", dir.display()),
            "make it writable, or set `[journal] dir` in lockstep.toml",
        ),
    }
}

fn store(project: &ActiveProject) -> DoctorCheck {
    const NAME: &str = "store";
    match Store::open_existing(&project.state) {
        Ok(Some(_)) => DoctorCheck::ok(NAME, format!("{} opens", project.state.database().display())),
        Ok(None) => DoctorCheck::ok(NAME, "nothing is stored yet; the first session makes the store"),
        Err(error) => DoctorCheck::failed(
            NAME,
            crate::error::CommandError::from(error).render().trim_end().replace('\n', "; "),
            format!("move {} away; its history is lost, nothing else", project.state.database().display()),
        ),
    }
}

fn catalogue(project: &ActiveProject) -> DoctorCheck {
    const NAME: &str = "catalogue";
    match drift(&project.root, &project.state) {
        Ok(Some(0)) => DoctorCheck::ok(NAME, "the catalogue of files is fresh"),
        Ok(Some(n)) => DoctorCheck::ok(
            NAME,
            format!("{n} files differ from the catalogue; the next sweep or session takes them up"),
        ),
        Ok(None) => DoctorCheck::warning(
            NAME,
            "there is no catalogue of the files yet, so changes by shell commands cannot be seen",
            "it is made at the start of the next session, or by `lockstep init`",
        ),
        Err(error) => {
            DoctorCheck::failed(NAME, error.to_string(), "make .lockstep/index readable and writable")
        }
    }
}

fn index(project: &ActiveProject) -> DoctorCheck {
    const NAME: &str = "index";
    let home = IndexLocation::Project(&project.state);
    match Index::open(&project.root, home, &project.index_settings(), UpdatePolicy::Bounded, &NoProgress) {
        Ok(Some(index)) => {
            let condition = index.condition();
            match condition.behind {
                0 => DoctorCheck::ok(NAME, format!("the index of {} files is fresh", condition.files)),
                n => DoctorCheck::warning(
                    NAME,
                    format!("the index is {n} files behind"),
                    "`lockstep index` brings it up to date",
                ),
            }
        }
        Ok(None) => {
            DoctorCheck::ok(NAME, "there is no index yet; the first stop, or `lockstep index`, builds it")
        }
        Err(error) => {
            DoctorCheck::failed(NAME, error.to_string(), "make .lockstep/index readable and writable")
        }
    }
}

/// Lists the failures of hooks since yesterday.
fn faults(project: &ActiveProject) -> DoctorCheck {
    const NAME: &str = "log";
    let yesterday = clock::now().timestamp().saturating_sub(24.hours()).unwrap_or(jiff::Timestamp::MIN);
    match log::read_since(&project.state, yesterday) {
        Err(error) => DoctorCheck::failed(NAME, error.to_string(), "make .lockstep/log readable"),
        Ok(entries) => match entries.last() {
            None => DoctorCheck::ok(NAME, "no hook has failed since yesterday"),
            Some(last) => DoctorCheck::warning(
                NAME,
                format!(
                    "hooks could not do all their work {} times since yesterday, last at {} ({}): {}",
                    entries.len(),
                    last.at,
                    last.event,
                    last.message
                ),
                format!("see {}", project.state.hook_log().display()),
            ),
        },
    }
}
