//! Conditional access of C#: `a?.B.C()`.

use tree_sitter::Node;

use crate::facts::{Role, Shape};
use crate::scope;
use crate::syntax::children;
use crate::walk::Walk;

/// Handles `a?.B.C()`: the bound members belong to the condition.
pub(super) fn conditional(walk: &mut Walk<'_>, node: Node<'_>, arguments: Option<u16>) {
    let Some(condition) = node.child_by_field_name("condition") else { return };
    walk.visit(condition);
    let of = walk.shape(condition);
    for part in children(node).into_iter().filter(|part| *part != condition) {
        bound(walk, part, &of, arguments);
    }
}

fn bound(walk: &mut Walk<'_>, node: Node<'_>, of: &Shape, arguments: Option<u16>) -> Shape {
    if !walk.collector.descend() {
        return Shape::Unknown;
    }
    let shape = bound_shape(walk, node, of, arguments);
    walk.collector.ascend();
    shape
}

fn bound_shape(walk: &mut Walk<'_>, node: Node<'_>, of: &Shape, arguments: Option<u16>) -> Shape {
    match node.kind() {
        "member_binding_expression" => {
            let Some(name) = node.child_by_field_name("name") else { return Shape::Unknown };
            let simple = walk.head(name);
            let role = if arguments.is_some() { Role::Call } else { Role::Value };
            walk.collector.use_name(simple, role, Some(of.clone()), arguments);
            scope::member(of.clone(), walk.text(simple))
        }
        "invocation_expression" => {
            let (callee, list) =
                (node.child_by_field_name("function"), node.child_by_field_name("arguments"));
            let count = list.map_or(0, |list| u16::try_from(list.named_child_count()).unwrap_or(0));
            list.into_iter().for_each(|list| walk.children(list));
            callee.map_or(Shape::Unknown, |callee| scope::call(bound(walk, callee, of, Some(count))))
        }
        "member_access_expression" => {
            let (inner, name) = (node.child_by_field_name("expression"), node.child_by_field_name("name"));
            let Some((inner, name)) = inner.zip(name) else { return Shape::Unknown };
            let inner = bound(walk, inner, of, None);
            let role = if arguments.is_some() { Role::Call } else { Role::Value };
            walk.collector.use_name(walk.head(name), role, Some(inner.clone()), arguments);
            scope::member(inner, walk.text(walk.head(name)))
        }
        _ => {
            walk.visit(node);
            Shape::Unknown
        }
    }
}
