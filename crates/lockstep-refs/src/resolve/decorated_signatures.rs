//! Checks whether callers see a function, or only the result of its decorators.

use super::names::Resolver;
use super::types::{Place, Type};
use super::{Scheme, Symbol};
use crate::facts::{DECORATED, Definition, Shape};
use crate::world::{FileId, World};

/// Returns true if a function's parameters are hidden: a decorator that is a value returns a function with
/// its own parameters. A decorator that is an unannotated function is assumed to keep the signature, as
/// checkers do.
pub(crate) fn is_hidden(world: &dyn World, scheme: &dyn Scheme, file: FileId, function: &Definition) -> bool {
    let resolver = Resolver::new(world, scheme);
    let Some(Shape::Applied(head, parts)) = &function.gives else { return false };
    let Some((_, decorators)) = parts.split_last().filter(|_| **head == Shape::Of(DECORATED.into())) else {
        return false;
    };
    let position =
        |definition: &Definition| definition.name == function.name && definition.line == function.line;
    let at = resolver.view(file).and_then(|view| view.facts.definitions.iter().position(position));
    let Some(symbol) = at.and_then(|at| Some(Symbol { file, at: u32::try_from(at).ok()? })) else {
        return false;
    };
    let place = Place { file: symbol.file, within: Some(symbol.at), this: None };
    decorators.iter().any(|decorator_shape| {
        let Shape::Call(decorator) = decorator_shape else { return false };
        let is_value = |type_: &Type| matches!(type_, Type::Instance(_));
        resolver.types(&place, decorator).iter().any(is_value)
            && resolver.types(&place, decorator_shape).iter().any(has_own_parameters)
    })
}

fn has_own_parameters(type_: &Type) -> bool {
    let Type::Callable(_, shape) = type_ else { return false };
    matches!(&**shape, Shape::Function(takes, _) if !takes.is_empty())
}
