//! New files that take the place of an edited module: `core.py` becomes `core/__init__.py`.

use super::edit::{Before, Edit};
use crate::overlay::Overlay;
use crate::world::{base, parent};

/// Basenames of the file that represents its directory as a module.
const DIRECTORY_MODULES: [&str; 3] = ["__init__", "index", "mod"];

/// Hides new files that have the module path of an edited file's former path. Before the edits, imports of that
/// module resolved to the former file only.
pub(super) fn hide(before: &mut Overlay<'_>, edit: &Edit, edits: &[Edit]) {
    let former = edit.former_path();
    for other in edits {
        let is_new = other.former.is_some() || matches!(other.before, Before::Absent);
        if is_new && other.path != former && module_path(&other.path) == module_path(former) {
            before.hide(&other.path);
        }
    }
}

/// Returns the path without its extension, or the directory that the file represents.
fn module_path(path: &str) -> String {
    let name = base(path);
    let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
    match parent(path) {
        directory if DIRECTORY_MODULES.contains(&stem) => directory.to_owned(),
        "" => stem.to_owned(),
        directory => format!("{directory}/{stem}"),
    }
}
