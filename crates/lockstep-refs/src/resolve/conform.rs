//! Values where a type is expected that they only fit by their members: a change to a member of either may end that.

use std::collections::HashMap;

use super::Symbol;
use super::names::Resolver;
use super::types::Type;
use crate::facts::{Definition, DefinitionKind, Role, STATIC, Shape};

/// Functions that take functions that take functions are looked into no further.
const MAX_DEPTH: usize = 2;

impl Resolver<'_> {
    /// The wanted members by which one of the values fits one of the expected types, and on which side they are.
    pub(crate) fn misfits(
        &self,
        values: &[Type],
        expected: &[Type],
        wanted: &HashMap<Symbol, usize>,
        symbols: &[Definition],
    ) -> Vec<(usize, Role)> {
        let mut found = Vec::new();
        self.compare(values, expected, wanted, symbols, 0, &mut found);
        found.sort_unstable();
        found.dedup();
        found
    }

    fn compare(
        &self,
        values: &[Type],
        expected: &[Type],
        wanted: &HashMap<Symbol, usize>,
        symbols: &[Definition],
        depth: usize,
        found: &mut Vec<(usize, Role)>,
    ) {
        // Where only some members are expected, none is missed, but those that are there must fit.
        let partly = expected.iter().any(|it| matches!(it, Type::Outside(name, _) if &**name == "Partial"));
        let before = found.len();
        for value in values {
            // What fits one of several by being it, fits.
            if expected.contains(value) {
                continue;
            }
            for other in expected {
                match (value, other) {
                    (Type::Instance(value), Type::Instance(other)) => {
                        self.compare_members(*value, *other, wanted, symbols, found);
                    }
                    _ if depth < MAX_DEPTH => {
                        self.compare_functions(value, other, wanted, symbols, depth + 1, found);
                    }
                    _ => {}
                }
            }
        }
        if partly {
            let held = |role: &Role| matches!(role, Role::Conform | Role::Implement);
            for (_, role) in found.iter_mut().skip(before).filter(|(_, role)| held(role)) {
                *role = Role::Redefine;
            }
            let kept = found.split_off(before).into_iter().filter(|(_, role)| *role == Role::Redefine);
            found.extend(kept.collect::<Vec<_>>());
        }
    }

    fn compare_members(
        &self,
        value: Symbol,
        expected: Symbol,
        wanted: &HashMap<Symbol, usize>,
        symbols: &[Definition],
        found: &mut Vec<(usize, Role)>,
    ) {
        for symbol in symbols {
            let given = self.instance_members(value, &symbol.name);
            if given.is_empty() {
                continue;
            }
            let asked = self.instance_members(expected, &symbol.name);
            if asked.is_empty() || given == asked {
                continue;
            }
            if let Some(at) = given.iter().find_map(|it| wanted.get(it)) {
                // Without its own, it has the one that is asked for.
                let inherits =
                    self.inherited(value, &symbol.name).symbols.iter().any(|it| asked.contains(it));
                found.push((*at, if inherits { Role::Redefine } else { Role::Conform }));
            } else if let Some(at) = asked.iter().find_map(|it| wanted.get(it)) {
                // A method that takes something is held against what it would be given.
                let takes = given.iter().filter_map(|it| self.definition(*it)?.arity);
                let nothing = takes.into_iter().all(|arity| arity.most == Some(0));
                found.push((*at, if nothing { Role::Require } else { Role::Implement }));
            }
        }
    }

    /// The members that a value has by its type. A field may be the class's own, not its values'.
    fn instance_members(&self, of: Symbol, name: &str) -> Vec<Symbol> {
        let mut symbols = self.members(of, name).symbols;
        symbols.retain(|it| {
            let definition = self.definition(*it);
            definition.is_some_and(|it| {
                it.kind == DefinitionKind::Method || !it.extends.iter().any(|said| &**said == STATIC)
            })
        });
        symbols
    }

    /// What a function gives must fit, and what it takes must fit the other way round.
    fn compare_functions(
        &self,
        value: &Type,
        expected: &Type,
        wanted: &HashMap<Symbol, usize>,
        symbols: &[Definition],
        depth: usize,
        found: &mut Vec<(usize, Role)>,
    ) {
        let (Some(value), Some(expected)) = (self.signature(value), self.signature(expected)) else { return };
        let of = |place, shape: &Shape| self.types(place, shape);
        self.compare(&of(&value.0, &value.2), &of(&expected.0, &expected.2), wanted, symbols, depth, found);
        for (taken, given) in value.1.iter().zip(&expected.1) {
            if !matches!(taken, Shape::Parameter(..) | Shape::Untyped | Shape::Unknown) {
                self.compare(&of(&expected.0, given), &of(&value.0, taken), wanted, symbols, depth, found);
            }
        }
    }
}
