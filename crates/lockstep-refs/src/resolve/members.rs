//! Members of types: their own, and those that they have from others.

use super::names::{Entity, Mode, Resolver};
use super::types::{Place, Type};
use super::{Module, Symbol, path_of};
use crate::facts::{Definition, DefinitionKind, Role};

/// What a member was found to be.
#[derive(Debug, Default)]
pub(crate) struct Members {
    /// The definitions, of the nearest type that has one.
    pub(crate) symbols: Vec<Symbol>,
    /// Whether some base could not be looked into.
    pub(crate) open: bool,
}

impl Resolver<'_> {
    /// A member of a type: its own, else that of what it extends.
    pub(crate) fn members(&self, class: Symbol, name: &str) -> Members {
        let mut members = Members::default();
        self.collect(class, name, &mut Vec::new(), &mut members);
        members
    }

    /// A member of what a type extends.
    pub(crate) fn inherited(&self, class: Symbol, name: &str) -> Members {
        let mut members = Members::default();
        let mut seen = vec![class];
        for base in self.bases(class, &mut members.open) {
            self.collect(base, name, &mut seen, &mut members);
            if !members.symbols.is_empty() {
                break;
            }
        }
        members
    }

    fn collect(&self, class: Symbol, name: &str, seen: &mut Vec<Symbol>, members: &mut Members) {
        if seen.contains(&class) || seen.len() > 64 {
            return;
        }
        seen.push(class);
        let Some(view) = self.view(class.file) else { return };
        let Some(definition) = view.definition(class.at) else { return };
        let own = view.at(&format!("{}.{name}", path_of(definition)));
        if !own.is_empty() {
            members.symbols.extend(own.iter().map(|at| Symbol { file: class.file, at: *at }));
            return;
        }
        if definition.kind == DefinitionKind::Value && !definition.extends.is_empty() {
            return self.collect_spread(class, definition, name, seen, members);
        }
        for base in self.bases(class, &mut members.open) {
            self.collect(base, name, seen, members);
            if !members.symbols.is_empty() {
                return;
            }
        }
        for module in self.base_modules(class) {
            let hits = self.exported(&module, name, Mode::Named);
            members.symbols.extend(hits.into_iter().filter_map(|hit| match hit.entity {
                Entity::Symbol(symbol) => Some(symbol),
                Entity::Module(_) | Entity::Outside => None,
            }));
        }
    }

    /// The modules whose exports a type has as its members: `interface Api extends Methods`, where those are `typeof methods`.
    fn base_modules(&self, class: Symbol) -> Vec<Module> {
        let Some(definition) = self.definition(class).filter(|_| self.scheme.is_structural()) else {
            return Vec::new();
        };
        let place = Place { file: class.file, within: Some(class.at), this: None };
        let bases = definition.extends.iter().flat_map(|base| self.instances(&place, base));
        bases
            .filter_map(|one| match one {
                Type::Module(module) => Some(module),
                _ => None,
            })
            .collect()
    }

    /// A member that an object has because it holds all of another: `{ ...other }`.
    fn collect_spread(
        &self,
        object: Symbol,
        definition: &Definition,
        name: &str,
        seen: &mut Vec<Symbol>,
        members: &mut Members,
    ) {
        let place = Place { file: object.file, within: Some(object.at), this: None };
        for other in &definition.extends {
            for one in self.named(&place, other) {
                match one {
                    Type::Module(module) => {
                        for hit in self.exported(&module, name, Mode::Named) {
                            match hit.entity {
                                Entity::Symbol(symbol) => members.symbols.push(symbol),
                                Entity::Module(_) | Entity::Outside => members.open = true,
                            }
                        }
                    }
                    Type::Symbol(other, _) | Type::Instance(other) => {
                        self.collect(other, name, seen, members);
                    }
                    _ => members.open = true,
                }
            }
            if !members.symbols.is_empty() {
                return;
            }
        }
    }

    /// Whether a type has a member only by extending, or by what it extends extending, one that is gone.
    pub(crate) fn lost(&self, class: Symbol, name: &str, gone: Symbol) -> Option<Role> {
        self.lost_by(class, name, gone, &mut Vec::new()).flatten()
    }

    /// `None` where the type has no such member; otherwise how it is lost, if it is.
    fn lost_by(
        &self,
        class: Symbol,
        name: &str,
        gone: Symbol,
        seen: &mut Vec<Symbol>,
    ) -> Option<Option<Role>> {
        if seen.contains(&class) || seen.len() > 64 {
            return None;
        }
        seen.push(class);
        let view = self.view(class.file)?;
        let definition = view.definition(class.at)?;
        if !view.at(&format!("{}.{name}", path_of(definition))).is_empty() {
            return Some(None);
        }
        for base in self.bases(class, &mut false) {
            if base != gone {
                if let Some(found) = self.lost_by(base, name, gone, seen) {
                    return Some(found);
                }
            } else if !self.members(gone, name).symbols.is_empty() {
                let beside = class.file == gone.file;
                return Some(Some(if beside { Role::InheritedBeside } else { Role::Inherited }));
            }
        }
        None
    }

    /// What a type extends. `open` where some of it is not the project's, or not known.
    pub(crate) fn bases(&self, class: Symbol, open: &mut bool) -> Vec<Symbol> {
        let Some(definition) = self.definition(class) else { return Vec::new() };
        let mut bases = Vec::new();
        for base in &definition.extends {
            let place = Place { file: class.file, within: Some(class.at), this: None };
            let before = bases.len();
            for one in self.instances(&place, base) {
                match one {
                    Type::Instance(symbol) if symbol != class => bases.push(symbol),
                    Type::Outside(name, _) if matches!(&*name, "object" | "Generic" | "Protocol" | "ABC") => {
                    }
                    _ => *open = true,
                }
            }
            *open |= bases.len() == before;
        }
        bases
    }
}
