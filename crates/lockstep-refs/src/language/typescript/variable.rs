//! Variables of a module and of functions, and the objects that they hold.

use tree_sitter::Node;

use super::Walk;
use super::statement::reach;
use crate::facts::{DefinitionKind, Role, Shape};
use crate::syntax::children;

impl<'t> Walk<'t> {
    pub(super) fn variables(&mut self, node: Node<'t>, exported: bool) {
        for declarator in children(node).into_iter().filter(|child| child.kind() == "variable_declarator") {
            let declared =
                declarator.child_by_field_name("type").map(|annotation| self.annotation(annotation));
            let value = declarator.child_by_field_name("value");
            let Some(name) = declarator.child_by_field_name("name") else { continue };
            if let Some(value) = value
                && self.required(name, value, node)
            {
                continue;
            }
            if name.kind() == "identifier" && !self.found.scopes.is_inside() {
                self.value(self.found.text(name), declared, value, exported, declarator);
                continue;
            }
            let shape = value.map(|value| self.expected(value, declared.clone()));
            if let (Some(node), Some(shape)) = (value, &shape) {
                self.expect_type(node, shape, declared.as_ref());
            }
            let is_declared = declared.is_some();
            let shape = declared.or(shape).unwrap_or(Shape::Unknown);
            if self.found.scopes.is_inside() {
                if is_declared {
                    self.found.scopes.bind(&declared_mark(self.found.text(name)), Shape::Unknown);
                }
                self.bind(name, shape);
            } else {
                self.destructured(name, shape, exported, declarator);
            }
        }
    }

    /// A variable of the module.
    pub(super) fn value(
        &mut self,
        name: &str,
        declared: Option<Shape>,
        value: Option<Node<'t>>,
        exported: bool,
        whole: Node<'t>,
    ) {
        let function = value.filter(|value| {
            matches!(
                value.kind(),
                "arrow_function" | "function_expression" | "generator_function" | "function"
            )
        });
        if let Some(class) = value.filter(|value| value.kind() == "class") {
            return self.class_named(name, class, exported, whole);
        }
        let kind = match (function, &declared) {
            (Some(_), None) => DefinitionKind::Function,
            _ => DefinitionKind::Value,
        };
        let mut definition = self.found.definition(name, kind, whole);
        definition.reach = reach(exported);
        let body = match function {
            Some(function) => function.child_by_field_name("body"),
            None => value,
        };
        (definition.signature, definition.body) =
            self.found.digests(whole, whole.child_by_field_name("name"), body);
        definition.header = self.found.header(whole, whole.child_by_field_name("name"), body);
        definition.arity = function.map(|function| self.arity(function));
        let at = self.found.define(definition);
        let before = std::mem::replace(&mut self.found.within, at);
        let literal = whole.child_by_field_name("type").and_then(|annotation| annotation.named_child(0));
        let literal = literal.filter(|literal| literal.kind() == "object_type");
        if let Some(literal) = literal {
            // An anonymous type has the variable's name.
            let entered = self.found.enter(name);
            let first = self.found.facts.definitions.len();
            self.quietly(|walk| children(literal).into_iter().for_each(|child| walk.signature(child)));
            for member in self.found.facts.definitions.iter_mut().skip(first) {
                member.reach = member.reach.min(reach(exported));
            }
            self.found.leave(entered);
        }
        let shape = match value {
            Some(value) => match self.frozen(unwrapped(value)) {
                object if object.kind() == "object" && declared.is_none() => {
                    self.satisfied(value, object);
                    self.object_value(name, object, at);
                    None
                }
                _ => {
                    let shape = self.expected(value, declared.clone());
                    self.expect_type(value, &shape, declared.as_ref());
                    Some(if declared.is_none() { self.wrapped(value, shape) } else { shape })
                }
            },
            None => Some(Shape::Unknown),
        };
        self.found.within = before;
        if literal.is_none()
            && let Some(shape) = declared.or(shape)
        {
            self.give(at, shape);
        }
    }

    /// Records the keys of an object as those of the type that it satisfies: `{ … } satisfies T`.
    fn satisfied(&mut self, value: Node<'t>, object: Node<'t>) {
        if value.kind() != "satisfies_expression" || value.named_child(0) != Some(object) {
            return;
        }
        let Some(wanted) = value.named_child(1).map(|child| self.annotation(child)) else { return };
        for property in children(object) {
            let key = match property.kind() {
                "shorthand_property_identifier" => Some(property),
                _ => property.child_by_field_name("key").or_else(|| property.child_by_field_name("name")),
            };
            if let Some(key) = key.filter(|key| key.kind() != "computed_property_name") {
                self.found.use_name(key, Role::Construct, Some(wanted.clone()), None);
            }
        }
    }

