//! The tree that a question is about.

pub(crate) mod background_build;
pub(crate) mod edits;
pub(crate) mod index;
pub(crate) mod session_edits;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use lockstep_config::Project;
use lockstep_git::{GitError, Repository};
use lockstep_store::{StateDir, Store, StoreError};

use crate::error::{CommandError, CommandErrorKind, CommandResult};
use crate::executable;
use crate::project::ActiveProject;
use crate::terminal::print_error;

/// An active project, or else a whole git repository, or else just a directory.
pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    /// `None` if the project does not use Lockstep: then nothing is written into the tree.
    pub(crate) project: Option<ActiveProject>,
    /// `None` outside of any repository.
    pub(crate) repository: Option<Repository>,
    /// The directory of the index in the user's cache, or the reason that there is none.
    pub(crate) cached_index: OnceLock<Result<StateDir, String>>,
}

impl Workspace {
    /// The tree that a command in `directory` is about. A project around a nested repository never reads it.
    pub(crate) fn discover(directory: &Path) -> CommandResult<Self> {
        let project = ActiveProject::find(directory)?;
        Self::of(project.filter(|project| !is_in_nested_repository(&project.root, directory)), directory)
    }

    /// The tree of the project that a command in `directory` is about; an error if Lockstep is not active there.
    pub(crate) fn of_active(directory: &Path) -> CommandResult<Self> {
        Self::of(Some(ActiveProject::discover(directory)?), directory)
    }

    /// The tree whose index a hook has built in the background. As in the hook, problems of `lockstep.toml` leave its valid
    /// keys in effect.
    pub(crate) fn of_background_build(directory: &Path) -> CommandResult<Self> {
        let project = Project::of_directory(directory)?.map(ActiveProject::load).transpose()?;
        Self::of(project, directory)
    }

    fn of(project: Option<ActiveProject>, directory: &Path) -> CommandResult<Self> {
        let has_git = executable::find("git").is_some();
        let root = match &project {
            Some(project) => project.root.clone(),
            None if has_git => {
                Repository::worktree_root_of(directory)?.unwrap_or_else(|| directory.to_owned())
            }
            None => repository_around(directory).unwrap_or(directory).to_owned(),
        };
        let repository = if has_git { Repository::discover(&root)? } else { None };
        if !has_git && repository_around(&root).is_some() {
            print_error(
                "note: git is not on PATH: deleted files and the names of earlier commits are unknown\n",
            );
        }
        Ok(Self { root, project, repository, cached_index: OnceLock::new() })
    }

    /// Returns the project's store, if there is one.
    pub(crate) fn store(&self) -> Result<Option<Store>, StoreError> {
        self.project.as_ref().map_or(Ok(None), |project| Store::open_existing(&project.state))
    }

    /// Returns the repository, or an error if there is none.
    pub(crate) fn repository(&self) -> CommandResult<&Repository> {
        self.repository.as_ref().ok_or_else(|| {
            if executable::find("git").is_none() {
                return CommandError::store("git is not on PATH, so the changed files are unknown")
                    .hint("install git, or name the changed files: `lockstep impact FILE...`");
            }
            if let Some(refusal) = Repository::refusal(&self.root) {
                return refusal.into();
            }
            if Repository::is_bare(&self.root).unwrap_or_default() {
                return CommandError::bare_repository(&self.root);
            }
            CommandError::usage(format!("{} is not in a git repository", self.root.display()))
                .hint("without git, name the files: `lockstep impact FILE...`")
        })
    }

    /// A path that a person gave, relative to the root.
    pub(crate) fn relative(&self, directory: &Path, given: &Path) -> CommandResult<String> {
        let absolute = lockstep_model::path::absolute_lexical(directory, given);
        let inside = absolute.strip_prefix(&self.root).ok().and_then(lockstep_text::path_text);
        inside.ok_or_else(|| {
            CommandError::usage(format!("{} is not inside {}", given.display(), self.root.display()))
        })
    }
}

/// Returns the top of the repository around a directory, without asking git.
fn repository_around(directory: &Path) -> Option<&Path> {
    directory.ancestors().find(|above| above.join(".git").exists())
}

/// Returns true if a repository between `root` and `directory` contains the directory.
fn is_in_nested_repository(root: &Path, directory: &Path) -> bool {
    let mut between = directory.ancestors().take_while(|above| *above != root);
    directory.starts_with(root) && between.any(|above| above.join(".git").exists())
}

impl From<GitError> for CommandError {
    fn from(error: GitError) -> Self {
        let kind = match error {
            GitError::Failed { .. } => CommandErrorKind::Usage,
            _ => CommandErrorKind::Store,
        };
        Self::from_error(kind, error)
    }
}
