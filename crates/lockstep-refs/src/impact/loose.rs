//! Calls in Python, where arguments are also passed by name, and a parameter without a type takes anything: what a checker lets pass although
//! their number says otherwise, and what it does not.

use crate::change::{SymbolChange, What};
use crate::facts::{Definition, Facts, Role, Shape, Use};
use crate::language::Language;
use crate::reference::{Certainty, Reference};
use crate::world::World;

/// Whether a call still fits a function with another signature, as far as a checker can tell. `after` has the function as it is now.
pub(super) fn fits(
    world: &dyn World,
    change: &SymbolChange,
    after: Option<&Facts>,
    reference: &Reference,
) -> bool {
    let What::Resigned { arity: Some(arity), deeper: false, .. } = &change.what else { return false };
    let is_call = matches!(reference.role, Role::Call | Role::Covered);
    if !is_call || after.is_none_or(|it| it.language != Language::Python) {
        return false;
    }
    match reference.arguments {
        // What is unpacked may be as much as is taken, unless nothing is.
        None => arity.most != Some(0),
        // Those that are passed to other parameters now fit them, where these have no types.
        Some(arguments) => {
            let by_name = uses(world, reference).iter().any(|it| !it.keywords.is_empty());
            let now = after.and_then(|it| present(it, &change.was));
            arity.takes(arguments)
                && !by_name
                && now.is_some_and(|now| is_taken(&change.was, now, usize::from(arguments)))
        }
    }
}

/// What a definition is now, under the same name.
fn present<'f>(after: &'f Facts, was: &Definition) -> Option<&'f Definition> {
    let same = |it: &&Definition| it.name == was.name && it.kind == was.kind && it.container == was.container;
    after.definitions.iter().find(same)
}

/// Whether arguments that were taken by the first parameters are still taken by them: those without a type take anything. Of a constructor that
/// nobody wrote the parameters are fields, of which nothing is known here.
fn is_taken(was: &Definition, now: &Definition, arguments: usize) -> bool {
    if was.gives.is_none() {
        return false;
    }
    let taken = |of: &[Shape], at: usize| of.get(at).cloned().unwrap_or(Shape::Untyped);
    let (before, after) = (takes(was), takes(now));
    (0..arguments)
        .all(|at| matches!(taken(after, at), Shape::Untyped) || taken(after, at) == taken(before, at))
}

/// The types that a function takes, where it says any.
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

/// Whether a call passes something by a name that no parameter has any more, whatever the number of its arguments.
pub(super) fn misses(
    world: &dyn World,
    change: &SymbolChange,
    after: Option<&Facts>,
    reference: &Reference,
) -> bool {
    let resigned = matches!(change.what, What::Resigned { .. }) && reference.role == Role::Call;
    if !resigned || reference.certainty > Certainty::Possible {
        return false;
    }
    let was = &change.was;
    let Some(now) = after.and_then(|it| present(it, was)) else { return false };
    // What takes any name takes those too.
    if now.arity.is_none_or(|it| it.most.is_none()) {
        return false;
    }
    let gone = |name: &str| {
        was.parameters.iter().any(|it| **it == *name) && !now.parameters.iter().any(|it| **it == *name)
    };
    uses(world, reference).iter().any(|it| it.keywords.iter().any(|name| gone(name)))
}

/// What the file of a reference uses at its place by its name.
fn uses(world: &dyn World, reference: &Reference) -> Vec<Use> {
    let here = |it: &&Use| it.line == reference.line && it.name == reference.pattern;
    let facts = world.facts(reference.file);
    facts.iter().flat_map(|it| &it.uses).filter(here).cloned().collect()
}
