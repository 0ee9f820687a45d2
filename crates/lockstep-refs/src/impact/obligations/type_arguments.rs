//! Uses of a generic type that give it another number of arguments than it takes now.

use tree_sitter::Node;

use super::super::tree::{Source, ancestors};
use super::{Search, Unmet};
use crate::facts::{Arity, Definition, Facts};
use crate::language::Language;
use crate::package::is_type;
use crate::resolve::path_of;

/// Adds the places that give too few or too many type arguments.
pub(super) fn find(search: &Search<'_>, before: &Source, new: &Facts, found: &mut Vec<Unmet>) {
    if !matches!(new.language, Language::Rust | Language::Go) {
        return;
    }
    let Some(now) = search.trees.get(search.file) else { return };
    for owner in new.definitions.iter().filter(|it| is_type(it)) {
        let (was, is) = (parameters(before, &owner.name), parameters(&now, &owner.name));
        let (Some(was), Some(is)) = (was, is) else { continue };
        if was != is {
            check(search, owner, is, found);
        }
    }
}

fn check(search: &Search<'_>, owner: &Definition, takes: Arity, found: &mut Vec<Unmet>) {
    for reference in search.references(search.file, std::slice::from_ref(owner)) {
        let Some(source) = search.trees.get(reference.file) else { continue };
        let leaves = source.leaves(reference.line, &reference.pattern).into_iter();
        let mut given = leaves.filter_map(|it| arguments(&source, it));
        if given.any(|count| !takes.takes(count)) {
            found.push(Unmet {
                file: reference.file,
                line: reference.line,
                pattern: reference.pattern.clone(),
                reason: format!("{} takes another number of type arguments", owner.name),
                owner: path_of(owner),
            });
        }
    }
}

/// The number of types that a generic type takes; `None` if the file does not define it once.
fn parameters(source: &Source, name: &str) -> Option<Arity> {
    let items =
        source.nodes(&["struct_item", "enum_item", "union_item", "trait_item", "type_item", "type_spec"]);
    let mut own = items
        .into_iter()
        .filter(|it| it.child_by_field_name("name").is_some_and(|it| source.text(it) == name));
    let (Some(item), None) = (own.next(), own.next()) else { return None };
    let Some(list) = item.child_by_field_name("type_parameters") else {
        return Some(Arity { least: 0, most: Some(0) });
    };
    let (mut least, mut most) = (0, 0);
    for part in list.named_children(&mut list.walk()) {
        let count = match part.kind() {
            "type_parameter_declaration" => part.children_by_field_name("name", &mut part.walk()).count(),
            "lifetime_parameter" | "lifetime" | "attribute_item" | "line_comment" => 0,
            _ => 1,
        };
        let count = u16::try_from(count).ok()?;
        let is_optional =
            part.child_by_field_name("default_type").is_some() || part.kind() == "optional_type_parameter";
        most += count;
        least += if is_optional { 0 } else { count };
    }
    Some(Arity { least, most: Some(most) })
}

/// The number of type arguments at the name of a type. `None` if they may be left out there.
fn arguments(source: &Source, name: Node<'_>) -> Option<u16> {
    let mut inner = name;
    for node in ancestors(name) {
        match node.kind() {
            "scoped_type_identifier" | "qualified_type"
                if node.child_by_field_name("name") == Some(inner) =>
            {
                inner = node;
            }
            "generic_type" if node.child_by_field_name("type") == Some(inner) => {
                let list = node.child_by_field_name("type_arguments")?;
                let mut given: Vec<Node<'_>> = list.named_children(&mut list.walk()).collect();
                given.retain(|it| !matches!(it.kind(), "lifetime" | "type_binding" | "line_comment"));
                return u16::try_from(given.len()).ok();
            }
            _ => break,
        }
    }
    // Without arguments, a type is named where one is written: not in a path, a pattern or an import.
    let around = inner.parent()?;
    let is_written = match around.kind() {
        "parameter"
        | "field_declaration"
        | "reference_type"
        | "function_item"
        | "type_arguments"
        | "parameter_declaration"
        | "pointer_type"
        | "slice_type"
        | "map_type"
        | "type_item" => true,
        "impl_item" => around.child_by_field_name("type") == Some(inner),
        _ => false,
    };
    let is_type = matches!(inner.kind(), "type_identifier" | "scoped_type_identifier" | "qualified_type");
    (is_written && is_type && source.text(inner) != "Self").then_some(0)
}
