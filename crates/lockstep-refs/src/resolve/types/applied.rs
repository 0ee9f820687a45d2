//! The types of generic and of decorated expressions.

use std::rc::Rc;

use super::super::names::Resolver;
use super::{Place, Type, is_head};
use crate::facts::{
    ALIAS, DECORATED, DefinitionKind, NARROWED, OBJECT, PREDICATE, REDEFINED, Shape, WHOLE, WRAPPED,
    argument_position,
};

impl Resolver<'_> {
    /// Returns the result of a function's decorators, if it is a value of a type of the project: that of the
    /// outermost such decorator.
    pub(super) fn decorator_result(&self, place: &Place, parts: &[Shape]) -> Vec<Type> {
        let Some((_, decorators)) = parts.split_last() else { return Vec::new() };
        let values = |shape: &Shape| -> Vec<Type> {
            let mut types = self.types(place, shape).to_vec();
            types.retain(|type_| matches!(type_, Type::Instance(_)));
            types
        };
        decorators.iter().map(values).find(|types| !types.is_empty()).unwrap_or_default()
    }

    pub(super) fn applied(&self, place: &Place, head: &Shape, arguments: &[Shape]) -> Vec<Type> {
        if is_head(head, DECORATED) {
            let types = self.decorator_result(place, arguments);
            let function = arguments.last().filter(|_| types.is_empty());
            return function.map_or(types, |function| self.types(place, function).to_vec());
        }
        if is_head(head, WRAPPED) {
            return self.wrapped(place, arguments);
        }
        if is_head(head, ALIAS) {
            return self.all(place, arguments);
        }
        if is_head(head, REDEFINED) {
            return self.overridden_parameter(place, arguments);
        }
        if is_head(head, OBJECT) {
            return vec![Type::Object(Rc::new(place.clone()), arguments.into())];
        }
        if is_head(head, NARROWED) {
            return self.narrowed(place, arguments);
        }
        let heads = match head {
            Shape::Of(name) => self.instances(place, name),
            head => self.types(place, head).to_vec(),
        };
        let mut types = Vec::new();
        for one in heads {
            match one {
                Type::Outside(name, _) if let Some(at) = argument_position(&name) => {
                    let given = arguments.get(at).map(|shape| self.types(place, shape).to_vec());
                    types.extend(given.unwrap_or_else(|| vec![Type::Unknown]));
                }
                Type::Outside(name, _) => {
                    let type_arguments =
                        arguments.iter().map(|shape| one_of(&self.types(place, shape))).collect();
                    types.push(Type::Outside(name, type_arguments));
                }
                other => types.push(other),
            }
        }
        types
    }

    /// Returns the type of a parameter in the overridden method; `Untyped` if that has none either.
    fn overridden_parameter(&self, place: &Place, parts: &[Shape]) -> Vec<Type> {
        let types = self.all(place, parts);
        if types.iter().all(|type_| *type_ == Type::Unknown) { vec![Type::Untyped] } else { types }
    }

    /// Returns the type that a predicate asserts of a value; the value's own type, if there is no predicate.
    fn narrowed(&self, place: &Place, parts: &[Shape]) -> Vec<Type> {
        let [asked, value] = parts else { return Vec::new() };
        let asked = self.types(place, asked);
        let predicates = asked.iter().filter_map(|type_| match type_ {
            Type::Outside(name, arguments) if &**name == PREDICATE => arguments.first().cloned(),
            _ => None,
        });
        let narrowed: Vec<Type> = predicates.filter(|type_| *type_ != Type::Unknown).collect();
        if narrowed.is_empty() { self.types(place, value).to_vec() } else { narrowed }
    }

    /// Returns the result of a call; if that is outside the project, with the call's arguments.
    fn wrapped(&self, place: &Place, parts: &[Shape]) -> Vec<Type> {
        let Some((callee, given)) = parts.split_first() else { return Vec::new() };
        let types = self.types(place, callee);
        let nothing =
            |type_: &Type| matches!(type_, Type::Outside(name, held) if name.is_empty() && held.is_empty());
        if !types.iter().all(nothing) {
            return types.to_vec();
        }
        let given = self.all(place, given);
        vec![Type::Outside(WRAPPED.into(), given.into())]
    }

    /// Returns the type of a component's attributes: the first parameter of a function, the declared type, or
    /// the class's own properties.
    pub(super) fn properties(&self, of: &Type) -> Vec<Type> {
        let mut found = match of {
            Type::Unknown => return vec![Type::Unknown],
            Type::Outside(_, arguments) => arguments
                .iter()
                .flat_map(|type_| match type_ {
                    Type::Symbol(..) | Type::Callable(..) => self.properties(type_),
                    other => vec![other.clone()],
                })
                .collect(),
            Type::Symbol(symbol, _) => match self.definition(*symbol).map(|defined| defined.kind) {
                Some(DefinitionKind::Type) => self.member(&Type::Instance(*symbol), "props"),
                _ => self.parameter(of, 0, WHOLE),
            },
            _ => self.parameter(of, 0, WHOLE),
        };
        // A checker does not compare attributes with a missing type.
        found.retain(|type_| !matches!(type_, Type::Unknown | Type::Untyped));
        if found.is_empty() { vec![Type::external("")] } else { found }
    }
}

/// Returns the only type of several, or `Unknown`.
fn one_of(types: &[Type]) -> Type {
    let mut known =
        types.iter().filter(|type_| !matches!(type_, Type::Outside(name, _) if &**name == "None"));
    match (known.next(), known.next()) {
        (Some(only), None) => only.clone(),
        _ => Type::Unknown,
    }
}
