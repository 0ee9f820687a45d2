//! The world as the map resolves it: the files in its scope, each other file by its interface only, and every question
//! remembered.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, PoisonError, RwLock};

use lockstep_refs::facts::Facts;
use lockstep_refs::lazy_array::LazyArray;
use lockstep_refs::memo::Memo;
use lockstep_refs::world::{FileId, World, words};

use crate::interface::public_facts;
use crate::query::{ResolutionQuery, word};

/// The words of a file's exports; see [`exported_words`](crate::interface::exported_words).
pub(crate) trait ExportedWords: Sync {
    /// Returns true if the entry at this place exports the word.
    fn has(&self, entry: usize, word: u32) -> bool;
}

/// The files in scope, as others see them.
pub(crate) struct ScopeView<'w> {
    world: &'w (dyn World + Sync),
    /// The entry that each file of the world is; [`NONE`] for those out of scope.
    entries: Vec<u32>,
    offers: &'w dyn ExportedWords,
    interfaces: LazyArray<Option<Interface>>,
    /// The files that export a name: every file queries the same few.
    offering: RwLock<HashMap<Box<str>, Arc<[FileId]>>>,
}

const NONE: u32 = u32::MAX;

struct Interface {
    facts: Arc<Facts>,
    /// The positions of its definitions, sorted by the hash of their names.
    by_name: Box<[(u32, u32)]>,
    /// The number of the question for it.
    question: u32,
}

impl Interface {
    fn new(facts: &Facts, path: &str) -> Self {
        let facts = public_facts(facts);
        let numbered = (0_u32..).zip(&facts.definitions);
        let mut by_name: Vec<(u32, u32)> =
            numbered.map(|(at, numbered)| (word(&numbered.name), at)).collect();
        by_name.sort_unstable();
        let question = ResolutionQuery::Interface(path).number();
        Self { facts: Arc::new(facts), by_name: by_name.into(), question }
    }

    /// Returns the positions of the definitions with a name, in the order of the text.
    fn named(&self, name: &str) -> Vec<u32> {
        let wanted = word(name);
        let first = self.by_name.partition_point(|(known, _)| *known < wanted);
        let same = self.by_name.iter().skip(first).take_while(|(known, _)| *known == wanted);
        let is_named = |at: &u32| {
            self.facts.definitions.get(*at as usize).is_some_and(|definitions| *definitions.name == *name)
        };
        same.map(|(_, at)| *at).filter(is_named).collect()
    }
}

impl<'w> ScopeView<'w> {
    /// These files of a world, in the order of the entries.
    pub(crate) fn new(
        world: &'w (dyn World + Sync),
        files: &[(FileId, u64)],
        offers: &'w dyn ExportedWords,
    ) -> Self {
        let count = files.iter().map(|(file, _)| file.0 as usize + 1).max().unwrap_or(0);
        let mut entries = vec![NONE; count];
        for (entry, (file, _)) in (0_u32..).zip(files) {
            entries[file.0 as usize] = entry;
        }
        Self { world, entries, offers, interfaces: LazyArray::new(count), offering: RwLock::default() }
    }

    pub(crate) fn entry(&self, file: FileId) -> Option<u32> {
        self.entries.get(file.0 as usize).copied().filter(|entry| *entry != NONE)
    }

    fn only_entries(&self, mut files: Vec<FileId>) -> Vec<FileId> {
        files.retain(|file| self.entry(*file).is_some());
        files
    }

    /// Returns the files that export something with all words of a name.
    fn offering(&self, name: &str, wanted: &[u32]) -> Arc<[FileId]> {
        if let Some(files) = self.offering.read().unwrap_or_else(PoisonError::into_inner).get(name) {
            return Arc::clone(files);
        }
        let offers = |file: &FileId| {
            let entry = self.entry(*file);
            entry.is_some_and(|entry| wanted.iter().all(|word| self.offers.has(entry as usize, *word)))
        };
        let files: Arc<[FileId]> = self.world.containing(name).into_iter().filter(offers).collect();
        let mut offering = self.offering.write().unwrap_or_else(PoisonError::into_inner);
        offering.insert(name.into(), Arc::clone(&files));
        files
    }

    fn interface(&self, file: FileId) -> Option<&Interface> {
        let interface = self.interfaces.get(file.0 as usize)?;
        let compute = || {
            let facts = self.world.parse_facts_uncached(file)?;
            Some(Interface::new(&facts, self.world.path(file)))
        };
        interface.get_or_init(compute).as_ref()
    }
}

