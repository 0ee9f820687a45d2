//! Indirect users of a removed type, which never name it: users of members that other types inherit from it,
//! and callers of functions whose type depends on it.

use std::collections::BTreeSet;

use foldhash::HashSet;

use super::names::{Entity, Mode};
use super::search::{Search, is_member, last};
use super::types::{Place, Type};
use super::{Symbol, path_of};
use crate::facts::{Definition, DefinitionKind, Role, Shape, THIS, Use, WHOLE};
use crate::limits::Limit;
use crate::reference::Certainty;
use crate::world::FileId;

/// The maximum number of subtypes that are followed.
const MAX_HEIRS: usize = 64;
/// Member names that more files contain are not followed.
const MAX_FILES: usize = 400;

/// The wanted types that others extend.
#[derive(Debug, Default)]
pub(super) struct Extended {
    /// Each with its position in the target.
    types: Vec<(Symbol, usize)>,
    /// The names of their subtypes.
    heirs: BTreeSet<Box<str>>,
    /// The names of their members, including inherited ones.
    members: HashSet<Box<str>>,
    /// Set if some generic function returns values of them.
    given: bool,
}

impl Extended {
    /// The names by which something inherited is used.
    pub(super) fn names(&self) -> impl Iterator<Item = &Box<str>> {
        self.members.iter().chain(&self.heirs)
    }

    /// Returns true if some generic function returns values of a wanted type.
    pub(super) fn gives_values(&self) -> bool {
        self.given
    }
}

