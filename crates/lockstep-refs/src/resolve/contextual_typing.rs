//! Parameters without an annotation get their type from the function's context. If a definition on which that
//! depends is removed, the type is unknown, and a strict checker reports every such parameter, in files that
//! never name the removed definition.

use std::collections::BTreeSet;

use super::Symbol;
use super::names::{Resolver, View};
use super::search::{Search, last};
use super::types::{Consulted, Place, Type};
use crate::facts::{Definition, DefinitionKind, Role, Shape, THIS, Use, WHOLE};
use crate::language::Language;
use crate::limits::Limit;
use crate::reference::Certainty;
use crate::world::FileId;

/// The maximum number of definitions that are assumed to be removed.
const MAX_GONE: usize = 4;
/// The maximum number of names of a type that are followed.
const MAX_NAMES: usize = 24;
/// A name that more files contain is not followed.
const MAX_FILES: usize = 200;

/// A world without one of the wanted definitions, or without all those of a module.
pub(super) struct RemovedDefinition<'w> {
    /// The index in the target.
    at: usize,
    /// The removed definitions.
    symbols: Consulted,
    /// The view of other files: the definition's own file uses its new name.
    elsewhere: Resolver<'w>,
    /// The view of all files, including its own.
    everywhere: Resolver<'w>,
    /// The last file with a parameter that loses its type: one per file is enough.
    told: Option<FileId>,
}

impl<'w> Search<'_, 'w> {
    /// Assumes that the wanted definitions are removed, and adds the files that may depend on them without
    /// naming them.
    pub(super) fn take_gone(&mut self) {
        let mut names: Vec<Box<str>> = Vec::new();
        // The definitions of a module go together.
        let mut of_module: Option<(usize, Vec<Symbol>)> = None;
        for (at, definition) in self.target.symbols.iter().enumerate() {
            let may_tell = definition.container.is_none() && tells_types(definition);
            if may_tell && !names.contains(&definition.name) {
                names.push(definition.name.clone());
                let symbols = self.symbols_named(&definition.name);
                match self.target.module {
                    true => of_module.get_or_insert((at, Vec::new())).1.extend(symbols),
                    false => self.gone.push(self.without(at, &symbols)),
                }
            }
        }
        self.gone.extend(of_module.map(|(at, symbols)| self.without(at, &symbols)));
        if self.gone.len() > MAX_GONE {
            Limit::Removals.reach();
            self.gone.clear();
            return;
        }
        self.take_known_by(names);
    }

    fn without(&self, at: usize, symbols: &[Symbol]) -> RemovedDefinition<'w> {
        let without = |beside| self.resolver.without(symbols.to_vec(), beside);
        let (elsewhere, everywhere) = (without(false), without(true));
        let symbols =
            symbols.iter().fold(Consulted::default(), |all, symbol| all.and(Consulted::of(*symbol)));
        RemovedDefinition { at, symbols, elsewhere, everywhere, told: None }
    }

    fn symbols_named(&self, name: &str) -> Vec<Symbol> {
        let named =
            |at: &usize| self.target.symbols.get(*at).is_some_and(|definition| *definition.name == *name);
        self.wanted.iter().filter(|(_, at)| named(at)).map(|(symbol, _)| *symbol).collect()
    }

    /// Adds the files that name something whose type depends on one of these names, directly or indirectly.
    fn take_known_by(&mut self, mut queue: Vec<Box<str>>) {
        let mut seen: BTreeSet<Box<str>> = BTreeSet::new();
        while let Some(name) = queue.pop() {
            if seen.contains(&name) {
                continue;
            }
            if seen.len() >= MAX_NAMES {
                Limit::Names.reach();
                break;
            }
            if self.resolver.world.containing(&name).len() > MAX_FILES {
                Limit::Files.reach();
                continue;
            }
            seen.insert(name.clone());
            for file in self.take_files(&name) {
                let Some(view) = self.resolver.view(file) else { continue };
                for definition in
                    view.facts.definitions.iter().filter(|definition| is_known_by(definition, &name))
                {
                    queue.push(definition.container.as_deref().map_or(&*definition.name, first).into());
                }
            }
        }
    }

    /// Checks a use of a parameter, or of a value derived from one, that loses its type if a wanted
    /// definition is removed.
    pub(super) fn loses_type(&mut self, file: FileId, view: &View, at: usize) {
        if self.gone.iter().all(|removed| removed.told == Some(file))
            || view.facts.language == Language::JavaScript
        {
            return;
        }
        let (Some(usage), Some(expecting)) =
            (view.facts.uses.get(at), view.uses.expecting_at(&view.facts, at))
        else {
            return;
        };
        // A key of an object is no parameter.
        if matches!(usage.role, Role::Construct | Role::Key) {
            return;
        }
        let expected = &expecting.expected;
        let place = Place { file, within: usage.within, this: None };
        let is_anything = |resolver: &Resolver<'_>| resolver.types(&place, expected).contains(&Type::Untyped);
        let (is_untyped, consulted) =
            *expecting.result.get_or_init(|| self.resolver.values.consulting(|| is_anything(self.resolver)));
        if is_untyped {
            return;
        }
        let mut found = Vec::new();
        let open = self.gone.iter_mut().filter(|removed| removed.told != Some(file));
        for removed in open.filter(|removed| removed.symbols.may_share(consulted)) {
            let role = match () {
                () if is_anything(&removed.elsewhere) => Role::Inherited,
                () if is_anything(&removed.everywhere) => Role::InheritedBeside,
                () => continue,
            };
            removed.told = Some(file);
            found.push((removed.at, role));
        }
        for (at, role) in found {
            let name =
                self.target.symbols.get(at).map(|definition| definition.name.clone()).unwrap_or_default();
            self.keep_use(file, &Use { name, role, ..usage.clone() }, at, Certainty::Possible, None);
        }
    }
}