/// The terrain for the resolution of one file.
pub(crate) struct RecordingSnapshot<'t> {
    terrain: &'t ScopeView<'t>,
    own: FileId,
    text: Option<Arc<str>>,
    facts: Option<Arc<Facts>>,
    asked: RefCell<RecordedQueries>,
    memo: Memo,
}

#[derive(Debug, Default)]
pub(crate) struct RecordedQueries {
    pub(crate) questions: HashSet<u32>,
    /// The other files whose text was read.
    pub(crate) texts: HashSet<FileId>,
}

impl<'t> RecordingSnapshot<'t> {
    pub(crate) fn new(
        terrain: &'t ScopeView<'t>,
        own: FileId,
        text: Option<Arc<str>>,
        facts: Option<Arc<Facts>>,
    ) -> Self {
        Self { terrain, own, text, facts, asked: RefCell::default(), memo: Memo::default() }
    }

    /// Returns the queries recorded so far.
    pub(crate) fn into_asked(self) -> RecordedQueries {
        self.asked.into_inner()
    }

    fn note(&self, question: ResolutionQuery<'_>) {
        self.with(|asked| {
            asked.questions.insert(question.number());
        });
    }

    fn interface(&self, file: FileId) -> Option<&Interface> {
        self.terrain.entry(file)?;
        let interface = self.terrain.interface(file);
        let question = interface.map_or_else(
            || ResolutionQuery::Interface(self.path(file)).number(),
            |interface| interface.question,
        );
        self.with(|asked| {
            asked.questions.insert(question);
        });
        interface
    }

    fn with(&self, note: impl FnOnce(&mut RecordedQueries)) {
        note(&mut self.asked.borrow_mut());
    }
}

impl World for RecordingSnapshot<'_> {
    fn find(&self, path: &str) -> Option<FileId> {
        self.note(ResolutionQuery::Path(path));
        self.terrain.world.find(path).filter(|file| self.terrain.entry(*file).is_some())
    }

    fn path(&self, file: FileId) -> &str {
        self.terrain.world.path(file)
    }

    fn files(&self) -> Vec<FileId> {
        self.note(ResolutionQuery::Files);
        self.terrain.only_entries(self.terrain.world.files())
    }

    fn directory(&self, path: &str) -> Vec<FileId> {
        self.note(ResolutionQuery::Directory(path));
        self.terrain.only_entries(self.terrain.world.directory(path))
    }

    fn named(&self, basename: &str) -> Vec<FileId> {
        self.note(ResolutionQuery::Named(basename));
        self.terrain.only_entries(self.terrain.world.named(basename))
    }

    /// Returns the files that *export* something with these words in its name: only they can be the target of
    /// a name. Files that merely use the words are excluded, so that the result does not change with every
    /// edit.
    fn containing(&self, name: &str) -> Vec<FileId> {
        let wanted: Vec<u32> = words(name).map(word).collect();
        if wanted.is_empty() {
            return self.files();
        }
        wanted.iter().for_each(|word| self.note(ResolutionQuery::Word(*word)));
        self.terrain.offering(name, &wanted).to_vec()
    }

    fn text(&self, file: FileId) -> Option<Arc<str>> {
        if file == self.own {
            return self.text.clone();
        }
        self.terrain.entry(file)?;
        self.note(ResolutionQuery::Text(self.path(file)));
        self.with(|asked| {
            asked.texts.insert(file);
        });
        self.terrain.world.text(file)
    }

    fn facts(&self, file: FileId) -> Option<Arc<Facts>> {
        if file == self.own {
            return self.facts.clone();
        }
        self.interface(file).map(|interface| Arc::clone(&interface.facts))
    }

    fn package(&self, file: FileId) -> Option<Box<str>> {
        if file == self.own {
            return self.facts.as_ref()?.package.clone();
        }
        self.interface(file)?.facts.package.clone()
    }

    fn definitions_named(&self, file: FileId, name: &str) -> Vec<u32> {
        if file == self.own {
            let own = self.facts.iter().flat_map(|facts| (0_u32..).zip(&facts.definitions));
            return own.filter(|(_, candidate)| *candidate.name == *name).map(|(at, _)| at).collect();
        }
        self.interface(file).map(|interface| interface.named(name)).unwrap_or_default()
    }

    fn memo(&self) -> Option<&Memo> {
        Some(&self.memo)
    }
}
