//! The world as the map resolves it: the files in its scope, each other file by its interface only, and every question
//! remembered.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use lockstep_refs::facts::Facts;
use lockstep_refs::slots::Slots;
use lockstep_refs::world::{FileId, World, words};

use crate::interface::interface;
use crate::question::{Question, word};

/// Which words a file offers; see [`offered`](crate::interface::offered).
pub(crate) trait Offers: Sync {
    /// Whether the entry at this place offers the word.
    fn has(&self, entry: usize, word: u32) -> bool;
}

/// The files in scope, as others see them.
pub(crate) struct Terrain<'w> {
    world: &'w dyn World,
    /// The entry that each file of the world is; [`NONE`] for those out of scope.
    entries: Vec<u32>,
    offers: &'w dyn Offers,
    interfaces: Slots<Option<Arc<Facts>>>,
}

const NONE: u32 = u32::MAX;

impl<'w> Terrain<'w> {
    /// These files of a world, in the order of the entries.
    pub(crate) fn new(world: &'w dyn World, files: &[(FileId, u64)], offers: &'w dyn Offers) -> Self {
        let count = files.iter().map(|(file, _)| file.0 as usize + 1).max().unwrap_or(0);
        let mut entries = vec![NONE; count];
        for (entry, (file, _)) in (0_u32..).zip(files) {
            entries[file.0 as usize] = entry;
        }
        Self { world, entries, offers, interfaces: Slots::new(count) }
    }

    /// Which entry a file is.
    pub(crate) fn entry(&self, file: FileId) -> Option<u32> {
        self.entries.get(file.0 as usize).copied().filter(|entry| *entry != NONE)
    }

    fn only_entries(&self, mut files: Vec<FileId>) -> Vec<FileId> {
        files.retain(|file| self.entry(*file).is_some());
        files
    }

    fn interface(&self, file: FileId) -> Option<Arc<Facts>> {
        let kept = self.interfaces.get(file.0 as usize)?;
        let made = || self.world.facts_once(file).map(|facts| Arc::new(interface(&facts)));
        kept.get_or_init(made).clone()
    }
}

/// The terrain for the resolution of one file.
pub(crate) struct Asker<'t> {
    terrain: &'t Terrain<'t>,
    own: FileId,
    text: Option<Arc<str>>,
    facts: Option<Arc<Facts>>,
    asked: Mutex<Asked>,
}

/// What was asked.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    /// The numbers of the questions.
    pub(crate) questions: HashSet<u32>,
    /// The other files whose text was read.
    pub(crate) texts: HashSet<FileId>,
}

impl<'t> Asker<'t> {
    pub(crate) fn new(
        terrain: &'t Terrain<'t>,
        own: FileId,
        text: Option<Arc<str>>,
        facts: Option<Arc<Facts>>,
    ) -> Self {
        Self { terrain, own, text, facts, asked: Mutex::default() }
    }

    /// What was asked so far.
    pub(crate) fn into_asked(self) -> Asked {
        self.asked.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, question: Question<'_>) {
        self.with(|asked| {
            asked.questions.insert(question.number());
        });
    }

    fn with(&self, note: impl FnOnce(&mut Asked)) {
        note(&mut self.asked.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl World for Asker<'_> {
    fn find(&self, path: &str) -> Option<FileId> {
        self.note(Question::Path(path));
        self.terrain.world.find(path).filter(|file| self.terrain.entry(*file).is_some())
    }

    fn path(&self, file: FileId) -> &str {
        self.terrain.world.path(file)
    }

    fn files(&self) -> Vec<FileId> {
        self.note(Question::Files);
        self.terrain.only_entries(self.terrain.world.files())
    }

    fn directory(&self, path: &str) -> Vec<FileId> {
        self.note(Question::Directory(path));
        self.terrain.only_entries(self.terrain.world.directory(path))
    }

    fn named(&self, basename: &str) -> Vec<FileId> {
        self.note(Question::Named(basename));
        self.terrain.only_entries(self.terrain.world.named(basename))
    }

    /// The files that *offer* something with these words in its name: only they can be what a name means. Whoever merely uses
    /// the same words is none of the answer, so that it does not change with every edit somewhere.
    fn containing(&self, name: &str) -> Vec<FileId> {
        let wanted: Vec<u32> = words(name).map(word).collect();
        if wanted.is_empty() {
            return self.files();
        }
        wanted.iter().for_each(|word| self.note(Question::Word(*word)));
        let offers = |file: &FileId| {
            let entry = self.terrain.entry(*file);
            entry
                .is_some_and(|entry| wanted.iter().all(|word| self.terrain.offers.has(entry as usize, *word)))
        };
        let mut files = self.terrain.world.containing(name);
        files.retain(offers);
        files
    }

    fn text(&self, file: FileId) -> Option<Arc<str>> {
        if file == self.own {
            return self.text.clone();
        }
        self.terrain.entry(file)?;
        self.note(Question::Text(self.path(file)));
        self.with(|asked| {
            asked.texts.insert(file);
        });
        self.terrain.world.text(file)
    }

    fn facts(&self, file: FileId) -> Option<Arc<Facts>> {
        if file == self.own {
            return self.facts.clone();
        }
        self.terrain.entry(file)?;
        self.note(Question::Interface(self.path(file)));
        self.terrain.interface(file)
    }
}