/// Returns the expected function type that determines the parameter that is used, or from which the used value is derived.
pub(super) fn expected_of(usage: &Use) -> Option<Shape> {
    let used = match &usage.of {
        Some(Shape::Function(value, _)) if usage.role == Role::Conform => value.first(),
        of => of.as_ref(),
    };
    used.and_then(expectation)
}

/// Returns the expected function type that determines a value's parameter.
fn expectation(value: &Shape) -> Option<Shape> {
    match value {
        Shape::Parameter(expected, _, WHOLE) => Some((**expected).clone()),
        Shape::Parameter(_, _, THIS) => None,
        Shape::Parameter(callee, argument, _) => Some(Shape::Parameter(callee.clone(), *argument, WHOLE)),
        Shape::Member(of, _) | Shape::Call(of) | Shape::Element(of) | Shape::Awaited(of) => expectation(of),
        _ => None,
    }
}

/// Returns true if a definition may determine the types of others.
fn tells_types(definition: &Definition) -> bool {
    use DefinitionKind::{Function, Interface, Type, Value};
    matches!(definition.kind, Function | Interface | Type | Value)
}

/// Returns true if the type of a definition depends on that name.
fn is_known_by(definition: &Definition, name: &str) -> bool {
    definition.extends.iter().any(|base| last(base) == name)
        || definition.gives.as_ref().is_some_and(|gives| names(gives, name))
}

fn names(shape: &Shape, name: &str) -> bool {
    let any = |shapes: &[Shape]| shapes.iter().any(|candidate| names(candidate, name));
    match shape {
        Shape::Name(path) | Shape::Of(path) => path.split('.').any(|part| part == name),
        Shape::Member(of, member) => **member == *name || names(of, name),
        Shape::Call(of) | Shape::Element(of) | Shape::Awaited(of) | Shape::Parameter(of, ..) => {
            names(of, name)
        }
        Shape::Applied(head, arguments) => names(head, name) || any(arguments),
        Shape::Function(takes, gives) => any(takes) || names(gives, name),
        Shape::Either(parts) => any(parts),
        Shape::Itself | Shape::Parent | Shape::Untyped | Shape::Unknown => false,
    }
}

fn first(path: &str) -> &str {
    path.split('.').next().unwrap_or(path)
}
