//! Symbolic links to changed files: importers name the link, the change is in its target.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use lockstep_index::index::Index;
use lockstep_refs::impact::{After, Before, Edit, Impact};
use lockstep_refs::world::{World as _, join, parent};

/// More links are not followed.
const MAX_LINKS: usize = 2_000;

/// The length of a chain of links.
const MAX_DEPTH: usize = 5;

/// Edits of links, by the path of the link. They have the contents of the changed target.
pub(super) struct LinkEdits {
    pub(super) edits: Vec<Edit>,
    /// The present path of the changed file, by the path of the link.
    targets: BTreeMap<String, String>,
}

impl LinkEdits {
    /// Returns an edit for each link that names an edited file or a directory above it.
    pub(super) fn new(root: &Path, index: &Index, edits: &[Edit]) -> Self {
        let mut found = Self { edits: Vec::new(), targets: BTreeMap::new() };
        let links: BTreeMap<String, String> = index
            .links()
            .take(MAX_LINKS)
            .filter_map(|link| Some((link.to_owned(), resolve(root, link)?)))
            .collect();
        for edit in edits.iter().filter(|edit| !matches!(edit.before, Before::Absent)) {
            let former = edit.former.as_deref().unwrap_or(&edit.path);
            for (link, target) in &links {
                let path = match former.strip_prefix(target.as_str()) {
                    Some("") => link.clone(),
                    Some(below) if below.starts_with('/') => format!("{link}{below}"),
                    _ => continue,
                };
                let is_edited = edits.iter().any(|other| other.path == path);
                if let Some(after) = content(index, edit).filter(|_| !is_edited) {
                    found.targets.insert(path.clone(), edit.path.clone());
                    found.edits.push(Edit { path, former: None, before: edit.before.clone(), after });
                }
            }
        }
        found
    }

    /// Moves the dependents of a link to the file that changed.
    pub(super) fn join(&self, impact: &mut Impact) {
        let is_link = |path: &String| self.targets.contains_key(path);
        let (links, files): (Vec<_>, Vec<_>) =
            std::mem::take(&mut impact.files).into_iter().partition(|file| is_link(&file.path));
        impact.files = files;
        for link in links {
            let target = self.targets.get(&link.path);
            let Some(file) = impact.files.iter_mut().find(|file| Some(&file.path) == target) else {
                continue;
            };
            file.unanalysed |= link.unanalysed;
            let known = |path: &str| file.dependents.iter().any(|known| known.path == path && known.breaks);
            let new: Vec<_> =
                link.dependents.into_iter().filter(|dependent| !known(&dependent.path)).collect();
            file.dependents.retain(|known| !new.iter().any(|candidate| candidate.path == known.path));
            file.dependents.extend(new);
            file.dependents.sort_by_key(|dependent| !dependent.breaks);
        }
    }
}

/// Returns the content of the link's target after the edit. `None` if it is unknown.
fn content(index: &Index, edit: &Edit) -> Option<After> {
    match &edit.after {
        // A link does not follow a file that is moved.
        _ if edit.former.is_some() => Some(After::Gone),
        After::Present => index.text(index.find(&edit.path)?).map(After::Text),
        after => Some(after.clone()),
    }
}

/// Returns the path that a link names, relative to the root. `None` outside of it.
fn resolve(root: &Path, link: &str) -> Option<String> {
    let mut path = link.to_owned();
    for _ in 0..MAX_DEPTH {
        let Ok(target) = fs::read_link(root.join(&path)) else { return Some(path) };
        path = match target.strip_prefix(root) {
            Ok(inside) => lockstep_text::path_text(inside)?,
            Err(_) if target.is_absolute() => return None,
            Err(_) => join(parent(&path), target.to_str()?)?,
        };
    }
    None
}
