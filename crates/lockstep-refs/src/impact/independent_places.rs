//! Places that do not depend on the changed definition that they name. C and C++: conditions of the preprocessor, pointers to a
//! structure in a header. Go: functions that are given where a value of any type fits.

use tree_sitter::Node;

use super::tree::{Trees, ancestors};
use crate::definition_diff::{DefinitionChangeKind, SymbolChange};
use crate::facts::{DefinitionKind, Role};
use crate::language::Language;
use crate::reference::Reference;

/// Returns true if no place on the line of a reference needs the removed definition.
pub(super) fn need_no_definition(trees: &Trees<'_>, change: &SymbolChange, reference: &Reference) -> bool {
    let is_gone = matches!(change.what, DefinitionChangeKind::Removed | DefinitionChangeKind::Renamed(_));
    let language = trees.world.facts(reference.file).map(|facts| facts.language);
    if !is_gone || !matches!(language, Some(Language::C | Language::Cpp)) {
        return false;
    }
    let is_header =
        trees.world.path(reference.file).rsplit('.').next().is_some_and(|part| part.starts_with('h'));
    let is_tag = change.was.kind == DefinitionKind::Type && is_header;
    let Some(source) = trees.get(reference.file) else { return false };
    let leaves = source.leaves(reference.line, &reference.pattern);
    !leaves.is_empty()
        && leaves.into_iter().all(|leaf| is_condition(leaf) || is_tag && is_declared_pointer(leaf))
}

/// Returns true if a function of Go with another signature is an element of a literal that takes values of any type.
pub(super) fn takes_any_function(trees: &Trees<'_>, change: &SymbolChange, reference: &Reference) -> bool {
    let is_resigned = matches!(change.what, DefinitionChangeKind::SignatureChanged { .. });
    let is_function = change.was.kind == DefinitionKind::Function && reference.role == Role::Value;
    let language = trees.world.facts(reference.file).map(|facts| facts.language);
    if !is_resigned || !is_function || language != Some(Language::Go) {
        return false;
    }
    let Some(source) = trees.get(reference.file) else { return false };
    let mut leaves = source.leaves(reference.line, &reference.pattern);
    leaves.retain(|leaf| leaf.kind() == "identifier");
    let is_element = |leaf: Node<'_>| {
        let literal = ancestors(leaf).take(4).find(|ancestor| ancestor.kind() == "composite_literal");
        let type_ = literal
            .and_then(|literal| literal.child_by_field_name("type"))
            .map(|annotation| source.text(annotation));
        type_.is_some_and(|type_| {
            type_.ends_with("interface{}") || type_.ends_with("]any") || type_ == "template.FuncMap"
        })
    };
    !leaves.is_empty() && leaves.into_iter().all(is_element)
}

/// Returns true if a name is tested by the preprocessor.
fn is_condition(leaf: Node<'_>) -> bool {
    let mut inner = leaf;
    for node in ancestors(leaf).take_while(|ancestor| !ancestor.kind().ends_with("declaration")) {
        let field = match node.kind() {
            "preproc_ifdef" | "preproc_elifdef" => "name",
            "preproc_if" | "preproc_elif" => "condition",
            _ => {
                inner = node;
                continue;
            }
        };
        return node.child_by_field_name(field) == Some(inner);
    }
    false
}

/// Returns true if a tag is named for a pointer in a member or the parameter of a function that is only declared.
fn is_declared_pointer(leaf: Node<'_>) -> bool {
    let tag = leaf.parent().filter(|parent| {
        matches!(parent.kind(), "struct_specifier" | "union_specifier")
            && parent.child_by_field_name("body").is_none()
    });
    let Some(declaration) = tag.and_then(|tag| tag.parent()) else { return false };
    let kinds = ["field_declaration", "parameter_declaration", "declaration"];
    let declarator = declaration.child_by_field_name("declarator");
    let is_pointer = declarator.is_some_and(|declarator| {
        matches!(declarator.kind(), "pointer_declarator" | "abstract_pointer_declarator")
    });
    kinds.contains(&declaration.kind())
        && is_pointer
        && !ancestors(declaration).any(|ancestor| ancestor.kind() == "function_definition")
}
