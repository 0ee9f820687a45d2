//! Compares two contents of a file: the definitions that were removed or renamed, or whose signature or body
//! changed.

mod change;
mod implicit;
mod renames;

use std::collections::{BTreeMap, BTreeSet};

use crate::facts::{Arity, Definition, DefinitionKind, Facts, Reach, Shape};
use crate::language::Language;
use crate::signature;

pub use change::{DefinitionChangeKind, SymbolChange};
pub(crate) use implicit::is_implicit;
use renames::{RemovedTypes, aliases_of_renamed, find_rename, settle_renames, settle_sections};
pub(crate) use renames::{renamed_path, renamed_types, settle_foreign_renames};

/// Returns the changes between two contents of a file, for all definitions that other files can name. In the
/// order of the former text.
pub fn compare(old: &Facts, new: &Facts) -> Vec<SymbolChange> {
    compare_reaching(old, new, Reach::Package)
}

/// Compares the definitions of two contents of a file that reach at least as far as `least`, in the order of the former text.
pub(crate) fn compare_reaching(old: &Facts, new: &Facts, least: Reach) -> Vec<SymbolChange> {
    let aliases = aliases_of_renamed(old, new);
    let mut renamed_types = renamed_types(old, new);
    renamed_types.extend(&aliases);
    let removed_types = RemovedTypes::new(old, new);
    let mut offered = imported(new);
    if old.language == Language::Rust {
        // A name that was already imported next to a definition of the same name is inside a function: no
        // other scope has both.
        let before = imported(old);
        offered.retain(|name| !before.contains(name));
    }
    let mut now = group(new, |container| container.map(str::to_owned));
    let mut wanted: BTreeMap<Key, Vec<&Definition>> = BTreeMap::new();
    let mut changes = Vec::new();
    let mut touched = Vec::new();
    let mut missing = Vec::new();
    for (was, key) in visible_definitions(old, least, &removed_types, &renamed_types) {
        wanted.entry(key).or_default().push(was);
    }
    for (key, before) in wanted {
        for (was, is) in match_overloads(before, now.get_mut(&key)) {
            match is {
                Some(is) => {
                    if let Some(what) = difference(old.language, was, is)
                        .map(|what| adjust_for_overloads(what, was, is, old, new))
                    {
                        let what = check_unused_type_params(what, was, is, old, new);
                        touched.push((changes.len(), is));
                        changes.push(SymbolChange { was: was.clone(), what });
                    }
                }
                None if was.container.is_none() && offered.contains(&*was.name) => {}
                None if is_defined_under_another_condition(was, new) => {}
                None if implicit::replaces(was, new) => {}
                None => missing.push(was),
            }
        }
    }
    missing.sort_by_key(|was| was.line);
    let mut added: Vec<&Definition> = now.into_values().flatten().collect();
    added.sort_by_key(|definition| definition.line);
    for was in missing {
        let what = match find_rename(was, &mut added, &renamed_types) {
            Some(name) => DefinitionChangeKind::Renamed(name),
            None => DefinitionChangeKind::Removed,
        };
        changes.push(SymbolChange { was: was.clone(), what });
    }
    settle_renames(old.language, &mut changes, &touched, &aliases);
    changes.retain(|change| change.was.container.is_some() || !aliases.contains_key(&*change.was.name));
    settle_sections(&mut changes, new);
    changes.extend(implicit::changes(old, new).into_iter().filter(|change| change.was.reach >= least));
    changes.sort_by_key(|change| change.was.line);
    changes
}

/// Returns true if a header of C still defines the name in another branch of the preprocessor.
fn is_defined_under_another_condition(was: &Definition, new: &Facts) -> bool {
    use DefinitionKind::{Macro, Type, Value};
    let is_same =
        |definition: &Definition| definition.name == was.name && definition.container == was.container;
    matches!(new.language, Language::C | Language::Cpp)
        && matches!(was.kind, Macro | Type | Value)
        && new.definitions.iter().any(|definition| definition.kind == was.kind && is_same(definition))
}

/// Returns the names that a file imports at its top level.
fn imported(facts: &Facts) -> BTreeSet<&str> {
    let outermost = facts.imports.iter().filter(|import| import.container.is_none());
    outermost.flat_map(|import| &import.names).map(|name| &*name.local).collect()
}

type Key = (Option<String>, DefinitionKind, Box<str>);

fn group(facts: &Facts, path: impl Fn(Option<&str>) -> Option<String>) -> BTreeMap<Key, Vec<&Definition>> {
    let mut groups: BTreeMap<Key, Vec<&Definition>> = BTreeMap::new();
    for definition in &facts.definitions {
        let key = (path(definition.container.as_deref()), definition.kind, definition.name.clone());
        groups.entry(key).or_default().push(definition);
    }
    groups
}

