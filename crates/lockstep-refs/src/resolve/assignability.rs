//! Values that fit an expected type only by their members: a change of a member on either side may break
//! that.

use std::cell::RefCell;

use foldhash::{HashMap, HashSet};

use super::Symbol;
use super::names::{Defined, Resolver};
use super::overrides::is_of_interface;
use super::types::{Type, property};
use crate::facts::{DefinitionKind, OPTIONAL, Role, STATIC, Shape};
use crate::limits::Limit;
use crate::reference::Target;
use crate::world::FileId;

/// The depth to which functions that take functions are compared.
const MAX_DEPTH: usize = 2;

/// The members that values are compared by.
#[derive(Clone, Copy)]
pub(super) struct Conformance<'a> {
    pub(super) wanted: &'a HashMap<Symbol, usize>,
    pub(super) names: &'a [Box<str>],
    pub(super) carriers: &'a Carriers,
}

/// The types that may have a wanted member: its owners, and those that extend one.
pub(super) struct Carriers {
    owners: HashSet<Symbol>,
    known: RefCell<HashMap<Symbol, bool>>,
}

impl Carriers {
    pub(super) fn new(resolver: &Resolver<'_>, target: &Target<'_>, homes: &[FileId]) -> Self {
        let mut owners = HashSet::default();
        for (member, file) in target.symbols.iter().zip(homes) {
            let Some(view) = resolver.view(*file) else { continue };
            let path = member.container.as_deref().unwrap_or_default();
            owners.extend(view.at(path).iter().map(|at| Symbol { file: *file, at: *at }));
        }
        Self { owners, known: RefCell::default() }
    }

    /// False if a type certainly has no wanted member.
    fn may_include(&self, resolver: &Resolver<'_>, class: Symbol) -> bool {
        if let Some(known) = self.known.borrow().get(&class) {
            return *known;
        }
        let mut seen = vec![class];
        let mut next = 0;
        let mut found = false;
        while let Some(one) = seen.get(next).copied().filter(|_| !found) {
            next += 1;
            let mut open = false;
            let bases = resolver.bases(one, &mut open);
            // The members of an object that holds all of another are not those of a base.
            let is_spread =
                || resolver.definition(one).is_some_and(|defined| defined.kind == DefinitionKind::Value);
            found = open || self.owners.contains(&one) || is_spread();
            seen.extend(bases.into_iter().filter(|base| !seen.contains(base)).collect::<Vec<_>>());
        }
        self.known.borrow_mut().insert(class, found);
        found
    }
}

