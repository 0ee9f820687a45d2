//! Functions: their parameters and results.

use tree_sitter::Node;

use super::class::decorator_name;
use super::{Returns, Walk};
use crate::facts::{ABSTRACT, Arity, DECORATED, Definition, DefinitionKind, REDEFINED, Shape, WHOLE};
use crate::scope::{either, member};
use crate::syntax::children;

impl<'t> Walk<'t> {
    /// Records a function. `made` are the results of its decorators, the outermost first.
    pub(super) fn function(
        &mut self,
        node: Node<'t>,
        decorators: &[&str],
        decorator_shapes: Vec<Shape>,
        whole: Node<'t>,
    ) {
        let Some(name) = node.child_by_field_name("name").map(|name| self.found.text(name)) else { return };
        let body = node.child_by_field_name("body");
        let is_method = self.in_class();
        let nested = self.found.scopes.is_inside() && !is_method;
        let is_property = decorators
            .iter()
            .any(|decorator| decorator.ends_with("property") || decorator.ends_with(".getter"));
        let is_setter = decorators
            .iter()
            .any(|decorator| decorator.ends_with(".setter") || decorator.ends_with(".deleter"));
        let is_static = decorators.iter().any(|decorator| decorator.ends_with("staticmethod"));
        let is_class = decorators.iter().any(|decorator| decorator.ends_with("classmethod"))
            || matches!(name, "__new__" | "__init_subclass__" | "__class_getitem__");

        let within = self.found.within;
        let (mut at, mut is_behind) = (within, false);
        if !nested && !is_setter {
            let kind = match (is_method, is_property) {
                (true, true) => DefinitionKind::Field,
                (true, false) => DefinitionKind::Method,
                _ => DefinitionKind::Function,
            };
            let mut definition = self.found.definition(name, kind, whole);
            self.sign(&mut definition, node, whole, is_method && !is_static);
            if decorators.iter().any(|decorator| {
                decorator.ends_with("abstractmethod") || decorator.ends_with("abstractproperty")
            }) {
                definition.extends.push(ABSTRACT.into());
            }
            let place = (definition.container.clone(), definition.name.clone());
            let takes_anything =
                decorators.iter().any(|decorator| matches!(decorator_name(decorator), "lru_cache" | "cache"));
            if decorators.iter().any(|decorator| decorator.ends_with("overload")) {
                self.overloaded.insert(place);
            } else if takes_anything || self.overloaded.contains(&place) {
                // Callers see the overloads, or the caching wrapper; the parameters of this one are internal.
                definition.body = definition.body.rotate_left(1) ^ definition.signature;
                definition.signature = 0;
                definition.header = Box::default();
                definition.parameters.clear();
                is_behind = true;
            }
            at = self.found.define(definition);
            self.found.within = at;
        }
        let receiver = match (is_method, is_static, is_class) {
            (true, false, true) => Some(Shape::Name(self.found.container().unwrap_or_default())),
            (true, false, false) => Some(Shape::Itself),
            _ => None,
        };

        self.found.scopes.open();
        self.frames.push(None);
        self.returns.push(Returns::default());
        let mut arity = Arity { least: 0, most: Some(0) };
        let mut takes = Vec::new();
        if let Some(parameters) = node.child_by_field_name("parameters") {
            let is_bound = receiver.is_some();
            (arity, takes) = self.parameters(parameters, receiver);
            if is_bound {
                self.redefined_parameters(name, parameters, &takes);
            }
        }
        let declared = node.child_by_field_name("return_type").map(|result| self.annotation(result));
        if let Some(returns) = self.returns.last_mut() {
            returns.declared.clone_from(&declared);
        }
        if let Some(body) = body {
            self.found_inside(name, |walk| {
                if walk.block(body)
                    && let Some(returns) = walk.returns.last_mut()
                {
                    returns.values.push(Shape::Of("None".into()));
                }
            });
        }
        let returns = self.returns.pop().unwrap_or_default();
        self.frames.pop();
        self.found.scopes.close();
        self.found.within = within;

        let is_async = node.child(0).is_some_and(|child| child.kind() == "async");
        let gives = result(declared, returns, is_async, decorators);
        if nested {
            self.found
                .scopes
                .bind(name, decorated(decorator_shapes, Shape::Function(takes, Box::new(gives))));
        } else if !is_setter
            && let Some(definition) = at.and_then(|at| {
                self.found.facts.definitions.get_mut(usize::try_from(at).unwrap_or(usize::MAX))
            })
        {
            // A function that returns a function must not be confused with that function.
            let is_typed = takes.iter().any(|shape| *shape != Shape::Untyped);
            let gives = match gives {
                gives if is_typed => Shape::Function(takes, Box::new(gives)),
                Shape::Function(..) => Shape::Function(takes, Box::new(gives)),
                gives => gives,
            };
            definition.gives = Some(if is_method { gives } else { decorated(decorator_shapes, gives) });
            let is_called = !(is_method && is_property);
            definition.arity = (is_called && !is_behind).then_some(arity);
        }
    }