impl Search<'_, '_> {
    /// Finds the subtypes of the wanted types, and the files that may use their inherited members.
    pub(super) fn take_heirs(&mut self) {
        let is_type = |definition: &Definition| {
            matches!(definition.kind, DefinitionKind::Type | DefinitionKind::Interface)
                && definition.gives.is_none()
        };
        let mut types: Vec<(Symbol, usize)> = self.wanted.iter().map(|(symbol, at)| (*symbol, *at)).collect();
        types.retain(|(_, at)| self.target.symbols.get(*at).is_some_and(is_type));
        types.sort_unstable_by_key(|(_, at)| *at);
        for (symbol, at) in types {
            let Some(name) = self.target.symbols.get(at).map(|definition| definition.name.clone()) else {
                continue;
            };
            let heirs = self.heirs_of(&name);
            let makers = self.makers_of(&name);
            if heirs.is_empty() && makers.is_empty() {
                continue;
            }
            self.extended.given |= !makers.is_empty();
            for maker in makers {
                self.take_files(&maker);
            }
            self.extended.types.push((symbol, at));
            if heirs.is_empty() {
                continue;
            }
            self.extended.heirs.extend(heirs);
            self.members_of(symbol, &mut Vec::new());
        }
        let mut words: Vec<Box<str>> = self.extended.members.iter().cloned().collect();
        words.extend(self.extended.heirs.iter().cloned());
        for word in words {
            if self.resolver.world.containing(&word).len() <= MAX_FILES {
                self.take_files(&word);
            } else {
                Limit::Files.reach();
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
                    let extends = definition.extends.iter().any(|parent| *last(parent) == *base);
                    if !extends || heirs.contains(&definition.name) {
                        continue;
                    }
                    if heirs.len() >= MAX_HEIRS {
                        Limit::Subtypes.reach();
                        continue;
                    }
                    heirs.insert(definition.name.clone());
                    queue.push(definition.name.clone());
                }
            }
        }
        heirs
    }

    /// Returns the names of generic functions that declare to return values of a type.
    fn makers_of(&mut self, name: &str) -> BTreeSet<Box<str>> {
        let mut makers = BTreeSet::new();
        for file in self.take_files(name) {
            let Some(view) = self.resolver.view(file) else { continue };
            for definition in &view.facts.definitions {
                let gives = match &definition.gives {
                    Some(Shape::Function(takes, gives)) if takes.iter().any(takes_open) => gives,
                    _ => continue,
                };
                if matches!(&**gives, Shape::Applied(head, _) if matches!(&**head, Shape::Of(it) if *last(it) == *name))
                {
                    makers.insert(definition.name.clone());
                }
            }
        }
        makers
    }

    /// Checks a parameter of a function that is passed to a generic function: if only the result type of the
    /// generic function determines the parameter's type, it is unknown when that type is removed.
    pub(super) fn infers(&mut self, file: FileId, usage: &Use, value: &Shape, expected: &Shape) {
        let Shape::Parameter(callee, argument, parameter) = value else { return };
        if !self.extended.given || matches!(*parameter, WHOLE | THIS) {
            return;
        }
        let place = Place { file, within: usage.within, this: None };
        for (removed, at) in self.extended.types.clone() {
            let is_created = self.resolver.types(&place, callee).iter().any(|callee| {
                let Some(signature) = self.resolver.signature(callee) else { return false };
                let takes = signature.parameters();
                let open = takes.get(usize::from(*argument)).is_some_and(|taken| match taken {
                    Shape::Function(takes, _) => takes.get(usize::from(*parameter)) == Some(&Shape::Unknown),
                    _ => false,
                });
                // Other arguments would determine it.
                let takes_type =
                    takes.iter().any(|taken| !matches!(taken, Shape::Function(..)) && has_open(taken));
                open && !takes_type
                    && self
                        .resolver
                        .types(&signature.place, signature.result())
                        .contains(&Type::Instance(removed))
            });
            if is_created && !self.is_given_to(&place, expected, removed) {
                let pattern =
                    self.target.symbols.get(at).map(|definition| definition.name.clone()).unwrap_or_default();
                let usage = Use { name: pattern, role: Role::Inherited, ..usage.clone() };
                self.keep_use(file, &usage, at, Certainty::Resolved, None);
            }
        }
    }

    /// Returns true if the expected type is the removed one: then nothing is expected any more.
    fn is_given_to(&self, place: &Place, expected: &Shape, removed: Symbol) -> bool {
        // It is also false if any value is accepted, or if a function accepts whatever it is given.
        let anything = |type_: &Type| match type_ {
            Type::Untyped => true,
            Type::Outside(name, arguments) => name.is_empty() && arguments.is_empty(),
            _ => false,
        };
        if self.resolver.types(place, expected).iter().all(anything) {
            return true;
        }
        if let Shape::Parameter(callee, argument, WHOLE) = expected {
            let takes_any = |callee: &Type| {
                let signature = self.resolver.signature(callee).filter(|_| self.is_common_file_name(callee));
                signature.is_some_and(|signature| {
                    signature
                        .parameters()
                        .get(usize::from(*argument))
                        .is_none_or(|taken| *taken == Shape::Unknown)
                })
            };
            if self.resolver.types(place, callee).iter().any(takes_any) {
                return true;
            }
        }
        let mut of = expected;
        loop {
            of = match of {
                Shape::Parameter(of, ..) | Shape::Member(of, _) | Shape::Call(of) => of,
                _ => return false,
            };
            let types = self.resolver.types(place, of);
            let is_gone = |class: Symbol| {
                let mut seen = vec![class];
                let mut at = 0;
                while let Some(class) = seen.get(at).copied() {
                    if class == removed || at > MAX_HEIRS {
                        return true;
                    }
                    at += 1;
                    for base in self.resolver.bases(class, &mut false) {
                        if !seen.contains(&base) {
                            seen.push(base);
                        }
                    }
                }
                false
            };
            if types.iter().filter_map(class_of).any(is_gone) {
                return true;
            }
        }
    }

    /// Returns true if a function's open type parameters are its own, not those of its receiver.
    fn is_common_file_name(&self, callee: &Type) -> bool {
        let Type::Symbol(symbol, of) = callee else { return false };
        let Some(definition) = self.resolver.definition(*symbol) else { return false };
        let on_a_value = matches!(of.as_deref(), Some(Type::Instance(_)));
        !on_a_value || self.resolver.scheme.constructors().contains(&&*definition.name)
    }

    fn members_of(&mut self, class: Symbol, seen: &mut Vec<Symbol>) {
        if seen.contains(&class) {
            return;
        }
        if seen.len() > MAX_HEIRS {
            Limit::Subtypes.reach();
            return;
        }
        seen.push(class);
        let Some(view) = self.resolver.view(class.file) else { return };
        let Some(path) = view.definition(class.at).map(path_of) else { return };
        let inside = |definition: &&Definition| {
            definition.container.as_deref() == Some(&*path) && is_member(definition)
        };
        self.extended
            .members
            .extend(view.facts.definitions.iter().filter(inside).map(|definition| definition.name.clone()));
        for base in self.resolver.bases(class, &mut false) {
            self.members_of(base, seen);
        }
    }

    /// Checks a use of a member that a value only has because its type extends a wanted one.
    pub(super) fn inherits(&mut self, file: FileId, usage: &Use) {
        let place = Place { file, within: usage.within, this: None };
        let (classes, name): (Vec<Symbol>, &str) = match &usage.of {
            Some(of) if self.extended.members.contains(&usage.name) => {
                (self.resolver.types(&place, of).iter().filter_map(class_of).collect(), &usage.name)
            }
            // A class without its own constructor uses that of its base.
            None if usage.role == Role::Call
                && usage.arguments != Some(0)
                && self.extended.heirs.contains(&usage.name) =>
            {
                let hits = self.resolver.lookup(file, &usage.name, Mode::Inside);
                let symbols = hits.iter().filter_map(|hit| match hit.entity {
                    Entity::Symbol(symbol) => Some(symbol),
                    _ => None,
                });
                (symbols.collect(), "constructor")
            }
            _ => return,
        };
        for (removed, at) in self.extended.types.clone() {
            let lost = classes.iter().find_map(|class| self.resolver.lost_member(*class, name, removed));
            if let Some(role) = lost {
                self.keep_use(file, &Use { role, ..usage.clone() }, at, Certainty::Resolved, None);
            }
        }
    }
}

/// Returns true if a function takes a function with a parameter of an open type.
fn takes_open(taken: &Shape) -> bool {
    matches!(taken, Shape::Function(takes, _) if takes.contains(&Shape::Unknown))
}

/// Returns true if a type is open, or contains an open type.
fn has_open(shape: &Shape) -> bool {
    match shape {
        Shape::Unknown => true,
        Shape::Applied(_, parts) | Shape::Either(parts) => parts.iter().any(has_open),
        _ => false,
    }
}

fn class_of(value: &Type) -> Option<Symbol> {
    match value {
        Type::Instance(class) | Type::Symbol(class, _) => Some(*class),
        _ => None,
    }
}
