//! The changes: from git, from a patch, or from named files.

use std::path::Path;
use std::sync::Arc;

use lockstep_git::local::{Blob, LocalRepository};
use lockstep_git::patch::FilePatch;
use lockstep_git::{DiffEntry, DiffRange, DiffStatus, Repository};
use lockstep_refs::impact::{After, Before, Edit};
use lockstep_text::decode_lossy;

use crate::error::{CommandError, CommandResult};
use crate::impact::moves;
use crate::setup::OwnFiles;
use crate::workspace::Workspace;

#[derive(Default)]
pub(crate) struct EditSet {
    pub(crate) edits: Vec<Edit>,
    /// The source of the changes with its preposition: `in the working tree`, `since v1.0`.
    pub(crate) origin: String,
    /// Paths that were named and have not changed since the last commit.
    pub(crate) unchanged: Vec<String>,
}

impl Workspace {
    /// Returns the differences between two states.
    pub(crate) fn edits_between(&self, between: &DiffRange, origin: String) -> CommandResult<EditSet> {
        let repository = self.repository()?;
        let mut changed = repository.diff(between)?;
        let own = OwnFiles::load(&self.root);
        changed.retain(|change| !own.contains(&change.path));
        let edits = self.edits_of(repository, between, &changed)?;
        Ok(EditSet { edits: self.with_moves(between, edits), origin, ..EditSet::default() })
    }

    /// Joins a deleted and an untracked file that are one moved file. Git itself detects moves among tracked
    /// files only.
    fn with_moves(&self, between: &DiffRange, edits: Vec<Edit>) -> Vec<Edit> {
        if *between == DiffRange::HeadToWorktree { moves::join(edits, &self.root) } else { edits }
    }

    /// Returns the differences between the last commit and the files; if there are none, the changes of the
    /// last commit.
    pub(crate) fn edits_by_default(&self) -> CommandResult<EditSet> {
        let repository = self.repository()?;
        let edits = self.edits_between(&DiffRange::HeadToWorktree, "in the working tree".to_owned())?;
        if !edits.edits.is_empty() {
            return Ok(edits);
        }
        match repository.last_commit_range()? {
            Some(last) => self.edits_between(&last, "in the last commit".to_owned()),
            None => Ok(edits),
        }
    }

    /// Returns the edits of the named files since the last commit. A file that git does not have counts as
    /// completely changed, because its original content is unknown.
    pub(crate) fn edits_of_files(&self, paths: &[String]) -> CommandResult<EditSet> {
        let mut edits = match &self.repository {
            Some(repository) => match self.edits_in_place(repository, paths)? {
                Some(edits) => edits,
                None => {
                    let between = DiffRange::HeadToWorktree;
                    let changed = repository.diff_paths(&between, paths)?;
                    let edits = self.edits_of(repository, &between, &changed)?;
                    self.with_moves(&between, edits)
                }
            },
            None => Vec::new(),
        };
        let names = |edit: &Edit, path: &str| {
            let below = |name: &str| {
                name == path
                    || path.is_empty()
                    || name.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'))
            };
            below(&edit.path) || edit.former.as_deref().is_some_and(below)
        };
        edits.retain(|edit| paths.iter().any(|path| names(edit, path)));
        let mut unchanged = Vec::new();
        for path in paths {
            if edits.iter().any(|edit| names(edit, path)) {
                continue;
            }
            let file = self.root.join(path);
            let before = self.content_without_git(path).unwrap_or(Before::Unknown);
            let is_same =
                matches!(&before, Before::Text(before) if read_text(&file).as_deref() == Some(&**before));
            if file.is_dir() || is_same || self.is_committed(path)? {
                unchanged.push(path.clone());
                continue;
            }
            if !file.exists() {
                return Err(self.no_such_file(path));
            }
            edits.push(Edit { path: path.clone(), former: None, before, after: After::Present });
        }
        let origin = match &self.repository {
            Some(_) => "since the last commit",
            None => "in the files named",
        };
        Ok(EditSet { edits, origin: origin.to_owned(), unchanged })
    }

    /// Returns the content in the last commit, if the `git` program is not there to ask.
    fn content_without_git(&self, path: &str) -> Option<Before> {
        let local = LocalRepository::discover(&self.root).filter(|_| self.repository.is_none())?;
        match local.file(&local.head()?, path) {
            Blob::Content(bytes) => Some(Before::Text(text(&bytes))),
            Blob::Absent => Some(Before::Absent),
            Blob::Unreadable => None,
        }
    }

    /// Returns true if the file is on disk and in the last commit.
    fn is_committed(&self, path: &str) -> CommandResult<bool> {
        let Some(repository) = &self.repository else { return Ok(false) };
        if repository.head()?.is_none() || !self.root.join(path).exists() {
            return Ok(false);
        }
        Ok(repository.read_blobs("HEAD", &[path.to_owned()])?.pop().flatten().is_some())
    }

    fn no_such_file(&self, path: &str) -> CommandError {
        let message = format!("there is no file {path}, and there was none in the last commit");
        let range = self.repository.as_ref().and_then(|repository| repository.parse_range(path).ok());
        match range {
            Some(_) => CommandError::usage(message).hint(format!(
                "{path} is a revision: `lockstep impact --rev {path}` shows the impact of the changes since it"
            )),
            None if looks_like_revision(path) => CommandError::usage(message).hint(format!(
                "{path} looks like a revision, but git has no such commit; `lockstep impact --rev A` shows the impact of the \
                 changes since A"
            )),
            None => CommandError::store(message)
                .hint("paths are taken from the current directory; a deleted file is known where git has it"),
        }
    }

