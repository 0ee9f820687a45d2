//! The session cache's part of a set-up: how many entries it needs, whether a first one is worth building, and taking it away.

use std::fs;
use std::path::Path;

use lockstep_cache::delivery::Mode;
use lockstep_cache::document::BEGINNING;
use lockstep_cache::{BuildOptions, Cache};
use lockstep_config::Project;
use lockstep_store::StateDir;

use super::{FileEdit, PLUGIN_DIR, Plan, confined, read};
use crate::cache::{self, CacheFault, ProjectProvider, delivery};
use crate::error::CommandError;
use crate::project::ActiveProject;
use crate::source_date;

/// What shows that there is something to put into a cache.
const TRACES: [&str; 3] = [".isdlc", ".claude/skills", ".claude/agents"];

/// How many entries the start of a session needs in the project at `root`, which may not be set up yet.
pub(super) fn session_starts(root: &Path) -> Result<usize, CommandError> {
    match Project::of_directory(root)?.map(ActiveProject::load).transpose()? {
        Some(project) => Ok(delivery::entries(&project)?),
        None => Ok(1),
    }
}

/// Builds the cache of the project at `root`, where one is wanted; what keeps it from being built is a note, and no more. With
/// `dry_run`, only says that it would be.
pub(crate) fn build_cache(root: &Path, dry_run: bool, plan: &mut Plan) -> Result<(), CommandError> {
    let project = Project::of_directory(root)?.map(ActiveProject::load).transpose()?;
    if !is_wanted(root, project.as_ref()) {
        return Ok(());
    }
    let Some(project) = project else {
        plan.notes.push("The session cache would be built.".to_owned());
        return Ok(());
    };
    let told = match cache::open(&project) {
        Ok(cache) if dry_run => {
            (!cache.path().exists()).then(|| "The session cache would be built.".to_owned())
        }
        Ok(cache) => build(&project, &cache, plan).unwrap_or_else(|fault| Some(not_built(&fault))),
        Err(fault) => Some(not_built(&fault)),
    };
    plan.notes.extend(told);
    Ok(())
}

fn not_built(fault: &CacheFault) -> String {
    format!("The session cache was not built: {fault}.")
}

fn build(project: &ActiveProject, cache: &Cache, plan: &mut Plan) -> Result<Option<String>, CacheFault> {
    let (path, target) = (cache.path(), cache.settings().target());
    let there = path.exists();
    let built =
        cache.build(&ProjectProvider::new(project), source_date::timestamp(), BuildOptions::default())?;
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

/// A plain repository is not given any text: a cache is built where there is one already, where there are skills or agents, or
/// where somebody configured what is in it.
fn is_wanted(root: &Path, project: Option<&ActiveProject>) -> bool {
    let configured = |project: &ActiveProject| {
        let config = &project.config().cache;
        !config.section.is_empty() || !config.conventions.0.is_empty()
    };
    let off = project.is_some_and(|project| delivery::mode(project) == Mode::Off);
    let traces = TRACES.iter().any(|trace| holds_others(&root.join(trace)));
    !off && (traces || project.is_some_and(|project| configured(project) || delivery::is_there(project)))
}

/// Whether something is in the directory besides our own plugin.
fn holds_others(dir: &Path) -> bool {
    let mut entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries.any(|entry| !Path::new(PLUGIN_DIR).ends_with(entry.file_name()))
}

/// Plans taking away the cache that `init` has made, where it lies outside of the state directory.
pub(crate) fn plan_cache_removal(root: &Path, plan: &mut Plan) -> Result<(), CommandError> {
    let Some(target) = plan.installation.cache.take() else { return Ok(()) };
    let path = confined(root, &target)?;
    if let Some(text) = read(&path)?.filter(|text| text.starts_with(BEGINNING)) {
        plan.edits.push(FileEdit { path, before: Some(text), after: None, mode: None });
    }
    Ok(())
}
