//! Objects that are passed to a function of TypeScript or JavaScript whose parameter names their properties itself: a destructured
//! parameter, or a written type without a name. The properties that a call gives decide whether it still fits.

use std::collections::BTreeMap;

use tree_sitter::Node;

use super::super::results::call_of;
use super::super::tree::Source;
use super::{Search, Unmet};
use crate::facts::{Definition, Facts};
use crate::language::{self, Language};
use crate::resolve::path_of;
use crate::syntax::children;
use crate::world::FileId;

/// The properties of a parameter: true for those that a call must give.
type Keys = BTreeMap<String, bool>;

/// Adds the calls that give an unknown property or lack a required one. Returns the places of all calls that were decided.
pub(super) fn find(
    search: &Search<'_>,
    (old, former): (&Facts, &str),
    new: &Facts,
    found: &mut Vec<Unmet>,
) -> Vec<(FileId, u32)> {
    let mut decided = Vec::new();
    if language::family(new.language) != Language::TypeScript {
        return decided;
    }
    let is_changed = |definition: &&Definition| {
        let same = |was: &&Definition| path_of(was) == path_of(definition) && was.kind == definition.kind;
        let was = old.definitions.iter().find(same);
        definition.arity.is_some()
            && was.is_some_and(|was| was.header != definition.header && was.header.contains('{'))
    };
    let functions: Vec<&Definition> = new.definitions.iter().filter(is_changed).collect();
    if functions.is_empty() {
        return decided;
    }
    let before = Source::new(old.language, former.into());
    let Some((before, now)) = before.zip(search.trees.get(search.file)) else { return decided };
    for function in functions {
        let line = old
            .definitions
            .iter()
            .find(|definition| path_of(definition) == path_of(function))
            .map_or(0, |definition| definition.line);
        let was = keys_of_parameters(&before, &function.name, line);
        let is = keys_of_parameters(&now, &function.name, function.line);
        if was.len() != is.len() || was == is {
            continue;
        }
        // Only the properties may differ.
        let changed: Vec<usize> = (0..is.len()).filter(|at| was[*at] != is[*at]).collect();
        let are_keyed = |at: &usize| was[*at].is_some() && is[*at].is_some();
        if !changed.iter().all(are_keyed) {
            continue;
        }
        for reference in search.references(search.file, std::slice::from_ref(function)) {
            let Some(source) = search.trees.get(reference.file) else { continue };
            let leaves = source.leaves(reference.line, &reference.pattern);
            let calls: Vec<Node<'_>> = leaves.into_iter().filter_map(call_of).collect();
            let fits = |call: &Node<'_>| {
                let mut fits = changed
                    .iter()
                    .map(|at| fits(&source, *call, *at, (was[*at].as_ref()?, is[*at].as_ref()?)));
                fits.try_fold(true, |all, one| Some(all & one?))
            };
            let answers: Option<Vec<bool>> = calls.iter().map(fits).collect();
            let Some(answers) = answers.filter(|answer| !answer.is_empty()) else { continue };
            decided.push((reference.file, reference.line));
            if answers.contains(&false) {
                found.push(Unmet {
                    file: reference.file,
                    line: reference.line,
                    pattern: reference.pattern.clone(),
                    reason: format!("{} takes other properties", function.name),
                    owner: path_of(function),
                });
            }
        }
    }
    decided
}

/// Returns true if the object that a call passes at a position fits; `None` if that is unknown.
fn fits(source: &Source, call: Node<'_>, at: usize, (was, is): (&Keys, &Keys)) -> Option<bool> {
    let argument = children(call.child_by_field_name("arguments")?).into_iter().nth(at)?;
    if argument.kind() != "object" {
        return None;
    }
    let is_typed = source.language != Language::JavaScript;
    let mut given = Vec::new();
    for part in children(argument) {
        let key = match part.kind() {
            "shorthand_property_identifier" => part,
            "pair" => part.child_by_field_name("key")?,
            "method_definition" => part.child_by_field_name("name")?,
            "comment" => continue,
            _ => return None,
        };
        given.push(source.text(key).trim_matches(['"', '\'']).to_owned());
    }
    let is_known = |key: &String| is.contains_key(key) || !is_typed && !was.contains_key(key);
    let is_lacking = |(key, required): (&String, &bool)| {
        let was_required = was.get(key).is_some_and(|flag| *flag);
        *required && (is_typed || !was_required) && !given.contains(key)
    };
    Some(given.iter().all(is_known) && !is.iter().any(is_lacking))
}

/// The properties of each parameter of a function; `None` for a parameter that does not name its properties.
fn keys_of_parameters(source: &Source, name: &str, line: u32) -> Vec<Option<Keys>> {
    let leaf = source.leaves(line, name).into_iter().next();
    let declaration = leaf.and_then(|leaf| leaf.parent());
    let value = declaration.and_then(|declaration| declaration.child_by_field_name("value"));
    let function =
        [declaration, value].into_iter().flatten().find_map(|node| node.child_by_field_name("parameters"));
    let Some(list) = function else { return Vec::new() };
    let parameters = children(list).into_iter().filter(|child| child.kind() != "comment");
    parameters.map(|parameter| keys_of_parameter(source, parameter)).collect()
}

fn keys_of_parameter(source: &Source, parameter: Node<'_>) -> Option<Keys> {
    let annotation = parameter.child_by_field_name("type").and_then(|annotation| annotation.named_child(0));
    if let Some(declared) = annotation {
        return if declared.kind() == "object_type" { keys_of_type(source, declared) } else { None };
    }
    let written = ["pattern", "left"].into_iter().find_map(|field| parameter.child_by_field_name(field));
    let pattern = written.unwrap_or(parameter);
    if pattern.kind() != "object_pattern" {
        return None;
    }
    let mut keys = Keys::new();
    for part in children(pattern) {
        let (key, is_required) = match part.kind() {
            "shorthand_property_identifier_pattern" => (part, true),
            "object_assignment_pattern" => (part.child_by_field_name("left")?, false),
            "pair_pattern" => {
                let has_default = part
                    .child_by_field_name("value")
                    .is_some_and(|value| value.kind() == "assignment_pattern");
                (part.child_by_field_name("key")?, !has_default)
            }
            "comment" => continue,
            _ => return None,
        };
        keys.insert(source.text(key).to_owned(), is_required);
    }
    Some(keys)
}

fn keys_of_type(source: &Source, type_: Node<'_>) -> Option<Keys> {
    let mut keys = Keys::new();
    for part in children(type_) {
        match part.kind() {
            "property_signature" | "method_signature" => {
                let key = part.child_by_field_name("name")?;
                let is_optional = part.children(&mut part.walk()).any(|child| child.kind() == "?");
                keys.insert(source.text(key).to_owned(), !is_optional);
            }
            "comment" => {}
            _ => return None,
        }
    }
    Some(keys)
}
