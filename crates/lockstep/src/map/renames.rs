//! Renamed files: deleted files whose content another file has, and renames that git reports.

use std::collections::{HashMap, HashSet};

use lockstep_git::{DiffRange, DiffStatus, Repository};
use lockstep_map::update::MapUpdate;

/// Former paths with present ones, sorted.
pub(super) fn renames(
    updated: &MapUpdate,
    git: impl FnOnce() -> Vec<(String, String)>,
) -> Vec<(String, String)> {
    let (now, changes) = (&updated.record, &updated.changes);
    let mut removed: HashSet<&str> = changes.removed.iter().map(String::as_str).collect();
    let mut new: HashSet<&str> = changes.added.iter().map(String::as_str).collect();
    let mut found: Vec<(String, String)> = Vec::new();
    if removed.is_empty() || new.is_empty() {
        return found;
    }
    for (from, to) in git() {
        if removed.remove(from.as_str()) && new.remove(to.as_str()) {
            found.push((from, to));
        }
    }
    let content = |path: &str| now.find(path).map(|at| now.entries[at].content);
    let mut by_content: HashMap<u64, &str> = HashMap::new();
    let mut rest: Vec<&str> = new.into_iter().collect();
    rest.sort_unstable();
    for path in rest.into_iter().rev() {
        by_content.extend(content(path).map(|content| (content, path)));
    }
    for (path, content) in changes.removed.iter().zip(&updated.deleted_digests) {
        if removed.contains(path.as_str())
            && let Some(to) = by_content.remove(content)
        {
            found.push((path.clone(), to.to_owned()));
        }
    }
    found.sort();
    found
}

/// Returns the renames that git reports since the commit of the last run and in the working tree. Returns
/// none if git fails.
pub(super) fn git_renames(
    repository: Option<&Repository>,
    commit: &str,
    head: Option<&str>,
) -> Vec<(String, String)> {
    let Some(repository) = repository else { return Vec::new() };
    let mut states = vec![DiffRange::HeadToWorktree];
    if let Some(head) = head.filter(|head| !commit.is_empty() && *head != commit) {
        states.insert(0, DiffRange::Commits(commit.to_owned(), head.to_owned()));
    }
    let changed = states.iter().filter_map(|between| repository.diff(between).ok()).flatten();
    changed
        .filter_map(|changed| match changed.status {
            DiffStatus::Renamed { from } => Some((from, changed.path)),
            _ => None,
        })
        .collect()
}
