//! A world with replaced files: as they were when others were written against them, or as a change leaves
//! them.

use std::sync::Arc;

use foldhash::{HashMap, HashSet};

use crate::facts::{Declaration, Facts};
use crate::memo::Memo;
use crate::world::{FileId, World, base, named_in, parent, words};

/// Another world with replaced contents of some files. The files need not be in that world.
pub struct Overlay<'w> {
    world: &'w dyn World,
    layers: Vec<OverlayFile>,
    /// The positions of the layers by their files.
    files: HashMap<FileId, usize>,
    /// Files of the other world that do not exist here.
    hidden: HashSet<FileId>,
    memo: Memo,
}

/// One replaced file.
struct OverlayFile {
    file: FileId,
    path: String,
    /// `None` if only the facts are known.
    text: Option<Arc<str>>,
    facts: Arc<Facts>,
    is_new: bool,
}

impl<'w> Overlay<'w> {
    /// Returns `world` without replaced files.
    pub fn empty(world: &'w dyn World) -> Self {
        let memo = Memo::for_overlay(world);
        Self { world, layers: Vec::new(), files: HashMap::default(), hidden: HashSet::default(), memo }
    }

    /// Returns `world` with these facts for the file at `path`, and its text if it is known.
    pub fn new(world: &'w dyn World, path: &str, facts: Arc<Facts>, text: Option<Arc<str>>) -> Self {
        let mut overlay = Self::empty(world);
        overlay.add(path, facts, text);
        overlay
    }

    /// Adds a replaced file. Returns its id in this world.
    pub fn add(&mut self, path: &str, facts: Arc<Facts>, text: Option<Arc<str>>) -> FileId {
        let present = self.find(path);
        self.memo = Memo::for_overlay(self.world);
        // No world is large enough to use the last ids.
        let spare = || FileId(u32::MAX - u32::try_from(self.layers.len()).unwrap_or(u32::MAX));
        let file = present.unwrap_or_else(spare);
        self.files.insert(file, self.layers.len());
        self.layers.push(OverlayFile { file, path: path.to_owned(), text, facts, is_new: present.is_none() });
        file
    }

    /// Removes a file of the other world.
    pub fn hide(&mut self, path: &str) {
        if let Some(file) = self.world.find(path) {
            self.memo = Memo::for_overlay(self.world);
            self.hidden.insert(file);
        }
    }

    /// Returns the present text of a file, even if it is replaced here.
    pub fn present_text(&self, path: &str) -> Option<Arc<str>> {
        self.world.text(self.world.find(path)?)
    }

    fn layer(&self, file: FileId) -> Option<&OverlayFile> {
        self.layers.get(*self.files.get(&file)?)
    }

    /// Inserts a file into a list that is sorted by path if it `belongs` there; otherwise removes it.
    fn put(&self, files: &mut Vec<FileId>, layer: &OverlayFile, belongs: bool) {
        let at = files.binary_search_by(|file| self.path(*file).cmp(&layer.path));
        match (at, belongs) {
            (Err(at), true) => files.insert(at, layer.file),
            (Ok(at), false) => drop(files.remove(at)),
            _ => {}
        }
    }

    /// Adds the files that the world does not have, if they belong there.
    fn with_new(&self, files: Vec<FileId>, belongs: impl Fn(&str) -> bool) -> Vec<FileId> {
        let mut files = self.without_hidden(files);
        for layer in self.layers.iter().filter(|layer| layer.is_new) {
            self.put(&mut files, layer, belongs(&layer.path));
        }
        files
    }

    fn without_hidden(&self, mut files: Vec<FileId>) -> Vec<FileId> {
        if !self.hidden.is_empty() {
            files.retain(|file| !self.hidden.contains(file));
        }
        files
    }
}

impl OverlayFile {
    fn has(&self, name: &str) -> bool {
        match &self.text {
            Some(text) => {
                words(name).all(|word| text.contains(word) && words(text).any(|other| other == word))
            }
            // Unknown, hence possible.
            None => true,
        }
    }
}

