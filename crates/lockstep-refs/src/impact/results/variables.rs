//! Variables of TypeScript, JavaScript and Python that hold the result of a call, and the tests that guard their uses.

use tree_sitter::Node;

use super::super::tree::{Source, Trees, ancestors, descendants};
use super::{call_of, is_consumed, is_unused};
use crate::definition_diff::{DefinitionChangeKind, SymbolChange};
use crate::facts::{Definition, DefinitionKind, Facts, Role};
use crate::language::{self, Language};
use crate::reference::Reference;
use crate::syntax::children;
use crate::world::words;

/// Returns the uses of the variable without a written type that a call initialises. `None` if there is no such variable, or if other
/// files may use it.
pub(super) fn uses_of_variable<'n>(source: &Source, call: Node<'n>) -> Option<Vec<Node<'n>>> {
    let is_python = source.language == Language::Python;
    if !is_python && language::family(source.language) != Language::TypeScript {
        return None;
    }
    let is_wrapper =
        |node: &Node<'_>| matches!(node.kind(), "parenthesized_expression" | "await_expression" | "await");
    let mut value = call;
    while let Some(around) = value.parent().filter(is_wrapper) {
        value = around;
    }
    let declaration = value.parent()?;
    let (name, given) = match declaration.kind() {
        "variable_declarator" => ("name", "value"),
        "assignment" => ("left", "right"),
        _ => return None,
    };
    let is_open = declaration.child_by_field_name(given) == Some(value)
        && declaration.child_by_field_name("type").is_none()
        && !ancestors(declaration).any(|ancestor| ancestor.kind() == "export_statement");
    let name = declaration.child_by_field_name(name).filter(|node| node.kind() == "identifier" && is_open)?;
    let is_scope = |node: &Node<'_>| match is_python {
        true => matches!(node.kind(), "function_definition" | "module"),
        false => matches!(node.kind(), "statement_block" | "program"),
    };
    let scope = ancestors(declaration).find(is_scope)?;
    let is_use = |node: &Node<'n>| {
        matches!(node.kind(), "identifier" | "shorthand_property_identifier")
            && node.start_byte() > call.end_byte()
            && source.text(*node) == source.text(name)
            && !is_label(*node)
    };
    Some(descendants(scope).into_iter().filter(is_use).collect())
}

/// Returns true for the name of a member or of a keyword argument of Python, which is no variable.
fn is_label(name: Node<'_>) -> bool {
    let Some(around) = name.parent() else { return false };
    match around.kind() {
        "attribute" => around.child_by_field_name("attribute") == Some(name),
        "keyword_argument" => around.child_by_field_name("name") == Some(name),
        _ => false,
    }
}

/// Returns true if an expression is the object of a member: `x` of `x.m`.
fn is_object_of_member(expression: Node<'_>) -> bool {
    let around =
        expression.parent().filter(|parent| matches!(parent.kind(), "attribute" | "member_expression"));
    around.is_some_and(|node| node.child_by_field_name("object") == Some(expression))
}

/// Returns true if every object that a class of Python or TypeScript makes on the line of the reference is only used by its members:
/// a supertype that the class lost is not expected of it.
pub(in crate::impact) fn is_made_for_members(
    trees: &Trees<'_>,
    change: &SymbolChange,
    after: Option<&Facts>,
    reference: &Reference,
) -> bool {
    let was = &change.was;
    let is_call = reference.role == Role::Call && was.kind == DefinitionKind::Type;
    let is_resigned = matches!(change.what, DefinitionChangeKind::SignatureChanged { effect: Some(_), .. });
    let same = |definition: &&Definition| {
        definition.name == was.name && definition.kind == was.kind && definition.container == was.container
    };
    let now = after.and_then(|facts| facts.definitions.iter().find(same));
    let loses = now.is_some_and(|now| was.extends.iter().any(|base| !now.extends.contains(base)));
    if !is_call || !is_resigned || !loses {
        return false;
    }
    let Some(source) = trees.get(reference.file) else { return false };
    let is_used = |node: Node<'_>| is_object_of_member(node) || is_consumed(&source, node, "object");
    let is_fine = |leaf: Node<'_>| {
        let creation = leaf.parent().filter(|parent| parent.kind() == "new_expression");
        let Some(call) = creation.or_else(|| call_of(leaf)) else { return false };
        is_unused(&source, call)
            || is_used(call)
            || uses_of_variable(&source, call).is_some_and(|uses| uses.into_iter().all(is_used))
    };
    let leaves = source.leaves(reference.line, &reference.pattern);
    !leaves.is_empty() && leaves.into_iter().all(is_fine)
}

