//! Calls that fit other types of a signature, because these are related: a parameter takes a base of the former type, or the result
//! is a subtype of the former one.

use super::modifiers::present;
use crate::definition_diff::{DefinitionChangeKind, SymbolChange};
use crate::facts::{Facts, Role};
use crate::language::{self, Language};
use crate::reference::Reference;
use crate::signature::{parameter_type, result_type};
use crate::syntax::TOKEN_END;
use crate::world::{FileId, World};

/// Returns true if only types changed in such a way. `after` has the present definition, in the file `home`.
pub(super) fn still_fit(
    world: &dyn World,
    home: FileId,
    (change, after): (&SymbolChange, Option<&Facts>),
    reference: &Reference,
) -> bool {
    if change.what == DefinitionChangeKind::Removed && is_method_of_its_own(world, reference) {
        return true;
    }
    let (Some(after), Role::Call, DefinitionChangeKind::SignatureChanged { .. }) =
        (after, reference.role, &change.what)
    else {
        return false;
    };
    let (was, language) = (&change.was, after.language);
    let Some(now) = present(after, was) else { return false };
    let old: Vec<&str> = was.header.split(TOKEN_END).collect();
    let new: Vec<&str> = now.header.split(TOKEN_END).collect();
    let others: Vec<(&str, &str)> =
        old.iter().copied().zip(new.iter().copied()).filter(|(a, b)| a != b).collect();
    if old.len() != new.len() || others.is_empty() {
        return false;
    }
    let container = was.container.as_deref();
    let extends =
        |sub: &str, base: &str| language::rules(language).is_subtype(world, (home, container), sub, base);
    let count = was.arity.and_then(|arity| arity.most).unwrap_or_default();
    let is_parameter = |from: &str, to: &str| {
        (0..usize::from(count)).any(|at| {
            let types = parameter_type(language, was, at).zip(parameter_type(language, now, at));
            types.is_some_and(|(was, now)| was == from && now == to)
        })
    };
    let is_result = |from: &str, to: &str| {
        result_type(language, was).as_deref() == Some(from)
            && result_type(language, now).as_deref() == Some(to)
    };
    others.iter().all(|(from, to)| {
        let fits_parameter = !is_parameter(from, to) || extends(from, to);
        let fits_result = !is_result(from, to) || extends(to, from);
        (is_parameter(from, to) || is_result(from, to)) && fits_parameter && fits_result
    })
}

/// Returns true if a method does not say that it overrides another one, in a language where it need not.
fn is_method_of_its_own(world: &dyn World, reference: &Reference) -> bool {
    use Language::{CSharp, Java, Php, Swift};
    let is_asked = |facts: &Facts| matches!(facts.language, CSharp | Java | Php | Swift);
    let Some(facts) = world.facts(reference.file).filter(|facts| is_asked(facts)) else {
        return false;
    };
    let method = reference.within.and_then(|at| facts.definitions.get(at as usize));
    let is_marked = |name: &str| matches!(name, "Override" | "@Override" | "override");
    reference.role == Role::Override
        && method.is_some_and(|definition| !definition.header.split(TOKEN_END).any(is_marked))
}