/// The definitions that reach at least as far as `least`, with the key under which each is expected now.
///
/// Members of a removed type are left out: their users are users of the type.
fn visible_definitions<'a>(
    old: &'a Facts,
    least: Reach,
    removed_types: &RemovedTypes<'_>,
    renamed: &BTreeMap<&str, &str>,
) -> impl Iterator<Item = (&'a Definition, Key)> {
    let remains = move |was: &&Definition| {
        was.reach >= least && !was.container.as_deref().is_some_and(|path| removed_types.holds(path))
    };
    old.definitions.iter().filter(remains).map(|was| {
        let container = was.container.as_deref().map(|path| renamed_path(path, renamed));
        (was, (container, was.kind, was.name.clone()))
    })
}

/// The number of definitions with one name above which they are paired in the order of the text: comparing
/// all pairs would take too long.
const MANY: usize = 16;

/// Pairs definitions of the same name (overloads, conditional ones): the least changed first, among those the
/// nearest. Paired definitions are removed from `now`.
fn match_overloads<'a, 'b>(
    before: Vec<&'a Definition>,
    now: Option<&mut Vec<&'b Definition>>,
) -> Vec<(&'a Definition, Option<&'b Definition>)> {
    let mut pairs: Vec<(&Definition, Option<&Definition>)> =
        before.into_iter().map(|was| (was, None)).collect();
    let Some(now) = now else { return pairs };
    if pairs.len().max(now.len()) > MANY {
        for (was, is) in &mut pairs {
            let nearest = now.iter().enumerate().min_by_key(|(_, is)| distance(was, is));
            *is = nearest.map(|(at, _)| at).map(|at| now.remove(at));
        }
        return pairs;
    }
    loop {
        let open = pairs.iter().enumerate().filter(|(_, (_, is))| is.is_none());
        let nearest = open
            .flat_map(|(from, (was, _))| {
                now.iter().enumerate().map(move |(to, is)| (distance(was, is), from, to))
            })
            .min();
        let Some((_, from, to)) = nearest else { return pairs };
        pairs[from].1 = Some(now.remove(to));
    }
}

fn distance(was: &Definition, is: &Definition) -> (bool, bool, u32) {
    (is.signature != was.signature, is.body != was.body, is.line.abs_diff(was.line))
}

/// Returns the change of a definition that still exists. `None` if there is none.
pub(crate) fn difference(
    language: Language,
    was: &Definition,
    is: &Definition,
) -> Option<DefinitionChangeKind> {
    if is.reach < was.reach {
        Some(DefinitionChangeKind::VisibilityReduced)
    } else if is.signature != was.signature || is.arity != was.arity {
        let effect = signature::compare(language, was, is);
        if effect.as_ref().is_some_and(|effect| effect.is_compatible() && !narrows(was, is)) {
            return Some(DefinitionChangeKind::Compatible);
        }
        let beyond_arity = is.arity == was.arity || type_changed(was, is);
        Some(DefinitionChangeKind::SignatureChanged {
            arity: is.arity,
            beyond_arity,
            unused_type_param: false,
            effect: effect.map(Box::new),
        })
    } else if is.parameters != was.parameters {
        let removed = was.parameters.iter().filter(|name| !is.parameters.contains(name)).cloned();
        Some(DefinitionChangeKind::ParametersRenamed { gone: removed.collect() })
    } else if holds_another_literal(was, is) {
        let arity = is.arity;
        Some(DefinitionChangeKind::SignatureChanged {
            arity,
            beyond_arity: true,
            unused_type_param: false,
            effect: None,
        })
    } else if is.body != was.body {
        Some(DefinitionChangeKind::BodyChanged)
    } else {
        None
    }
}

/// Returns true if a variable or property without a written type holds a text instead of a number, or the other way round.
fn holds_another_literal(was: &Definition, is: &Definition) -> bool {
    let is_value = matches!(was.kind, DefinitionKind::Field | DefinitionKind::Value);
    let is_text = |definition: &Definition| match &definition.gives {
        Some(Shape::Of(name)) if is_value => match &**name {
            "str" | "string" => Some(true),
            "bool" | "boolean" | "float" | "int" | "number" => Some(false),
            _ => None,
        },
        _ => None,
    };
    is_text(was).zip(is_text(is)).is_some_and(|(was, is)| was != is)
}

/// Returns true if a call that fitted no longer does, by the number of its arguments.
fn narrows(was: &Definition, is: &Definition) -> bool {
    match (was.arity, is.arity) {
        (Some(was), Some(is)) => {
            is.least > was.least || is.most.is_some_and(|is| was.most.is_none_or(|was| is < was))
        }
        (was, is) => was != is,
    }
}