impl World for Overlay<'_> {
    fn find(&self, path: &str) -> Option<FileId> {
        let layer = self.layers.iter().find(|layer| layer.path == path);
        layer
            .map(|layer| layer.file)
            .or_else(|| self.world.find(path).filter(|file| !self.hidden.contains(file)))
    }

    fn path(&self, file: FileId) -> &str {
        match self.layer(file) {
            Some(layer) => &layer.path,
            None => self.world.path(file),
        }
    }

    fn files(&self) -> Vec<FileId> {
        self.with_new(self.world.files(), |_| true)
    }

    fn directory(&self, path: &str) -> Vec<FileId> {
        self.with_new(self.world.directory(path), |new| parent(new) == path)
    }

    fn named(&self, basename: &str) -> Vec<FileId> {
        self.with_new(self.world.named(basename), |new| base(new) == basename)
    }

    fn containing(&self, name: &str) -> Vec<FileId> {
        let mut files = self.without_hidden(self.world.containing(name));
        for layer in &self.layers {
            self.put(&mut files, layer, layer.has(name));
        }
        files
    }

    fn text(&self, file: FileId) -> Option<Arc<str>> {
        match self.layer(file) {
            Some(layer) => layer.text.clone(),
            None => self.world.text(file),
        }
    }

    fn facts(&self, file: FileId) -> Option<Arc<Facts>> {
        match self.layer(file) {
            Some(layer) => Some(Arc::clone(&layer.facts)),
            None => self.world.facts(file),
        }
    }

    fn read_text_uncached(&self, file: FileId) -> Option<Arc<str>> {
        match self.layer(file) {
            Some(layer) => layer.text.clone(),
            None => self.world.read_text_uncached(file),
        }
    }

    fn parse_facts_uncached(&self, file: FileId) -> Option<Arc<Facts>> {
        match self.layer(file) {
            Some(layer) => Some(Arc::clone(&layer.facts)),
            None => self.world.parse_facts_uncached(file),
        }
    }

    fn package(&self, file: FileId) -> Option<Box<str>> {
        match self.layer(file) {
            Some(layer) => layer.facts.package.clone(),
            None => self.world.package(file),
        }
    }

    fn may_define(&self, file: FileId, name: &str) -> bool {
        self.files.contains_key(&file) || self.world.may_define(file, name)
    }

    fn declaring(&self, name: &str, declaration: Declaration) -> Vec<FileId> {
        let mut files = self.without_hidden(self.world.declaring(name, declaration));
        for layer in &self.layers {
            self.put(&mut files, layer, layer.facts.declares(declaration, name));
        }
        files
    }

    fn definitions_named(&self, file: FileId, name: &str) -> Vec<u32> {
        match self.layer(file) {
            Some(layer) => named_in(&layer.facts, name),
            None => self.world.definitions_named(file, name),
        }
    }

    fn prepare(&self, files: &[FileId]) {
        let others: Vec<FileId> =
            files.iter().copied().filter(|file| !self.files.contains_key(file)).collect();
        self.world.prepare(&others);
    }

    fn memo(&self) -> Option<&Memo> {
        Some(&self.memo)
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

    #[test]
    fn several_files_can_be_otherwise() {
        let world = MemoryWorld::new([("a.txt", "x"), ("c.txt", "x")]);
        let mut after = overlay(&world, "a.txt", "y");
        let facts = |path| Arc::new(language::facts(path, "y"));
        let d = after.add("d.txt", facts("d.txt"), Some("y".into()));
        let b = after.add("b.txt", facts("b.txt"), Some("y".into()));
        let a = world.find("a.txt").unwrap();
        assert_eq!(after.containing("y"), [a, b, d]);
        assert_eq!(after.files(), [a, b, world.find("c.txt").unwrap(), d]);
        assert_eq!((after.path(b), after.find("d.txt")), ("b.txt", Some(d)));
    }
}
