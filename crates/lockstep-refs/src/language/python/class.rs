//! Classes and their decorators.

use tree_sitter::Node;

use super::Walk;
use crate::facts::{DefinitionKind, Reach, Role, Shape};
use crate::scope::call;
use crate::syntax::children;

impl<'t> Walk<'t> {
    pub(super) fn decorated(&mut self, node: Node<'t>) {
        let (mut decorators, mut shapes) = (Vec::new(), Vec::new());
        for child in children(node) {
            match child.kind() {
                "decorator" => {
                    let expression = child.named_child(0);
                    let shape = expression.map_or(Shape::Unknown, |expression| self.decorator(expression));
                    let name = expression.map_or("", |expression| self.found.text(expression));
                    if !is_transparent(name) {
                        shapes.push(call(shape));
                    }
                    decorators.push(name);
                }
                "function_definition" => return self.function(child, &decorators, shapes, node),
                "class_definition" => return self.class(child, &decorators, node),
                _ => {}
            }
        }
    }

    /// Records a decorator, which is called with the definition.
    fn decorator(&mut self, node: Node<'t>) -> Shape {
        match node.kind() {
            "identifier" => self.bare_name(node, Role::Call, Some(1)),
            "attribute" => self.attribute(node, Role::Call, Some(1)),
            _ => self.expression(node),
        }
    }

    pub(super) fn class(&mut self, node: Node<'t>, decorators: &[&str], whole: Node<'t>) {
        let Some(name) = node.child_by_field_name("name").map(|name| self.found.text(name)) else { return };
        let body = node.child_by_field_name("body");
        let mut definition = self.found.definition(name, DefinitionKind::Type, whole);
        let within = self.found.within;
        if let Some(bases) = node.child_by_field_name("superclasses") {
            definition.extends = self.bases(bases);
        }
        (definition.signature, definition.body) =
            self.found.digests(whole, node.child_by_field_name("name"), body);
        definition.header = self.found.header(whole, node.child_by_field_name("name"), body);
        if self.found.scopes.is_inside() && !self.in_class() {
            definition.reach = Reach::File;
            self.found.scopes.bind(name, Shape::Name(self.found.path(name).into()));
        }
        if definition.extends.iter().any(|base| self.is_enumeration(base)) {
            self.enumerations.insert(self.found.path(name).into());
        }
        let record = decorators.iter().any(|decorator| makes_record(decorator));
        let is_tuple = definition.extends.iter().any(|base| base.rsplit('.').next() == Some("NamedTuple"));
        let at = self.found.define(definition);
        self.found.within = at;
        self.found.scopes.open_closed();
        if let Some(body) = body {
            let path = self.found.path(name);
            self.frames.push(Some(path.into()));
            self.found_inside(name, |walk| {
                walk.block(body);
            });
            self.frames.pop();
        }
        self.found.scopes.close();
        self.found.within = within;
        self.fields_of_bases(name, node);
        if record || is_tuple {
            self.record(name, node, decorators);
        }
    }

    /// Returns true if a class that extends this one has its variables as instances.
    fn is_enumeration(&self, base: &str) -> bool {
        base.ends_with("Enum") || base.ends_with("Flag") || self.enumerations.contains(base)
    }

    /// Returns the bases of a class, as written, and records their names as uses.
    fn bases(&mut self, list: Node<'t>) -> Vec<Box<str>> {
        let mut bases = Vec::new();
        for base in children(list) {
            match base.kind() {
                "keyword_argument" => {
                    if let Some(value) = base.child_by_field_name("value") {
                        self.expression(value);
                    }
                }
                "identifier" => {
                    self.bare_name(base, Role::Extend, None);
                    bases.push(self.found.text(base).into());
                }
                "attribute" => {
                    self.attribute(base, Role::Extend, None);
                    bases.push(self.found.text(base).into());
                }
                "subscript" => {
                    self.expression(base);
                    if let Some(value) = base.child_by_field_name("value") {
                        bases.push(self.found.text(value).into());
                    }
                }
                "comment" => {}
                _ => {
                    self.expression(base);
                    bases.push("?".into());
                }
            }
        }
        bases
    }
}

/// Returns the name of a decorator, without its module and its arguments.
pub(super) fn decorator_name(decorator: &str) -> &str {
    let name = decorator.split('(').next().unwrap_or(decorator);
    name.rsplit('.').next().unwrap_or(name)
}

/// Returns true if a decorator creates a constructor from the fields of a class.
fn makes_record(decorator: &str) -> bool {
    let name = decorator_name(decorator);
    name.contains("dataclass")
        || matches!(name, "define" | "frozen" | "mutable")
        || (matches!(name, "s" | "attrs") && decorator.contains("auto_attribs=True"))
}

/// Returns true for decorators that do not change a function, or that are handled by name.
fn is_transparent(decorator: &str) -> bool {
    matches!(
        decorator_name(decorator),
        "property"
            | "cached_property"
            | "getter"
            | "setter"
            | "deleter"
            | "staticmethod"
            | "classmethod"
            | "abstractmethod"
            | "overload"
            | "override"
            | "final"
            | "wraps"
            | "contextmanager"
            | "asynccontextmanager"
    )
}
