//! Paths in expressions, types and patterns: every segment is a use.

use tree_sitter::Node;

use super::extractor::{Binding, Reader, Source, member, without_raw_prefix};
use super::types::without_arguments;
use crate::facts::{Role, Shape};
use crate::syntax::children;

/// The prefix of a path: `<Type as Trait>`.
pub(super) struct Base {
    of: Shape,
    /// The path of the trait whose member follows.
    by: Option<Box<str>>,
}

impl Reader {
    /// Records the names of a path, the last segment with `role`. Returns its shape.
    pub(super) fn path(
        &mut self,
        source: Source<'_>,
        node: Node<'_>,
        role: Role,
        arguments: Option<u16>,
    ) -> Shape {
        let mut segments = Vec::new();
        let base = self.segments(source, node, &mut segments, 0);
        self.segments_used(base, &segments, role, arguments)
    }

    /// Collects the segments of a path. A type in front (`<T as Trait>::f`) is recorded and returned as the
    /// base.
    fn segments<'t>(
        &mut self,
        source: Source<'t>,
        node: Node<'_>,
        segments: &mut Vec<(&'t str, u32)>,
        depth: usize,
    ) -> Option<Base> {
        if depth > 64 {
            return Some(Base { of: Shape::Unknown, by: None });
        }
        match node.kind() {
            "scoped_identifier" | "scoped_type_identifier" => {
                let base = node
                    .child_by_field_name("path")
                    .and_then(|path| self.segments(source, path, segments, depth + 1));
                if let Some(name) = node.child_by_field_name("name") {
                    segments.push((source.of(name), source.line(name)));
                }
                base
            }
            "generic_type" | "generic_type_with_turbofish" | "generic_function" | "generic_pattern" => {
                let field = if node.kind() == "generic_function" { "function" } else { "type" };
                let inner = node.child_by_field_name(field).or_else(|| children(node).first().copied());
                let base = inner.and_then(|inner| self.segments(source, inner, segments, depth + 1));
                if let Some(arguments) = node.child_by_field_name("type_arguments") {
                    self.type_uses(source, arguments);
                }
                base
            }
            "bracketed_type" => {
                self.type_uses(source, node);
                let qualified = children(node).into_iter().find(|child| child.kind() == "qualified_type");
                let by = qualified.and_then(|qualified| qualified.child_by_field_name("alias"));
                let by = by.map(|by| without_arguments(&self.type_text(source, by, false)));
                Some(Base {
                    of: Shape::Of(self.type_text(source, node, false).into()),
                    by: by.filter(|by| by != "_").map(Into::into),
                })
            }
            _ => {
                segments.push((source.of(node), source.line(node)));
                None
            }
        }
    }

    /// Records segments that are already known.
    pub(super) fn segments_used(
        &mut self,
        base: Option<Base>,
        segments: &[(&str, u32)],
        role: Role,
        arguments: Option<u16>,
    ) -> Shape {
        let Some(((last, line), before)) = segments.split_last() else {
            return base.map_or(Shape::Unknown, |base| base.of);
        };
        let by = base.as_ref().and_then(|base| base.by.clone());
        let mut prefix = base.map(|base| base.of);
        if let (Some(by), [], Some(of)) = (by, before, &prefix) {
            // The name is the trait's, but the type determines its shape.
            self.put(without_raw_prefix(last), *line, role, Some(Shape::Name(by)), arguments);
            return member(of.clone(), without_raw_prefix(last));
        }
        let owner = if role == Role::Type { Role::Type } else { Role::Owner };
        // Only a dot can follow a variable.
        let alone = before.is_empty();
        for (name, line) in before {
            prefix = Some(self.segment(prefix, alone, name, *line, owner, None));
        }
        self.segment(prefix, alone, last, *line, role, arguments)
    }

    fn segment(
        &mut self,
        prefix: Option<Shape>,
        alone: bool,
        name: &str,
        line: u32,
        role: Role,
        arguments: Option<u16>,
    ) -> Shape {
        let name = without_raw_prefix(name);
        let Some(prefix) = prefix else {
            return self.first_segment(alone, name, line, role, arguments);
        };
        let shape = match &prefix {
            Shape::Name(path) => Shape::Name(format!("{path}::{name}").into()),
            other => member(other.clone(), name),
        };
        if !matches!(name, "super" | "self") {
            self.put(name, line, role, Some(prefix), arguments);
        }
        shape
    }

    fn first_segment(
        &mut self,
        alone: bool,
        name: &str,
        line: u32,
        role: Role,
        arguments: Option<u16>,
    ) -> Shape {
        match name {
            "crate" | "$crate" => Shape::Name("crate".into()),
            "super" | "self" => Shape::Name(name.into()),
            "Self" => self.itself_shape(),
            "" => Shape::Name("".into()),
            _ => match self.bound(name) {
                Some(Binding::Value(shape)) if alone => shape.clone(),
                Some(Binding::Parameter { bounds, .. }) => Shape::Of(bounds.clone()),
                Some(Binding::Item) => Shape::Unknown,
                Some(Binding::Value(_)) | None => {
                    self.put(name, line, role, None, arguments);
                    Shape::Name(name.into())
                }
            },
        }
    }

    /// Returns the shape of the enclosing type, or of its value.
    pub(super) fn itself_shape(&self) -> Shape {
        self.itself.as_ref().map_or(Shape::Unknown, |itself| Shape::Of(itself.clone()))
    }
}
