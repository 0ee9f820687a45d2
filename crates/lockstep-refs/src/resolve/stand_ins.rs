//! Functions that go by another name because a variable holds them: `const make = Type.create`. Whoever calls the variable calls the
//! function; but when the function goes, it is the variable that misses it.

use super::Symbol;
use super::names::{Entity, Mode};
use super::search::{Search, last};
use super::types::Type;
use crate::facts::{DefinitionKind, Role, Shape, Use};
use crate::reference::Certainty;
use crate::world::FileId;

/// A name that stands in more files than this says nothing.
const MAX_FILES: usize = 1000;

impl Search<'_, '_> {
    /// The variables of a file that hold something wanted which the file calls by `word`.
    pub(super) fn take_stand_ins(&mut self, file: FileId, word: &str, queue: &mut Vec<Box<str>>) {
        let Some(view) = self.resolver.view(file) else { return };
        for (at, definition) in (0_u32..).zip(&view.facts.definitions) {
            let named = match &definition.gives {
                Some(Shape::Name(name)) => last(name) == word,
                Some(Shape::Member(_, name)) => **name == *word,
                _ => false,
            };
            if !named || definition.kind != DefinitionKind::Value {
                continue;
            }
            let symbol = Symbol { file, at };
            let held = self.resolver.value(symbol, None);
            let wanted = held.iter().find_map(|it| match it {
                Type::Symbol(held, _) => self.wanted.get(held).copied(),
                _ => None,
            });
            let is_called = |at: &usize| self.target.symbols.get(*at).is_some_and(|it| it.arity.is_some());
            if let Some(wanted) = wanted.filter(is_called) {
                self.stand_ins.insert(symbol, wanted);
                let mut names = vec![definition.name.clone()];
                let own = view.facts.imports.iter().filter(|it| it.module.is_empty() && it.reexport);
                let handed = own.flat_map(|it| &it.names).filter(|it| it.name == definition.name);
                names.extend(handed.map(|it| it.local.clone()));
                names.retain(|name| self.resolver.world.containing(name).len() <= MAX_FILES);
                queue.extend(names);
            }
        }
    }

    /// A call of a variable that holds something wanted.
    pub(super) fn calls_stand_in(&mut self, file: FileId, it: &Use, symbols: &[Symbol]) {
        let held = symbols.iter().find_map(|symbol| self.stand_ins.get(symbol).copied());
        if let Some(at) = held.filter(|_| it.role == Role::Call) {
            self.keep_use(file, &Use { role: Role::Covered, ..it.clone() }, at, Certainty::Resolved, None);
        }
    }

    /// The same, of a variable that is named behind what it belongs to.
    pub(super) fn calls_stand_in_of(&mut self, file: FileId, it: &Use, of: &[Type]) {
        if self.stand_ins.is_empty() {
            return;
        }
        for one in of {
            let symbols: Vec<Symbol> = match one {
                Type::Module(module) => {
                    let hits = self.resolver.exported(module, &it.name, Mode::Named).into_iter();
                    hits.filter_map(|hit| match hit.entity {
                        Entity::Symbol(symbol) => Some(symbol),
                        _ => None,
                    })
                    .collect()
                }
                Type::Symbol(owner, _) => self.resolver.members(*owner, &it.name).symbols,
                _ => continue,
            };
            self.calls_stand_in(file, it, &symbols);
        }
    }
}
