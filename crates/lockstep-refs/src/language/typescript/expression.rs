//! Expressions: the names they use, and their shapes.

use tree_sitter::Node;

use super::Walk;
use super::variable::declared_mark;
use crate::facts::{Role, Shape};
use crate::scope::{awaited, either, member};
use crate::syntax::children;

impl<'t> Walk<'t> {
    /// Walks an expression. Returns its shape.
    pub(super) fn expression(&mut self, node: Node<'t>) -> Shape {
        self.expected(node, None)
    }

    /// Like [`Self::expression`], with an expected type: a function gets its parameters from there, an object
    /// its properties.
    pub(super) fn expected(&mut self, node: Node<'t>, expected: Option<Shape>) -> Shape {
        if !self.found.descend() {
            return Shape::Unknown;
        }
        let shape = self.shape(node, expected);
        self.found.ascend();
        shape
    }

    fn parts(&mut self, node: Node<'t>) {
        for child in children(node) {
            self.expression(child);
        }
    }

    fn shape(&mut self, node: Node<'t>, expected: Option<Shape>) -> Shape {
        match node.kind() {
            "identifier" | "shorthand_property_identifier" => self.bare_name(node, Role::Value, None),
            "undefined" | "null" => Shape::Of("undefined".into()),
            "this" => self.this.last().cloned().unwrap_or(Shape::Untyped),
            "super" => Shape::Parent,
            "member_expression" => self.member_access(node, Role::Value, None),
            "subscript_expression" => self.subscript(node),
            "call_expression" => self.call(node, expected),
            "new_expression" => self.construct(node),
            "await_expression" => awaited(self.first(node, None)),
            "parenthesized_expression" | "sequence_expression" => {
                let mut shape = Shape::Unknown;
                for child in children(node) {
                    shape = self.expected(child, expected.clone());
                }
                shape
            }
            "non_null_expression" => {
                let shape = self.first(node, expected);
                // The grammar reads `a - b!` as `(a - b)!`.
                match node.named_child(0).filter(|child| child.kind() == "binary_expression") {
                    Some(inner) => {
                        inner.child_by_field_name("right").map_or(shape, |right| self.outline(right))
                    }
                    None => shape,
                }
            }
            "as_expression" | "satisfies_expression" => self.cast(node),
            "type_assertion" => {
                let parts = children(node);
                let declared =
                    parts.first().and_then(|parts| parts.named_child(0)).map(|child| self.annotation(child));
                match parts.get(1) {
                    Some(value) if declared == Some(Shape::Untyped) => drop(self.mentioned(*value)),
                    Some(value) => drop(self.expected(*value, declared.clone())),
                    None => {}
                }
                declared.unwrap_or(Shape::Unknown)
            }
            "arrow_function" | "function_expression" | "generator_function" | "function" => {
                self.callable(node, expected.as_ref())
            }
            "class" => {
                self.class_named("class", node, false, node);
                Shape::Name(self.found.path("class").into())
            }
            "object" => self.object(node, expected),
            "array" => {
                let item = expected.map(crate::scope::element);
                let items: Vec<Shape> =
                    children(node).into_iter().map(|child| self.expected(child, item.clone())).collect();
                Shape::Applied(Box::new(Shape::Of("Array".into())), vec![either(items)])
            }
            "string" | "template_string" => {
                self.parts(node);
                Shape::Of("string".into())
            }
            "template_substitution" => {
                self.parts(node);
                Shape::Unknown
            }
            "number" => Shape::Of("number".into()),
            "true" | "false" => Shape::Of("boolean".into()),
            "regex" => Shape::Of("RegExp".into()),
            "ternary_expression" => self.ternary(node, expected),
            "binary_expression" => self.binary(node),
            "assignment_expression" => self.assignment(node),
            "unary_expression" | "update_expression" => {
                self.parts(node);
                Shape::Of("number".into())
            }
            "yield_expression" => {
                self.parts(node);
                if let Some(returns) = self.returns.last_mut() {
                    returns.yields = true;
                }
                Shape::Unknown
            }
            "jsx_element" | "jsx_self_closing_element" | "jsx_fragment" => {
                self.jsx(node);
                Shape::Of("JSX".into())
            }
            "type_arguments" => {
                self.type_arguments(node);
                Shape::Unknown
            }
            // Only in text that the grammar cannot read: `(x: import('./x').T<U>) => …`.
            "type_annotation" => self.annotation(node),
            "instantiation_expression" => self.first(node, None),
            "nested_identifier" => {
                let parts = children(node);
                let [of, name] = parts.as_slice() else { return Shape::Unknown };
                let of = self.expression(*of);
                self.found.use_name(*name, Role::Value, Some(of.clone()), None);
                member(of, self.found.text(*name))
            }
            "property_identifier" | "comment" => Shape::Unknown,
            _ => {
                self.parts(node);
                Shape::Unknown
            }
        }
    }

