//! Moves by content: a deleted file and a new one with the same or a similar content are one file.

use std::path::{Path, PathBuf};

use lockstep_git::moves::{Candidate, pairs};
use lockstep_model::change::ChangeKind;
use lockstep_model::event::OriginalContent;
use lockstep_refs::impact::{After, Before, Edit};

/// With more files on either side, nothing is compared.
const MAX_FILES: usize = 1_000;

/// Larger files are not compared.
const MAX_BYTES: u64 = 1 << 20;

/// Replaces a deletion and a creation by a move if they are one. `original` returns the content of a deleted
/// file.
pub(crate) fn of_changes(
    mut changes: Vec<(PathBuf, ChangeKind)>,
    original: impl Fn(&Path) -> Option<OriginalContent>,
) -> Vec<(PathBuf, ChangeKind)> {
    let of_kind = |kind: ChangeKind| -> Vec<usize> {
        changes.iter().enumerate().filter(|(_, (_, change))| *change == kind).map(|(at, _)| at).collect()
    };
    let (deleted, created) = (of_kind(ChangeKind::Deleted), of_kind(ChangeKind::Created));
    if deleted.is_empty() || created.is_empty() || deleted.len().max(created.len()) > MAX_FILES {
        return changes;
    }
    let was = |at: &usize| match original(&changes[*at].0) {
        Some(OriginalContent::Text(text)) => Some((*at, text.into_bytes())),
        Some(OriginalContent::Absent) | None => None,
    };
    let old: Vec<(usize, Vec<u8>)> = deleted.iter().filter_map(was).collect();
    let new: Vec<(usize, Vec<u8>)> =
        created.iter().filter_map(|at| Some((*at, content(&changes[*at].0)?))).collect();
    let paths: Vec<String> = changes.iter().map(|(path, _)| path.to_string_lossy().into_owned()).collect();
    for (from, to) in paired(&paths, &old, &new) {
        let (from_path, to_path) = (changes[from].0.clone(), changes[to].0.clone());
        changes[from].1 = ChangeKind::RenamedTo(to_path);
        changes[to].1 = ChangeKind::RenamedFrom(from_path);
    }
    changes
}

/// Joins edits that delete a file and create a similar one into one edit that moves it.
pub(crate) fn join(edits: Vec<Edit>, root: &Path) -> Vec<Edit> {
    let was = |(at, edit): (usize, &Edit)| match (&edit.before, &edit.after) {
        (Before::Text(text), After::Gone) => Some((at, text.as_bytes().to_vec())),
        _ => None,
    };
    let is = |(at, edit): (usize, &Edit)| match (&edit.before, &edit.after) {
        (Before::Absent, After::Text(text)) => Some((at, text.as_bytes().to_vec())),
        (Before::Absent, After::Present) => Some((at, content(&root.join(&edit.path))?)),
        _ => None,
    };
    let old: Vec<(usize, Vec<u8>)> = edits.iter().enumerate().filter_map(was).collect();
    if old.is_empty() || old.len() > MAX_FILES {
        return edits;
    }
    let new: Vec<(usize, Vec<u8>)> = edits.iter().enumerate().filter_map(is).collect();
    if new.is_empty() || new.len() > MAX_FILES {
        return edits;
    }
    let paths: Vec<String> = edits.iter().map(|edit| edit.path.clone()).collect();
    let mut edits: Vec<Option<Edit>> = edits.into_iter().map(Some).collect();
    for (from, to) in paired(&paths, &old, &new) {
        let (Some(source), Some(moved)) = (edits[from].take(), &mut edits[to]) else { continue };
        moved.former = Some(source.former.unwrap_or(source.path));
        moved.before = source.before;
    }
    edits.into_iter().flatten().collect()
}

/// The pairs of a move, as positions in the list that both sides are from.
fn paired(paths: &[String], old: &[(usize, Vec<u8>)], new: &[(usize, Vec<u8>)]) -> Vec<(usize, usize)> {
    let vanished: Vec<Candidate<'_>> =
        old.iter().map(|(at, content)| Candidate { path: &paths[*at], content }).collect();
    let appeared: Vec<Candidate<'_>> =
        new.iter().map(|(at, content)| Candidate { path: &paths[*at], content }).collect();
    pairs(&vanished, &appeared).into_iter().map(|(a, b)| (old[a].0, new[b].0)).collect()
}

fn content(path: &Path) -> Option<Vec<u8>> {
    let meta = std::fs::symlink_metadata(path).ok()?;
    if !meta.is_file() || meta.len() > MAX_BYTES { None } else { lockstep_fs::read(path).ok() }
}
