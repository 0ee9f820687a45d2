//! The shapes of expressions and of types.

use tree_sitter::Node;

use super::calls::invocation;
use super::{Walk, dotted, parts};
use crate::facts::Shape;
use crate::scope;
use crate::syntax::children;

impl<'t> Walk<'t> {
    pub(crate) fn shape(&self, node: Node<'_>) -> Shape {
        self.shape_at(node, 0)
    }

    /// Returns the shape of a part of an expression at this depth.
    pub(crate) fn shape_within(&self, node: Node<'_>, depth: usize) -> Shape {
        self.shape_at(node, depth + 1)
    }

    fn shape_at(&self, node: Node<'_>, depth: usize) -> Shape {
        let (grammar, kind) = (self.grammar, node.kind());
        if depth > 24 {
            return Shape::Unknown;
        }
        if let Some(shape) = (grammar.infer)(self, node, depth) {
            return shape;
        }
        if grammar.itself.contains(&kind) {
            return Shape::Itself;
        }
        if grammar.parent.contains(&kind) {
            return Shape::Parent;
        }
        if let Some((object, name, _)) = invocation(grammar, node) {
            let name = self.text(name);
            return scope::call(match object {
                Some(object) => scope::member(self.shape_at(object, depth + 1), name),
                None => Shape::Name(name.into()),
            });
        }
        if let Some((callee, _)) = parts(grammar.calls, node) {
            return scope::call(self.shape_at(callee, depth + 1));
        }
        if let Some((type_node, _)) = parts(grammar.creations, node) {
            return self.type_shape(type_node);
        }
        if let Some((object, name)) = parts(grammar.members, node) {
            let name = if grammar.generics.contains(&name.kind()) { self.head(name) } else { name };
            return scope::member(self.shape_at(object, depth + 1), self.text(name));
        }
        if let Some((_, field)) = grammar.elements.iter().find(|(element, _)| *element == kind) {
            let object = if field.is_empty() { node.named_child(0) } else { node.child_by_field_name(field) };
            return object.map_or(Shape::Unknown, |object| scope::element(self.shape_at(object, depth + 1)));
        }
        if let Some((_, field)) = grammar.casts.iter().find(|(cast, _)| *cast == kind) {
            return node.child_by_field_name(field).map_or(Shape::Unknown, |type_| self.type_shape(type_));
        }
        if grammar.transparent.contains(&kind) {
            let inner =
                node.named_child(u32::try_from(node.named_child_count()).unwrap_or(1).saturating_sub(1));
            return inner.map_or(Shape::Unknown, |inner| self.shape_at(inner, depth + 1));
        }
        if grammar.names.contains(&kind) || grammar.types.contains(&kind) {
            let name = self.text(node);
            return self.collector.scopes.get(name).cloned().unwrap_or_else(|| Shape::Name(name.into()));
        }
        if grammar.paths.contains(&kind) {
            let path = dotted(self.text(node));
            let (first, rest) = path.split_once('.').unwrap_or((&path, ""));
            return match self.collector.scopes.get(first) {
                Some(local) => rest.split('.').filter(|p| !p.is_empty()).fold(local.clone(), scope::member),
                None => Shape::Name(path.into()),
            };
        }
        if grammar.generics.contains(&kind) {
            return self.type_shape(node);
        }
        Shape::Unknown
    }

    /// Returns the shape of values of the type at a node.
    pub(crate) fn type_shape(&self, node: Node<'_>) -> Shape {
        self.type_shape_at(node, 0)
    }

    fn type_shape_at(&self, node: Node<'_>, depth: usize) -> Shape {
        if depth > 8 {
            return Shape::Unknown;
        }
        let head = self.head(node);
        let grammar = self.grammar;
        // The C++ node around a type argument.
        let node =
            node.child_by_field_name("type").filter(|_| node.kind() == "type_descriptor").unwrap_or(node);
        let shape = match head.kind() {
            kind if grammar.paths.contains(&kind)
                || grammar.types.contains(&kind)
                || grammar.names.contains(&kind) =>
            {
                Shape::Of(dotted(self.text(head)).into())
            }
            _ => Shape::Unknown,
        };
        // The arguments of a path are those of its last part.
        let mut node = node;
        while let Some(last) =
            node.child_by_field_name("name").filter(|_| grammar.paths.contains(&node.kind()))
        {
            node = last;
        }
        if !grammar.generics.contains(&node.kind()) {
            return shape;
        }
        let is_list = ["array", "slice", "map", "channel"].iter().any(|part| node.kind().contains(part));
        let mut type_arguments = Vec::new();
        for child in children(node) {
            match child.kind().contains("argument") {
                true => type_arguments.extend(
                    children(child)
                        .into_iter()
                        .take(4)
                        .map(|argument| self.type_shape_at(argument, depth + 1)),
                ),
                false if is_list => type_arguments.push(self.type_shape_at(child, depth + 1)),
                false => {}
            }
        }
        type_arguments.retain(|shape| *shape != Shape::Unknown);
        match (is_list, type_arguments.is_empty()) {
            (true, _) => Shape::Applied(Box::new(Shape::Of("[]".into())), type_arguments),
            (false, true) => shape,
            (false, false) => Shape::Applied(Box::new(shape), type_arguments),
        }
    }

    /// Returns the first name of a written type.
    pub(crate) fn head<'n>(&self, node: Node<'n>) -> Node<'n> {
        let grammar = self.grammar;
        let is_name = |kind| {
            grammar.paths.contains(&kind) || grammar.types.contains(&kind) || grammar.names.contains(&kind)
        };
        let mut node = node;
        for _ in 0..8 {
            if is_name(node.kind()) {
                break;
            }
            let named = children(node);
            let next =
                named.iter().find(|child| is_name(child.kind()) || grammar.generics.contains(&child.kind()));
            match next.or(named.first()) {
                Some(next) => node = *next,
                None => break,
            }
        }
        node
    }
}
