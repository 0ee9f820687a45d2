//! Uses of names: their meaning in their scope, and narrowing by conditions.

use tree_sitter::Node;

use super::Walk;
use crate::facts::{DefinitionKind, NARROWED, Role, Shape};
use crate::scope::{awaited, call, either, member};

impl<'t> Walk<'t> {
    pub(super) fn string(&self, node: Node<'t>) -> &'t str {
        self.found.text(node).trim_matches(['"', '\'', '`'])
    }

    /// Narrows variables by a condition that holds or does not. Its parts are kept in a list: a generated condition has thousands.
    pub(super) fn narrow(&mut self, condition: Node<'t>, holds: bool) {
        let mut parts = vec![(condition, holds)];
        while let Some((part, holds)) = parts.pop() {
            match part.kind() {
                "parenthesized_expression" => parts.extend(part.named_child(0).map(|inner| (inner, holds))),
                "unary_expression" if self.found.text(part).starts_with('!') => {
                    parts.extend(part.child_by_field_name("argument").map(|inner| (inner, !holds)));
                }
                "binary_expression" => self.narrow_by_operator(part, holds, &mut parts),
                "call_expression" if holds => {
                    if let Some((name, shape)) = self.predicate_narrowing(part) {
                        self.found.scopes.bind(name, shape);
                    }
                }
                _ => {}
            }
        }
    }

    /// Narrows by a binary expression, or adds its operands to `parts`, the left one to be taken first.
    fn narrow_by_operator(&mut self, condition: Node<'t>, holds: bool, parts: &mut Vec<(Node<'t>, bool)>) {
        let operator =
            condition.child_by_field_name("operator").map_or("", |operator| self.found.text(operator));
        let (left, right) = (condition.child_by_field_name("left"), condition.child_by_field_name("right"));
        let (Some(left), Some(right)) = (left, right) else { return };
        match operator {
            "&&" if holds => parts.extend([(right, true), (left, true)]),
            "||" if !holds => parts.extend([(right, false), (left, false)]),
            "||" => {
                if let (Some((one, is)), Some((other, or))) =
                    (self.predicate_narrowing(left), self.predicate_narrowing(right))
                    && one == other
                {
                    self.found.scopes.bind(one, either([is, or]));
                }
            }
            "instanceof" if holds && self.found.scopes.is_inside() => {
                let class = self.quietly(|walk| walk.expression(right));
                let shape = match class {
                    Shape::Name(name) => Shape::Of(name),
                    other => call(other),
                };
                self.found.scopes.bind(self.found.text(left), shape);
            }
            _ => {}
        }
    }

    /// Returns the narrowed shape of a call's first argument, if the function is a predicate: `isNode(x)`.
    fn predicate_narrowing(&mut self, call: Node<'t>) -> Option<(&'t str, Shape)> {
        let function = call.child_by_field_name("function").filter(|_| call.kind() == "call_expression")?;
        let about = call.child_by_field_name("arguments")?.named_child(0)?;
        if !self.found.scopes.is_inside() || !matches!(about.kind(), "identifier" | "member_expression") {
            return None;
        }
        let callee = self.outline(function);
        if !matches!(callee, Shape::Name(_) | Shape::Member(..)) {
            return None;
        }
        let value = match self.outline(about) {
            // Of several predicates the last one is used: a chain would grow without end.
            Shape::Applied(head, mut parts) if *head == Shape::Of(NARROWED.into()) => parts.pop()?,
            value => value,
        };
        // A value whose members are tracked by its form keeps it.
        if !matches!(
            value,
            Shape::Untyped | Shape::Unknown | Shape::Of(_) | Shape::Applied(..) | Shape::Either(_)
        ) {
            return None;
        }
        let parts = vec![crate::scope::call(callee), value];
        Some((self.found.text(about), Shape::Applied(Box::new(Shape::Of(NARROWED.into())), parts)))
    }

    /// Walks without recording uses, for nodes that were already walked.
    pub(super) fn quietly<R>(&mut self, walk: impl FnOnce(&mut Self) -> R) -> R {
        let before = self.found.facts.uses.len();
        let result = walk(self);
        self.found.facts.uses.truncate(before);
        result
    }

    /// Records the use of a name.
    pub(super) fn bare_name(&mut self, node: Node<'t>, role: Role, arguments: Option<u16>) -> Shape {
        let name = self.found.text(node);
        if let Some(shape) = self.found.scopes.get(name) {
            return shape.clone();
        }
        self.found.use_name(node, role, None, arguments);
        Shape::Name(self.in_scope(name).into())
    }

    /// Returns the shape of an expression without walking it: nothing in it counts as used.
    pub(super) fn outline(&mut self, node: Node<'t>) -> Shape {
        if !self.found.descend() {
            return Shape::Unknown;
        }
        let part = |field: &str| node.child_by_field_name(field);
        let shape = match (node.kind(), node.named_child(0)) {
            ("identifier", _) => {
                let name = self.found.text(node);
                let bound = self.found.scopes.get(name).cloned();
                bound.unwrap_or_else(|| Shape::Name(self.in_scope(name).into()))
            }
            ("this", _) => self.this.last().cloned().unwrap_or(Shape::Untyped),
            ("member_expression", _) => match (part("object"), part("property")) {
                (Some(of), Some(name)) => member(self.outline(of), self.found.text(name)),
                _ => Shape::Unknown,
            },
            ("call_expression", _) => {
                part("function").map_or(Shape::Unknown, |child| call(self.outline(child)))
            }
            ("new_expression", _) => {
                part("constructor").map_or(Shape::Unknown, |child| call(self.outline(child)))
            }
            ("await_expression", Some(of)) => awaited(self.outline(of)),
            ("parenthesized_expression" | "non_null_expression" | "satisfies_expression", Some(of)) => {
                self.outline(of)
            }
            ("as_expression", _) => match node.named_child(1) {
                Some(declared) => self.quietly(|walk| walk.annotation(declared)),
                None => Shape::Unknown,
            },
            _ => Shape::Unknown,
        };
        self.found.ascend();
        shape
    }

    /// Returns a name as it is known in the file: inside a namespace its own names come first.
    pub(super) fn in_scope(&self, name: &str) -> String {
        if self.namespaces == 0 {
            return name.to_owned();
        }
        let Some(container) = self.found.container() else { return name.to_owned() };
        let mut around: &str = &container;
        loop {
            let is_known = self.found.facts.definitions.iter().any(|definition| {
                definition.container.as_deref() == Some(around)
                    && *definition.name == *name
                    && !is_member_kind(definition.kind)
            });
            if is_known {
                return format!("{around}.{name}");
            }
            match around.rsplit_once('.') {
                Some((outer, _)) => around = outer,
                None => return name.to_owned(),
            }
        }
    }
}

fn is_member_kind(kind: DefinitionKind) -> bool {
    matches!(kind, DefinitionKind::Method | DefinitionKind::Field | DefinitionKind::Variant)
}
