//! An isolated worktree for one agent, with the present files. Only the agent's assigned files are copied
//! back.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use lockstep_fs::{mode_of, set_mode, write_atomically};
use lockstep_git::{DiffRange, DiffStatus, Repository};
use lockstep_index::content_digests::ContentDigests;
use lockstep_store::{StateDir, append_once};

use crate::error::{CommandError, CommandResult};
use crate::workspace::Workspace;

/// The worktrees that were made and not removed yet, one path a line.
const LEDGER: &str = "cascade-worktrees";

pub(crate) struct IsolatedWorktree {
    repository: Repository,
    directory: PathBuf,
    root: PathBuf,
    before: ContentDigests,
}

/// The result of the work in a worktree.
pub(crate) struct ApplyOutcome {
    /// Files that were changed there without being assigned; they are not copied back.
    pub(crate) outside: Vec<String>,
    /// Files that changed here meanwhile; the agent's versions are not copied back.
    pub(crate) conflicts: Vec<String>,
}

/// Checks that worktrees can be created. Called before anything starts.
pub(crate) fn check(tree: &Workspace) -> CommandResult<()> {
    match tree.repository()?.head()? {
        Some(_) => Ok(()),
        None => Err(CommandError::usage("--isolate needs a first commit: a worktree is made from it")
            .hint("commit once, or leave --isolate out")),
    }
}

impl IsolatedWorktree {
    /// Creates a worktree with the present content of the project.
    pub(crate) fn create(tree: &Workspace, state: &StateDir, name: &str) -> CommandResult<Self> {
        let repository = tree.repository()?.clone();
        let temporary = tempfile::Builder::new()
            .prefix("lockstep-cascade-")
            .tempdir()
            .map_err(|error| failed("make a directory for", &error))?
            .keep();
        append_once(&state.path().join(LEDGER), format!("{}\n", temporary.display()).as_bytes())?;
        let directory = temporary.join(name);
        repository.add_worktree(&directory)?;
        let top = Repository::worktree_root_of(&tree.root)?.unwrap_or_else(|| tree.root.clone());
        let root = directory.join(tree.root.strip_prefix(&top).unwrap_or(Path::new("")));
        for changed in repository.diff(&DiffRange::HeadToWorktree)? {
            if let DiffStatus::Renamed { from } = &changed.status {
                remove(&root.join(from)).map_err(|error| failed("prepare", &error))?;
            }
            copy_file(&tree.root.join(&changed.path), &root.join(&changed.path))
                .map_err(|error| failed("prepare", &error))?;
        }
        let before = ContentDigests::take(&root, None);
        Ok(Self { repository, directory, root, before })
    }

    /// The agent's working directory.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Copies the agent's assigned files back, and only them.
    pub(crate) fn apply(&self, tree: &Workspace, files: &[String]) -> CommandResult<ApplyOutcome> {
        let after = ContentDigests::take(&self.root, Some(&self.before));
        let here = ContentDigests::take(&tree.root, None);
        let mut applied = ApplyOutcome { outside: Vec::new(), conflicts: Vec::new() };
        for path in self.before.diff_paths(&after) {
            if !files.iter().any(|file| file == path) {
                applied.outside.push(path.to_owned());
            } else if here.digest(path) != self.before.digest(path) {
                applied.conflicts.push(path.to_owned());
            } else {
                copy_file(&self.root.join(path), &tree.root.join(path))
                    .map_err(|error| failed("apply", &error))?;
            }
        }
        Ok(applied)
    }

    pub(crate) fn remove(self) -> CommandResult<()> {
        self.repository.remove_worktree(&self.directory)?;
        if let Some(temporary) = self.directory.parent() {
            fs::remove_dir_all(temporary).map_err(|error| failed("remove", &error))?;
        }
        Ok(())
    }
}

/// Removes the worktrees of killed runs.
pub(crate) fn remove_leftovers(tree: &Workspace, state: &StateDir) -> CommandResult<()> {
    let ledger = state.path().join(LEDGER);
    let Ok(text) = lockstep_fs::read_to_string(&ledger) else { return Ok(()) };
    for line in text.lines() {
        let directory = Path::new(line);
        let name = directory.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        // Only directories that were created here: the ledger is a file that others can write.
        if directory.parent() == Some(&std::env::temp_dir()) && name.starts_with("lockstep-cascade-") {
            let _ = fs::remove_dir_all(directory);
        }
    }
    if let Some(repository) = &tree.repository {
        repository.remove_worktree(Path::new("/nonexistent"))?;
    }
    fs::remove_file(&ledger).map_err(|error| failed("forget", &error))
}

/// Makes `to` equal to `from`: a file with the same content and mode, or no file. Links are left alone.
fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    let Ok(meta) = fs::symlink_metadata(from) else { return remove(to) };
    if !meta.is_file() {
        return Ok(());
    }
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent)?;
    }
    let mode = mode_of(&meta);
    write_atomically(to, &lockstep_fs::read(from)?, mode).map_err(io::Error::other)?;
    set_mode(to, mode)
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn failed(what: &str, error: &io::Error) -> CommandError {
    CommandError::store(format!("cannot {what} a worktree: {error}"))
}
