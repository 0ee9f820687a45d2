//! The interface to the files of a project for resolution.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::facts::{Declaration, Facts};
use crate::language;
use crate::memo::Memo;

/// A file of the world; meaningless outside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub u32);

/// The files in scope. Paths are relative to the root and separated by `/`; the root itself is the empty
/// path.
///
/// Answers are of one moment: later changes on disk are not visible.
pub trait World {
    fn find(&self, path: &str) -> Option<FileId>;

    fn path(&self, file: FileId) -> &str;

    /// All files, sorted by path.
    fn files(&self) -> Vec<FileId>;

    /// The files directly in a directory, sorted by path.
    fn directory(&self, path: &str) -> Vec<FileId>;

    /// The files with this basename, sorted by path.
    fn named(&self, basename: &str) -> Vec<FileId>;

    /// Returns the files that contain all [`words`] of `name`, sorted by path. There may be false positives,
    /// but never false negatives.
    fn containing(&self, name: &str) -> Vec<FileId>;

    /// Returns the text of a file. `None` if it is not text, too large or deleted.
    fn text(&self, file: FileId) -> Option<Arc<str>>;

    /// The facts of a file; `None` as for [`text`](Self::text).
    fn facts(&self, file: FileId) -> Option<Arc<Facts>>;

    /// Returns the text without caching it, for callers that read every file once.
    fn read_text_uncached(&self, file: FileId) -> Option<Arc<str>> {
        self.text(file)
    }

    /// The same facts, as [`read_text_uncached`](Self::read_text_uncached).
    fn parse_facts_uncached(&self, file: FileId) -> Option<Arc<Facts>> {
        self.facts(file)
    }

    /// The package that a file declares, as in [`Facts::package`].
    fn package(&self, file: FileId) -> Option<Box<str>> {
        self.facts(file)?.package.clone()
    }

    /// Returns false if no definition, import or implementation of a file contains the name. A world that stores facts can tell without
    /// reading all of them. It is true for a file that was not read everywhere: such a file may define any name.
    fn may_define(&self, _file: FileId, _name: &str) -> bool {
        true
    }

    /// Returns the files that may define a name, extend it, import it or implement it, sorted by path. Files that only use it are left out
    /// if that is known without reading their facts.
    fn defining(&self, name: &str) -> Vec<FileId> {
        let mut files = self.containing(name);
        files.retain(|file| self.may_define(*file, name));
        files
    }

    /// Returns the files that may declare a name, sorted by path. Others certainly do not, as far as they could be read.
    fn declaring(&self, name: &str, _declaration: Declaration) -> Vec<FileId> {
        self.defining(name)
    }

    /// Returns the positions of the definitions of a file that have a name, in the order of the text.
    fn definitions_named(&self, file: FileId, name: &str) -> Vec<u32> {
        if !self.may_define(file, name) {
            return Vec::new();
        }
        self.facts(file).map(|facts| named_in(&facts, name)).unwrap_or_default()
    }

    /// Announces that the facts of all these files will be needed, so that a world that has to parse them can
    /// do so in parallel.
    fn prepare(&self, _files: &[FileId]) {}

    /// The results that searches in this world share. Without a memo, each search begins with nothing.
    fn memo(&self) -> Option<&Memo> {
        None
    }
}

/// Returns the positions of the definitions with a name.
pub(crate) fn named_in(facts: &Facts, name: &str) -> Vec<u32> {
    let all = (0_u32..).zip(&facts.definitions);
    all.filter(|(_, definition)| *definition.name == *name).map(|(at, _)| at).collect()
}

/// Returns the words of a text: runs of letters, digits and `_`. Every character beyond ASCII counts as a
/// letter.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_ascii() && !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
}

/// A world in memory: for tests, and for contents that are not on disk.
#[derive(Debug, Clone, Default)]
pub struct MemoryWorld {
    files: Vec<(String, Arc<str>, Arc<Facts>)>,
    /// The files that contain each word, in the order of their paths.
    words: BTreeMap<Box<str>, Vec<FileId>>,
}

