//! The project a command is about, with everything that is opened for it.

use std::path::{Path, PathBuf};

use lockstep_config::{Config, FILE_NAME, Loaded, Project};
use lockstep_store::journal::JournalDir;
use lockstep_store::{StateDir, Store};

use crate::error::{CommandError, Kind};
use crate::setup::OwnFiles;

/// An active project with its configuration in effect.
#[derive(Debug)]
pub(crate) struct ActiveProject {
    pub(crate) root: PathBuf,
    pub(crate) config_path: PathBuf,
    pub(crate) loaded: Loaded,
    pub(crate) state: StateDir,
}

impl ActiveProject {
    /// Loads the project's configuration, problems and all.
    pub(crate) fn load(project: Project) -> Result<Self, lockstep_config::Fault> {
        let loaded = project.load()?;
        Ok(Self {
            state: StateDir::of(&project.root),
            root: project.root,
            config_path: project.config_path,
            loaded,
        })
    }

    /// The project a command in `dir` is about. A command does not work with a configuration that is partly wrong.
    pub(crate) fn of_command(dir: &Path) -> Result<Self, CommandError> {
        let found = Project::of_directory(dir)?.ok_or_else(|| inactive(dir))?;
        let project = Self::load(found)?;
        if !project.loaded.problems.is_empty() {
            return Err(CommandError::configuration(&project.config_path, &project.loaded.problems));
        }
        Ok(project)
    }

    /// The project of a command about the session cache. A framework in `.isdlc` has one without `lockstep.toml`: the defaults apply.
    pub(crate) fn of_cache_command(dir: &Path) -> Result<Self, CommandError> {
        let framework = || dir.ancestors().find(|above| above.join(".isdlc").is_dir());
        match Project::of_directory(dir)?.is_none().then(framework).flatten() {
            Some(root) => Ok(Self {
                state: StateDir::of(root),
                root: root.to_owned(),
                config_path: root.join(FILE_NAME),
                loaded: Loaded::default(),
            }),
            None => Self::of_command(dir),
        }
    }

    pub(crate) fn config(&self) -> &Config {
        &self.loaded.config
    }

    /// The audit of the task.
    pub(crate) fn events(&self) -> PathBuf {
        self.config().task.events.resolve(&self.root)
    }

    /// Leaves out Lockstep's own files: its configuration, its state, and what `init` wrote and was not edited since.
    pub(crate) fn drop_own_files(&self, paths: &mut Vec<PathBuf>) {
        let own = OwnFiles::load(&self.root);
        paths.retain(|path| {
            let relative = path.strip_prefix(&self.root).unwrap_or(path);
            relative != Path::new(FILE_NAME) && !relative.to_str().is_some_and(|path| own.contains(path))
        });
    }

    /// Where this project's sessions have their journals.
    pub(crate) fn journal(&self) -> JournalDir {
        JournalDir::new(self.config().journal.dir.resolve(&self.root, &std::env::temp_dir()))
    }

    /// Brings the history up to date: whole journals of sessions that ran here, and from any other those lines that are about this
    /// self.
    pub(crate) fn read_journals(&self, store: &mut Store) -> Result<(), CommandError> {
        let journal = self.journal();
        for session in journal.sessions()? {
            let ours = store.knows_session(&session)?;
            // A journal in a shared directory that is not ours to read is somebody else's session.
            if let Err(error) =
                store.read_journal(&journal, &session, &|path| ours || path.starts_with(&self.root))
                && !matches!(error, lockstep_store::StoreError::Unsafe { .. })
            {
                return Err(error.into());
            }
        }
        Ok(())
    }
}

fn inactive(dir: &Path) -> CommandError {
    CommandError::new(
        Kind::Configuration,
        format!("there is no lockstep.toml in {} or above it, so Lockstep is not active here", dir.display()),
    )
    .hint("`lockstep init` sets up the project in the present directory; `-C DIR` names another one")
}
