//! The effect of a changed function.

use super::header::{Header, split};
use super::parameter::{Parameter, Takes};
use super::relation::{Relation, TypeParameters, part_at, relation};
use super::{Effect, Fit, Fits, ParameterEffect, modifiers};
use crate::language::Language;

use Fit::{Breaks, Fits as Fit_, Unknown};

pub(super) fn of_functions(language: Language, old: &Header<'_>, new: &Header<'_>) -> Effect {
    let mut effect = Effect::none();
    let is_typed = !old.result.is_empty() && !new.result.is_empty();
    let free = TypeParameters::new(language, &old.generics, &new.generics);
    let (before, now) = match language {
        // A call of a script that ignores the result need not wait for it.
        Language::TypeScript | Language::Tsx | Language::JavaScript => {
            (without_async(&old.modifiers), without_async(&new.modifiers))
        }
        _ => (old.modifiers.clone(), new.modifiers.clone()),
    };
    effect.raise(modifiers::effect(language, &before, &now, is_typed));
    effect.raise_by_result(modifiers::effect(language, &old.modifiers, &new.modifiers, is_typed));
    effect.forbids_overrides = modifiers::forbids_overrides(&old.modifiers, &new.modifiers)
        || modifiers::forbids_overrides(&old.suffix, &new.suffix);
    effect.raise(modifiers::annotations(language, &old.annotations, &new.annotations));
    effect.raise(modifiers::suffix(language, &old.suffix, &new.suffix));
    effect.raise(receiver(language, &old.receiver, &new.receiver));
    effect.raise(generics(language, &free, new));
    let present = with_inferred_types(language, old, new, &free);
    effect.raise_by_result(result(language, &in_new_names(old, new), &present, &free));
    let (overrides, values) = count(language, &old.parameters, &new.parameters);
    effect.raise((Fit_, overrides, values));
    let required = newly_required(old, new);
    let named = required.iter().filter(|parameter| parameter.takes == Takes::Named);
    effect.required_names = named.map(|parameter| parameter.name.into()).collect();
    effect.newly_required = required.iter().map(|parameter| parameter.name.into()).collect();
    for (at, parameter) in
        old.parameters.iter().enumerate().filter(|(_, parameter)| parameter.takes != Takes::Block)
    {
        let (one, overrides, values) = of_parameter(language, (at, parameter), old, new, &free);
        effect.raise((Fit_, overrides, values));
        effect.parameters.push(one);
    }
    effect
}

fn without_async<'t>(modifiers: &[&'t str]) -> Vec<&'t str> {
    modifiers.iter().copied().filter(|modifier| *modifier != "async").collect()
}

/// The effect on one parameter of the former signature, on overrides and on values.
fn of_parameter(
    language: Language,
    (at, was): (usize, &Parameter<'_>),
    old: &Header<'_>,
    new: &Header<'_>,
    free: &TypeParameters<'_>,
) -> (ParameterEffect, Fit, Fit) {
    let is_placed = was.is_placed() || was.takes == Takes::Rest;
    let now = placed(&new.parameters, at).filter(|_| is_placed);
    let same_name =
        new.parameters.iter().find(|parameter| parameter.name == was.name && !was.name.is_empty());
    let fits = |now: &Parameter<'_>| parameter_fits(language, was, now, free);
    let missing = if was.is_placed() { Breaks } else { Fit_ };
    let (mut by_place, mut overrides, mut values) = now.map_or((missing, Fit_, Fit_), fits);
    if let Some(now) = now.filter(|now| is_shifted(was, now, old, new)) {
        let relation = relation(language, &was.type_, &now.type_, free);
        let is_untyped = was.type_.is_empty() && now.type_.is_empty() && language != Language::Python;
        let is_moved = is_reordered(old, new) && (relation != Relation::Same || is_untyped);
        let otherwise = relation == Relation::Unrelated || is_moved;
        by_place = by_place.max(if otherwise { Breaks } else { Unknown });
    }
    if language == Language::Swift && now.is_some_and(|now| now.label != was.label) {
        (by_place, overrides, values) = (Breaks, Breaks, values.max(Unknown));
    }
    let takes_any_name = new.parameters.iter().any(|parameter| parameter.takes == Takes::NamedRest);
    let by_name = match same_name {
        Some(now) => fits(now).0,
        None if takes_any_name || was.takes == Takes::Rest || was.takes == Takes::NamedRest => Fit_,
        None => Breaks,
    };
    let is_named = matches!(was.takes, Takes::Named | Takes::NamedRest);
    let by_name = if passes_by_name(language) { by_name } else { Fit_ };
    let effect =
        ParameterEffect { name: was.name.into(), by_place: (!is_named).then_some(by_place), by_name };
    (effect, overrides, values)
}

/// Returns the parameters that must be passed, and did not have to be before.
fn newly_required<'h, 't>(old: &Header<'_>, new: &'h Header<'t>) -> Vec<&'h Parameter<'t>> {
    let is_required = |parameter: &&Parameter<'_>| {
        !parameter.is_optional
            && matches!(parameter.takes, Takes::Named | Takes::One)
            && !parameter.name.is_empty()
    };
    let was_required =
        |name: &str| old.parameters.iter().filter(is_required).any(|parameter| parameter.name == name);
    new.parameters.iter().filter(is_required).filter(|parameter| !was_required(parameter.name)).collect()
}

