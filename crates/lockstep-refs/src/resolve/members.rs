//! Members of types: their own and inherited ones.

use std::cell::RefCell;
use std::rc::Rc;

use foldhash::HashMap;

use super::names::{Entity, Mode, Resolver};
use super::types::{Consulted, Place, Type, Values};
use super::{Module, Symbol, path_of};
use crate::facts::{Definition, DefinitionKind, Role};
use crate::limits::Limit;

/// The maximum number of types in which a member is searched.
const MAX_BASES: usize = 64;

/// The result of a member lookup.
#[derive(Debug, Clone)]
pub(crate) struct Members {
    /// The definitions, of the nearest type that has one.
    pub(crate) symbols: Rc<[Symbol]>,
    /// Set if some base is unknown.
    pub(crate) open: bool,
    consulted: Consulted,
}

/// The same, while types are searched.
#[derive(Debug, Default)]
struct Collected {
    symbols: Vec<Symbol>,
    open: bool,
}

/// Members and bases of types.
#[derive(Default)]
pub(super) struct TypeMembers {
    /// By the type, and whether its own are left out.
    members: RefCell<HashMap<(Symbol, bool), MembersByName>>,
    /// The bases of a type, in the same form.
    bases: RefCell<HashMap<Symbol, Members>>,
}

type MembersByName = HashMap<Box<str>, Members>;

impl Resolver<'_> {
    /// Returns a member of a type: its own, otherwise an inherited one.
    pub(crate) fn members(&self, class: Symbol, name: &str) -> Members {
        self.memoised((class, false), name, |members| {
            self.collect(class, name, &mut Vec::new(), members);
        })
    }

    /// Returns a member of a type's bases.
    pub(crate) fn inherited(&self, class: Symbol, name: &str) -> Members {
        self.memoised((class, true), name, |members| {
            let mut seen = vec![class];
            for base in self.bases(class, &mut members.open) {
                self.collect(base, name, &mut seen, members);
                if !members.symbols.is_empty() {
                    break;
                }
            }
        })
    }

    fn memoised(&self, of: (Symbol, bool), name: &str, search: impl FnOnce(&mut Collected)) -> Members {
        let Values { members: TypeMembers { members, .. }, progress, .. } = &*self.values;
        if let Some(known) = members.borrow().get(&of).and_then(|hash_map| hash_map.get(name)) {
            self.values.consult(known.consulted);
            return known.clone();
        }
        let computation = progress.begin();
        let mut collected = Collected::default();
        let ((), consulted) = self.values.consulting(|| search(&mut collected));
        let found = Members { symbols: collected.symbols.into(), open: collected.open, consulted };
        if progress.end(&computation) || computation.position == 0 {
            members.borrow_mut().entry(of).or_default().insert(name.into(), found.clone());
        }
        found
    }

    fn collect(&self, class: Symbol, name: &str, seen: &mut Vec<Symbol>, members: &mut Collected) {
        if seen.contains(&class) {
            return;
        }
        if seen.len() > MAX_BASES {
            Limit::Subtypes.reach();
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

    /// Returns the modules whose exports a type has as its members: `interface Api extends Methods`, if those
    /// are `typeof methods`.
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

    /// Collects a member that an object has by spreading another: `{ ...other }`.
    fn collect_spread(
        &self,
        object: Symbol,
        definition: &Definition,
        name: &str,
        seen: &mut Vec<Symbol>,
        members: &mut Collected,
    ) {
        let place = Place { file: object.file, within: Some(object.at), this: None };
        for other in &definition.extends {
            for one in self.types_of_name(&place, other) {
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

    /// Returns the role of a member that a type has only through a removed base, directly or indirectly.
    pub(crate) fn lost_member(&self, class: Symbol, name: &str, removed: Symbol) -> Option<Role> {
        self.find_lost_member(class, name, removed, &mut Vec::new()).flatten()
    }

    /// Returns `None` if the type has no such member; otherwise its role, if it is lost.
    fn find_lost_member(
        &self,
        class: Symbol,
        name: &str,
        removed: Symbol,
        seen: &mut Vec<Symbol>,
    ) -> Option<Option<Role>> {
        if seen.contains(&class) {
            return None;
        }
        if seen.len() > MAX_BASES {
            Limit::Subtypes.reach();
            return None;
        }
        seen.push(class);
        let view = self.view(class.file)?;
        let definition = view.definition(class.at)?;
        if !view.at(&format!("{}.{name}", path_of(definition))).is_empty() {
            return Some(None);
        }
        for base in self.bases(class, &mut false) {
            if base != removed {
                if let Some(found) = self.find_lost_member(base, name, removed, seen) {
                    return Some(found);
                }
            } else if !self.members(removed, name).symbols.is_empty() {
                let beside = class.file == removed.file;
                return Some(Some(if beside { Role::InheritedBeside } else { Role::Inherited }));
            }
        }
        None
    }

    /// Returns the bases of a type. Sets `open` if some of them are outside the project, or unknown.
    pub(crate) fn bases(&self, class: Symbol, open: &mut bool) -> Vec<Symbol> {
        let Some(definition) = self.definition(class).filter(|defined| !defined.extends.is_empty()) else {
            return Vec::new();
        };
        let Values { members: TypeMembers { bases, .. }, progress, .. } = &*self.values;
        if let Some(known) = bases.borrow().get(&class) {
            *open |= known.open;
            self.values.consult(known.consulted);
            return known.symbols.to_vec();
        }
        let computation = progress.begin();
        let ((found, is_open), consulted) = self.values.consulting(|| self.find_bases(class, &definition));
        if progress.end(&computation) || computation.position == 0 {
            let known = Members { symbols: found.as_slice().into(), open: is_open, consulted };
            bases.borrow_mut().insert(class, known);
        }
        *open |= is_open;
        found
    }

    fn find_bases(&self, class: Symbol, definition: &Definition) -> (Vec<Symbol>, bool) {
        let (mut bases, mut open) = (Vec::new(), false);
        for base in &definition.extends {
            let place = Place { file: class.file, within: Some(class.at), this: None };
            let before = bases.len();
            for one in self.instances(&place, base) {
                match one {
                    Type::Instance(symbol) if symbol != class => bases.push(symbol),
                    Type::Outside(name, _) if matches!(&*name, "object" | "Generic" | "Protocol" | "ABC") => {
                    }
                    _ => open = true,
                }
            }
            open |= bases.len() == before;
        }
        (bases, open)
    }
}