    /// `Object.freeze({ … })` is the object.
    fn frozen(&self, value: Node<'t>) -> Node<'t> {
        let function = value.child_by_field_name("function").filter(|_| value.kind() == "call_expression");
        let freezes = function.is_some_and(|function| self.found.text(function) == "Object.freeze");
        let given = value
            .child_by_field_name("arguments")
            .filter(|_| freezes)
            .and_then(|arguments| arguments.named_child(0));
        given.map_or(value, unwrapped)
    }

    /// Records the properties of an exported object, which other files can name.
    fn object_value(&mut self, name: &str, object: Node<'t>, at: Option<u32>) {
        let before = self.found.enter(name);
        let mut spread = Vec::new();
        for property in children(object) {
            match property.named_child(0).filter(|_| property.kind() == "spread_element") {
                Some(other) => spread.extend(self.spread(other)),
                None => self.property_value(property),
            }
        }
        self.found.leave(before);
        let at = at.and_then(|at| usize::try_from(at).ok());
        if let Some(definition) = at.and_then(|at| self.found.facts.definitions.get_mut(at)) {
            // Later members override earlier ones.
            definition.extends = spread.into_iter().rev().collect();
        }
    }

    /// Handles `{ ...other }`: returns the name of the spread object, whose members the object gets.
    fn spread(&mut self, other: Node<'t>) -> Option<Box<str>> {
        let shape = self.expression(other);
        let path = |node: Node<'t>| Some(self.found.text(node).into());
        match (other.kind(), shape) {
            ("identifier", Shape::Name(name)) => Some(name),
            ("member_expression", _) if is_path(other) => path(other),
            _ => None,
        }
    }

    pub(super) fn property_value(&mut self, property: Node<'t>) {
        let key = property.child_by_field_name("key").or_else(|| property.child_by_field_name("name"));
        match (property.kind(), key) {
            ("pair", Some(key)) if matches!(key.kind(), "property_identifier" | "string") => {
                let key = self.found.text(key).trim_matches(['"', '\'']);
                let value = property.child_by_field_name("value");
                self.value(key, None, value, true, property);
                if let Some(definition) = self.found.facts.definitions.last_mut()
                    && *definition.name == *key
                {
                    definition.kind = DefinitionKind::Field;
                }
            }
            ("method_definition", Some(key)) => {
                let body = property.child_by_field_name("body");
                let mut definition =
                    self.found.definition(self.found.text(key), DefinitionKind::Method, property);
                (definition.signature, definition.body) = self.found.digests(property, Some(key), body);
                definition.arity = Some(self.arity(property));
                let at = self.found.define(definition);
                self.this.push(Shape::Unknown);
                let shape = self.callable(property, None);
                self.this.pop();
                self.give(at, shape);
            }
            ("shorthand_property_identifier", _) => {
                let shape = self.expression(property);
                let mut definition =
                    self.found.definition(self.found.text(property), DefinitionKind::Field, property);
                definition.gives = Some(shape);
                self.found.define(definition);
            }
            _ => drop(self.expression(property)),
        }
    }

    /// `export const { a, b } = …`
    fn destructured(&mut self, pattern: Node<'t>, shape: Shape, exported: bool, whole: Node<'t>) {
        self.found.scopes.open();
        self.bind(pattern, shape);
        let names = self.found.scopes.names();
        self.found.scopes.close();
        let mut names: Vec<_> = names.into_iter().collect();
        names.sort_by(|a, b| a.0.cmp(&b.0));
        for (name, shape) in names {
            let mut definition = self.found.definition(&name, DefinitionKind::Value, whole);
            definition.reach = reach(exported);
            definition.gives = Some(shape);
            self.found.define(definition);
        }
    }
}

/// Returns true if an expression is a path of names with dots.
fn is_path(node: Node<'_>) -> bool {
    match node.kind() {
        "identifier" => true,
        "member_expression" => node.child_by_field_name("object").is_some_and(is_path),
        _ => false,
    }
}

/// Returns an expression without its type assertions and parentheses.
pub(super) fn unwrapped(node: Node<'_>) -> Node<'_> {
    match node.kind() {
        "as_expression" | "satisfies_expression" | "parenthesized_expression" | "non_null_expression" => {
            node.named_child(0).map_or(node, unwrapped)
        }
        _ => node,
    }
}

/// Returns the name under which it is recorded that a variable has a declared type, even an uninformative
/// one.
pub(super) fn declared_mark(name: &str) -> String {
    format!("{name}:")
}