/// Returns the parameter for the argument at a position.
fn placed<'a, 't>(list: &'a [Parameter<'t>], at: usize) -> Option<&'a Parameter<'t>> {
    let rest = list.iter().position(|parameter| parameter.takes == Takes::Rest);
    let at = rest.map_or(at, |rest| at.min(rest));
    list.get(at).filter(|parameter| parameter.is_placed() || parameter.takes == Takes::Rest)
}

/// Returns true if a call of the language may pass arguments by the parameter's name.
fn passes_by_name(language: Language) -> bool {
    matches!(
        language,
        Language::Python | Language::Kotlin | Language::CSharp | Language::Php | Language::Ruby
    )
}

/// Returns true if an argument at this position is now passed to another parameter, because one of them
/// moved.
fn is_shifted(was: &Parameter<'_>, now: &Parameter<'_>, old: &Header<'_>, new: &Header<'_>) -> bool {
    let has = |list: &[Parameter<'_>], name: &str| list.iter().any(|parameter| parameter.name == name);
    let named = !was.name.is_empty() && !now.name.is_empty() && was.name != "_" && now.name != "_";
    named && was.name != now.name && (has(&new.parameters, was.name) || has(&old.parameters, now.name))
}

/// The result with the types that calls infer for new type parameters: those of the former parameters.
fn with_inferred_types<'t>(
    language: Language,
    old: &Header<'t>,
    new: &Header<'t>,
    free: &TypeParameters<'t>,
) -> Vec<&'t str> {
    let is_inferred = free.is_new && matches!(language, Language::Go | Language::Rust);
    let mut result = new.result.clone();
    for name in free.names().filter(|_| is_inferred) {
        let pairs = old.parameters.iter().zip(&new.parameters);
        let was = pairs.into_iter().find_map(|(was, now)| part_at(&was.type_, &now.type_, name));
        let Some(was) = was else { continue };
        result =
            result.iter().flat_map(|text| if *text == name { was.to_vec() } else { vec![*text] }).collect();
    }
    result
}

/// The former result with the present names of its parameters: a predicate names one, as in `value is T`.
fn in_new_names<'t>(old: &Header<'t>, new: &Header<'t>) -> Vec<&'t str> {
    if !old.result.contains(&"is") || old.parameters.len() != new.parameters.len() {
        return old.result.clone();
    }
    let renamed = |token: &'t str| {
        let at = old.parameters.iter().position(|parameter| parameter.name == token);
        at.map_or(token, |at| new.parameters[at].name)
    };
    let subject = old.result.iter().position(|name| *name == "is").and_then(|at| at.checked_sub(1));
    let each = old.result.iter().enumerate();
    each.map(|(at, token)| if Some(at) == subject { renamed(token) } else { token }).collect()
}

