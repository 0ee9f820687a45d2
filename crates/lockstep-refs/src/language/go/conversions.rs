//! Implicit conversions of values to other types, which may be interfaces that the value must still satisfy.

use tree_sitter::Node;

use crate::facts::{Role, Shape, Use, WHOLE};
use crate::scope;
use crate::syntax::{children, line_of};
use crate::walk::Walk;

/// The name of a use without a name: a value is used where another type may be expected.
const CONVERSION: &str = "@conversion";

/// The name of a use that asks for the type of a value: an interface asks at run time.
pub(crate) const ASSERTION: &str = "@assertion";

/// Records the conversions of a node.
pub(super) fn keep(walk: &mut Walk<'_>, node: Node<'_>) {
    match node.kind() {
        "call_expression" => arguments(walk, node),
        "return_statement" => results(walk, node),
        "assignment_statement" => assignments(walk, node),
        "type_assertion_expression" => assertion(walk, node),
        _ => {}
    }
}

/// Records that values are used where a written type is expected.
pub(super) fn declared(walk: &mut Walk<'_>, type_: Node<'_>, values: Node<'_>) {
    let expected = walk.type_shape(type_);
    for value in expressions(values) {
        convert(walk, value, expected.clone());
    }
}

/// Records that a value is used for a field or an element of a composite literal.
pub(super) fn element(walk: &mut Walk<'_>, literal: &Shape, key: Option<&str>, value: Node<'_>) {
    let expected = match key {
        Some(key) => scope::member(literal.clone(), key),
        None => scope::element(literal.clone()),
    };
    convert(walk, value, expected);
}

fn arguments(walk: &mut Walk<'_>, node: Node<'_>) {
    let (Some(callee), Some(list)) =
        (node.child_by_field_name("function"), node.child_by_field_name("arguments"))
    else {
        return;
    };
    if walk.text(callee) == "append" {
        return appended(walk, list);
    }
    let callee = walk.shape(callee);
    if !is_telling(&callee) {
        return;
    }
    for (at, argument) in (0_u16..).zip(children(list)) {
        convert(walk, argument, Shape::Parameter(Box::new(callee.clone()), at, WHOLE));
    }
}

/// Handles `append(list, values...)`: each value is used for an element of the list.
fn appended(walk: &mut Walk<'_>, arguments: Node<'_>) {
    let mut arguments = children(arguments).into_iter();
    let Some(list) = arguments.next() else { return };
    let expected = scope::element(walk.shape(list));
    for value in arguments.filter(|argument| argument.kind() != "variadic_argument") {
        convert(walk, value, expected.clone());
    }
}

fn results(walk: &mut Walk<'_>, node: Node<'_>) {
    let is_function = |child: &Node<'_>| {
        matches!(child.kind(), "function_declaration" | "method_declaration" | "func_literal")
    };
    let mut around = std::iter::successors(node.parent(), Node::parent);
    let Some(result) = around.find(is_function).and_then(|child| child.child_by_field_name("result")) else {
        return;
    };
    let types: Vec<Node<'_>> = match result.kind() {
        "parameter_list" => result_types(result),
        _ => vec![result],
    };
    let values = node.named_child(0).map(expressions).unwrap_or_default();
    if values.len() != types.len() {
        return;
    }
    for (value, type_) in values.into_iter().zip(types) {
        let expected = walk.type_shape(type_);
        convert(walk, value, expected);
    }
}

/// The types of a list of results: each as often as it has names.
fn result_types(list: Node<'_>) -> Vec<Node<'_>> {
    let mut types = Vec::new();
    for part in children(list) {
        let names = part.children_by_field_name("name", &mut part.walk()).count();
        let type_ = part.child_by_field_name("type").unwrap_or(part);
        types.extend(std::iter::repeat_n(type_, names.max(1)));
    }
    types
}

fn assignments(walk: &mut Walk<'_>, node: Node<'_>) {
    let (Some(left), Some(right)) = (node.child_by_field_name("left"), node.child_by_field_name("right"))
    else {
        return;
    };
    let (left, right) = (expressions(left), expressions(right));
    if left.len() != right.len() {
        return;
    }
    for (target, value) in left.into_iter().zip(right) {
        let expected = walk.shape(target);
        convert(walk, value, expected);
    }
}

/// Handles `value.(T)`: only a type that satisfies the interface is possible.
fn assertion(walk: &mut Walk<'_>, node: Node<'_>) {
    if let (Some(operand), Some(type_)) =
        (node.child_by_field_name("operand"), node.child_by_field_name("type"))
    {
        let (expected, given) = (walk.shape(operand), walk.type_shape(type_));
        keep_conversion(walk, node, ASSERTION, given, expected);
    }
}

fn expressions(node: Node<'_>) -> Vec<Node<'_>> {
    if node.kind() == "expression_list" { children(node) } else { vec![node] }
}

fn convert(walk: &mut Walk<'_>, value: Node<'_>, expected: Shape) {
    let shape = walk.shape(value);
    keep_conversion(walk, value, CONVERSION, shape, expected);
}

fn keep_conversion(walk: &mut Walk<'_>, value: Node<'_>, name: &str, shape: Shape, expected: Shape) {
    if !is_telling(&shape) || !is_telling(&expected) || shape == expected {
        return;
    }
    let (line, within) = (line_of(value), walk.collector.within);
    walk.collector.facts.uses.push(Use {
        name: name.into(),
        line,
        role: Role::Conform,
        of: Some(Shape::Function(vec![shape], Box::new(expected))),
        arguments: None,
        keywords: Vec::new(),
        within,
    });
}

/// Returns true if a shape may resolve to a type of the project.
fn is_telling(shape: &Shape) -> bool {
    match shape {
        Shape::Unknown | Shape::Untyped => false,
        Shape::Of(name) | Shape::Name(name) => !super::BUILT_IN.contains(&&**name) || &**name == "error",
        Shape::Applied(_, arguments) => arguments.iter().any(is_telling),
        _ => true,
    }
}
