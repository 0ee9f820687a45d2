//! Objects of TypeScript that are found by the type that is written for them, because an empty one has no property to find it by.

use tree_sitter::Node;

use super::super::tree::Source;
use super::function_types::{arguments_for, declaration};
use super::{Search, expected};
use crate::reference::Reference;
use crate::world::FileId;

/// The objects that the variables, fields and parameters of a type have as their value.
pub(super) fn typed_values<'s>(
    search: &Search<'_>,
    source: &'s Source,
    reference: &Reference,
) -> Vec<Node<'s>> {
    let declared = source.leaves(reference.line, &reference.pattern).into_iter().filter_map(declaration);
    let values = declared.filter_map(|node| node.child_by_field_name("value"));
    values
        .filter(|value| value.kind() == "object" && !expected::is_loose(search.world, source, *value))
        .collect()
}

/// Calls `found` with each empty object that is passed for a parameter of a type.
pub(super) fn passed(
    search: &Search<'_>,
    source: &Source,
    reference: &Reference,
    found: &mut dyn FnMut(FileId, Node<'_>),
) {
    let leaves = source.leaves(reference.line, &reference.pattern).into_iter();
    for parameter in leaves.filter_map(declaration).filter(|node| node.kind().ends_with("_parameter")) {
        arguments_for(search, reference.file, source, parameter, &mut |file, _, value| {
            if value.kind() == "object" && value.named_child_count() == 0 {
                found(file, value);
            }
        });
    }
}