/// Returns true if both have the same parameters in another order.
fn is_reordered(old: &Header<'_>, new: &Header<'_>) -> bool {
    let names = |header: &Header<'_>| -> Vec<String> {
        header.parameters.iter().map(|parameter| parameter.name.to_owned()).collect()
    };
    let (mut before, mut now) = (names(old), names(new));
    let is_same = before == now;
    before.sort_unstable();
    now.sort_unstable();
    !is_same && before == now
}

fn parameter_fits(
    language: Language,
    was: &Parameter<'_>,
    now: &Parameter<'_>,
    free: &TypeParameters<'_>,
) -> Fits {
    use Language::{C, Cpp, Go, JavaScript, Rust, Tsx, TypeScript};
    let bivariant = matches!(language, TypeScript | Tsx | JavaScript);
    let exact = matches!(language, Go | C | Cpp | Rust);
    let mut fits = match relation(language, &was.type_, &now.type_, free) {
        Relation::Same => (Fit_, Fit_, Fit_),
        Relation::Wider if bivariant => (Fit_, Fit_, Fit_),
        Relation::Wider => (Fit_, Breaks, if exact { Breaks } else { Fit_ }),
        Relation::Converts => (Fit_, Breaks, Breaks),
        Relation::Narrower => (Unknown, if bivariant { Fit_ } else { Unknown }, Unknown),
        Relation::Unknown => (Unknown, Unknown, Unknown),
        Relation::Unrelated => (Breaks, Breaks, Breaks),
    };
    if was.modifiers != now.modifiers {
        fits = (Breaks, Breaks, Breaks);
    }
    fits
}

