//! Functions that a variable holds under another name: `const make = Type.create`. A call of the variable
//! calls the function; but if the function is removed, the variable breaks.

use super::Symbol;
use super::names::{Entity, Mode};
use super::search::{Search, last};
use super::types::Type;
use crate::facts::{DefinitionKind, Role, Shape, Use};
use crate::limits::Limit;
use crate::reference::Certainty;
use crate::world::FileId;

/// A name that more files contain is not followed.
const MAX_FILES: usize = 1000;

impl Search<'_, '_> {
    /// Adds the variables of a file that hold something wanted which the file calls `word`.
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
            let value_types = self.resolver.value(symbol, None);
            let wanted = value_types.iter().find_map(|type_| match type_ {
                Type::Symbol(inner, _) => self.wanted.get(inner).copied(),
                _ => None,
            });
            let is_called =
                |at: &usize| self.target.symbols.get(*at).is_some_and(|symbols| symbols.arity.is_some());
            if let Some(wanted) = wanted.filter(is_called) {
                self.stand_ins.insert(symbol, wanted);
                let mut names = vec![definition.name.clone()];
                let own =
                    view.facts.imports.iter().filter(|import| import.module.is_empty() && import.reexport);
                let handed =
                    own.flat_map(|import| &import.names).filter(|imported| imported.name == definition.name);
                names.extend(handed.map(|imported| imported.local.clone()));
                names.retain(|name| {
                    let is_rare = self.resolver.world.containing(name).len() <= MAX_FILES;
                    if !is_rare {
                        Limit::Files.reach();
                    }
                    is_rare
                });
                queue.extend(names);
            }
        }
    }

    /// A call of a variable that holds something wanted.
    pub(super) fn calls_stand_in(&mut self, file: FileId, usage: &Use, symbols: &[Symbol]) {
        let stand_in = symbols.iter().find_map(|symbol| self.stand_ins.get(symbol).copied());
        if let Some(at) = stand_in.filter(|_| usage.role == Role::Call) {
            self.keep_use(file, &Use { role: Role::Covered, ..usage.clone() }, at, Certainty::Resolved, None);
        }
    }

    /// Checks a call of such a variable that is named after its owner.
    pub(super) fn calls_stand_in_of(&mut self, file: FileId, usage: &Use, of: &[Type]) {
        if self.stand_ins.is_empty() {
            return;
        }
        for one in of {
            let symbols: Vec<Symbol> = match one {
                Type::Module(module) => {
                    let hits = self.resolver.exported(module, &usage.name, Mode::Named).into_iter();
                    hits.filter_map(|hit| match hit.entity {
                        Entity::Symbol(symbol) => Some(symbol),
                        _ => None,
                    })
                    .collect()
                }
                Type::Symbol(owner, _) => self.resolver.members(*owner, &usage.name).symbols.to_vec(),
                _ => continue,
            };
            self.calls_stand_in(file, usage, &symbols);
        }
    }
}