impl Resolver<'_> {
    /// The wanted members by which one of the values fits one of the expected types, and on which side they are.
    pub(super) fn misfits(
        &self,
        values: &[Type],
        expected: &[Type],
        conformance: &Conformance<'_>,
    ) -> Vec<(usize, Role)> {
        let mut found = Vec::new();
        self.compare(values, expected, conformance, 0, &mut found);
        found.sort_unstable();
        found.dedup();
        found
    }

    fn compare(
        &self,
        values: &[Type],
        expected: &[Type],
        conformance: &Conformance<'_>,
        depth: usize,
        found: &mut Vec<(usize, Role)>,
    ) {
        // If only some members are expected, none can be missing, but the present ones must fit.
        let partly =
            expected.iter().any(|type_| matches!(type_, Type::Outside(name, _) if &**name == "Partial"));
        let before = found.len();
        for value in values {
            // A value that is one of several expected types fits.
            if expected.contains(value) {
                continue;
            }
            for other in expected {
                match (value, other) {
                    (Type::Instance(value), Type::Instance(other)) => {
                        self.compare_members(*value, *other, conformance, found);
                    }
                    (Type::Symbol(value, _), Type::Instance(other)) if self.is_object(*value) => {
                        self.compare_members(*value, *other, conformance, found);
                    }
                    (Type::Object(_, properties), Type::Instance(other)) => {
                        let has = |name: &&str| property(properties, name).is_some();
                        for name in conformance.names.iter().map(|name| &**name).filter(has) {
                            let asked = self.instance_members(*other, name);
                            let wanted = asked.iter().find_map(|symbol| conformance.wanted.get(symbol));
                            found.extend(wanted.map(|at| (*at, Role::Require)));
                        }
                    }
                    _ if depth < MAX_DEPTH => {
                        self.compare_functions(value, other, conformance, depth + 1, found);
                    }
                    _ => {
                        if self.signature(value).is_some() && self.signature(other).is_some() {
                            Limit::Depth.reach();
                        }
                    }
                }
            }
        }
        if partly {
            let implements = |role: &Role| matches!(role, Role::Conform | Role::Implement);
            for (_, role) in found.iter_mut().skip(before).filter(|(_, role)| implements(role)) {
                *role = Role::Redefine;
            }
            let redefining = found.split_off(before).into_iter().filter(|(_, role)| *role == Role::Redefine);
            found.extend(redefining.collect::<Vec<_>>());
        }
    }

    /// Returns true if a definition is an object without a written type, whose properties are separate definitions.
    fn is_object(&self, of: Symbol) -> bool {
        let definition = self.definition(of).filter(|_| self.scheme.is_structural());
        definition.is_some_and(|defined| defined.kind == DefinitionKind::Value && defined.gives.is_none())
    }

    fn compare_members(
        &self,
        value: Symbol,
        expected: Symbol,
        conformance: &Conformance<'_>,
        found: &mut Vec<(usize, Role)>,
    ) {
        let Conformance { wanted, names, carriers } = *conformance;
        if !carriers.may_include(self, value) && !carriers.may_include(self, expected) {
            return;
        }
        for name in names {
            let given = self.instance_members(value, name);
            if given.is_empty() {
                continue;
            }
            let asked = self.instance_members(expected, name);
            if asked.is_empty() || given == asked {
                continue;
            }
            let of_value = given.iter().find_map(|symbol| Some((symbol.file, *wanted.get(symbol)?)));
            if let Some((_, at)) = of_value {
                // Without its own member, it inherits the required one, but a class gets none from an interface.
                let is_class =
                    self.definition(value).is_some_and(|defined| defined.kind == DefinitionKind::Type);
                let is_due = |symbol: Symbol| {
                    let is_optional =
                        |defined: Defined| defined.extends.iter().any(|mark| &**mark == OPTIONAL);
                    is_class
                        && is_of_interface(self, symbol)
                        && !self.definition(symbol).is_some_and(is_optional)
                };
                let inherited = self.inherited(value, name).symbols;
                let inherits = inherited.iter().any(|symbol| asked.contains(symbol) && !is_due(*symbol));
                found.push((at, if inherits { Role::Redefine } else { Role::Conform }));
            }
            // Two members of one file break once.
            let elsewhere =
                asked.iter().filter(|symbol| of_value.is_none_or(|(file, _)| symbol.file != file));
            if let Some(at) = elsewhere.into_iter().find_map(|symbol| wanted.get(symbol)) {
                // The parameters of a method are compared with the required signature.
                let takes = given.iter().filter_map(|symbol| self.definition(*symbol)?.arity);
                let nothing = takes.into_iter().all(|arity| arity.most == Some(0));
                found.push((*at, if nothing { Role::Require } else { Role::Implement }));
            }
        }
    }

    /// The members that a value has by its type. A field may be the class's own, not its values'.
    fn instance_members(&self, of: Symbol, name: &str) -> Vec<Symbol> {
        let mut symbols = self.members(of, name).symbols.to_vec();
        symbols.retain(|symbol| {
            let definition = self.definition(*symbol);
            definition.is_some_and(|defined| {
                defined.kind == DefinitionKind::Method
                    || !defined.extends.iter().any(|base| &**base == STATIC)
            })
        });
        symbols
    }

    /// Compares two functions: the result must fit, and the parameters must fit the other way round.
    fn compare_functions(
        &self,
        value: &Type,
        expected: &Type,
        conformance: &Conformance<'_>,
        depth: usize,
        found: &mut Vec<(usize, Role)>,
    ) {
        let (Some(value), Some(expected)) = (self.signature(value), self.signature(expected)) else { return };
        let of = |place, shape: &Shape| self.types(place, shape);
        let gives = of(&value.place, value.result());
        self.compare(&gives, &of(&expected.place, expected.result()), conformance, depth, found);
        for (taken, given) in value.parameters().iter().zip(expected.parameters()) {
            if !matches!(taken, Shape::Parameter(..) | Shape::Untyped | Shape::Unknown) {
                let given = of(&expected.place, given);
                self.compare(&given, &of(&value.place, taken), conformance, depth, found);
            }
        }
    }
}
