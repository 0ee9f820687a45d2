//! Patterns that bind names: parameters, destructuring.

use tree_sitter::Node;

use super::Walk;
use crate::facts::{Role, Shape};
use crate::scope::{member, position};
use crate::syntax::children;

impl<'t> Walk<'t> {
    /// Binds the names of a pattern to the parts of a value, and records the properties as uses.
    pub(super) fn bind(&mut self, pattern: Node<'t>, shape: Shape) {
        if !self.found.descend() {
            return;
        }
        match pattern.kind() {
            "identifier" | "shorthand_property_identifier_pattern" => {
                self.found.scopes.bind(self.found.text(pattern), shape);
            }
            "object_pattern" => {
                for part in children(pattern) {
                    self.property(part, &shape);
                }
            }
            "array_pattern" => {
                for (at, part) in children(pattern).into_iter().enumerate() {
                    let one =
                        if shape == Shape::Unknown { Shape::Unknown } else { position(shape.clone(), at) };
                    self.bind(part, one);
                }
            }
            "assignment_pattern" => {
                if let Some(default) = pattern.child_by_field_name("right") {
                    self.expression(default);
                }
                if let Some(left) = pattern.child_by_field_name("left") {
                    self.bind(left, shape);
                }
            }
            "rest_pattern" => {
                if let Some(inner) = pattern.named_child(0) {
                    self.bind(inner, shape);
                }
            }
            "required_parameter" | "optional_parameter" => {
                if let Some(inner) = pattern.child_by_field_name("pattern") {
                    self.bind(inner, shape);
                }
            }
            _ => drop(self.expression(pattern)),
        }
        self.found.ascend();
    }

    fn property(&mut self, part: Node<'t>, shape: &Shape) {
        match part.kind() {
            "shorthand_property_identifier_pattern" => {
                self.found.use_name(part, Role::Pattern, Some(shape.clone()), None);
                self.bind(part, member(shape.clone(), self.found.text(part)));
            }
            "pair_pattern" => {
                let key = part.child_by_field_name("key");
                let value = part.child_by_field_name("value");
                let mut inner = Shape::Unknown;
                if let Some(key) = key.filter(|key| key.kind() == "property_identifier") {
                    self.found.use_name(key, Role::Pattern, Some(shape.clone()), None);
                    inner = member(shape.clone(), self.found.text(key));
                } else if let Some(key) = key.filter(|key| key.kind() == "computed_property_name") {
                    self.expression(key);
                }
                if let Some(value) = value {
                    self.bind(value, inner);
                }
            }
            "object_assignment_pattern" => {
                if let Some(default) = part.child_by_field_name("right") {
                    self.expression(default);
                }
                if let Some(left) = part.child_by_field_name("left") {
                    self.property(left, shape);
                }
            }
            "rest_pattern" => {
                if let Some(inner) = part.named_child(0) {
                    self.bind(inner, shape.clone());
                }
            }
            _ => {}
        }
    }
}