    fn first(&mut self, node: Node<'t>, expected: Option<Shape>) -> Shape {
        let mut parts = children(node).into_iter();
        let shape = parts.next().map_or(Shape::Unknown, |parts| self.expected(parts, expected));
        parts.for_each(|part| drop(self.expression(part)));
        shape
    }

    fn cast(&mut self, node: Node<'t>) -> Shape {
        let parts = children(node);
        let declared = parts.get(1).map(|part| self.annotation(*part));
        // `as const` does not change the type.
        let expected = declared.clone();
        let value = match parts.first() {
            // A value cast to `any` only has to exist.
            Some(child) if declared == Some(Shape::Untyped) && node.kind() == "as_expression" => {
                self.mentioned(*child)
            }
            Some(child) => self.expected(*child, expected),
            None => Shape::Unknown,
        };
        match declared {
            Some(declared) if node.kind() == "as_expression" => declared,
            _ => value,
        }
    }

    /// Walks a value that only has to exist: any type and any signature will do.
    fn mentioned(&mut self, node: Node<'t>) -> Shape {
        match node.kind() {
            "identifier" => self.bare_name(node, Role::Type, None),
            "member_expression" => self.member_access(node, Role::Type, None),
            _ => self.expression(node),
        }
    }

    /// `x.m`
    pub(super) fn member_access(&mut self, node: Node<'t>, role: Role, arguments: Option<u16>) -> Shape {
        if let Some(cast) = cast_before(node) {
            return self.cast_to_path(node, cast);
        }
        let name = node.child_by_field_name("property");
        let of = match (node.child_by_field_name("object"), name.map(|name| self.found.text(name))) {
            // A function that is only bound or named is not called yet: any signature will do.
            (Some(of), Some("bind" | "name")) if of.kind() == "member_expression" => {
                self.member_access(of, Role::Type, None)
            }
            (Some(of), _) => self.expression(of),
            (None, _) => Shape::Unknown,
        };
        let Some(name) = name else { return Shape::Unknown };
        if self.is_own_export(node) {
            self.found.use_name(name, role, None, arguments);
            return Shape::Name(self.found.text(name).into());
        }
        self.found.use_name(name, role, Some(of.clone()), arguments);
        if let Some(narrowed) = self.found.scopes.get(self.found.text(node)) {
            return narrowed.clone();
        }
        member(of, self.found.text(name))
    }

    /// Returns true for `exports.x`, which is a definition of the module itself.
    #[inline(never)]
    fn is_own_export(&self, member: Node<'t>) -> bool {
        let object = member.child_by_field_name("object").map_or("", |object| self.found.text(object));
        matches!(object, "exports" | "module.exports") && self.found.scopes.get("exports").is_none()
    }

    /// `x as a.b.T`, which the grammar reads as `(x as a.b).T`.
    fn cast_to_path(&mut self, node: Node<'t>, cast: Node<'t>) -> Shape {
        let parts = children(cast);
        let [value, named] = parts.as_slice() else { return Shape::Unknown };
        let value = self.expression(*value);
        match named.kind() {
            "nested_type_identifier" => self.nested_names(*named),
            _ => drop(self.annotation(*named)),
        }
        let start = named.start_byte();
        let path = |end: usize| self.found.text.get(start..end).unwrap_or_default();
        let whole = Shape::Of(path(node.end_byte()).into());
        let mut members = Vec::new();
        let mut at = node;
        while at != cast {
            let (Some(of), Some(name)) =
                (at.child_by_field_name("object"), at.child_by_field_name("property"))
            else {
                break;
            };
            members.push((name, Shape::Name(path(of.end_byte()).into())));
            at = of;
        }
        for (name, of) in members.into_iter().rev() {
            self.found.use_name(name, Role::Type, Some(of), None);
        }
        if cast.kind() == "as_expression" { whole } else { value }
    }