/// Returns the effect of another number of parameters, or of other optional ones, on overrides and values.
fn count(language: Language, old: &[Parameter<'_>], new: &[Parameter<'_>]) -> (Fit, Fit) {
    use Language::{CSharp, Cpp, JavaScript, Kotlin, Php, Python, Ruby, Swift, Tsx, TypeScript};
    let script = matches!(language, TypeScript | Tsx | JavaScript);
    let needed = |list: &[Parameter<'_>]| {
        list.iter()
            .filter(|parameter| {
                !parameter.is_optional && !matches!(parameter.takes, Takes::Rest | Takes::NamedRest)
            })
            .count()
    };
    let rest = |list: &[Parameter<'_>]| list.iter().any(|parameter| parameter.takes == Takes::Rest);
    let (more, asks_more) = (new.len() > old.len(), needed(new) > needed(old));
    let same_count = new.len() == old.len() && rest(new) == rest(old);
    if same_count && needed(new) == needed(old) {
        return (Fit_, Fit_);
    }
    if same_count && matches!(language, Kotlin | CSharp | Swift | Cpp) {
        // Defaults are no part of the type.
        return (Fit_, Fit_);
    }
    let overrides = match language {
        _ if script && (more || same_count) => Fit_,
        Ruby => Unknown,
        _ => Breaks,
    };
    let values = match language {
        // A callback is often passed more arguments than it declared.
        _ if asks_more => {
            if script {
                Unknown
            } else {
                Breaks
            }
        }
        Python | Php | Ruby => {
            if more || same_count || rest(new) {
                Fit_
            } else {
                Breaks
            }
        }
        _ if script => Fit_,
        Kotlin => Unknown,
        _ => Breaks,
    };
    (overrides, values)
}

/// `&mut self` for `&self`, `*T` for `T`.
fn receiver(language: Language, old: &[&str], new: &[&str]) -> Fits {
    if old == new {
        return (Fit_, Fit_, Fit_);
    }
    let is_mutable = |list: &[&str]| list.contains(&"mut");
    let is_reference = |list: &[&str]| list.contains(&"&");
    let is_looser = is_reference(new) && !is_mutable(new) || (!is_reference(old) && !old.is_empty());
    match language {
        Language::Rust if old.is_empty() || new.is_empty() => (Breaks, Breaks, Breaks),
        Language::Rust if is_looser && !new.is_empty() => (Fit_, Breaks, Breaks),
        // A pointer has the methods of its value.
        Language::Go if old.contains(&"*") && !new.contains(&"*") => (Fit_, Fit_, Fit_),
        _ => (Unknown, Unknown, Unknown),
    }
}

fn generics(language: Language, free: &TypeParameters<'_>, new: &Header<'_>) -> Fits {
    use Language::{Go, Rust, Tsx, TypeScript};
    let is_used = |name: &str| {
        let types = new
            .parameters
            .iter()
            .map(|parameter| &parameter.type_)
            .chain((language == Rust).then_some(&new.result));
        types.flatten().any(|text| *text == name)
    };
    // A call names no type parameter that it did not have.
    let is_unknowable = matches!(language, Go | Rust) && free.is_new && !free.names().all(is_used);
    match (free.is_same, free.is_new) {
        _ if is_unknowable => (Breaks, Breaks, Breaks),
        (true, _) => (Fit_, Fit_, Fit_),
        _ if free.is_wider && matches!(language, Go | Rust) => (Fit_, Unknown, Fit_),
        (false, true) => (Fit_, Unknown, Unknown),
        // Calls infer the types; those that write them are checked one by one.
        (false, false) if matches!(language, Tsx | TypeScript) => (Fit_, Unknown, Fit_),
        (false, false) => (Unknown, Unknown, Unknown),
    }
}

fn result(language: Language, old: &[&str], new: &[&str], free: &TypeParameters<'_>) -> Fits {
    use Language::{C, Cpp, Go, JavaScript, Kotlin, Php, Python, Ruby, Rust, Tsx, TypeScript};
    let exact = matches!(language, Go | C | Cpp | Rust);
    let inferred = matches!(language, Python | TypeScript | Tsx | JavaScript | Kotlin | Php | Ruby);
    let empty =
        |tokens: &[&str]| tokens.is_empty() || matches!(tokens, ["void" | "Void" | "Unit"] | ["(", ")"]);
    match (empty(old), empty(new)) {
        (true, true) => return (Fit_, Fit_, Fit_),
        // Calls did nothing with a result that was not there.
        (true, false) if language == Rust => return (Unknown, Breaks, Breaks),
        (true, false) if language == Python => return (Fit_, Fit_, Fit_),
        (true, false) if inferred => return (Fit_, if language == Php { Breaks } else { Unknown }, Fit_),
        (true, false) => return (Fit_, Breaks, if exact { Breaks } else { Unknown }),
        (false, true) if inferred && new.is_empty() => return (Fit_, Fit_, Fit_),
        (false, true) => return (Breaks, Breaks, Breaks),
        (false, false) => {}
    }
    if language == Go && result_count(old) != result_count(new) {
        return (Breaks, Breaks, Breaks);
    }
    match relation(language, old, new, free) {
        Relation::Same => (Fit_, Fit_, Fit_),
        Relation::Narrower => (Fit_, Breaks, if exact { Breaks } else { Fit_ }),
        Relation::Wider => (Unknown, Fit_, Unknown),
        Relation::Converts if matches!(language, C | Cpp) => (Fit_, Breaks, Breaks),
        Relation::Converts | Relation::Unknown => (Unknown, Unknown, Unknown),
        Relation::Unrelated => (Breaks, Breaks, Breaks),
    }
}

/// The number of results of a function of Go that has some. A comma is behind each of a list.
pub(super) fn result_count(tokens: &[&str]) -> usize {
    split(tokens).iter().filter(|slice| !slice.is_empty()).count()
}

/// Returns true if the types of all parameters and of the result are the same.
pub(super) fn have_same_types(language: Language, one: &Header<'_>, other: &Header<'_>) -> bool {
    let free = TypeParameters::new(language, &one.generics, &other.generics);
    let same = |a: &[&str], b: &[&str]| relation(language, a, b, &free) == Relation::Same;
    let parameters = one.parameters.iter().zip(&other.parameters);
    // The header of a method of C++ outside its class contains the class.
    let is_unknown = |header: &Header<'_>| header.result.is_empty() || header.result.ends_with(&["::"]);
    let labels = |a: &Parameter<'_>, b: &Parameter<'_>| language != Language::Swift || a.label == b.label;
    one.parameters.len() == other.parameters.len()
        && parameters
            .clone()
            .all(|(a, b)| same(&a.type_, &b.type_) && a.modifiers == b.modifiers && labels(a, b))
        && (same(&one.result, &other.result) || is_unknown(one) || is_unknown(other))
}