/// Returns true if a definition has another result. For a function, its parameter types are included if they
/// are informative; additional or missing parameters are covered by its arity.
fn type_changed(was: &Definition, is: &Definition) -> bool {
    let named = !was.parameters.is_empty();
    match (&was.gives, &is.gives) {
        // With named parameters, inserting one before them moves none.
        (Some(Shape::Function(_, before)), Some(Shape::Function(_, now))) if named => before != now,
        (Some(Shape::Function(before, was)), Some(Shape::Function(now, is))) => {
            was != is || before.iter().zip(now).any(|(before, now)| before != now)
        }
        (was, is) => was != is,
    }
}

/// Adjusts a changed signature for unchanged overloads, which a call may still fit.
fn adjust_for_overloads(
    what: DefinitionChangeKind,
    was: &Definition,
    is: &Definition,
    old: &Facts,
    new: &Facts,
) -> DefinitionChangeKind {
    let DefinitionChangeKind::SignatureChanged {
        arity: Some(mut arity),
        beyond_arity,
        unused_type_param,
        effect,
    } = what
    else {
        return what;
    };
    // Two definitions of one name in Rust have different types, or only one of them is compiled.
    if old.language == Language::Rust {
        return DefinitionChangeKind::SignatureChanged {
            arity: Some(arity),
            beyond_arity,
            unused_type_param,
            effect,
        };
    }
    let of = |other: &Definition, one: &Definition| {
        other.name == one.name && other.kind == one.kind && other.container == one.container
    };
    let stayed = |other: &Definition| {
        let before = old
            .definitions
            .iter()
            .filter(|definition| of(definition, was) && !std::ptr::eq(*definition, was));
        before.into_iter().any(|definition| definition.signature == other.signature)
    };
    let others = new
        .definitions
        .iter()
        .filter(|definition| of(definition, is) && !std::ptr::eq(*definition, is) && stayed(definition));
    let mut any = false;
    // If it requires more arguments, and all others may return nothing, callers that always got a value may
    // now get none.
    let asks_more = was.arity.is_some_and(|was| arity.least > was.least);
    let mut may_fail = asks_more && !gives_nothing(was);
    for (other, taken) in others.filter_map(|definition| Some((definition, definition.arity?))) {
        // With a gap between them, the number of arguments shows which one a call means.
        if is_apart(arity, taken) {
            continue;
        }
        any = true;
        may_fail &= gives_nothing(other);
        arity.least = arity.least.min(taken.least);
        arity.most = arity.most.zip(taken.most).map(|(one, other)| one.max(other));
    }
    // A call may fit another overload, regardless of this one.
    let effect = effect.filter(|_| !any);
    DefinitionChangeKind::SignatureChanged {
        arity: Some(arity),
        beyond_arity: (beyond_arity && !any) || (any && may_fail),
        unused_type_param,
        effect,
    }
}

/// Returns true if a number between two arities fits neither.
fn is_apart(one: Arity, other: Arity) -> bool {
    let is_below = |low: Arity, high: Arity| low.most.is_some_and(|most| most.saturating_add(1) < high.least);
    is_below(one, other) || is_below(other, one)
}

/// Returns true if a Python function may return `None`.
fn gives_nothing(function: &Definition) -> bool {
    let Some(Shape::Function(_, gives)) = &function.gives else { return false };
    let is_none = |shape: &Shape| matches!(shape, Shape::Of(name) if &**name == "None");
    matches!(&**gives, Shape::Either(parts) if parts.iter().any(is_none))
}

/// Detects a Rust type whose fields no longer use one of its parameters.
fn check_unused_type_params(
    what: DefinitionChangeKind,
    was: &Definition,
    is: &Definition,
    old: &Facts,
    new: &Facts,
) -> DefinitionChangeKind {
    if old.language != Language::Rust || was.kind != DefinitionKind::Type {
        return what;
    }
    let DefinitionChangeKind::SignatureChanged { arity, beyond_arity, effect, .. } = what else {
        return what;
    };
    let unused_type_param = match (parameters(old, was), parameters(new, is)) {
        (Some(before), Some(after)) => before.iter().any(|parameter| !after.contains(parameter)),
        _ => false,
    };
    DefinitionChangeKind::SignatureChanged { arity, beyond_arity, unused_type_param, effect }
}

/// The positions of a type's parameters that its fields use; `None` if a field hides them.
fn parameters<'f>(facts: &'f Facts, of: &Definition) -> Option<BTreeSet<&'f str>> {
    let mut used = BTreeSet::new();
    // Two types with one name have different conditions: the fields between its lines are its own.
    let fields = facts.definitions.iter().filter(|definition| {
        definition.kind == DefinitionKind::Field && (of.line..=of.end_line).contains(&definition.line)
    });
    for field in fields {
        let Some(Shape::Of(text)) = &field.gives else { return None };
        let mut words = text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$')));
        if words.clone().any(|word| word == "_") {
            return None;
        }
        used.extend(words.by_ref().filter(|word| word.starts_with('$')));
    }
    Some(used)
}

#[cfg(test)]
mod tests;
