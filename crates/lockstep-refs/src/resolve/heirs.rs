//! Types that extend a wanted one: when it vanishes, so does what they have from it, and whoever uses that never names it.

use std::collections::{BTreeSet, HashSet};

use super::names::{Entity, Mode};
use super::search::{Search, is_member, last};
use super::types::{Place, Type};
use super::{Symbol, path_of};
use crate::facts::{Definition, DefinitionKind, Role, Use};
use crate::reference::Certainty;
use crate::world::FileId;

/// More heirs than this are not followed.
const MAX_HEIRS: usize = 64;
/// Names of members that more files have than this say nothing.
const MAX_FILES: usize = 400;

/// The wanted types that others extend.
#[derive(Debug, Default)]
pub(super) struct Extended {
    /// Each with its position in the target.
    types: Vec<(Symbol, usize)>,
    /// What their heirs are called.
    heirs: BTreeSet<Box<str>>,
    /// What their members are called, and those of what they extend themselves.
    members: HashSet<Box<str>>,
}

impl Search<'_, '_> {
    /// Finds who extends the wanted types, and the files that may use what those have from them.
    pub(super) fn take_heirs(&mut self) {
        let is_type = |it: &Definition| {
            matches!(it.kind, DefinitionKind::Type | DefinitionKind::Interface) && it.gives.is_none()
        };
        let mut types: Vec<(Symbol, usize)> = self.wanted.iter().map(|(symbol, at)| (*symbol, *at)).collect();
        types.retain(|(_, at)| self.target.symbols.get(*at).is_some_and(is_type));
        types.sort_unstable_by_key(|(_, at)| *at);
        for (symbol, at) in types {
            let Some(name) = self.target.symbols.get(at).map(|it| it.name.clone()) else { continue };
            let heirs = self.heirs_of(&name);
            if heirs.is_empty() {
                continue;
            }
            self.extended.types.push((symbol, at));
            self.extended.heirs.extend(heirs);
            self.members_of(symbol, &mut Vec::new());
        }
        let mut words: Vec<Box<str>> = self.extended.members.iter().cloned().collect();
        words.extend(self.extended.heirs.iter().cloned());
        for word in words {
            if self.resolver.world.containing(&word).len() <= MAX_FILES {
                self.take_files(&word);
            }
        }
    }

    /// The names of the types that extend one, and of those that extend them.
    fn heirs_of(&mut self, name: &str) -> BTreeSet<Box<str>> {
        let mut heirs = BTreeSet::new();
        let mut queue: Vec<Box<str>> = vec![name.into()];
        while let Some(base) = queue.pop() {
            for file in self.take_files(&base) {
                let Some(view) = self.resolver.view(file) else { continue };
                for definition in &view.facts.definitions {
                    let extends = definition.extends.iter().any(|it| *last(it) == *base);
                    if extends && heirs.len() < MAX_HEIRS && heirs.insert(definition.name.clone()) {
                        queue.push(definition.name.clone());
                    }
                }
            }
        }
        heirs
    }

    fn members_of(&mut self, class: Symbol, seen: &mut Vec<Symbol>) {
        if seen.contains(&class) || seen.len() > MAX_HEIRS {
            return;
        }
        seen.push(class);
        let Some(view) = self.resolver.view(class.file) else { return };
        let Some(path) = view.definition(class.at).map(path_of) else { return };
        let inside = |it: &&Definition| it.container.as_deref() == Some(&*path) && is_member(it);
        self.extended.members.extend(view.facts.definitions.iter().filter(inside).map(|it| it.name.clone()));
        for base in self.resolver.bases(class, &mut false) {
            self.members_of(base, seen);
        }
    }

    /// A use of what a value only has because its type extends a wanted one.
    pub(super) fn inherits(&mut self, file: FileId, it: &Use) {
        let place = Place { file, within: it.within, this: None };
        let (classes, name): (Vec<Symbol>, &str) = match &it.of {
            Some(of) if self.extended.members.contains(&it.name) => {
                (self.resolver.types(&place, of).iter().filter_map(class_of).collect(), &it.name)
            }
            // A class that has no constructor of its own is built by that of what it extends.
            None if it.role == Role::Call
                && it.arguments != Some(0)
                && self.extended.heirs.contains(&it.name) =>
            {
                let hits = self.resolver.lookup(file, &it.name, Mode::Inside);
                let symbols = hits.iter().filter_map(|hit| match hit.entity {
                    Entity::Symbol(symbol) => Some(symbol),
                    _ => None,
                });
                (symbols.collect(), "constructor")
            }
            _ => return,
        };
        for (gone, at) in self.extended.types.clone() {
            let lost = classes.iter().find_map(|class| self.resolver.lost(*class, name, gone));
            if let Some(role) = lost {
                self.keep_use(file, &Use { role, ..it.clone() }, at, Certainty::Resolved, None);
            }
        }
    }
}

fn class_of(value: &Type) -> Option<Symbol> {
    match value {
        Type::Instance(class) | Type::Symbol(class, _) => Some(*class),
        _ => None,
    }
}
