//! Assignments: the variables of a module, the fields of a class, the names of a function.

use tree_sitter::Node;

use super::Walk;
use crate::facts::{DefinitionKind, Role, Shape};
use crate::scope::{self, either};
use crate::syntax::{children, digest};

impl<'t> Walk<'t> {
    pub(super) fn assignment(&mut self, node: Node<'t>) {
        let declared = node.child_by_field_name("type").map(|annotation| self.annotation(annotation));
        let right = node.child_by_field_name("right");
        let Some(left) = node.child_by_field_name("left") else { return };
        if left.kind() == "identifier" && self.found.text(left) == "__all__" && !self.found.scopes.is_inside()
        {
            match right.and_then(|right| self.strings(right)) {
                Some(names) => self.all = Some(names),
                None => self.all_is_open = true,
            }
        }
        let value = match right {
            // `a = b = c`
            Some(right) if right.kind() == "assignment" => {
                if self.found.descend() {
                    self.assignment(right);
                    self.found.ascend();
                }
                let inner = right.child_by_field_name("left");
                Some(inner.map_or(Shape::Unknown, |child| self.quietly(|walk| walk.expression(child))))
            }
            Some(right) => Some(self.expression(right)),
            None => None,
        };
        let is_outside = !self.found.scopes.is_inside() || self.in_class();
        if let Some(right) = right.filter(|_| is_outside && left.kind() == "identifier")
            && self.made_type(left, right, node)
        {
            return;
        }
        if let (Some(dictionary), Some(declared)) = (right, &declared) {
            self.keys(dictionary, declared);
        }
        let alias = right.filter(|_| is_outside && left.kind() == "identifier");
        let alias = alias.and_then(|right| self.aliased(right, node.child_by_field_name("type")));
        match alias {
            Some(alias) => self.value(left, None, Some(alias), node),
            None => self.assign(left, value, declared, node),
        }
    }

    /// Binds the left side of an assignment.
    pub(super) fn assign(
        &mut self,
        left: Node<'t>,
        value: Option<Shape>,
        declared: Option<Shape>,
        whole: Node<'t>,
    ) {
        match left.kind() {
            "identifier" => {
                let name = self.found.text(left);
                if self.found.scopes.is_inside() && !self.in_class() {
                    if let Some(declared) = declared.clone() {
                        self.found.scopes.declare(name, declared);
                    }
                    let declared = self.found.scopes.declared(name).cloned();
                    self.found.scopes.bind(name, narrowed(value, declared));
                } else {
                    self.value(left, declared, value, whole);
                }
            }
            "attribute" => {
                let object =
                    left.child_by_field_name("object").filter(|object| object.kind() == "identifier");
                let own = object.is_some_and(|object| self.is_receiver(self.found.text(object)));
                match left.child_by_field_name("attribute") {
                    Some(name) if own => self.field(name, declared, value, whole),
                    _ => drop(self.expression(left)),
                }
            }
            "pattern_list" | "tuple_pattern" | "list_pattern" | "tuple" | "list" | "expression_list" => {
                for (at, part) in children(left).into_iter().enumerate() {
                    let one = value.as_ref().map(|value| position(value, at));
                    self.assign(part, one, None, whole);
                }
            }
            "list_splat_pattern" | "parenthesized_expression" => {
                if let Some(inner) = left.named_child(0) {
                    self.assign(inner, None, None, whole);
                }
            }
            _ => drop(self.expression(left)),
        }
    }

    /// Returns true if a name is the receiver of a method, or its class.
    fn is_receiver(&self, name: &str) -> bool {
        match self.found.scopes.get(name) {
            Some(Shape::Itself) => true,
            Some(Shape::Name(class)) => name == "cls" && self.class_around().as_ref() == Some(class),
            _ => false,
        }
    }

    /// A variable of the module or of a class.
    pub(super) fn value(
        &mut self,
        name: Node<'t>,
        declared: Option<Shape>,
        mut value: Option<Shape>,
        whole: Node<'t>,
    ) {
        let text = self.found.text(name);
        if let Some(class) = self.found.container()
            && self.in_class()
            && self.enumerations.contains(&class)
        {
            value = Some(Shape::Of(class));
        }
        let in_class = self.in_class();
        if in_class {
            self.found.scopes.bind(text, narrowed(value.clone(), declared.clone()));
        }
        let container = self.found.container();
        let kind = if in_class { DefinitionKind::Field } else { DefinitionKind::Value };
        self.keep(text, kind, container, declared, value, whole);
    }

    /// Handles `self.x = …`: a field of the enclosing class.
    pub(super) fn field(
        &mut self,
        name: Node<'t>,
        declared: Option<Shape>,
        value: Option<Shape>,
        whole: Node<'t>,
    ) {
        let text = self.found.text(name);
        let Some(class) = self.class_around() else { return };
        // If it is already defined, perhaps by a base, this is a use of it.
        self.found.use_name(name, Role::Value, Some(Shape::Itself), None);
        self.keep(text, DefinitionKind::Field, Some(class), declared, value, whole);
    }

    /// Records a variable; after another assignment, it may have either shape.
    pub(super) fn keep(
        &mut self,
        name: &str,
        kind: DefinitionKind,
        container: Option<Box<str>>,
        declared: Option<Shape>,
        value: Option<Shape>,
        whole: Node<'t>,
    ) {
        let gives = declared.clone().or(value);
        let text = self.found.text;
        let known = self.found.facts.definitions.iter_mut().rev().find(|definition| {
            *definition.name == *name
                && definition.container == container
                && matches!(definition.kind, DefinitionKind::Field | DefinitionKind::Value)
        });
        if let Some(known) = known {
            if known.signature == 0
                && let Some(gives) = gives
            {
                known.gives = Some(either(known.gives.take().into_iter().chain([gives])));
            }
            return;
        }
        let mut definition = self.found.definition(name, kind, whole);
        definition.container = container;
        let annotation = whole.child_by_field_name("type");
        definition.signature = if annotation.is_some() { digest(annotation, text, |_| false) } else { 0 };
        definition.body = digest(whole.child_by_field_name("right"), text, |_| false);
        definition.header =
            annotation.map(|annotation| self.found.header(annotation, None, None)).unwrap_or_default();
        definition.gives = gives;
        if !self.found.scopes.is_inside() || self.in_class() || kind == DefinitionKind::Field {
            self.found.define(definition);
        }
    }
}

/// Returns the shape of a variable after an assignment: its declared type, or the value if that is more
/// specific.
fn narrowed(value: Option<Shape>, declared: Option<Shape>) -> Shape {
    match (value, declared) {
        // The result of a call may be unknown, and then the declared type applies.
        (Some(value @ Shape::Call(_)), Some(declared)) => either([value, declared]),
        (Some(value @ Shape::Of(_)), Some(_)) if value != Shape::Of("None".into()) => value,
        (_, Some(declared)) => declared,
        (Some(value), None) => value,
        (None, None) => Shape::Unknown,
    }
}

/// The value at a position of a tuple.
fn position(value: &Shape, at: usize) -> Shape {
    match value {
        Shape::Applied(head, parts) if **head == Shape::Of("tuple".into()) => match parts.get(at) {
            Some(part) => part.clone(),
            None => Shape::Unknown,
        },
        Shape::Unknown => Shape::Unknown,
        Shape::Untyped => Shape::Untyped,
        value => scope::position(value.clone(), at),
    }
}
