//! Files that `uninstall` does not remove: documents that Lockstep's commands wrote into the project, and journals.

use std::fmt;
use std::path::Path;

use lockstep_config::Project;
use lockstep_store::StateDir;

use crate::cache;
use crate::clock;
use crate::project::ActiveProject;
use crate::steps::StepContext;

/// A file or directory that stays.
pub(crate) struct RemainingFile {
    /// Relative to the root of the project, if it is inside.
    pub(crate) path: String,
    what: String,
}

impl fmt::Display for RemainingFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.path, self.what)
    }
}

/// Returns the files outside the state directory that Lockstep wrote for the project at `root` and that `uninstall` does not remove.
/// A configuration that cannot be read names none.
pub(crate) fn remaining_files(root: &Path) -> Vec<RemainingFile> {
    let project = Project::of_directory(root).ok().flatten().filter(|project| project.root == root);
    let Some(project) = project.and_then(|project| ActiveProject::load(project).ok()) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let mut add = |path: &Path, what: &str| {
        let relative = path.strip_prefix(root).unwrap_or(path);
        if !relative.starts_with(StateDir::NAME) && path.exists() {
            found.push(RemainingFile { path: relative.display().to_string(), what: what.to_owned() });
        }
    };
    if let Some(map) = project.map_path() {
        add(&map, "the map");
    }
    if let Ok(cache) = cache::open(&project) {
        add(&cache.path(), "the session cache");
    }
    add(&project.task_audit_path(), "the audit of the task");
    let steps = StepContext::new(&project, clock::now());
    if steps.has_steps() {
        add(&root.join(&project.config().steps.dir.0), "the steps and their audit trail");
    }
    found.extend(journals(&project));
    found
}

fn journals(project: &ActiveProject) -> Option<RemainingFile> {
    let journal = project.journal();
    let store = lockstep_store::Store::open_existing(&project.state).ok()??;
    let of_project = |session: &lockstep_model::ids::SessionId| store.has_session(session).unwrap_or(false);
    let count = journal.sessions().ok()?.iter().filter(|session| of_project(session)).count();
    let noun = if count == 1 { "journal" } else { "journals" };
    (count > 0).then(|| RemainingFile {
        path: journal.path().join("src-changes-SESSION.log").display().to_string(),
        what: format!("{count} {noun} of sessions"),
    })
}