    /// Like [`Self::edits_between`], for files that are in the last commit and still exist: only they are
    /// compared. `None` if one is missing, because it may have been moved.
    fn edits_in_place(&self, repository: &Repository, paths: &[String]) -> CommandResult<Option<Vec<Edit>>> {
        let is_file =
            |path: &String| self.root.join(path).symlink_metadata().is_ok_and(|meta| meta.is_file());
        if !paths.iter().all(is_file) {
            return Ok(None);
        }
        let mut edits = Vec::new();
        for (path, before) in paths.iter().zip(repository.read_blobs("HEAD", paths)?) {
            let Some(before) = before else { return Ok(None) };
            if lockstep_fs::read(self.root.join(path)).is_ok_and(|now| now != before) {
                let before = Before::Text(text(&before));
                edits.push(Edit { path: path.clone(), former: None, before, after: After::Present });
            }
        }
        Ok(Some(edits))
    }

    fn edits_of(
        &self,
        repository: &Repository,
        between: &DiffRange,
        changed: &[DiffEntry],
    ) -> CommandResult<Vec<Edit>> {
        let former_path = |change: &DiffEntry| match &change.status {
            DiffStatus::Renamed { from } => from.clone(),
            _ => change.path.clone(),
        };
        let existed: Vec<&DiffEntry> =
            changed.iter().filter(|change| change.status != DiffStatus::Added).collect();
        let paths: Vec<String> = existed.iter().map(|change| former_path(change)).collect();
        let old = repository.old_revision(between)?;
        let mut befores = repository.read_blobs(&old, &paths)?.into_iter();
        let mut afters = self.new_contents(repository, between, changed)?.into_iter();
        let edits = changed.iter().map(|change| Edit {
            path: change.path.clone(),
            former: match &change.status {
                DiffStatus::Renamed { from } => Some(from.clone()),
                _ => None,
            },
            before: match change.status {
                DiffStatus::Added => Before::Absent,
                _ => befores.next().flatten().map_or(Before::Unknown, |bytes| Before::Text(text(&bytes))),
            },
            after: afters.next().unwrap_or(After::Present),
        });
        Ok(edits.collect())
    }

    /// Returns the contents of the files in the newer state.
    fn new_contents(
        &self,
        repository: &Repository,
        between: &DiffRange,
        changed: &[DiffEntry],
    ) -> CommandResult<Vec<After>> {
        let state = match between {
            DiffRange::HeadToWorktree => {
                let after = |change: &DiffEntry| match change.status {
                    DiffStatus::Deleted => After::Gone,
                    _ => After::Present,
                };
                return Ok(changed.iter().map(after).collect());
            }
            DiffRange::HeadToIndex => "",
            DiffRange::Commits(_, new) => new,
        };
        let paths: Vec<String> = changed.iter().map(|change| change.path.clone()).collect();
        let contents = repository.read_blobs(state, &paths)?;
        Ok(contents
            .into_iter()
            .zip(changed)
            .map(|(content, change)| match (&change.status, content) {
                (DiffStatus::Deleted, _) => After::Gone,
                (_, Some(bytes)) => After::Text(text(&bytes)),
                (_, None) => After::Present,
            })
            .collect())
    }

    /// Returns the changes that a patch would make; if it is already applied, those that it has made.
    pub(crate) fn edits_of_patch(&self, patches: &[FilePatch], name: &str) -> CommandResult<EditSet> {
        let edits: Vec<Edit> =
            patches.iter().map(|patch| self.edit_of_patch(patch)).collect::<Result<_, _>>()?;
        let edits = moves::join(edits, &self.root);
        Ok(EditSet { edits, origin: format!("in the patch {name}"), ..EditSet::default() })
    }

    fn edit_of_patch(&self, patch: &FilePatch) -> CommandResult<Edit> {
        let path = patch.new.as_ref().or(patch.old.as_ref()).cloned().unwrap_or_default();
        let read = |path: &str| self.read(Path::new(path));
        let present = patch.old.as_deref().and_then(read).or_else(|| patch.new.as_deref().and_then(read));
        let present = present.unwrap_or_default();
        let (before, after) = if let Some(after) = patch.apply(&present) {
            (present.clone(), after)
        } else if let Some(before) = patch.revert(&present) {
            (before, present.clone())
        } else {
            return Err(CommandError::usage(format!("the patch fits no content of {path}"))
                .hint("a patch is taken from the files as they are, or as they were before it was applied"));
        };
        Ok(Edit {
            former: patch.old.clone().filter(|old| *old != path),
            before: if patch.old.is_some() { Before::Text(before.into()) } else { Before::Absent },
            after: if patch.new.is_some() { After::Text(after.into()) } else { After::Gone },
            path,
        })
    }

    /// A file of the tree. A path out of a patch must not point outside the tree.
    fn read(&self, path: &Path) -> Option<String> {
        use std::path::Component;
        let inside = path.components().all(|part| matches!(part, Component::Normal(_)));
        let file = self.root.join(path);
        let plain = std::fs::symlink_metadata(&file).is_ok_and(|meta| meta.is_file());
        if inside && plain { read_text(&file) } else { None }
    }
}

/// Returns true if a name is written as revisions of git are and files are not.
fn looks_like_revision(name: &str) -> bool {
    name.contains("..") && !name.contains('/')
        || name.contains(['~', '^'])
        || name.contains("@{")
        || name == "HEAD"
}

/// The text of a file's content. Of binary content only the name matters.
pub(crate) fn text(bytes: &[u8]) -> Arc<str> {
    decode_lossy(bytes).into()
}

/// Returns the text of a file, or `None` if it cannot be read.
pub(crate) fn read_text(path: &Path) -> Option<String> {
    lockstep_fs::read(path).ok().map(|bytes| decode_lossy(&bytes).into_owned())
}