    /// Gives unannotated parameters the types of the overridden method, if the class has a base.
    fn redefined_parameters(&mut self, method: &str, list: Node<'t>, takes: &[Shape]) {
        let class = self.class_around();
        let path = |definition: &Definition| crate::resolve::path_of(definition);
        let mut types = self
            .found
            .facts
            .definitions
            .iter()
            .rev()
            .filter(|definition| definition.kind == DefinitionKind::Type);
        let extends = types
            .find(|definition| Some(&*path(definition)) == class.as_deref())
            .is_some_and(|definition| !definition.extends.is_empty());
        if !extends || method.starts_with("__") {
            return;
        }
        let is_splat = |node: &Node<'t>| {
            node.kind() == "list_splat_pattern" || node.kind() == "dictionary_splat_pattern"
        };
        let names = children(list).into_iter().filter_map(name_of).filter(|node| !is_splat(node)).skip(1);
        for ((at, taken), name) in (0_u16..).zip(takes).zip(names) {
            if *taken == Shape::Untyped {
                let there = Shape::Parameter(Box::new(member(Shape::Parent, method)), at, WHOLE);
                let shape = Shape::Applied(Box::new(Shape::Of(REDEFINED.into())), vec![there]);
                self.found.scopes.bind(self.found.text(name), shape);
            }
        }
    }

    /// Sets the signature of a function, and separately the names by which arguments may be passed.
    /// `is_bound` is set if the first parameter is the receiver.
    fn sign(&self, definition: &mut Definition, node: Node<'t>, whole: Node<'t>, is_bound: bool) {
        let parameters = node.child_by_field_name("parameters").map(parameter_names).unwrap_or_default();
        let by_name =
            parameters.iter().skip(usize::from(is_bound)).filter(|parameter| parameter.may_be_named);
        definition.parameters = by_name.map(|parameter| self.found.text(parameter.node).into()).collect();
        let names = parameters.iter().map(|parameter| parameter.node).chain(node.child_by_field_name("name"));
        let unsaid: Vec<Node<'t>> = names.collect();
        (definition.signature, definition.body) =
            self.found.digests_without(whole, &unsaid, node.child_by_field_name("body"));
        definition.header =
            self.found.header(whole, node.child_by_field_name("name"), node.child_by_field_name("body"));
    }

    /// Handles `self: T` and `cls: type[T]`: in the function, `T` is its own class.
    fn bind_own_type(&mut self, annotation: &str) {
        let bare = annotation.trim_matches(['"', '\'']).trim_end_matches(']');
        let name = bare.rsplit(['[', '.']).next().unwrap_or(bare);
        let is_variable = |definition: &Definition| {
            *definition.name == *name
                && definition.kind == DefinitionKind::Value
                && definition.container.is_none()
        };
        if self.found.facts.definitions.iter().any(is_variable) {
            self.found.scopes.bind(name, Shape::Itself);
        }
    }

    /// Binds the parameters of a function. Returns its arity and its parameter types.
    pub(super) fn parameters(&mut self, list: Node<'t>, receiver: Option<Shape>) -> (Arity, Vec<Shape>) {
        let mut arity = Arity { least: 0, most: Some(0) };
        let mut takes = Vec::new();
        let mut receiver = receiver;
        for parameter in children(list) {
            let Some(name) = name_of(parameter) else { continue };
            let default = parameter.child_by_field_name("value").map(|value| self.expression(value));
            let mut shape = match parameter.child_by_field_name("type") {
                Some(annotation) => self.annotation(annotation),
                None => Shape::Untyped,
            };
            if name.kind() == "list_splat_pattern" || name.kind() == "dictionary_splat_pattern" {
                arity.most = None;
                let generic = if name.kind() == "list_splat_pattern" { "list" } else { "dict" };
                let arguments = match generic {
                    "list" => vec![shape],
                    _ => vec![Shape::Of("str".into()), shape],
                };
                let whole = Shape::Applied(Box::new(Shape::Of(generic.into())), arguments);
                if let Some(inner) = name.named_child(0) {
                    self.found.scopes.bind(self.found.text(inner), whole);
                }
                continue;
            }
            if let Some(receiver) = receiver.take() {
                self.found.scopes.bind(self.found.text(name), receiver);
                if let Some(annotation) = parameter.child_by_field_name("type") {
                    self.bind_own_type(self.found.text(annotation));
                }
                continue;
            }
            let taken = shape.clone();
            if default.is_none() {
                arity.least += 1;
            } else if shape == Shape::Untyped
                && let Some(default) = default
                && default != Shape::Of("None".into())
            {
                // Inside the function, a checker uses the type of the default; callers may pass anything.
                shape = default;
            }
            arity.most = arity.most.map(|most| most.saturating_add(1));
            if taken == Shape::Untyped {
                self.found.scopes.bind(self.found.text(name), shape);
            } else {
                self.found.scopes.declare(self.found.text(name), shape);
            }
            takes.push(taken);
        }
        (arity, takes)
    }
}

