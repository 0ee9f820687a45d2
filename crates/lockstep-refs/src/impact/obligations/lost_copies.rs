//! Rust: fields of a type that no longer implements `Copy`, and are still taken out of a borrowed value.

use tree_sitter::Node;

use super::super::tree::{Source, ancestors};
use super::{Search, Unmet};
use crate::facts::{Definition, DefinitionKind, Shape};
use crate::language::Language;
use crate::limits::Limit;
use crate::resolve::path_of;

/// A type that more files name is looked up in the first ones only.
const MAX_FILES: usize = 200;

/// Adds the places that move a field of the type out of a reference.
pub(super) fn find(search: &Search<'_>, owner: &Definition, found: &mut Vec<Unmet>) {
    for file in Limit::Files.take(search.world.containing(&owner.name), MAX_FILES) {
        if Language::of(search.world.path(file)) != Language::Rust {
            continue;
        }
        let Some(facts) = search.world.facts(file) else { continue };
        let fields: Vec<Definition> =
            facts.definitions.iter().filter(|definition| is_field_of(definition, owner)).cloned().collect();
        for reference in search.references(file, &fields) {
            let Some(source) = search.trees.get(reference.file) else { continue };
            let mut members = source.leaves(reference.line, &reference.pattern).into_iter();
            if members.any(|leaf| is_moved_out(&source, leaf)) {
                found.push(Unmet {
                    file: reference.file,
                    line: reference.line,
                    pattern: reference.pattern.clone(),
                    reason: format!("{} does not implement Copy any more", owner.name),
                    owner: path_of(owner),
                });
            }
        }
    }
}

fn is_field_of(field: &Definition, owner: &Definition) -> bool {
    let is_named = |path: &str| path.rsplit("::").next() == Some(&*owner.name);
    field.kind == DefinitionKind::Field
        && match &field.gives {
            Some(Shape::Of(path) | Shape::Name(path)) => is_named(path),
            _ => false,
        }
}

/// Returns true if a field of something borrowed is used as a value.
fn is_moved_out(source: &Source, leaf: Node<'_>) -> bool {
    let member = leaf.parent().filter(|parent| {
        parent.kind() == "field_expression" && parent.child_by_field_name("field") == Some(leaf)
    });
    let Some(member) = member else { return false };
    let Some(around) = member.parent() else { return false };
    let is_taken = match around.kind() {
        "return_expression" | "arguments" => true,
        "let_declaration" | "field_initializer" => around.child_by_field_name("value") == Some(member),
        "assignment_expression" => around.child_by_field_name("right") == Some(member),
        "block" => {
            let is_body = around.parent().is_some_and(|parent| parent.kind() == "function_item");
            is_body && member.next_named_sibling().is_none()
        }
        _ => false,
    };
    is_taken && is_borrowed(source, member)
}

/// Returns true if the value at the root of a path of fields is a parameter with a reference as its type.
fn is_borrowed(source: &Source, member: Node<'_>) -> bool {
    let mut root = member;
    while let Some(inner) = root.child_by_field_name("value").filter(|_| root.kind() == "field_expression") {
        root = inner;
    }
    let function =
        ancestors(member).find(|ancestor| matches!(ancestor.kind(), "function_item" | "closure_expression"));
    let parameters = function.and_then(|function| function.child_by_field_name("parameters"));
    let Some(parameters) = parameters else { return false };
    let mut list = parameters.named_children(&mut parameters.walk()).collect::<Vec<_>>().into_iter();
    match root.kind() {
        "self" => list.any(|node| node.kind() == "self_parameter" && source.text(node).starts_with('&')),
        "identifier" => list.any(|node| {
            let pattern = node.child_by_field_name("pattern").map(|pattern| source.text(pattern));
            let type_ = node.child_by_field_name("type").map(|annotation| annotation.kind());
            pattern == Some(source.text(root)) && type_ == Some("reference_type")
        }),
        _ => false,
    }
}
