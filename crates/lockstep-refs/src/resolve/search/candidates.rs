//! The files that may reference a searched definition.

use std::collections::{BTreeMap, BTreeSet};

use super::super::names::Mode;
use super::{MAX_SUBTYPES, Search, is_member, last};
use crate::facts::Definition;
use crate::limits::Limit;
use crate::world::FileId;

impl Search<'_, '_> {
    /// Collects the names to search for and the files that contain one of them.
    pub(super) fn gather(&mut self) {
        let mut queue: Vec<Box<str>> = Vec::new();
        let constructors = self.resolver.scheme.constructors();
        for definition in self.target.symbols {
            queue.push(definition.name.clone());
            if constructors.contains(&&*definition.name)
                && let Some(class) = &definition.container
            {
                queue.push(last(class).into());
            }
        }
        queue.extend(self.needing());
        let handing = self.handing_files();
        if !self.target.own_file && !handing.is_empty() {
            for file in &handing {
                self.module_words.extend(self.module_words_of(*file));
            }
            self.take_importers(handing, &mut queue);
        }
        if self.resolver.scheme.is_structural() {
            self.take_users_of_types();
            self.take_heirs();
        }
        while let Some(word) = queue.pop() {
            if self.words.insert(word.clone()) {
                for file in self.take_files(&word) {
                    self.take_stand_ins(file, &word, &mut queue);
                    self.aliases(file, &word, &mut queue);
                }
            }
        }
    }

    pub(super) fn module_words_of(&self, file: FileId) -> Vec<String> {
        self.resolver.scheme.module_words(self.resolver.world, file)
    }

    /// Returns the files of the target that others may import without a searched name.
    pub(super) fn handing_files(&self) -> Vec<FileId> {
        if self.target.module {
            return vec![self.target.file];
        }
        let homes: BTreeSet<FileId> = self.homes.iter().copied().collect();
        homes.into_iter().filter(|file| self.hands_on_default(*file)).collect()
    }

    /// Returns true if a file exports something wanted as its default.
    pub(super) fn hands_on_default(&self, file: FileId) -> bool {
        let hits = self.resolver.lookup(file, "default", Mode::Named);
        hits.iter().any(|hit| self.is_wanted(&hit.entity))
    }

    /// Adds the files that may import one of these, and those that may import a file that re-exports its
    /// default. They need not contain a searched name.
    pub(super) fn take_importers(&mut self, mut handing: Vec<FileId>, queue: &mut Vec<Box<str>>) {
        let mut at = 0;
        while let Some(file) = handing.get(at).copied() {
            at += 1;
            for word in self.module_words_of(file) {
                let world = self.resolver.world;
                let mut importers = world.containing(&word);
                importers.retain(|importer| self.resolver.scheme.may_import(world, *importer, file, &word));
                for importer in self.take_readable(importers) {
                    self.aliases(importer, "default", queue);
                    if !handing.contains(&importer) && self.hands_on_default(importer) {
                        handing.push(importer);
                    }
                }
            }
        }
    }

    /// In structural languages, adds the files that name the type of a wanted member, or a subtype: they may
    /// pass its values on without naming the member.
    pub(super) fn take_users_of_types(&mut self) {
        let members =
            self.target.symbols.iter().zip(&self.homes).filter(|(definition, _)| is_member(definition));
        let mut queues: BTreeMap<FileId, Vec<Box<str>>> = BTreeMap::new();
        for (member, file) in members {
            queues
                .entry(*file)
                .or_default()
                .extend(member.container.as_deref().map(|container| last(container).into()));
        }
        let mut seen = BTreeSet::new();
        for queue in queues.into_values() {
            self.take_users_of_type(queue, &mut seen);
        }
    }

    pub(super) fn take_users_of_type(&mut self, mut queue: Vec<Box<str>>, seen: &mut BTreeSet<Box<str>>) {
        let most = seen.len() + MAX_SUBTYPES;
        while let Some(class) = queue.pop() {
            if seen.contains(&class) {
                continue;
            }
            if seen.len() >= most {
                Limit::Subtypes.reach();
                break;
            }
            seen.insert(class.clone());
            for file in self.take_files(&class) {
                let Some(view) = self.resolver.view(file) else { continue };
                for definition in &view.facts.definitions {
                    if definition.extends.iter().any(|base| *last(base) == *class) {
                        queue.push(definition.name.clone());
                    }
                }
            }
        }
    }

    /// Returns the candidates for a word that have a supported language.
    pub(in crate::resolve) fn take_files(&mut self, word: &str) -> Vec<FileId> {
        self.take_readable(self.resolver.world.containing(word))
    }

    /// Adds the files that have a supported language.
    pub(super) fn take_readable(&mut self, mut mine: Vec<FileId>) -> Vec<FileId> {
        mine.retain(|file| self.resolver.speaks(*file));
        if self.target.own_file {
            mine.retain(|file| *file == self.target.file);
        }
        self.resolver.world.prepare(&mine);
        mine.retain(|file| self.resolver.view(*file).is_some());
        self.files.extend(&mine);
        mine
    }

    /// Adds the other names that a file gives to the meaning of `word`, as far as others can see them.
    pub(super) fn aliases(&self, file: FileId, word: &str, queue: &mut Vec<Box<str>>) {
        let Some(view) = self.resolver.view(file) else { return };
        for import in &view.facts.imports {
            for name in import
                .names
                .iter()
                .filter(|imported| *imported.name == *word && imported.local != imported.name)
            {
                let wanted = |mode| {
                    let hits = self.resolver.lookup(file, &name.local, mode);
                    hits.iter().any(|hit| self.is_wanted(&hit.entity))
                };
                if wanted(Mode::Named) {
                    queue.push(name.local.clone());
                } else if wanted(Mode::Inside) {
                    // It may re-export the import under yet another name.
                    let own = view
                        .facts
                        .imports
                        .iter()
                        .filter(|candidate| candidate.module.is_empty() && candidate.reexport);
                    let handed = own
                        .flat_map(|candidate| &candidate.names)
                        .filter(|imported| imported.name == name.local);
                    queue.extend(handed.map(|imported| imported.local.clone()));
                }
            }
        }
        // A subclass is called by its own name, but its constructor may be that of its base.
        let is_built =
            |definition: &Definition| self.resolver.scheme.constructors().contains(&&*definition.name);
        if !self.needed.is_empty() || self.target.symbols.iter().any(is_built) {
            for definition in &view.facts.definitions {
                if definition.extends.iter().any(|base| last(base) == word) {
                    queue.push(definition.name.clone());
                }
            }
        }
    }
}
