//! The statements of a module, in their blocks. Definitions and imports are handled in separate files.

use tree_sitter::Node;

use super::Walk;
use crate::facts::{Role, Shape};
use crate::syntax::children;

impl<'t> Walk<'t> {
    pub(super) fn module(&mut self, root: Node<'t>) {
        self.block(root);
    }

    /// Walks the statements of a block. Returns true if its end is reached.
    pub(super) fn block(&mut self, node: Node<'t>) -> bool {
        let mut reached = true;
        if self.found.descend() {
            for statement in children(node) {
                reached &= self.statement(statement);
            }
            self.found.ascend();
        }
        reached
    }

    /// Walks one statement. Returns true if the next one is reached.
    fn statement(&mut self, node: Node<'t>) -> bool {
        match node.kind() {
            "function_definition" => self.function(node, &[], Vec::new(), node),
            "class_definition" => self.class(node, &[], node),
            "decorated_definition" => self.decorated(node),
            "import_statement" => self.import(node),
            "import_from_statement" | "future_import_statement" => self.import_from(node),
            "expression_statement" => {
                for expression in children(node) {
                    self.expression_statement(expression);
                }
            }
            "return_statement" => {
                let value =
                    node.named_child(0).map_or(Shape::Of("None".into()), |child| self.expression(child));
                let declared = self.returns.last().and_then(|returns| returns.declared.clone());
                if let (Some(dictionary), Some(declared)) = (node.named_child(0), declared) {
                    self.keys(dictionary, &declared);
                }
                if let Some(returns) = self.returns.last_mut() {
                    returns.values.push(value);
                }
                return false;
            }
            "raise_statement" => {
                self.expressions(node);
                return false;
            }
            "break_statement" | "continue_statement" => return false,
            "if_statement" => return self.if_(node),
            "for_statement" => self.for_(node),
            "while_statement" => self.while_(node),
            "try_statement" => return self.try_(node),
            "with_statement" => return self.with(node),
            "match_statement" => self.match_(node),
            "block" => return self.block(node),
            "assert_statement" => {
                self.expressions(node);
                if let Some(condition) = node.named_child(0) {
                    self.narrow(condition, true);
                }
            }
            "global_statement" | "nonlocal_statement" | "comment" | "pass_statement" => {}
            "type_alias_statement" => self.type_alias(node),
            _ => self.expressions(node),
        }
        true
    }

    pub(super) fn type_alias(&mut self, node: Node<'t>) {
        let (Some(left), Some(right)) = (node.child_by_field_name("left"), node.child_by_field_name("right"))
        else {
            return self.expressions(node);
        };
        let shape = self.annotation(right);
        let name = left.named_child(0).unwrap_or(left);
        self.value(name, None, Some(super::type_aliases::stands_for(shape)), node);
    }

    /// An expression as a statement: assignments define, the rest only uses.
    fn expression_statement(&mut self, node: Node<'t>) {
        match node.kind() {
            "assignment" => self.assignment(node),
            "augmented_assignment" => {
                let left = node.child_by_field_name("left");
                let right = node
                    .child_by_field_name("right")
                    .map(|right_node| (right_node, self.expression(right_node)));
                if let Some(left) = left {
                    if left.kind() == "identifier" && self.found.text(left) == "__all__" {
                        match right.and_then(|(right, _)| self.strings(right)) {
                            Some(more) => self.all.get_or_insert_default().extend(more),
                            None => self.all_is_open = true,
                        }
                    } else if left.kind() == "identifier" {
                        self.bare_name(left, Role::Value, None);
                    } else {
                        self.expression(left);
                    }
                }
            }
            _ => {
                self.expression(node);
                if node.kind() == "call" {
                    self.call_on_all(node);
                }
            }
        }
    }

    /// `__all__.extend(…)`, `__all__.append(…)`.
    fn call_on_all(&mut self, node: Node<'t>) {
        let Some(function) = node.child_by_field_name("function") else { return };
        let Some(object) = function.child_by_field_name("object") else { return };
        if object.kind() != "identifier" || self.found.text(object) != "__all__" {
            return;
        }
        let argument = node.child_by_field_name("arguments").and_then(|arguments| arguments.named_child(0));
        match argument.and_then(|argument| self.strings(argument)) {
            Some(more) => self.all.get_or_insert_default().extend(more),
            None => self.all_is_open = true,
        }
    }

    /// Returns the strings of a list or tuple, or a single string. `None` if there is anything else.
    pub(super) fn strings(&self, node: Node<'t>) -> Option<Vec<Box<str>>> {
        match node.kind() {
            "string" => {
                let content = children(node).into_iter().find(|child| child.kind() == "string_content");
                Some(vec![content.map_or("", |child| self.found.text(child)).into()])
            }
            "list" | "tuple" => {
                let mut all = Vec::new();
                for child in children(node) {
                    if child.kind() != "comment" {
                        all.extend(self.strings(child)?);
                    }
                }
                Some(all)
            }
            "binary_operator" | "parenthesized_expression" => {
                let mut all = Vec::new();
                for child in children(node) {
                    all.extend(self.strings(child)?);
                }
                Some(all)
            }
            _ => None,
        }
    }

    /// Handles an import in a function, which hides a variable of the same name.
    pub(super) fn unbind(&mut self, name: &str) {
        if self.found.scopes.get(name).is_some() {
            self.found.scopes.bind(name, Shape::Name(name.into()));
        }
    }

    /// Returns true directly in the body of a class.
    pub(super) fn in_class(&self) -> bool {
        matches!(self.frames.last(), Some(Some(_)))
    }

    /// Returns the enclosing class, by its name in this file.
    pub(super) fn class_around(&self) -> Option<Box<str>> {
        self.frames.iter().rev().find_map(Clone::clone)
    }

    /// Walks on with one more container.
    pub(super) fn found_inside(&mut self, name: &str, walk: impl FnOnce(&mut Self)) {
        let before = self.found.enter(name);
        walk(self);
        self.found.leave(before);
    }
}
