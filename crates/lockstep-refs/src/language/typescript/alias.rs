//! Generic aliases: the arguments that such a type returns. `type Maybe<T> = T | undefined` has the shape of
//! its argument.

use tree_sitter::Node;

use super::Walk;
use crate::facts::{Shape, given_argument};
use crate::scope::{either, union};
use crate::syntax::children;

impl<'t> Walk<'t> {
    /// Walks the target of an alias. Returns the shape of its values, in which its parameters are still open.
    pub(super) fn aliased(&mut self, node: Node<'t>, parameters: &[&'t str]) -> Shape {
        if parameters.is_empty() || !self.found.descend() {
            return self.annotation(node);
        }
        let shape = match node.kind() {
            "union_type" | "intersection_type" | "parenthesized_type" => {
                let parts: Vec<_> =
                    children(node).into_iter().map(|child| self.aliased(child, parameters)).collect();
                union(parts)
            }
            _ => {
                // Also if a parameter is returned: its constraint is known.
                let shape = self.annotation(node);
                let given = self.given_back(node, parameters, 0);
                match (given.is_empty(), shape) {
                    (true, shape) => shape,
                    (false, Shape::Unknown) => either(given),
                    (false, shape) => either(given.into_iter().chain([shape])),
                }
            }
        };
        self.found.ascend();
        shape
    }

    /// The parameters that a type is, in one of its branches, or has all members of.
    fn given_back(&self, node: Node<'t>, parameters: &[&'t str], depth: usize) -> Vec<Shape> {
        if depth > 16 {
            return Vec::new();
        }
        let inside = |parts: Vec<Node<'t>>| {
            let given = parts.into_iter().flat_map(|part| self.given_back(part, parameters, depth + 1));
            given.collect()
        };
        match node.kind() {
            "type_identifier" => {
                let at = parameters.iter().position(|parameter| *parameter == self.found.text(node));
                at.map(given_argument).into_iter().collect()
            }
            "union_type" | "intersection_type" | "parenthesized_type" => inside(children(node)),
            "conditional_type" => {
                let branches = ["consequence", "alternative"].map(|name| node.child_by_field_name(name));
                inside(branches.into_iter().flatten().collect())
            }
            "object_type" => inside(mapped(node).into_iter().collect()),
            _ => Vec::new(),
        }
    }
}

/// The names of an alias's parameters, in their order.
pub(super) fn parameters<'t>(node: Node<'_>, text: &'t str) -> Vec<&'t str> {
    let list = node.child_by_field_name("type_parameters").map(children).unwrap_or_default();
    let names = list.into_iter().filter_map(|child| child.child_by_field_name("name"));
    names.filter_map(|name| text.get(name.byte_range())).collect()
}

/// The type of which an object type has every member as it is: `T` of `{ [K in keyof T]: T[K] }`.
pub(super) fn mapped(object: Node<'_>) -> Option<Node<'_>> {
    let parts = children(object);
    let [signature] = parts.as_slice() else { return None };
    let clause = children(*signature).into_iter().find(|child| child.kind() == "mapped_type_clause")?;
    let keys =
        clause.child_by_field_name("type").filter(|annotation| annotation.kind() == "index_type_query")?;
    let value = signature.child_by_field_name("type")?;
    let value = if value.kind() == "lookup_type" { value } else { value.named_child(0)? };
    (value.kind() == "lookup_type").then_some(())?;
    keys.named_child(0)
}
