//! Functions of every kind: their parameters and results.

use tree_sitter::Node;

use super::statement::reach;
use super::{Returns, Walk};
use crate::facts::{Arity, DefinitionKind, REST, Shape, THIS, THIS_PARAMETER, WHOLE, taken};
use crate::scope::{awaited, either, element};
use crate::syntax::children;

impl<'t> Walk<'t> {
    /// A function of the module, or one inside a function.
    pub(super) fn function(&mut self, node: Node<'t>, exported: bool, whole: Node<'t>) {
        let Some(name) = node.child_by_field_name("name").map(|name| self.found.text(name)) else { return };
        if self.found.scopes.is_inside() {
            let shape = self.callable(node, None);
            self.found.scopes.bind(name, shape);
            return;
        }
        let body = node.child_by_field_name("body");
        let mut definition = self.found.definition(name, DefinitionKind::Function, whole);
        definition.reach = reach(exported);
        (definition.signature, definition.body) =
            self.found.digests(node, node.child_by_field_name("name"), body);
        definition.header = self.found.header(node, node.child_by_field_name("name"), body);
        definition.arity = Some(self.arity(node));
        let at = self.found.define(definition);
        let before = std::mem::replace(&mut self.found.within, at);
        let shape = self.callable(node, None);
        self.found.within = before;
        self.give(at, shape);
    }

    /// Sets the type of a definition.
    pub(super) fn give(&mut self, at: Option<u32>, shape: Shape) {
        let at = at.and_then(|at| usize::try_from(at).ok());
        if let Some(definition) = at.and_then(|at| self.found.facts.definitions.get_mut(at)) {
            definition.gives = Some(shape);
        }
    }

    /// Walks a function of any kind. Returns its parameters and result. `expected` is the type of its
    /// context.
    pub(super) fn callable(&mut self, node: Node<'t>, expected: Option<&Shape>) -> Shape {
        let wanted = self.wanted.take();
        self.found.scopes.open();
        self.generics.push(Default::default());
        if let Some(parameters) = node.child_by_field_name("type_parameters") {
            self.type_parameters(parameters);
        }
        let is_arrow = node.kind() == "arrow_function";
        let takes = match (node.child_by_field_name("parameters"), node.child_by_field_name("parameter")) {
            (Some(list), _) => self.parameters(list, expected),
            (None, Some(single)) => {
                let shape = parameter_shape(expected, 0);
                self.bind(single, shape.clone());
                vec![shape]
            }
            _ => Vec::new(),
        };
        let declared = node.child_by_field_name("return_type").map(|result| self.annotation(result));
        let is_async = node.child(0).is_some_and(|child| child.kind() == "async")
            || node.children(&mut node.walk()).any(|child| child.kind() == "async");
        let inside = match (&declared, is_async) {
            (Some(declared), true) => Some(awaited(declared.clone())),
            (Some(declared), false) => Some(declared.clone()),
            (None, _) => wanted,
        };
        self.returns.push(Returns { declared: inside.clone(), ..Returns::default() });
        let is_own =
            matches!(node.kind(), "function_expression" | "function_declaration" | "generator_function");
        // A method's receiver is its class, unless it declares another.
        let this = match declared_this(&takes) {
            Some(declared) if !is_arrow => Some(declared),
            _ if is_own => Some(expected_this(expected).unwrap_or(Shape::Untyped)),
            _ => None,
        };
        let has_this = this.is_some();
        self.this.extend(this);
        let depth = self.this.len();
        match node.child_by_field_name("body") {
            Some(body) if body.kind() == "statement_block" => self.statements(body, false),
            Some(body) => {
                let value = self.expected(body, inside.clone());
                self.expect_type(body, &value, inside.as_ref());
                if let Some(returns) = self.returns.last_mut() {
                    returns.values.push(value);
                }
            }
            None => {}
        }
        debug_assert_eq!(depth, self.this.len(), "every walk leaves `this` as it found it");
        if has_this {
            self.this.pop();
        }
        let returns = self.returns.pop().unwrap_or_default();
        self.generics.pop();
        self.found.scopes.close();
        let gives = match declared {
            Some(declared) => declared,
            None if returns.yields => Shape::Unknown,
            None if returns.values.is_empty() => Shape::Of("void".into()),
            None if is_async => {
                Shape::Applied(Box::new(Shape::Of("Promise".into())), vec![awaited(either(returns.values))])
            }
            None => either(returns.values),
        };
        Shape::Function(takes, Box::new(gives))
    }

