//! Branches and loops: the shapes of variables after them, and narrowing by conditions.

use tree_sitter::Node;

use super::Walk;
use crate::facts::Shape;
use crate::scope::{Names, awaited, either, element};
use crate::syntax::children;

impl<'t> Walk<'t> {
    pub(super) fn if_(&mut self, node: Node<'t>) -> bool {
        let mut ends: Vec<Names> = Vec::new();
        let mut otherwise = false;
        let condition = node.child_by_field_name("condition");
        if let Some(condition) = condition {
            self.expression(condition);
        }
        let mut rest = self.found.scopes.names();
        if let Some(condition) = condition {
            self.narrow(condition, true);
        }
        if let Some(block) = node.child_by_field_name("consequence")
            && self.block(block)
        {
            ends.push(self.found.scopes.names());
        }
        self.found.scopes.replace(rest);
        if let Some(condition) = condition {
            self.narrow(condition, false);
        }
        for clause in node.children_by_field_name("alternative", &mut node.walk()).collect::<Vec<_>>() {
            let condition = clause.child_by_field_name("condition");
            if let Some(condition) = condition {
                self.expression(condition);
            }
            rest = self.found.scopes.names();
            if let Some(condition) = condition {
                self.narrow(condition, true);
            }
            let block =
                clause.child_by_field_name("consequence").or_else(|| clause.child_by_field_name("body"));
            if let Some(block) = block
                && self.block(block)
            {
                ends.push(self.found.scopes.names());
            }
            self.found.scopes.replace(rest);
            match condition {
                Some(condition) => self.narrow(condition, false),
                None => otherwise = true,
            }
        }
        if !otherwise {
            ends.push(self.found.scopes.names());
        }
        let mut ends = ends.into_iter();
        let Some(first) = ends.next() else { return false };
        self.found.scopes.replace(first);
        ends.for_each(|names| self.found.scopes.join(names));
        true
    }

    pub(super) fn for_(&mut self, node: Node<'t>) {
        let items = node
            .child_by_field_name("right")
            .map_or(Shape::Unknown, |right_node| self.expression(right_node));
        let before = self.found.scopes.names();
        let is_async = node.child(0).is_some_and(|child| child.kind() == "async");
        let item = if is_async { awaited(element(items)) } else { element(items) };
        if let Some(left) = node.child_by_field_name("left") {
            self.assign(left, Some(item), None, node);
        }
        self.loop_body(node, before);
    }

    pub(super) fn while_(&mut self, node: Node<'t>) {
        let before = self.found.scopes.names();
        if let Some(condition) = node.child_by_field_name("condition") {
            self.expression(condition);
            self.narrow(condition, true);
        }
        self.loop_body(node, before);
    }

    fn loop_body(&mut self, node: Node<'t>, before: Names) {
        if let Some(body) = node.child_by_field_name("body") {
            self.block(body);
        }
        self.found.scopes.join(before);
        if let Some(block) = node
            .child_by_field_name("alternative")
            .and_then(|alternative| alternative.child_by_field_name("body"))
        {
            self.block(block);
        }
    }

    pub(super) fn try_(&mut self, node: Node<'t>) -> bool {
        let before = self.found.scopes.names();
        let mut ends = Vec::new();
        let mut reached = match node.child_by_field_name("body") {
            Some(body) => self.block(body),
            None => true,
        };
        let tried = self.found.scopes.names();
        let mut last = None;
        for clause in children(node) {
            match clause.kind() {
                "except_clause" => {
                    // Anything may have been assigned before it failed.
                    self.found.scopes.replace(before.clone());
                    self.found.scopes.join(tried.clone());
                    if self.except(clause) {
                        ends.push(self.found.scopes.names());
                    }
                }
                "else_clause" => {
                    self.found.scopes.replace(tried.clone());
                    if let Some(body) = clause.child_by_field_name("body") {
                        reached &= self.block(body);
                    }
                    last = Some(self.found.scopes.names());
                }
                _ => {}
            }
        }
        if reached {
            ends.push(last.unwrap_or(tried));
        }
        let any = !ends.is_empty();
        self.found.scopes.replace(before);
        let mut ends = ends.into_iter();
        if let Some(first) = ends.next() {
            self.found.scopes.replace(first);
        }
        ends.for_each(|names| self.found.scopes.join(names));
        for clause in children(node).into_iter().filter(|child| child.kind() == "finally_clause") {
            for block in children(clause) {
                self.block(block);
            }
        }
        any
    }

    fn except(&mut self, clause: Node<'t>) -> bool {
        let mut reached = true;
        for child in children(clause) {
            match child.kind() {
                "block" => reached = self.block(child),
                "as_pattern" => {
                    let caught = child.named_child(0).map_or(Shape::Unknown, |node| self.expression(node));
                    if let Some(name) = alias(child) {
                        self.assign(name, Some(instance(caught)), None, child);
                    }
                }
                "comment" => {}
                _ => drop(self.expression(child)),
            }
        }
        reached
    }

    /// Handles a block that must raise an error: `pytest.raises(E)`, `self.assertRaises(E)`. Its variable has
    /// the error.
    fn expected_error(&mut self, manager: Node<'t>) -> Option<Shape> {
        let function = manager.child_by_field_name("function").filter(|_| manager.kind() == "call")?;
        let name = self.found.text(function);
        let name = name.rsplit('.').next().unwrap_or(name);
        if !matches!(name, "raises" | "assertRaises" | "assertRaisesRegex") {
            return None;
        }
        let first = children(manager.child_by_field_name("arguments")?).into_iter().next()?;
        let raised = self.quietly(|walk| walk.expression(first));
        Some(Shape::Applied(Box::new(Shape::Of("ExceptionInfo".into())), vec![instance(raised)]))
    }

