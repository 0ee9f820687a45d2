//! Finds the project of a directory or file, and reads its configuration.
//!
//! This is the only part of the crate that accesses the disk. A `lockstep.toml` that exists but cannot be
//! used is a [`DiscoverError`], never an inactive project, so that callers that enforce rules can block.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use lockstep_model::path::absolute_lexical;
use thiserror::Error;

use crate::parse::{LoadedConfig, MAX_BYTES, parse};
use crate::{FILE_NAME, worktree};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// The root directory: it contains `.lockstep/`, and relative paths start here.
    pub root: PathBuf,
    /// Its `lockstep.toml`. For a linked git worktree, it may be in the main one.
    pub config_path: PathBuf,
}

/// The reason why it is unknown whether a project is active, or its configuration cannot be read.
#[derive(Debug, Error)]
pub enum DiscoverError {
    /// The start of a search is not an absolute path.
    #[error("{} is not an absolute path, so no project can be looked for from there", path.display())]
    Relative {
        /// The directory where the search started.
        path: PathBuf,
    },
    /// Something is called `lockstep.toml` but is not a file.
    #[error("{} is {kind}, not a file; replace it by a file (an empty one will do), or remove it", path.display())]
    NotAFile { path: PathBuf, kind: &'static str },
    /// A symbolic link called `lockstep.toml` leads nowhere.
    #[error("{} is a symbolic link without a target; fix the link, or remove it", path.display())]
    BrokenLink {
        path: PathBuf,
        /// The error when following the link.
        source: io::Error,
    },
    /// A file is there, or may be, but the system does not let it be read.
    #[error("{} could not be read; check that it and its directory are readable to this user", path.display())]
    Unreadable {
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

impl Project {
    /// The project of a directory: that of the nearest ancestor, itself included, with a `lockstep.toml`.
    pub fn of_directory(start: &Path) -> Result<Option<Self>, DiscoverError> {
        if !start.is_absolute() {
            return Err(DiscoverError::Relative { path: start.to_path_buf() });
        }
        let start = absolute_lexical(start, Path::new(""));
        for directory in start.ancestors() {
            let config = match find_in_directory(directory)? {
                DirectoryLookup::Config(path) => Some(path),
                DirectoryLookup::Nothing => config_of_main_worktree(directory)?,
                // Above a readable start directory, this is a sandbox that hides everything outside.
                DirectoryLookup::Hidden(_) if directory != start => None,
                DirectoryLookup::Hidden(source) => {
                    return Err(DiscoverError::Unreadable { path: start, source });
                }
            };
            if let Some(config_path) = config {
                return Ok(Some(Self { root: directory.to_path_buf(), config_path }));
            }
        }
        Ok(None)
    }

    /// The project of a file, which need not exist any more. In nested projects the nearest wins.
    pub fn of_file(path: &Path) -> Result<Option<Self>, DiscoverError> {
        Self::of_directory(path.parent().unwrap_or(path))
    }

    /// The project of a hook: from the client's project directory, if it names one, then from `cwd`.
    pub fn of_hook(project_dir: Option<&Path>, cwd: &Path) -> Result<Option<Self>, DiscoverError> {
        let named = project_dir.filter(|directory| !directory.as_os_str().is_empty());
        if let Some(directory) = named
            && let Some(project) = Self::of_directory(&cwd.join(directory))?
        {
            return Ok(Some(project));
        }
        Self::of_directory(cwd)
    }

    /// Reads the configuration. Its problems are in [`LoadedConfig::problems`].
    pub fn load(&self) -> Result<LoadedConfig, DiscoverError> {
        let path = &self.config_path;
        // One byte more than the limit, so that a larger file is detected without reading all of it.
        let bytes = lockstep_fs::read_prefix(path, MAX_BYTES as u64 + 1)
            .map_err(|source| DiscoverError::Unreadable { path: path.clone(), source })?;
        Ok(parse(bytes))
    }
}

/// The configuration file of a directory.
enum DirectoryLookup {
    Config(PathBuf),
    Nothing,
    /// The directory may not be searched.
    Hidden(io::Error),
}

fn find_in_directory(directory: &Path) -> Result<DirectoryLookup, DiscoverError> {
    let path = directory.join(FILE_NAME);
    let metadata = match fs::symlink_metadata(&path) {
        Ok(metadata) if metadata.is_symlink() => match fs::metadata(&path) {
            Ok(metadata) => metadata,
            Err(source) if source.kind() == ErrorKind::PermissionDenied => {
                return Err(DiscoverError::Unreadable { path, source });
            }
            Err(source) => return Err(DiscoverError::BrokenLink { path, source }),
        },
        Ok(metadata) => metadata,
        Err(error) if is_not_found(&error) => return Ok(DirectoryLookup::Nothing),
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            return Ok(DirectoryLookup::Hidden(error));
        }
        Err(source) => return Err(DiscoverError::Unreadable { path, source }),
    };
    if metadata.is_file() {
        return Ok(DirectoryLookup::Config(path));
    }
    let kind = if metadata.is_dir() { "a directory" } else { "a special file" };
    Err(DiscoverError::NotAFile { path, kind })
}

/// The configuration in the main worktree, if `directory` is a linked one and the main one has any.
fn config_of_main_worktree(directory: &Path) -> Result<Option<PathBuf>, DiscoverError> {
    let main = worktree::main_worktree_root(directory)
        .map_err(|(path, source)| DiscoverError::Unreadable { path, source })?;
    let Some(main) = main else { return Ok(None) };
    match find_in_directory(&main)? {
        DirectoryLookup::Config(path) => Ok(Some(path)),
        DirectoryLookup::Nothing => Ok(None),
        DirectoryLookup::Hidden(source) => {
            Err(DiscoverError::Unreadable { path: main.join(FILE_NAME), source })
        }
    }
}

/// Returns true if `error` means that the file does not exist, as opposed to an unknown state.
pub(crate) fn is_not_found(error: &io::Error) -> bool {
    use ErrorKind::{InvalidFilename, InvalidInput, NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory | InvalidInput | InvalidFilename)
}
