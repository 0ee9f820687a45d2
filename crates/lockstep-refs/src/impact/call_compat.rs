//! Calls in Python, where arguments can be passed by name, and a parameter without a type accepts anything:
//! calls that a checker accepts although their number of arguments differs, and calls that it rejects.

use crate::definition_diff::{DefinitionChangeKind, SymbolChange};
use crate::facts::{Definition, Facts, Role, Shape, Use};
use crate::language::Language;
use crate::reference::{Certainty, Reference};
use crate::world::World;

/// Returns true if a call still fits a function with another signature, as far as a checker can tell. `after`
/// has the present function.
pub(super) fn fits(
    world: &dyn World,
    change: &SymbolChange,
    after: Option<&Facts>,
    reference: &Reference,
) -> bool {
    let DefinitionChangeKind::SignatureChanged { arity: Some(arity), beyond_arity: false, .. } = &change.what
    else {
        return false;
    };
    let is_call = matches!(reference.role, Role::Call | Role::Covered);
    if !is_call || after.is_none_or(|facts| facts.language != Language::Python) {
        return false;
    }
    match reference.arguments {
        // Unpacked arguments may have any number, unless the function takes none.
        None => arity.most != Some(0),
        // Arguments that are passed to other parameters now fit them if these have no types.
        Some(arguments) => {
            let by_name = uses(world, reference).iter().any(|usage| !usage.keywords.is_empty());
            let now = after.and_then(|facts| present(facts, &change.was));
            arity.takes(arguments)
                && !by_name
                && now.is_some_and(|now| is_taken(&change.was, now, usize::from(arguments)))
        }
    }
}

/// Returns the present definition of the same name.
fn present<'f>(after: &'f Facts, was: &Definition) -> Option<&'f Definition> {
    let same = |definition: &&Definition| {
        definition.name == was.name && definition.kind == was.kind && definition.container == was.container
    };
    after.definitions.iter().find(same)
}

/// Returns true if the first parameters still accept their arguments: those without a type accept anything.
/// The parameters of a generated constructor are fields, whose types are unknown here.
fn is_taken(was: &Definition, now: &Definition, arguments: usize) -> bool {
    if was.gives.is_none() {
        return false;
    }
    let taken = |of: &[Shape], at: usize| of.get(at).cloned().unwrap_or(Shape::Untyped);
    let (before, after) = (takes(was), takes(now));
    (0..arguments)
        .all(|at| matches!(taken(after, at), Shape::Untyped) || taken(after, at) == taken(before, at))
}

/// Returns the parameter types of a function, if it declares any.
fn takes(of: &Definition) -> &[Shape] {
    let gives = match &of.gives {
        Some(Shape::Applied(_, parts)) => parts.last(),
        gives => gives.as_ref(),
    };
    match gives {
        Some(Shape::Function(takes, _)) => takes,
        _ => &[],
    }
}

/// Returns true if a call passes an argument by a removed name, or by the name of a parameter that already
/// takes another argument.
pub(super) fn misses(
    world: &dyn World,
    change: &SymbolChange,
    after: Option<&Facts>,
    reference: &Reference,
) -> bool {
    let is_other = matches!(
        change.what,
        DefinitionChangeKind::SignatureChanged { .. } | DefinitionChangeKind::ParametersRenamed { .. }
    );
    if !is_other || reference.role != Role::Call || reference.certainty > Certainty::Possible {
        return false;
    }
    let was = &change.was;
    let Some(now) = after.and_then(|facts| present(facts, was)) else { return false };
    // A function with arbitrary keyword arguments accepts those too.
    if now.arity.is_none_or(|arity| arity.most.is_none()) {
        return false;
    }
    let is_removed = |name: &str| {
        was.parameters.iter().any(|parameter| **parameter == *name)
            && !now.parameters.iter().any(|parameter| **parameter == *name)
    };
    let calls = uses(world, reference);
    calls.iter().any(|usage| usage.keywords.iter().any(|name| is_removed(name)) || passes_twice(now, usage))
}

/// Returns true if a Python call passes an argument by the name of a parameter that also takes a positional
/// one.
fn passes_twice(now: &Definition, call: &Use) -> bool {
    let Some(arguments) = call.arguments.filter(|_| !call.keywords.is_empty()) else { return false };
    let by_place = usize::from(arguments).saturating_sub(call.keywords.len());
    now.parameters.iter().take(by_place).any(|name| call.keywords.contains(name))
}

/// Returns the uses of the reference's name at its place.
fn uses(world: &dyn World, reference: &Reference) -> Vec<Use> {
    let here = |usage: &&Use| usage.line == reference.line && usage.name == reference.pattern;
    let facts = world.facts(reference.file);
    facts.iter().flat_map(|candidate| &candidate.uses).filter(here).cloned().collect()
}
