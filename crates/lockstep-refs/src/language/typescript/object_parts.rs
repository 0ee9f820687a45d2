//! The parts of an alias that has members.

use tree_sitter::Node;

use crate::syntax::children;

/// The object types in an alias, and the types that they are combined with.
#[derive(Default)]
pub(super) struct ObjectParts<'t> {
    /// Bodies whose members the type has, all of them or alternatively: `{ … }`.
    pub(super) bodies: Vec<Node<'t>>,
    /// Intersected types: `A` of `A & { … }`.
    pub(super) bases: Vec<Node<'t>>,
    /// Alternative types: `A` of `A | { … }`.
    pub(super) others: Vec<Node<'t>>,
}

impl<'t> ObjectParts<'t> {
    pub(super) fn of(value: Node<'t>) -> Self {
        let mut parts = Self::default();
        match value.kind() {
            "union_type" => parts.either(value),
            _ => parts.both(value),
        }
        parts
    }

    fn either(&mut self, node: Node<'t>) {
        for part in children(node) {
            match part.kind() {
                "union_type" => self.either(part),
                "object_type" => self.bodies.push(part),
                "comment" => {}
                _ => self.others.push(part),
            }
        }
    }

    fn both(&mut self, node: Node<'t>) {
        match node.kind() {
            "object_type" => self.bodies.push(node),
            "intersection_type" => children(node).into_iter().for_each(|part| self.both(part)),
            "parenthesized_type" if self.bodies.is_empty() && self.bases.is_empty() => {
                node.named_child(0).into_iter().for_each(|inner| self.both(inner));
            }
            "comment" => {}
            _ => self.bases.push(node),
        }
    }
}