/// Returns true if code is only reached where a test has shown that a variable is not missing.
pub(super) fn is_guarded(source: &Source, variable: Node<'_>) -> bool {
    let name = source.text(variable);
    let tests = |condition: Node<'_>| words(source.text(condition)).any(|word| word == name);
    let mut inner = variable;
    for node in ancestors(variable) {
        let field = |name: &str| node.child_by_field_name(name);
        match node.kind() {
            "if_statement" | "while_statement" | "ternary_expression" => {
                let condition = field("condition").filter(|child| tests(*child) && *child != inner);
                let is_then = field("consequence") == Some(inner) || field("body") == Some(inner);
                let is_absent = condition.is_some_and(|condition| asks_for_absence(source, condition));
                if condition.is_some() && is_then != is_absent {
                    return true;
                }
            }
            "conditional_expression" => {
                let parts = children(node);
                let [then, condition, _] = parts.as_slice() else { return false };
                if tests(*condition) && *condition != inner {
                    return (*then == inner) != asks_for_absence(source, *condition);
                }
            }
            "binary_expression" | "boolean_operator" => {
                let operator = field("operator").map_or("", |child| source.text(child));
                let is_and = matches!(operator, "&&" | "and");
                if is_and && field("right") == Some(inner) && field("left").is_some_and(tests) {
                    return true;
                }
            }
            "statement_block" | "block" | "program" | "module" => {
                let before =
                    children(node).into_iter().take_while(|child| child.start_byte() < inner.start_byte());
                if before.into_iter().any(|child| excludes_absence(source, child, &tests)) {
                    return true;
                }
            }
            "function_definition" | "function_declaration" | "method_definition" => return false,
            _ => {}
        }
        inner = node;
    }
    false
}

/// Returns true if a condition holds for a missing value.
fn asks_for_absence(source: &Source, condition: Node<'_>) -> bool {
    const ABSENT: &[&str] = &["===undefined", "===null", "==null", "==undefined", "isNone", "==None"];
    let text: String = source.text(condition).chars().filter(|c| !c.is_whitespace()).collect();
    let text = text.trim_start_matches('(');
    text.starts_with('!')
        || source.text(condition).starts_with("not ")
        || ABSENT.iter().any(|name| text.contains(name))
}

/// Returns true if the code behind a statement is not reached with a missing value: `if (!x) return`, `assert x`.
fn excludes_absence(source: &Source, statement: Node<'_>, tests: &dyn Fn(Node<'_>) -> bool) -> bool {
    const EXITS: &[&str] =
        &["return_statement", "throw_statement", "raise_statement", "continue_statement", "break_statement"];
    match statement.kind() {
        "assert_statement" => tests(statement),
        "if_statement" => {
            let condition = statement.child_by_field_name("condition");
            let is_absent =
                condition.is_some_and(|condition| tests(condition) && asks_for_absence(source, condition));
            let body = statement.child_by_field_name("consequence");
            let last = body
                .map(|body| children(body).pop().filter(|_| !EXITS.contains(&body.kind())).unwrap_or(body));
            is_absent && last.is_some_and(|node| EXITS.contains(&node.kind()))
        }
        _ => false,
    }
}
