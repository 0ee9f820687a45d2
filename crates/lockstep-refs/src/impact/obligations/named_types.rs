//! Named types of Go that stand for another kind of type now: conversions, literals and constants of the former kind.

use tree_sitter::Node;

use super::super::tree::{Source, ancestors};
use super::{Search, Unmet};
use crate::facts::{Definition, Facts};
use crate::language::Language;
use crate::package::is_type;
use crate::resolve::path_of;
use crate::syntax::children;

/// The kinds of types whose values have nothing in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TypeKind {
    Text,
    Number,
    Truth,
    List,
    Map,
    Struct,
    Function,
}

/// Adds the places that still use a type of the file as one of its former kind.
pub(super) fn find(search: &Search<'_>, before: &Source, new: &Facts, found: &mut Vec<Unmet>) {
    let Some(now) = search.trees.get(search.file).filter(|_| new.language == Language::Go) else { return };
    let (former, present) = (kinds(before), kinds(&now));
    for owner in new.definitions.iter().filter(|definition| is_type(definition)) {
        let kind = |kinds: &[(&str, TypeKind)]| {
            kinds.iter().find(|(name, _)| *name == &*owner.name).map(|(_, kind)| *kind)
        };
        let (Some(was), Some(is)) = (kind(&former), kind(&present)) else { continue };
        if was != is {
            check(search, owner, is, found);
        }
    }
}

/// The named types of a file with their kinds, as far as these are written.
fn kinds(source: &Source) -> Vec<(&str, TypeKind)> {
    let specs = source.nodes(&["type_spec"]).into_iter();
    let known = specs.filter_map(|spec| {
        let kind = kind_of(source, spec.child_by_field_name("type")?)?;
        Some((source.text(spec.child_by_field_name("name")?), kind))
    });
    known.collect()
}

fn kind_of(source: &Source, type_: Node<'_>) -> Option<TypeKind> {
    const NUMBERS: [&str; 4] = ["int", "uint", "float", "byte"];
    Some(match type_.kind() {
        "slice_type" | "array_type" => TypeKind::List,
        "map_type" => TypeKind::Map,
        "struct_type" => TypeKind::Struct,
        "function_type" => TypeKind::Function,
        "type_identifier" => match source.text(type_) {
            "string" => TypeKind::Text,
            "bool" => TypeKind::Truth,
            name if NUMBERS.contains(&name.trim_end_matches(|c: char| c.is_ascii_digit())) => {
                TypeKind::Number
            }
            _ => return None,
        },
        _ => return None,
    })
}

fn check(search: &Search<'_>, owner: &Definition, is: TypeKind, found: &mut Vec<Unmet>) {
    for reference in search.references(search.file, std::slice::from_ref(owner)) {
        let Some(source) = search.trees.get(reference.file) else { continue };
        let mut leaves = source.leaves(reference.line, &reference.pattern).into_iter();
        if leaves.any(|leaf| is_misfit(&source, leaf, is)) {
            found.push(Unmet {
                file: reference.file,
                line: reference.line,
                pattern: reference.pattern.clone(),
                reason: format!("{} is another kind of type", owner.name),
                owner: path_of(owner),
            });
        }
    }
}

/// Returns true if a value of another kind is given where a type is named.
fn is_misfit(source: &Source, leaf: Node<'_>, is: TypeKind) -> bool {
    let mut inner = leaf;
    let mut around = ancestors(leaf);
    let is_path = |node: &Node<'_>| matches!(node.kind(), "selector_expression" | "qualified_type");
    let Some(mut place) = around.next() else { return false };
    if is_path(&place) && place.end_byte() == inner.end_byte() {
        inner = place;
        let Some(outer) = around.next() else { return false };
        place = outer;
    }
    let field = |name| place.child_by_field_name(name);
    match place.kind() {
        "composite_literal" if field("type") == Some(inner) => {
            let is_empty = field("body").is_none_or(|node| node.named_child_count() == 0);
            !matches!(is, TypeKind::List | TypeKind::Map | TypeKind::Struct) || !is_empty
        }
        "call_expression" if field("function") == Some(inner) => {
            let given = field("arguments").map(children).unwrap_or_default();
            given.iter().any(|node| rejects(source, *node, is))
        }
        "type_conversion_expression" => field("operand").is_some_and(|node| rejects(source, node, is)),
        "const_spec" | "var_spec" if field("type") == Some(inner) => {
            let given = field("value").map(children).unwrap_or_default();
            given.iter().any(|node| literal_kind(source, *node).is_some_and(|kind| kind != is))
        }
        _ => false,
    }
}

/// Returns true if a value cannot be converted to a kind of types. A number may become a text.
fn rejects(source: &Source, value: Node<'_>, is: TypeKind) -> bool {
    match literal_kind(source, value) {
        Some(kind) => kind != is,
        // A value that was converted to the former kind is of that.
        None => {
            value.kind() == "identifier"
                && matches!(is, TypeKind::Struct | TypeKind::Map | TypeKind::Function)
        }
    }
}

fn literal_kind(source: &Source, value: Node<'_>) -> Option<TypeKind> {
    match value.kind() {
        "interpreted_string_literal" | "raw_string_literal" => Some(TypeKind::Text),
        "int_literal" | "float_literal" | "iota" => Some(TypeKind::Number),
        "true" | "false" => Some(TypeKind::Truth),
        "binary_expression" => children(value).into_iter().find_map(|child| literal_kind(source, child)),
        "identifier" if source.text(value) == "iota" => Some(TypeKind::Number),
        _ => None,
    }
}