impl MemoryWorld {
    /// A world of these files: path and text.
    pub fn new<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let files: BTreeMap<&str, &str> = files.into_iter().collect();
        let files = files
            .into_iter()
            .map(|(path, text)| (path.to_owned(), Arc::from(text), Arc::new(language::facts(path, text))))
            .collect::<Vec<(String, Arc<str>, Arc<Facts>)>>();
        let mut index: BTreeMap<Box<str>, Vec<FileId>> = BTreeMap::new();
        for (id, (_, text, _)) in (0_u32..).map(FileId).zip(&files) {
            let unique: BTreeSet<&str> = words(text).collect();
            for word in unique {
                index.entry(word.into()).or_default().push(id);
            }
        }
        Self { files, words: index }
    }

    fn select(&self, wanted: impl Fn(&str) -> bool) -> Vec<FileId> {
        let ids = (0_u32..).map(FileId);
        ids.zip(&self.files).filter(|(_, (path, ..))| wanted(path)).map(|(id, _)| id).collect()
    }
}

impl World for MemoryWorld {
    fn find(&self, path: &str) -> Option<FileId> {
        let at = self.files.binary_search_by(|(known, ..)| known.as_str().cmp(path)).ok()?;
        u32::try_from(at).ok().map(FileId)
    }

    fn path(&self, file: FileId) -> &str {
        &self.files[file.0 as usize].0
    }

    fn files(&self) -> Vec<FileId> {
        self.select(|_| true)
    }

    fn directory(&self, path: &str) -> Vec<FileId> {
        self.select(|file| parent(file) == path)
    }

    fn named(&self, basename: &str) -> Vec<FileId> {
        self.select(|path| base(path) == basename)
    }

    fn containing(&self, name: &str) -> Vec<FileId> {
        let mut words = words(name);
        let holding = |word: &str| self.words.get(word).map_or(&[][..], Vec::as_slice);
        let Some(first) = words.next() else { return self.files() };
        let first = holding(first).to_vec();
        words.fold(first, |mut files, word| {
            let others = holding(word);
            files.retain(|file| others.binary_search(file).is_ok());
            files
        })
    }

    fn text(&self, file: FileId) -> Option<Arc<str>> {
        Some(Arc::clone(&self.files.get(file.0 as usize)?.1))
    }

    fn facts(&self, file: FileId) -> Option<Arc<Facts>> {
        Some(Arc::clone(&self.files.get(file.0 as usize)?.2))
    }
}

/// The directory of a path; empty for a file at the root.
pub fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

/// The last part of a path.
pub fn base(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, base)| base)
}

/// A path from a directory: `.` and `..` followed, `None` if it leads out of the root.
pub fn join(directory: &str, relative: &str) -> Option<String> {
    let mut parts: Vec<&str> = directory.split('/').filter(|part| !part.is_empty()).collect();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_joined_inside_the_root() {
        assert_eq!(join("a/b", "../c.ts").as_deref(), Some("a/c.ts"));
        assert_eq!(join("a", "./b/./c").as_deref(), Some("a/b/c"));
        assert_eq!(join("a", "../../c"), None);
        assert_eq!(join("", "x").as_deref(), Some("x"));
    }

    #[test]
    fn words_are_whole() {
        assert_eq!(words("plan-strategy: öl_2 $x").collect::<Vec<_>>(), ["plan", "strategy", "öl_2", "x"]);
    }

    #[test]
    fn a_world_in_memory_answers_by_path_and_word() {
        let world = MemoryWorld::new([("b/x.txt", "one two"), ("a.txt", "two three")]);
        let id = world.find("b/x.txt").unwrap();
        assert_eq!(world.path(id), "b/x.txt");
        assert_eq!(world.containing("two").len(), 2);
        assert_eq!(world.containing("one-two"), [id]);
        assert_eq!(world.containing("tw"), []);
        assert_eq!(world.directory("b"), [id]);
        assert_eq!(world.named("x.txt"), [id]);
    }
}