struct Parameter<'t> {
    node: Node<'t>,
    /// Set if a call may pass it by name.
    may_be_named: bool,
}

/// Returns the name of a parameter, with the stars before it.
fn name_of(parameter: Node<'_>) -> Option<Node<'_>> {
    match parameter.kind() {
        "identifier" | "list_splat_pattern" | "dictionary_splat_pattern" => Some(parameter),
        "typed_parameter" => parameter.named_child(0),
        "default_parameter" | "typed_default_parameter" => parameter.child_by_field_name("name"),
        _ => None,
    }
}

/// The names of all parameters, in their order.
fn parameter_names(list: Node<'_>) -> Vec<Parameter<'_>> {
    let mut names: Vec<Parameter<'_>> = Vec::new();
    for parameter in children(list) {
        if parameter.kind() == "positional_separator" {
            // The parameters before it are positional only.
            names.iter_mut().for_each(|name| name.may_be_named = false);
        }
        let Some(node) = name_of(parameter) else { continue };
        match node.kind() {
            // Its presence is part of the signature, not its name.
            "list_splat_pattern" | "dictionary_splat_pattern" => {
                names.extend(node.named_child(0).map(|node| Parameter { node, may_be_named: false }));
            }
            _ => names.push(Parameter { node, may_be_named: true }),
        }
    }
    names
}

/// Returns the shape of a decorated function: the results of its decorators, if known, otherwise itself.
fn decorated(decorators: Vec<Shape>, function: Shape) -> Shape {
    if decorators.is_empty() {
        return function;
    }
    let parts = decorators.into_iter().chain([function]).collect();
    Shape::Applied(Box::new(Shape::Of(DECORATED.into())), parts)
}

/// Returns the result of a function for its callers.
fn result(declared: Option<Shape>, returns: Returns, is_async: bool, decorators: &[&str]) -> Shape {
    let manages = decorators.iter().any(|decorator| decorator.ends_with("contextmanager"));
    let gives = match declared {
        Some(declared) => declared,
        None if returns.generator => {
            let item = either(returns.yields);
            Shape::Applied(Box::new(Shape::Of("Iterator".into())), vec![item])
        }
        None => either(returns.values),
    };
    if manages {
        return gives;
    }
    if is_async && !returns.generator {
        return Shape::Applied(Box::new(Shape::Of("Coroutine".into())), vec![gives]);
    }
    gives
}