    /// Binds the parameters of a function: their types.
    pub(super) fn parameters(&mut self, list: Node<'t>, expected: Option<&Shape>) -> Vec<Shape> {
        let mut takes = Vec::new();
        let mut this = None;
        let mut at = 0;
        for parameter in children(list) {
            if parameter.kind() == "comment" {
                continue;
            }
            let pattern = parameter.child_by_field_name("pattern").unwrap_or(match parameter.kind() {
                "assignment_pattern" => parameter.child_by_field_name("left").unwrap_or(parameter),
                _ => parameter,
            });
            for decorator in children(parameter).into_iter().filter(|child| child.kind() == "decorator") {
                self.expression(decorator);
            }
            let annotation =
                parameter.child_by_field_name("type").map(|annotation| self.annotation(annotation));
            let default = parameter
                .child_by_field_name("value")
                .or_else(|| parameter.child_by_field_name("right"))
                .map(|value| self.expected(value, annotation.clone()));
            if pattern.kind() == "this" {
                this = annotation;
                continue;
            }
            let shape = annotation.unwrap_or_else(|| match (parameter_shape(expected, at), default) {
                (Shape::Untyped, Some(default)) => default,
                (shape, _) => shape,
            });
            if pattern.kind() == "rest_pattern" {
                if let Some(inner) = pattern.named_child(0) {
                    self.bind(inner, shape.clone());
                }
                takes.push(Shape::Applied(Box::new(Shape::Of(REST.into())), vec![element(shape)]));
            } else {
                self.bind(pattern, shape.clone());
                takes.push(shape);
            }
            at += 1;
        }
        takes.extend(this.map(|this| Shape::Applied(Box::new(Shape::Of(THIS_PARAMETER.into())), vec![this])));
        takes
    }

    pub(super) fn arity(&self, node: Node<'t>) -> Arity {
        let mut arity = Arity { least: 0, most: Some(0) };
        if node.child_by_field_name("parameter").is_some() {
            return Arity { least: 1, most: Some(1) };
        }
        for parameter in node.child_by_field_name("parameters").map(children).unwrap_or_default() {
            let pattern = parameter.child_by_field_name("pattern").unwrap_or(parameter);
            match (parameter.kind(), pattern.kind()) {
                ("comment", _) | (_, "this") => continue,
                (_, "rest_pattern") => {
                    arity.most = None;
                    continue;
                }
                ("optional_parameter" | "assignment_pattern", _) => {}
                _ if parameter.child_by_field_name("value").is_some() => {}
                _ => arity.least = arity.least.saturating_add(1),
            }
            arity.most = arity.most.map(|most| most.saturating_add(1));
        }
        arity
    }
}

/// Returns the shape of a parameter, from the expected type of the function.
fn parameter_shape(expected: Option<&Shape>, at: u16) -> Shape {
    match expected {
        Some(Shape::Parameter(call, argument, WHOLE)) => Shape::Parameter(call.clone(), *argument, at),
        Some(Shape::Function(takes, _)) => taken(takes, usize::from(at)).cloned().unwrap_or(Shape::Unknown),
        // The parameter of the callable: as an argument of a call of it.
        Some(Shape::Unknown) => Shape::Unknown,
        Some(expected) => Shape::Parameter(Box::new(expected.clone()), at, WHOLE),
        None => Shape::Untyped,
    }
}

/// Returns the declared receiver of a function: `function (this: T)`.
pub(super) fn declared_this(takes: &[Shape]) -> Option<Shape> {
    takes.iter().find_map(|taken| match taken {
        Shape::Applied(head, arguments) if **head == Shape::Of(THIS_PARAMETER.into()) => {
            arguments.first().cloned()
        }
        _ => None,
    })
}

/// Returns the receiver of a function, from its expected type.
fn expected_this(expected: Option<&Shape>) -> Option<Shape> {
    match expected? {
        Shape::Parameter(call, argument, WHOLE) => Some(Shape::Parameter(call.clone(), *argument, THIS)),
        Shape::Function(takes, _) => declared_this(takes),
        Shape::Unknown | Shape::Untyped => None,
        expected => Some(Shape::Parameter(Box::new(expected.clone()), THIS, WHOLE)),
    }
}
