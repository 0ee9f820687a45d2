//! Modules of Rust that the same edits moved or no longer declare: a path to a moved file led through them.

use super::edit::{Before, Edit};
use super::hunks::Hunks;
use crate::facts::{Facts, ImportForm};
use crate::language::Language;
use crate::overlay::Overlay;
use crate::reference::Reference;
use crate::world::{FileId, World, parent};

/// The files with their former content.
#[derive(Default)]
pub(super) struct FormerModules {
    /// The changed lines of each; `None` for a file that is at another path now.
    files: Vec<(FileId, Option<Hunks>)>,
}

impl FormerModules {
    /// Adds the former content of the modules around a moved file to `before`.
    pub(super) fn restore(before: &mut Overlay<'_>, world: &dyn World, edit: &Edit, edits: &[Edit]) -> Self {
        let mut found = Self::default();
        let path = edit.former_path();
        if !edit.is_moved() || Language::of(path) != Language::Rust {
            return found;
        }
        let around = modules_around(path);
        for other in
            edits.iter().filter(|candidate| around.iter().any(|path| path == candidate.former_path()))
        {
            let Before::Text(text) = &other.before else { continue };
            let Some((facts, _)) = other.former_content(world) else { continue };
            let hunks = match other.is_moved() {
                true => None,
                false => {
                    let Some(now) = world.find(&other.path) else { continue };
                    let (Some(present), Some(now)) = (world.facts(now), world.text(now)) else { continue };
                    if !loses_child(&facts, &present) {
                        continue;
                    }
                    Some(Hunks::between(text, &now))
                }
            };
            let file = before.add(other.former_path(), facts, Some(text.clone()));
            found.files.push((file, hunks));
        }
        found
    }

    /// Returns a reference with its present line; `None` if that line is no longer there.
    pub(super) fn present(&self, mut reference: Reference) -> Option<Reference> {
        let Some((_, hunks)) = self.files.iter().find(|(file, _)| *file == reference.file) else {
            return Some(reference);
        };
        let hunks = hunks.as_ref().filter(|hunk| !hunk.touches_old(reference.line, reference.line))?;
        reference.line = hunks.to_new((reference.line, reference.line)).0;
        Some(reference)
    }
}

/// Returns the paths that the modules around a file may have.
fn modules_around(path: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut directory = parent(path);
    while !directory.is_empty() {
        found.push(format!("{directory}.rs"));
        found.extend(["mod", "lib", "main"].map(|name| format!("{directory}/{name}.rs")));
        directory = parent(directory);
    }
    found.retain(|name| name != path);
    found
}

fn loses_child(was: &Facts, is: &Facts) -> bool {
    let children = |facts: &Facts| -> Vec<Box<str>> {
        let imports = facts.imports.iter().filter(|import| import.form == ImportForm::Child);
        imports.flat_map(|import| &import.names).map(|imported| imported.name.clone()).collect()
    };
    let now = children(is);
    children(was).iter().any(|child| !now.contains(child))
}
