//! The session cache's part of a set-up: the number of entries, the first build, and its removal.

use std::fs;
use std::path::Path;

use lockstep_cache::cache_document::HEADER_PREFIX;
use lockstep_cache::delivery::DeliveryMode;
use lockstep_cache::{BuildOptions, SessionCache};
use lockstep_config::Project;
use lockstep_store::StateDir;

use super::{PLUGIN_DIR, PlannedFileEdit, SetupPlan, confined, read};
use crate::build_time;
use crate::cache::{self, ProjectProvider, SessionCacheError, delivery};
use crate::error::CommandResult;
use crate::project::ActiveProject;

/// Paths that show that there is content for a cache.
const TRACES: [&str; 3] = [".isdlc", ".claude/skills", ".claude/agents"];

/// Returns the number of entries that a session start needs in the project at `root`, which may not be set up
/// yet.
pub(super) fn session_starts(root: &Path) -> CommandResult<usize> {
    match Project::of_directory(root)?.map(ActiveProject::load).transpose()? {
        Some(project) => Ok(delivery::required_entries(&project)?),
        None => Ok(1),
    }
}

/// Builds the cache of the project at `root` if one is wanted; a failure is only a note. With `dry_run`, only
/// reports that it would be built.
pub(crate) fn build_cache(root: &Path, dry_run: bool, plan: &mut SetupPlan) -> CommandResult<()> {
    let project = Project::of_directory(root)?.map(ActiveProject::load).transpose()?;
    if !is_wanted(root, project.as_ref()) {
        return Ok(());
    }
    let Some(project) = project else {
        plan.notes.push("The session cache would be built.".to_owned());
        return Ok(());
    };
    let message = match cache::open(&project) {
        Ok(cache) if dry_run => {
            (!cache.path().exists()).then(|| "The session cache would be built.".to_owned())
        }
        Ok(cache) => build(&project, &cache, plan).unwrap_or_else(|fault| Some(not_built(&fault))),
        Err(fault) => Some(not_built(&fault)),
    };
    plan.notes.extend(message);
    Ok(())
}

fn not_built(fault: &SessionCacheError) -> String {
    format!("The session cache was not built: {fault}.")
}

fn build(
    project: &ActiveProject,
    cache: &SessionCache,
    plan: &mut SetupPlan,
) -> Result<Option<String>, SessionCacheError> {
    let (path, target) = (cache.path(), cache.settings().target());
    let there = path.exists();
    let built = cache.build(
        &ProjectProvider::new(project),
        build_time::build_timestamp(),
        BuildOptions::default(),
    )?;
    if !there && !Path::new(target).starts_with(StateDir::NAME) {
        plan.installation.cache = Some(target.to_owned());
    }
    Ok(built.written.then(|| {
        format!(
            "Sessions that start are given the session cache, {target} ({} characters); `[cache] deliver = \"off\"` in \
             lockstep.toml stops that.",
            built.chars
        )
    }))
}

/// Returns true if a cache is wanted: one exists already, there are skills or agents, or its content is
/// configured. A plain repository gets none.
fn is_wanted(root: &Path, project: Option<&ActiveProject>) -> bool {
    let configured = |project: &ActiveProject| {
        let config = &project.config().cache;
        !config.section.is_empty() || !config.conventions.0.is_empty()
    };
    let off = project.is_some_and(|project| delivery::mode(project) == DeliveryMode::Off);
    let traces = TRACES.iter().any(|trace| has_foreign_entries(&root.join(trace)));
    !off && (traces
        || project.is_some_and(|project| configured(project) || delivery::cache_file_exists(project)))
}

/// Returns true if the directory has content besides our plugin.
fn has_foreign_entries(dir: &Path) -> bool {
    let mut entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries.any(|entry| !Path::new(PLUGIN_DIR).ends_with(entry.file_name()))
}

/// Plans the removal of the cache that `init` has created, if it is outside the state directory.
pub(crate) fn plan_cache_removal(root: &Path, plan: &mut SetupPlan) -> CommandResult<()> {
    let Some(target) = plan.installation.cache.take() else { return Ok(()) };
    let path = confined(root, &target)?;
    if let Some(text) = read(&path)?.filter(|text| text.starts_with(HEADER_PREFIX)) {
        plan.edits.push(PlannedFileEdit { path, before: Some(text), after: None, mode: None });
    }
    Ok(())
}