    pub(super) fn with(&mut self, node: Node<'t>) -> bool {
        let is_async = node.child(0).is_some_and(|child| child.kind() == "async");
        for clause in children(node).into_iter().filter(|child| child.kind() == "with_clause") {
            for item in children(clause) {
                let Some(value) = item.child_by_field_name("value") else { continue };
                if value.kind() != "as_pattern" {
                    self.expression(value);
                    continue;
                }
                let manager = value.named_child(0).map_or(Shape::Unknown, |child| self.expression(child));
                let entered = match value.named_child(0).and_then(|child| self.expected_error(child)) {
                    Some(error) => error,
                    None => crate::scope::member(manager, if is_async { "@aenter" } else { "@enter" }),
                };
                if let Some(name) = alias(value) {
                    self.assign(name, Some(entered), None, value);
                }
            }
        }
        match node.child_by_field_name("body") {
            Some(body) => self.block(body),
            None => true,
        }
    }

    pub(super) fn match_(&mut self, node: Node<'t>) {
        if let Some(subject) = node.child_by_field_name("subject") {
            self.expression(subject);
        }
        let before = self.found.scopes.names();
        let cases = match node.child_by_field_name("body") {
            Some(body) => children(body),
            None => children(node),
        };
        let mut ends = Vec::new();
        for case in cases.into_iter().filter(|case| case.kind() == "case_clause") {
            self.found.scopes.replace(before.clone());
            let mut reached = true;
            for child in children(case) {
                match child.kind() {
                    "block" => reached = self.block(child),
                    "case_pattern" => self.pattern(child),
                    _ => self.expressions(child),
                }
            }
            if reached {
                ends.push(self.found.scopes.names());
            }
        }
        self.found.scopes.replace(before);
        ends.into_iter().for_each(|names| self.found.scopes.join(names));
    }

    /// Walks a pattern: records its classes as uses, and binds its names.
    fn pattern(&mut self, node: Node<'t>) {
        if !self.found.descend() {
            return;
        }
        for child in children(node) {
            match child.kind() {
                "dotted_name" => {
                    let parts = children(child);
                    match parts.as_slice() {
                        [name] if node.kind() == "class_pattern" => {
                            self.bare_name(*name, crate::facts::Role::Pattern, None);
                        }
                        [name] => self.found.scopes.bind(self.found.text(*name), Shape::Unknown),
                        [first, rest @ ..] => {
                            let mut shape = self.bare_name(*first, crate::facts::Role::Value, None);
                            for part in rest {
                                self.found.use_name(
                                    *part,
                                    crate::facts::Role::Pattern,
                                    Some(shape.clone()),
                                    None,
                                );
                                shape = crate::scope::member(shape, self.found.text(*part));
                            }
                        }
                        [] => {}
                    }
                }
                "identifier" => self.found.scopes.bind(self.found.text(child), Shape::Unknown),
                _ => self.pattern(child),
            }
        }
        self.found.ascend();
    }

    /// Narrows variables by a condition that holds or does not. Its parts are kept in a list: a generated condition has thousands.
    pub(super) fn narrow(&mut self, condition: Node<'t>, holds: bool) {
        let mut parts = vec![(condition, holds)];
        while let Some((part, holds)) = parts.pop() {
            match part.kind() {
                "parenthesized_expression" => parts.extend(part.named_child(0).map(|inner| (inner, holds))),
                "not_operator" => {
                    parts.extend(part.child_by_field_name("argument").map(|inner| (inner, !holds)));
                }
                "boolean_operator" => {
                    let operator = part.child_by_field_name("operator");
                    if operator.is_some_and(|operator| operator.kind() == "and") == holds {
                        // The last one is taken first.
                        let sides =
                            ["right", "left"].into_iter().filter_map(|side| part.child_by_field_name(side));
                        parts.extend(sides.map(|side| (side, holds)));
                    }
                }
                "call" if holds => self.narrow_instance(part),
                _ => {}
            }
        }
    }

    /// `isinstance(x, C)`
    fn narrow_instance(&mut self, call: Node<'t>) {
        let function = call.child_by_field_name("function");
        if function.map(|function| self.found.text(function)) != Some("isinstance") {
            return;
        }
        let arguments = call.child_by_field_name("arguments").map(children).unwrap_or_default();
        let [variable, classes] = arguments.as_slice() else { return };
        if !matches!(variable.kind(), "identifier" | "attribute") || !self.found.scopes.is_inside() {
            return;
        }
        let classes = self.quietly(|walk| walk.expression(*classes));
        self.found.scopes.bind(self.found.text(*variable), instance(classes));
    }
}

/// The name after `as`.
fn alias(pattern: Node<'_>) -> Option<Node<'_>> {
    pattern.child_by_field_name("alias").and_then(|alias| alias.named_child(0))
}

/// A value of the class, or of one of the classes, that an expression names.
fn instance(classes: Shape) -> Shape {
    match classes {
        Shape::Name(name) => Shape::Of(name),
        Shape::Applied(head, parts) if *head == Shape::Of("tuple".into()) => {
            either(parts.into_iter().map(instance).collect::<Vec<_>>())
        }
        Shape::Either(parts) => either(parts.into_iter().map(instance).collect::<Vec<_>>()),
        Shape::Member(..) => crate::scope::call(classes),
        _ => Shape::Unknown,
    }
}
