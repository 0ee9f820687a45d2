//! The results that types of functions of Go, and functions, are written with.

use tree_sitter::Node;

use super::super::super::tree::Source;
use crate::facts::Definition;
use crate::language::Language;
use crate::syntax::children;

/// Returns the result of a function type of Go, without spaces.
pub(super) fn result_of(source: &Source, owner: &Definition) -> Option<String> {
    let types = source.nodes(&["type_spec", "type_alias"]).into_iter();
    let mut named = types.filter(|node| {
        source.language == Language::Go
            && node.child_by_field_name("name").is_some_and(|name| source.text(name) == &*owner.name)
    });
    let type_ = named
        .next()?
        .child_by_field_name("type")
        .filter(|annotation| annotation.kind() == "function_type")?;
    Some(written_result(source, type_))
}

/// Returns the written result of a function or function type, without spaces and names.
pub(super) fn written_result(source: &Source, function: Node<'_>) -> String {
    let Some(result) = function.child_by_field_name("result") else { return String::new() };
    let spaceless = |node: Node<'_>| source.text(node).split_whitespace().collect::<String>();
    if result.kind() != "parameter_list" {
        return spaceless(result);
    }
    let mut types = Vec::new();
    for part in children(result) {
        let names = part.children_by_field_name("name", &mut part.walk()).count().max(1);
        let type_ = part.child_by_field_name("type").map(spaceless).unwrap_or_default();
        types.extend(std::iter::repeat_n(type_, names));
    }
    types.join(",")
}
