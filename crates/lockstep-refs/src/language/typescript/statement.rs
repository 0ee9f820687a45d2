//! The statements of a module, in their scopes. Definitions, imports and exports are handled in separate
//! files.

use tree_sitter::Node;

use super::Walk;
use crate::facts::{DefinitionKind, Reach, Shape};
use crate::scope::{awaited, element};
use crate::syntax::{children, digest};

impl<'t> Walk<'t> {
    /// Walks a whole module.
    pub(super) fn program(&mut self, root: Node<'t>) {
        self.statements(root, false);
    }

    /// Walks the statements below a node; `exported` where each is exported, as in a declared namespace.
    pub(super) fn statements(&mut self, node: Node<'t>, exported: bool) {
        if !self.found.descend() {
            return;
        }
        let statements = children(node);
        if self.found.scopes.is_inside() {
            statements.iter().for_each(|statement| self.hoist(*statement));
        }
        for statement in statements {
            self.statement(statement, exported);
        }
        self.found.ascend();
    }

    /// Hoists declarations: a function is visible in its complete block, and a variable to the functions in
    /// it.
    pub(super) fn hoist(&mut self, statement: Node<'t>) {
        if matches!(
            statement.kind(),
            "function_declaration" | "generator_function_declaration" | "class_declaration"
        ) && let Some(name) = statement.child_by_field_name("name")
        {
            self.found.scopes.bind(self.found.text(name), Shape::Unknown);
        }
        if !matches!(statement.kind(), "lexical_declaration" | "variable_declaration") {
            return;
        }
        for declarator in
            children(statement).into_iter().filter(|child| child.kind() == "variable_declarator")
        {
            let Some(name) =
                declarator.child_by_field_name("name").filter(|name| name.kind() == "identifier")
            else {
                continue;
            };
            let value = declarator.child_by_field_name("value");
            // A loaded module's name is visible in the complete file, like an import.
            if value.is_some_and(|value| self.loaded(value).is_some()) {
                continue;
            }
            let declared = declarator.child_by_field_name("type");
            let shape = match (declared, value) {
                (Some(declared), _) => self.quietly(|walk| walk.annotation(declared)),
                (None, Some(value)) => self.outline(value),
                (None, None) => Shape::Unknown,
            };
            self.found.scopes.bind(self.found.text(name), shape);
        }
    }

    /// Walks a block in a scope of its own.
    pub(super) fn block(&mut self, node: Node<'t>) {
        if !self.found.scopes.is_inside() {
            // Bindings of a block at the top level are not the module's.
            self.found.scopes.open();
            self.statements(node, false);
            self.found.scopes.close();
            return;
        }
        self.found.scopes.open();
        self.statements(node, false);
        self.found.scopes.close();
    }

    pub(super) fn statement(&mut self, node: Node<'t>, exported: bool) {
        if !self.found.descend() {
            return;
        }
        self.any_statement(node, exported);
        self.found.ascend();
    }

    fn any_statement(&mut self, node: Node<'t>, exported: bool) {
        match node.kind() {
            "import_statement" => self.import(node),
            "export_statement" => self.export(node),
            "import_alias" => self.import_alias(node, exported),
            "function_declaration" | "generator_function_declaration" | "function_signature" => {
                self.function(node, exported, node);
            }
            "class_declaration" | "abstract_class_declaration" => self.class(node, exported, node),
            "interface_declaration" => self.interface(node, exported, node),
            "enum_declaration" => self.enumeration(node, exported, node),
            "type_alias_declaration" => self.alias(node, exported, node),
            "lexical_declaration" | "variable_declaration" => self.variables(node, exported),
            "internal_module" | "module" => self.namespace(node, exported),
            "ambient_declaration" => {
                for child in children(node) {
                    self.statement(child, exported);
                }
            }
            "expression_statement" => {
                for child in children(node) {
                    self.expression_statement(child);
                }
            }
            "statement_block" => self.block(node),
            "if_statement" => self.if_(node),
            "return_statement" => {
                let expected = self.returns.last().and_then(|returns| returns.declared.clone());
                let value = match node.named_child(0) {
                    Some(value) => {
                        let shape = self.expected(value, expected.clone());
                        self.expect_type(value, &shape, expected.as_ref());
                        shape
                    }
                    None => Shape::Of("undefined".into()),
                };
                if let Some(returns) = self.returns.last_mut() {
                    returns.values.push(value);
                }
            }
            "for_in_statement" => self.for_in(node),
            "for_statement" | "while_statement" | "do_statement" | "try_statement" | "switch_statement"
            | "switch_body" | "switch_case" | "switch_default" | "labeled_statement" | "finally_clause"
            | "else_clause" => {
                self.found.scopes.open();
                for child in children(node) {
                    self.statement(child, false);
                }
                self.found.scopes.close();
            }
            "catch_clause" => {
                self.found.scopes.open();
                if let Some(parameter) = node.child_by_field_name("parameter") {
                    self.bind(parameter, Shape::Untyped);
                }
                if let Some(body) = node.child_by_field_name("body") {
                    self.statements(body, false);
                }
                self.found.scopes.close();
            }
            "comment" | "empty_statement" | "break_statement" | "continue_statement" => {}
            _ => drop(self.expression(node)),
        }
    }