    fn subscript(&mut self, node: Node<'t>) -> Shape {
        let of = node.child_by_field_name("object").map_or(Shape::Unknown, |object| self.expression(object));
        let Some(index) = node.child_by_field_name("index") else { return Shape::Unknown };
        if index.kind() == "string"
            && let Some(key) = index.named_child(0)
        {
            self.found.use_name(key, Role::Value, Some(of.clone()), None);
            return member(of, self.found.text(key));
        }
        self.expression(index);
        member(of, "@item")
    }

    /// Records that a value is used where a type is expected, if both may be types of the project.
    pub(super) fn expect_type(&mut self, node: Node<'t>, value: &Shape, expected: Option<&Shape>) {
        let Some(expected) =
            expected.filter(|shape| may_be_defined(shape) && may_be_defined(value) && *shape != value)
        else {
            return;
        };
        self.keep_conform(node, value, expected);
    }

    fn keep_conform(&mut self, node: Node<'t>, value: &Shape, expected: &Shape) {
        let before = self.found.facts.uses.len();
        let both = Shape::Function(vec![value.clone()], Box::new(expected.clone()));
        self.found.use_name(node, Role::Conform, Some(both), None);
        if let Some(candidate) = self.found.facts.uses.get_mut(before) {
            candidate.name = "".into();
        }
    }

    /// Walks an object literal, which sets the properties of its expected type.
    fn object(&mut self, node: Node<'t>, expected: Option<Shape>) -> Shape {
        for property in children(node) {
            let key = match property.kind() {
                "pair" => property.child_by_field_name("key"),
                "method_definition" => property.child_by_field_name("name"),
                "shorthand_property_identifier" => Some(property),
                _ => None,
            };
            let mut inner = None;
            if let Some(key) = key.filter(|key| key.kind() != "computed_property_name")
                && let Some(expected) = expected.as_ref().filter(|shape| **shape != Shape::Unknown)
            {
                self.found.use_name(key, Role::Construct, Some(expected.clone()), None);
                inner = Some(member(expected.clone(), self.string(key)));
            }
            match property.kind() {
                "pair" => {
                    if let Some(key) = key.filter(|key| key.kind() == "computed_property_name") {
                        self.expression(key);
                    }
                    if let Some(value) = property.child_by_field_name("value") {
                        self.expected(value, inner);
                    }
                }
                "method_definition" => {
                    self.this.push(expected.clone().unwrap_or(Shape::Unknown));
                    self.callable(property, inner.as_ref());
                    self.this.pop();
                }
                _ => drop(self.expression(property)),
            }
        }
        expected.filter(|shape| !matches!(shape, Shape::Parameter(..))).unwrap_or(Shape::Unknown)
    }

    fn ternary(&mut self, node: Node<'t>, expected: Option<Shape>) -> Shape {
        let condition = node.child_by_field_name("condition");
        if let Some(condition) = condition {
            self.expression(condition);
        }
        let branch = |walk: &mut Self, field: &str, holds: bool| {
            walk.found.scopes.open();
            if let Some(condition) = condition {
                walk.narrow(condition, holds);
            }
            let value = node.child_by_field_name(field);
            let shape = value.map_or(Shape::Unknown, |value| walk.expected(value, expected.clone()));
            walk.found.scopes.close();
            shape
        };
        let yes = branch(self, "consequence", true);
        let no = branch(self, "alternative", false);
        either([yes, no])
    }

    fn binary(&mut self, node: Node<'t>) -> Shape {
        let (Some(left), Some(right)) = (node.child_by_field_name("left"), node.child_by_field_name("right"))
        else {
            self.parts(node);
            return Shape::Unknown;
        };
        let operator = node.child_by_field_name("operator").map_or("", |operator| self.found.text(operator));
        let first = self.expression(left);
        self.found.scopes.open();
        if operator == "&&" {
            self.narrow(left, true);
        } else if operator == "||" {
            self.narrow(left, false);
        }
        let second = self.expression(right);
        self.found.scopes.close();
        match operator {
            "&&" => second,
            "||" | "??" => either([first, second]),
            "+" => Shape::Of("string".into()),
            _ => Shape::Of("boolean".into()),
        }
    }

