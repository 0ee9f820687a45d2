//! Objects that an expression makes: with the type, or with that of the variable.

use tree_sitter::Node;

use crate::facts::Role;
use crate::syntax::children;
use crate::walk::{self, Walk, dotted};

/// `new T(…) { Member = value }`.
pub(super) fn creation(walk: &mut Walk<'_>, node: Node<'_>) {
    let Some(type_) = node.child_by_field_name("type") else { return };
    walk.creation(type_, node.child_by_field_name("arguments"));
    let shape = walk.type_shape(type_);
    for part in node.child_by_field_name("initializer").map(children).unwrap_or_default() {
        let left = part.child_by_field_name("left").filter(|left| left.kind() == "identifier");
        match left {
            Some(left) => {
                walk.collector.use_name(left, Role::Value, Some(shape.clone()), None);
                part.child_by_field_name("right").into_iter().for_each(|right| walk.visit(right));
            }
            None => walk.visit(part),
        }
    }
}

/// `T name = new(…)`: a creation of the type that the variable or property declares.
pub(super) fn implicit_creation(walk: &mut Walk<'_>, node: Node<'_>) {
    let around = std::iter::successors(node.parent(), Node::parent).take(3);
    let mut declared =
        around.filter(|child| matches!(child.kind(), "variable_declaration" | "property_declaration"));
    let type_ = declared.next().and_then(|declared| declared.child_by_field_name("type"));
    let arguments = children(node).into_iter().find(|child| child.kind() == "argument_list");
    if let Some(type_) = type_.filter(|type_| type_.kind() != "implicit_type") {
        let path = dotted(walk.text(walk.head(type_)));
        let name = path.rsplit('.').next().unwrap_or(&path);
        walk.record_use(node, name, Role::Call, None, arguments.and_then(walk::argument_count));
    }
}
