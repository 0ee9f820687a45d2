//! The names of all files of a world.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use foldhash::HashSet;

use super::{Aliases, EntityKind, declared_kind, entities};
use crate::world::{FileId, World, base, parent};

/// The framework's names of all files that have one.
#[derive(Debug, Clone, Default)]
pub struct Names {
    files: BTreeMap<Box<str>, Vec<(FileId, EntityKind)>>,
    /// The names of all files and directories.
    parts: OnceLock<HashSet<Box<str>>>,
}

impl Names {
    /// Returns the names of every file in the world.
    pub fn of(world: &dyn World, aliases: &Aliases) -> Self {
        let mut names = BTreeMap::<Box<str>, Vec<_>>::new();
        for file in world.files() {
            let path = world.path(file);
            let text = declared_kind(path).and_then(|_| world.text(file));
            for entity in entities(path, text.as_deref(), aliases) {
                if entity.is_name() {
                    names.entry(entity.name).or_default().push((file, entity.kind));
                }
            }
        }
        Self { files: names, parts: OnceLock::new() }
    }

    /// Creates the table from known names: file, kind and name.
    pub fn from_entities(entities: impl IntoIterator<Item = (FileId, EntityKind, Box<str>)>) -> Self {
        let mut names = BTreeMap::<Box<str>, Vec<_>>::new();
        for (file, kind, name) in entities {
            names.entry(name).or_default().push((file, kind));
        }
        Self { files: names, parts: OnceLock::new() }
    }

    pub fn get(&self, name: &str) -> &[(FileId, EntityKind)] {
        self.files.get(name).map_or(&[], Vec::as_slice)
    }

    pub fn all(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(|name| &**name)
    }

    /// Returns true if other names begin with this one and a `-`: then it may mean all of them together.
    pub fn is_name_prefix(&self, name: &str) -> bool {
        let start: Box<str> = format!("{name}-").into();
        self.files.range(start.clone()..).next().is_some_and(|(other, _)| other.starts_with(&*start))
    }

    /// Returns false if no file and no directory can be meant by a path that is written so. It is a fast test before the path is resolved.
    pub(crate) fn may_end(&self, world: &dyn World, written: &str) -> bool {
        let last = base(written);
        // Dots and what stands before a path without a directory are no part of its name.
        let is_plain = !last.is_empty() && !last.starts_with(['.', '-', '@']);
        !is_plain || self.parts.get_or_init(|| parts(world)).contains(last)
    }
}

/// The names of all files and directories.
fn parts(world: &dyn World) -> HashSet<Box<str>> {
    let mut parts = HashSet::default();
    let mut directory = "";
    for file in world.files() {
        let path = world.path(file);
        let is_new = parent(path) != directory;
        directory = parent(path);
        for part in std::iter::once(base(path)).chain(directory.split('/').filter(|_| is_new)) {
            if !parts.contains(part) {
                parts.insert(part.into());
            }
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::MemoryWorld;

    #[test]
    fn a_path_ends_in_the_name_of_a_file_or_directory() {
        let world = MemoryWorld::new([("docs/guide/start.md", ""), ("README", ""), ("docs/index.md", "")]);
        let names = Names::of(&world, &Aliases::default());
        for written in
            ["start.md", "docs/guide/start.md", "../guide", "docs", "README", "..", "-rREADME", "@x", ""]
        {
            assert!(names.may_end(&world, written), "{written}");
        }
        for written in ["start", "guide.md", "docs/start.txt", "word", "a/READM"] {
            assert!(!names.may_end(&world, written), "{written}");
        }
    }
}
