//! References to files that no longer exist. Git lists the files that existed.

use std::collections::{BTreeMap, BTreeSet};

use lockstep_git::{DiffRange, DiffStatus, Repository};
use lockstep_index::index::Index;
use lockstep_refs::entity::entities;
use lockstep_refs::stale_references::{Dangling, Former, dangling};
use lockstep_refs::world::World as _;
use lockstep_text::decode_lossy;

use crate::error::CommandResult;
use crate::refs::references::{ReferenceLocation, each_once, location};
use crate::workspace::Workspace;

/// A deleted file, and the state of the repository that still has it.
struct RemovedPath {
    path: String,
    state: String,
}

/// References to something that no longer exists.
#[derive(Default)]
pub(crate) struct DanglingReferences {
    pub(crate) found: Vec<ReferenceLocation>,
    /// The number of unresolved imports that name no deleted file.
    pub(crate) unresolved: usize,
    /// True if the time was over before every file was searched.
    pub(crate) truncated: bool,
}

impl Workspace {
    /// Finds references to something that no longer exists, until `is_over`.
    pub(crate) fn dangling(
        &self,
        index: &Index,
        is_over: &dyn Fn() -> bool,
    ) -> CommandResult<DanglingReferences> {
        let former = match &self.repository {
            Some(repository) => self.former_files(repository, index, is_over)?,
            None => Vec::new(),
        };
        let search = dangling(index, &former, &self.aliases(), is_over);
        let ignored = self.ignored_targets(&search.found);
        let found = search.found.iter().filter(|at| !ignored.contains(&*at.target)).filter_map(|at| {
            let place = location(index, at.file, at.line, at.kind, &at.pattern, at.certainty)?;
            Some(ReferenceLocation { target: Some(at.target.clone()), ..place })
        });
        Ok(DanglingReferences {
            found: each_once(found.collect()),
            unresolved: search.unresolved,
            truncated: search.truncated,
        })
    }

    /// Returns the missing targets that git ignores: a tool generates them, or each user creates them.
    fn ignored_targets<'a>(&self, found: &'a [Dangling]) -> BTreeSet<&'a str> {
        let targets: BTreeSet<&str> = found.iter().map(|at| at.target.as_str()).collect();
        let targets: Vec<&str> = targets.into_iter().filter(|target| !target.starts_with("../")).collect();
        let ignored = self.repository.as_ref().map(|repository| repository.ignored(&targets));
        // Without git's answer, more is reported.
        ignored.and_then(Result::ok).into_iter().flatten().collect()
    }

    /// The files that existed, with their names.
    fn former_files(
        &self,
        repository: &Repository,
        index: &Index,
        is_over: &dyn Fn() -> bool,
    ) -> CommandResult<Vec<Former>> {
        let mut former = Vec::new();
        for RemovedPath { path, state } in removed_files(repository, index)? {
            let mut known = entities(&path, None, &self.aliases());
            // Skills, agents and commands also have the name that their content declares.
            if known.iter().any(|entity| entity.is_name()) && !is_over() {
                let text = repository.read_blobs(&state, std::slice::from_ref(&path))?.pop().flatten();
                let text = text.map(|bytes| decode_lossy(&bytes).into_owned());
                known = entities(&path, text.as_deref(), &self.aliases());
            }
            former.push(Former { path: path.as_str().into(), entities: known });
        }
        Ok(former)
    }
}

/// Files that were committed and are no longer there, whether that is committed or not.
fn removed_files(repository: &Repository, index: &Index) -> CommandResult<Vec<RemovedPath>> {
    let mut removed_files: BTreeMap<String, String> = repository
        .removed_files()?
        .into_iter()
        .map(|removed| (removed.path, format!("{}^", removed.commit)))
        .collect();
    if repository.head()?.is_some() {
        for changed in repository.diff(&DiffRange::HeadToWorktree)? {
            match changed.status {
                DiffStatus::Deleted => drop(removed_files.insert(changed.path, "HEAD".to_owned())),
                DiffStatus::Renamed { from } => drop(removed_files.insert(from, "HEAD".to_owned())),
                DiffStatus::Added | DiffStatus::Modified => {}
            }
        }
    }
    removed_files.retain(|path, _| index.find(path).is_none());
    Ok(removed_files.into_iter().map(|(path, state)| RemovedPath { path, state }).collect())
}
