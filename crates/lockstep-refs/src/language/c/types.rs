//! Definitions of types: classes, structs, enumerations and `typedef`.

use tree_sitter::Node;

use super::declarator::Declared;
use super::visit_sizes;
use crate::facts::{DefinitionKind, Reach, Shape};
use crate::syntax::{children, digest};
use crate::walk::{Type, Walk};

pub(super) fn type_(walk: &mut Walk<'_>, node: Node<'_>, name: Node<'_>, body: Node<'_>) {
    let bases = children(node)
        .into_iter()
        .find(|child| child.kind() == "base_class_clause")
        .map(children)
        .unwrap_or_default();
    let is_type =
        |base: &Node<'_>| matches!(base.kind(), "type_identifier" | "qualified_identifier" | "template_type");
    let extends = bases.into_iter().filter(is_type).collect();
    let reach = if walk.is_inside_function() { Reach::File } else { Reach::Everyone };
    let scoped = node.kind() != "enum_specifier"
        || node.child(1).is_some_and(|word| matches!(word.kind(), "class" | "struct"));
    if scoped {
        walk.type_(&Type { node, name, kind: DefinitionKind::Type, reach, extends, body: Some(body) });
        return;
    }
    // The names of a plain enum belong to the enclosing scope.
    let mut definition = walk.collector.definition(walk.text(name), DefinitionKind::Type, node);
    definition.reach = reach;
    definition.body = digest([body], walk.collector.text, |_| false);
    walk.collector.define(definition);
    walk.visit(body);
}

pub(super) fn alias(walk: &mut Walk<'_>, node: Node<'_>) {
    let Some(type_) = node.child_by_field_name("type") else { return };
    let declarator = node.child_by_field_name("name").or_else(|| node.child_by_field_name("declarator"));
    let Some(declared) = declarator.and_then(Declared::of) else { return walk.visit_type(type_) };
    let unnamed =
        type_.child_by_field_name("name").is_none().then(|| type_.child_by_field_name("body")).flatten();
    if let Some(body) = unnamed.filter(|_| type_.kind().ends_with("_specifier")) {
        // `typedef struct { … } T;`: the struct is T.
        return self::type_(walk, type_, declared.name, body);
    }
    let same =
        type_.child_by_field_name("name").is_some_and(|name| walk.text(name) == walk.text(declared.name));
    if !same {
        let mut definition =
            walk.collector.definition(walk.text(declared.name), DefinitionKind::Type, declared.name);
        definition.gives = (declared.parameters.is_none()).then(|| walk.type_shape(type_));
        definition.signature = digest([type_], walk.collector.text, |_| false);
        walk.collector.define(definition);
    }
    declarator.into_iter().for_each(|declarator| visit_sizes(walk, declarator));
    walk.visit_type(type_);
}

/// Returns the type of a member whose struct has no name: the members of that struct belong to the type
/// around it.
pub(super) fn unnamed_struct(walk: &Walk<'_>, type_: Node<'_>) -> Option<Shape> {
    let is_unnamed =
        type_.child_by_field_name("name").is_none() && type_.child_by_field_name("body").is_some();
    let is_struct = matches!(type_.kind(), "struct_specifier" | "union_specifier");
    walk.collector.container().filter(|_| is_unnamed && is_struct).map(Shape::Of)
}
