//! A world in which one file is as it was: the content that others were written against.

use std::sync::Arc;

use crate::facts::Facts;
use crate::world::{FileId, World, base, parent, words};

/// Another world, with the former content of one file in the place of its present one. The file may be gone from that world.
pub struct Overlay<'w> {
    world: &'w dyn World,
    file: FileId,
    path: String,
    /// `None` where only the facts are known.
    text: Option<Arc<str>>,
    facts: Arc<Facts>,
    is_new: bool,
}

impl<'w> Overlay<'w> {
    /// `world` as it was when the file at `path` had these facts, and this text if it is known.
    pub fn new(world: &'w dyn World, path: &str, facts: Arc<Facts>, text: Option<Arc<str>>) -> Self {
        let present = world.find(path);
        // No world is so large that its last number is taken.
        let file = present.unwrap_or(FileId(u32::MAX));
        Self { world, file, path: path.to_owned(), text, facts, is_new: present.is_none() }
    }

    /// The file that is as it was.
    pub fn file(&self) -> FileId {
        self.file
    }

    /// The present text of a file, be it the one that is as it was.
    pub fn present_text(&self, path: &str) -> Option<Arc<str>> {
        self.world.text(self.world.find(path)?)
    }

    /// Takes the file into a list that is sorted by path, where it belongs there.
    fn with_file(&self, mut files: Vec<FileId>, belongs: bool) -> Vec<FileId> {
        let at = files.binary_search_by(|file| self.path(*file).cmp(&self.path));
        match (at, belongs) {
            (Err(at), true) => files.insert(at, self.file),
            (Ok(at), false) => drop(files.remove(at)),
            _ => {}
        }
        files
    }

    fn has(&self, name: &str) -> bool {
        match &self.text {
            Some(text) => words(name).all(|word| words(text).any(|other| other == word)),
            // Unknown, hence perhaps.
            None => true,
        }
    }
}

impl World for Overlay<'_> {
    fn find(&self, path: &str) -> Option<FileId> {
        if path == self.path { Some(self.file) } else { self.world.find(path) }
    }

    fn path(&self, file: FileId) -> &str {
        if file == self.file { &self.path } else { self.world.path(file) }
    }

    fn files(&self) -> Vec<FileId> {
        self.with_file(self.world.files(), true)
    }

    fn directory(&self, path: &str) -> Vec<FileId> {
        let files = self.world.directory(path);
        if self.is_new { self.with_file(files, parent(&self.path) == path) } else { files }
    }

    fn named(&self, basename: &str) -> Vec<FileId> {
        let files = self.world.named(basename);
        if self.is_new { self.with_file(files, base(&self.path) == basename) } else { files }
    }

    fn containing(&self, name: &str) -> Vec<FileId> {
        self.with_file(self.world.containing(name), self.has(name))
    }

    fn text(&self, file: FileId) -> Option<Arc<str>> {
        if file == self.file { self.text.clone() } else { self.world.text(file) }
    }

    fn facts(&self, file: FileId) -> Option<Arc<Facts>> {
        if file == self.file { Some(Arc::clone(&self.facts)) } else { self.world.facts(file) }
    }

    fn prepare(&self, files: &[FileId]) {
        let others: Vec<FileId> = files.iter().copied().filter(|file| *file != self.file).collect();
        self.world.prepare(&others);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language;
    use crate::world::MemoryWorld;

    fn overlay<'w>(world: &'w MemoryWorld, path: &str, text: &str) -> Overlay<'w> {
        Overlay::new(world, path, Arc::new(language::facts(path, text)), Some(text.into()))
    }

    #[test]
    fn a_file_is_as_it_was() {
        let world = MemoryWorld::new([("a.txt", "new"), ("b.txt", "new")]);
        let before = overlay(&world, "a.txt", "old");
        let a = before.find("a.txt").unwrap();
        assert_eq!(before.containing("old"), [a]);
        assert_eq!(before.containing("new"), [world.find("b.txt").unwrap()]);
        assert_eq!(before.text(a).as_deref(), Some("old"));
        assert_eq!(before.files().len(), 2);
    }

    #[test]
    fn a_file_that_is_gone_is_there_again() {
        let world = MemoryWorld::new([("d/b.txt", "x"), ("d/c.txt", "x")]);
        let before = overlay(&world, "d/bb.txt", "x");
        let paths =
            |files: Vec<FileId>| files.iter().map(|file| before.path(*file).to_owned()).collect::<Vec<_>>();
        assert_eq!(paths(before.files()), ["d/b.txt", "d/bb.txt", "d/c.txt"]);
        assert_eq!(paths(before.directory("d")), ["d/b.txt", "d/bb.txt", "d/c.txt"]);
        assert_eq!(paths(before.named("bb.txt")), ["d/bb.txt"]);
        assert_eq!(paths(before.containing("x")), ["d/b.txt", "d/bb.txt", "d/c.txt"]);
        assert!(before.directory("").is_empty());
    }
}
