//! The tree that a question is about.

use std::path::{Path, PathBuf};

use lockstep_config::Project;
use lockstep_git::{GitError, Repository};
use lockstep_store::{Store, StoreError};

use crate::error::{CommandError, Kind};
use crate::project::ActiveProject;

/// An active project, or else a whole git repository, or else just a directory.
pub(crate) struct Tree {
    pub(crate) root: PathBuf,
    /// `None` where nobody asked Lockstep to be active: then nothing is written.
    pub(crate) project: Option<ActiveProject>,
    /// `None` outside of any repository.
    pub(crate) repository: Option<Repository>,
}

impl Tree {
    /// The tree that a command in `directory` is about.
    pub(crate) fn of_command(directory: &Path) -> Result<Self, CommandError> {
        let project = match Project::of_directory(directory)? {
            Some(_) => Some(ActiveProject::of_command(directory)?),
            None => None,
        };
        let root = match &project {
            Some(project) => project.root.clone(),
            None => Repository::top_of(directory)?.unwrap_or_else(|| directory.to_owned()),
        };
        let repository = Repository::at(&root)?;
        Ok(Self { root, project, repository })
    }

    /// The project's store, where there is one.
    pub(crate) fn store(&self) -> Result<Option<Store>, StoreError> {
        self.project.as_ref().map_or(Ok(None), |project| Store::open_existing(&project.state))
    }

    /// The repository, for what cannot be answered without one.
    pub(crate) fn repository(&self) -> Result<&Repository, CommandError> {
        self.repository.as_ref().ok_or_else(|| {
            CommandError::new(Kind::Usage, format!("{} is not in a git repository", self.root.display()))
                .hint("name the files: `lockstep impact FILE...`")
        })
    }

    /// A path that a person gave, relative to the root.
    pub(crate) fn relative(&self, directory: &Path, given: &Path) -> Result<String, CommandError> {
        let absolute = lockstep_model::path::absolute(directory, given);
        let inside = absolute.strip_prefix(&self.root).ok().and_then(Path::to_str);
        inside.map(str::to_owned).ok_or_else(|| {
            CommandError::new(
                Kind::Usage,
                format!("{} is not inside {}", given.display(), self.root.display()),
            )
        })
    }
}

impl From<GitError> for CommandError {
    fn from(error: GitError) -> Self {
        let kind = match error {
            GitError::Refused { .. } => Kind::Usage,
            _ => Kind::Store,
        };
        Self::from_error(kind, error)
    }
}
