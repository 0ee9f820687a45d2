//! Directories that the edits empty: a path to such a directory no longer resolves.

use std::collections::{BTreeMap, BTreeSet};

use super::{After, Edit};
use crate::entity::directory_rank;
use crate::world::{World, base, parent};

/// The directories that the edits leave without files, each with one of its former files: the one that
/// represented the directory, or else the first.
#[derive(Debug, Default)]
pub(super) struct EmptiedDirectories(BTreeMap<String, Vec<String>>);

impl EmptiedDirectories {
    pub(super) fn new(world: &dyn World, edits: &[Edit]) -> Self {
        let moved = || edits.iter().filter(|edit| edit.is_moved()).map(Edit::former_path);
        let mut emptied: BTreeSet<&str> = moved().flat_map(ancestors).collect();
        let moved_away: BTreeSet<&str> = moved().collect();
        let files = world.files();
        let present = files.iter().map(|file| world.path(*file)).filter(|path| !moved_away.contains(path));
        let written = edits.iter().filter(|edit| edit.after != After::Gone).map(|edit| &*edit.path);
        for path in present.chain(written) {
            if emptied.is_empty() {
                break;
            }
            for directory in ancestors(path) {
                emptied.remove(directory);
            }
        }
        let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for directory in emptied {
            let inside = moved().filter(|path| ancestors(path).any(|ancestor| ancestor == directory));
            let rank = |path: &&str| {
                let own = directory_rank(base(path)).filter(|_| parent(path) == directory);
                (own.unwrap_or(usize::MAX), (*path).to_owned())
            };
            if let Some(path) = inside.min_by_key(rank) {
                found.entry(path.to_owned()).or_default().push(directory.to_owned());
            }
        }
        Self(found)
    }

    /// Returns the emptied directories that a file represents.
    pub(super) fn of(&self, path: &str) -> &[String] {
        self.0.get(path).map_or(&[], Vec::as_slice)
    }
}

/// The directories that a file is in, the nearest first.
fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(parent(path)), |directory| Some(parent(directory)))
        .take_while(|directory| !directory.is_empty())
}
