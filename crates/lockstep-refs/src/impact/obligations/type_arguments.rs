//! Uses of a generic type that give it another number of arguments than it takes now.

use std::collections::BTreeSet;

use tree_sitter::Node;

use super::super::tree::{Source, ancestors};
use super::{Search, Unmet};
use crate::facts::{Arity, Definition, Facts};
use crate::language::Language;
use crate::package::is_type;
use crate::resolve::path_of;
use crate::syntax::{TOKEN_END, children};

/// Adds the places that give too few or too many type arguments. Returns the paths of the types of Java with another number of
/// parameters: it decides their uses, because a use without arguments stays valid.
pub(super) fn find(
    search: &Search<'_>,
    before: &Source,
    new: &Facts,
    found: &mut Vec<Unmet>,
) -> BTreeSet<String> {
    let mut checked = BTreeSet::new();
    let Some(now) = search.trees.get(search.file) else { return checked };
    let (types_before, types_now) = (types(before), types(&now));
    for owner in new.definitions.iter().filter(|it| is_type(it)) {
        let was = parameters((before, &types_before), &owner.name);
        let is = parameters((&now, &types_now), &owner.name);
        let (Some(was), Some(is)) = (was, is) else { continue };
        if was != is {
            check(search, owner, is, found);
            checked.extend((new.language == Language::Java).then(|| path_of(owner)));
        }
    }
    checked
}

/// Returns true if a type with parameters has another header.
pub(super) fn may_differ(old: &Facts, new: &Facts) -> bool {
    let is_generic = |it: &Definition| it.header.split(TOKEN_END).any(|token| token == "<");
    let differs = |it: &Definition| {
        let was = old.definitions.iter().find(|was| is_type(was) && path_of(was) == path_of(it));
        was.is_some_and(|was| was.header != it.header && (is_generic(was) || is_generic(it)))
    };
    new.definitions.iter().any(|it| is_type(it) && differs(it))
}

fn check(search: &Search<'_>, owner: &Definition, takes: Arity, found: &mut Vec<Unmet>) {
    for reference in search.references(search.file, std::slice::from_ref(owner)) {
        let Some(source) = search.trees.get(reference.file) else { continue };
        let leaves = source.leaves(reference.line, &reference.pattern).into_iter();
        let mut given = leaves.filter_map(|it| arguments(&source, it));
        let fits = |count: u16| takes.takes(count) || count == 0 && source.language == Language::Java;
        if given.any(|count| !fits(count)) {
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

/// The definitions of types. One traversal of a file serves all its types.
fn types(source: &Source) -> Vec<Node<'_>> {
    source.nodes(&[
        "class_declaration",
        "enum_item",
        "interface_declaration",
        "record_declaration",
        "struct_item",
        "trait_item",
        "type_item",
        "type_spec",
        "union_item",
    ])
}

/// The number of types that a generic type takes; `None` if the file does not define it once.
fn parameters((source, types): (&Source, &[Node<'_>]), name: &str) -> Option<Arity> {
    let mut own =
        types.iter().filter(|it| it.child_by_field_name("name").is_some_and(|it| source.text(it) == name));
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
            "generic_type" if node.named_child(0) == Some(inner) => {
                let list = children(node).pop()?;
                let mut given: Vec<Node<'_>> = list.named_children(&mut list.walk()).collect();
                given.retain(|it| !matches!(it.kind(), "lifetime" | "type_binding" | "line_comment"));
                return u16::try_from(given.len()).ok();
            }
            _ => break,
        }
    }
    if source.language == Language::Java {
        return None;
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