    fn if_(&mut self, node: Node<'t>) {
        let condition = node.child_by_field_name("condition");
        if let Some(condition) = condition {
            self.expression(condition);
        }
        self.found.scopes.open();
        if let Some(condition) = condition {
            self.narrow(condition, true);
        }
        if let Some(yes) = node.child_by_field_name("consequence") {
            self.statement(yes, false);
        }
        self.found.scopes.close();
        self.found.scopes.open();
        if let Some(condition) = condition {
            self.narrow(condition, false);
        }
        if let Some(no) = node.child_by_field_name("alternative") {
            self.statement(no, false);
        }
        self.found.scopes.close();
        // `if (!(x instanceof C)) return;` narrows the rest of the block.
        let leaves = node.child_by_field_name("consequence").is_some_and(leaves);
        if leaves && let Some(condition) = condition {
            self.narrow(condition, false);
        }
    }

    fn for_in(&mut self, node: Node<'t>) {
        self.found.scopes.open();
        let items = node
            .child_by_field_name("right")
            .map_or(Shape::Unknown, |right_node| self.expression(right_node));
        let of =
            node.child_by_field_name("operator").is_some_and(|operator| self.found.text(operator) == "of");
        let waits = node.children(&mut node.walk()).any(|child| child.kind() == "await");
        let item = match (of, waits) {
            (true, true) => awaited(element(items)),
            (true, false) => element(items),
            _ => Shape::Of("string".into()),
        };
        if let Some(left) = node.child_by_field_name("left") {
            self.bind(left, item);
        }
        if let Some(body) = node.child_by_field_name("body") {
            self.statement(body, false);
        }
        self.found.scopes.close();
    }

    /// An expression as a statement: `module.exports = …`, `exports.x = …` define.
    fn expression_statement(&mut self, node: Node<'t>) {
        let is_outermost = node.kind() == "assignment_expression" && !self.found.scopes.is_inside();
        if is_outermost && (self.commonjs(node) || self.assigned_member(node)) {
            return;
        }
        if node.kind() == "internal_module" || node.kind() == "module" {
            return self.namespace(node, false);
        }
        self.expression(node);
    }

    fn namespace(&mut self, node: Node<'t>, exported: bool) {
        let Some(name) = node.child_by_field_name("name") else { return };
        let text = self.found.text(name);
        let Some(body) = node.child_by_field_name("body") else { return };
        if name.kind() == "string" || text == "global" {
            // Declarations about other modules, or global ones.
            return self.statements(body, true);
        }
        let mut definition = self.found.definition(text, DefinitionKind::Module, node);
        definition.reach = reach(exported);
        definition.body = digest([body], self.found.text, |_| false);
        self.found.define(definition);
        let before = self.found.enter(text);
        self.namespaces += 1;
        self.statements(body, is_ambient(node));
        self.namespaces -= 1;
        self.found.leave(before);
    }
}

/// Returns true if a statement always leaves its block.
fn leaves(node: Node<'_>) -> bool {
    match node.kind() {
        "return_statement" | "throw_statement" | "continue_statement" | "break_statement" => true,
        "statement_block" => children(node).last().is_some_and(|child| leaves(*child)),
        _ => false,
    }
}

/// Returns true if a namespace is only declared: then everything in it is visible.
fn is_ambient(namespace: Node<'_>) -> bool {
    let mut around = namespace.parent();
    while let Some(node) = around {
        if node.kind() == "ambient_declaration" {
            return true;
        }
        around = node.parent();
    }
    false
}

/// Returns the visibility of a definition that is exported or not.
pub(super) fn reach(exported: bool) -> Reach {
    if exported { Reach::Everyone } else { Reach::File }
}