    fn assignment(&mut self, node: Node<'t>) -> Shape {
        let left = node.child_by_field_name("left");
        let expected = left.map(|left| match left.kind() {
            "identifier" | "member_expression" => self.expression(left),
            "object_pattern" | "array_pattern" => Shape::Unknown,
            _ => self.expression(left),
        });
        let right = node.child_by_field_name("right");
        let value = right.map_or(Shape::Unknown, |child| self.expected(child, expected.clone()));
        if let Some(right) = right {
            let mark = left.map(|left| declared_mark(self.found.text(left)));
            let is_declared = mark.is_some_and(|mark| self.found.scopes.get(&mark).is_some());
            // A type parameter shows nothing about a value, but not every value has it.
            let is_open = match &expected {
                Some(Shape::Unknown) => true,
                Some(Shape::Either(parts)) => parts.contains(&Shape::Unknown),
                _ => false,
            };
            if is_declared && is_open && matches!(value, Shape::Parameter(..)) {
                self.keep_conform(right, &value, &Shape::Unknown);
            } else {
                self.expect_type(right, &value, expected.as_ref());
            }
        }
        // A variable without a type gets that of its first value.
        if let Some(left) = left.filter(|child| child.kind() == "identifier")
            && self.found.scopes.get(self.found.text(left)) == Some(&Shape::Unknown)
        {
            self.found.scopes.rebind(self.found.text(left), value.clone());
        }
        if let Some(left) = left.filter(|child| child.kind() == "member_expression") {
            self.own_field(left, &value);
        }
        value
    }

    /// `this.x = …` in JavaScript defines a field.
    fn own_field(&mut self, left: Node<'t>, value: &Shape) {
        use crate::facts::DefinitionKind;
        use crate::language::Language;
        if self.found.facts.language != Language::JavaScript || self.this.last() != Some(&Shape::Itself) {
            return;
        }
        let (Some(object), Some(name)) =
            (left.child_by_field_name("object"), left.child_by_field_name("property"))
        else {
            return;
        };
        if object.kind() != "this" {
            return;
        }
        let (name, container) = (self.found.text(name), self.found.container());
        let known = self
            .found
            .facts
            .definitions
            .iter()
            .any(|definition| *definition.name == *name && definition.container == container);
        if !known {
            let mut definition = self.found.definition(name, DefinitionKind::Field, left);
            definition.gives = Some(value.clone());
            self.found.define(definition);
        }
    }
}

/// Returns the cast at the beginning of a member expression. Without brackets, only the end of its type's
/// path can follow it.
pub(super) fn cast_before(node: Node<'_>) -> Option<Node<'_>> {
    let mut of = node.child_by_field_name("object")?;
    while of.kind() == "member_expression" {
        of = of.child_by_field_name("object")?;
    }
    matches!(of.kind(), "as_expression" | "satisfies_expression").then_some(of)
}

/// Returns true if a value may have a type of the project, as far as its shape shows.
fn may_be_defined(shape: &Shape) -> bool {
    match shape {
        Shape::Name(_)
        | Shape::Member(..)
        | Shape::Call(_)
        | Shape::Itself
        | Shape::Parent
        | Shape::Element(_)
        | Shape::Awaited(_)
        | Shape::Parameter(..) => true,
        Shape::Of(name) => !matches!(
            &**name,
            "string"
                | "number"
                | "boolean"
                | "void"
                | "undefined"
                | "symbol"
                | "RegExp"
                | "JSX"
                | "object"
                | "never"
        ),
        Shape::Applied(head, _) => may_be_defined(head) && **head != Shape::Of("Array".into()),
        Shape::Function(takes, gives) => takes
            .iter()
            .chain([&**gives])
            .any(|candidate| !matches!(candidate, Shape::Parameter(..)) && may_be_defined(candidate)),
        Shape::Either(parts) => parts.iter().any(may_be_defined),
        Shape::Untyped | Shape::Unknown => false,
    }
}

pub(super) fn promise(of: Shape) -> Shape {
    Shape::Applied(Box::new(Shape::Of("Promise".into())), vec![of])
}
