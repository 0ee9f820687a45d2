//! The project a command is about, with everything that is opened for it.

use std::path::{Path, PathBuf};

use lockstep_config::{Config, FILE_NAME, LoadedConfig, Project};
use lockstep_model::path::absolute_lexical;
use lockstep_store::journal::JournalDir;
use lockstep_store::project_memory::ProjectMemory;
use lockstep_store::{PathRefusal, StateDir, Store};

use crate::error::{CommandError, CommandResult};
use crate::setup::OwnFiles;
use crate::steps::has_step_state;
use crate::terminal::print_error;
use crate::trust::{IgnoredKey, confine_keys, user_dir};

/// An active project with its configuration in effect.
#[derive(Debug)]
pub(crate) struct ActiveProject {
    pub(crate) root: PathBuf,
    pub(crate) config_path: PathBuf,
    pub(crate) loaded: LoadedConfig,
    pub(crate) state: StateDir,
    /// The keys that are set to a path which is not used.
    pub(crate) ignored: Vec<IgnoredKey>,
}

impl ActiveProject {
    /// Loads the project's configuration, problems and all.
    pub(crate) fn load(project: Project) -> Result<Self, lockstep_config::DiscoverError> {
        let mut loaded = project.load()?;
        // The store opens its files without following links, so the path of the project must have none.
        let root = project.root.canonicalize().unwrap_or(project.root);
        Ok(Self {
            state: StateDir::for_project(&root),
            ignored: confine_keys(&mut loaded, &root),
            root,
            config_path: project.config_path,
            loaded,
        })
    }

    /// The project a command in `dir` is about. A command does not work with a configuration that is partly wrong.
    pub(crate) fn discover(dir: &Path) -> CommandResult<Self> {
        Self::find(dir)?.ok_or_else(|| inactive(dir))
    }

    /// Like [`ActiveProject::of_command`]; `None` if there is no `lockstep.toml`.
    pub(crate) fn find(dir: &Path) -> CommandResult<Option<Self>> {
        let Some(found) = Project::of_directory(dir)? else { return Ok(None) };
        let project = Self::load(found)?;
        if !project.loaded.problems.is_empty() {
            return Err(CommandError::configuration(&project.config_path, &project.loaded.problems));
        }
        project.ignored.iter().for_each(|key| print_error(&format!("lockstep: {key}\n")));
        Ok(Some(project))
    }

    /// The project of a command about the session cache. A framework in `.isdlc` has one without `lockstep.toml`: the defaults apply.
    pub(crate) fn of_cache_command(dir: &Path) -> CommandResult<Self> {
        if let Some(project) = Self::find(dir)? {
            return Ok(project);
        }
        let root =
            dir.ancestors().find(|above| above.join(".isdlc").is_dir()).ok_or_else(|| inactive(dir))?;
        Ok(Self::with_defaults(root))
    }

    /// The project that a hook of git judges. If steps are recorded and `lockstep.toml` is missing, the defaults apply: deleting it
    /// must not open the gate.
    pub(crate) fn of_git_hook(dir: &Path) -> CommandResult<Option<Self>> {
        if let Some(project) = Self::find(dir)? {
            return Ok(Some(project));
        }
        let dir = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
        let mut projects = dir.ancestors().map(Self::with_defaults);
        Ok(projects.find(|project| has_step_state(&project.state) || project.memory().exists()))
    }

    /// The project of a directory above which no `lockstep.toml` is, with the defaults. It has a state directory and a memory
    /// outside the project: either alone is left over, or came with a clone.
    pub(crate) fn with_open_steps(dir: &Path) -> Option<Self> {
        let dir = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
        let is_known = |project: &Self| has_step_state(&project.state) && project.memory().exists();
        dir.ancestors().map(Self::with_defaults).find(is_known)
    }

    fn with_defaults(root: &Path) -> Self {
        Self {
            state: StateDir::for_project(root),
            root: root.to_owned(),
            config_path: root.join(FILE_NAME),
            loaded: LoadedConfig::default(),
            ignored: Vec::new(),
        }
    }

    pub(crate) fn config(&self) -> &Config {
        &self.loaded.config
    }

    pub(crate) fn task_audit_path(&self) -> PathBuf {
        self.config().task.events.resolve(&self.root)
    }

    /// Removes Lockstep's own files: its configuration, its state, and files that `init` wrote and that were
    /// not edited since.
    pub(crate) fn drop_own_files(&self, paths: &mut Vec<PathBuf>) {
        let own = OwnFiles::load(&self.root);
        paths.retain(|path| {
            let relative = path.strip_prefix(&self.root).unwrap_or(path);
            relative != Path::new(FILE_NAME) && !relative.to_str().is_some_and(|path| own.contains(path))
        });
    }

    /// Returns the state of the project that is stored outside it.
    pub(crate) fn memory(&self) -> ProjectMemory {
        ProjectMemory::new(user_dir(), &self.root, &self.state)
    }

    /// Returns the directory of this project's journals.
    pub(crate) fn journal(&self) -> JournalDir {
        if let Some(ignored) = self.ignored.iter().find(|key| (key.section, key.name) == ("journal", "dir")) {
            return JournalDir::refused(
                absolute_lexical(&self.root, Path::new(&ignored.value)),
                PathRefusal::Outside,
            );
        }
        JournalDir::new(self.config().journal.dir.resolve(&self.root, &std::env::temp_dir()))
    }

    /// Updates the history: complete journals of sessions that ran here, and lines about this project from
    /// other journals.
    pub(crate) fn import_journals(&self, store: &mut Store) -> CommandResult<()> {
        let journal = self.journal();
        for session in journal.sessions()? {
            let ours = store.has_session(&session)?;
            // An unreadable journal in a shared directory belongs to another user's session.
            if let Err(error) =
                store.import_journal(&journal, &session, &|path| ours || path.starts_with(&self.root))
                && !matches!(error, lockstep_store::StoreError::UnsafePath { .. })
            {
                return Err(error.into());
            }
        }
        Ok(())
    }
}

pub(crate) fn inactive(dir: &Path) -> CommandError {
    CommandError::config(format!(
        "there is no lockstep.toml in {} or above it, so Lockstep is not active here",
        dir.display()
    ))
    .hint("`lockstep init` sets up the project in the present directory; `-C DIR` names another one")
}
