//! The statements of a module: what it defines and imports.

use tree_sitter::Node;

use super::{Returns, Walk};
use crate::facts::{Arity, Definition, DefinitionKind, Import, ImportForm, ImportedName, Reach, Role, Shape};
use crate::scope::{self, either};
use crate::syntax::{children, digest, line_of};

impl<'t> Walk<'t> {
    /// Walks a whole module.
    pub(super) fn module(&mut self, root: Node<'t>) {
        self.block(root);
    }

    /// Walks the statements of a block. Whether its end is reached.
    pub(super) fn block(&mut self, node: Node<'t>) -> bool {
        let mut reached = true;
        if self.found.descend() {
            for statement in children(node) {
                reached &= self.statement(statement);
            }
            self.found.ascend();
        }
        reached
    }

    /// Walks one statement. Whether what follows it is reached.
    fn statement(&mut self, node: Node<'t>) -> bool {
        match node.kind() {
            "function_definition" => self.function(node, &[], node),
            "class_definition" => self.class(node, &[], node),
            "decorated_definition" => self.decorated(node),
            "import_statement" => self.import(node),
            "import_from_statement" | "future_import_statement" => self.import_from(node),
            "expression_statement" => {
                for expression in children(node) {
                    self.expression_statement(expression);
                }
            }
            "return_statement" => {
                let value = node.named_child(0).map_or(Shape::Of("None".into()), |it| self.expression(it));
                if let Some(returns) = self.returns.last_mut() {
                    returns.values.push(value);
                }
                return false;
            }
            "raise_statement" => {
                self.expressions(node);
                return false;
            }
            "break_statement" | "continue_statement" => return false,
            "if_statement" => return self.if_(node),
            "for_statement" => self.for_(node),
            "while_statement" => self.while_(node),
            "try_statement" => return self.try_(node),
            "with_statement" => return self.with(node),
            "match_statement" => self.match_(node),
            "block" => return self.block(node),
            "assert_statement" => {
                self.expressions(node);
                if let Some(condition) = node.named_child(0) {
                    self.narrow(condition, true);
                }
            }
            "global_statement" | "nonlocal_statement" | "comment" | "pass_statement" => {}
            "type_alias_statement" => self.type_alias(node),
            _ => self.expressions(node),
        }
        true
    }

    fn type_alias(&mut self, node: Node<'t>) {
        let (Some(left), Some(right)) = (node.child_by_field_name("left"), node.child_by_field_name("right"))
        else {
            return self.expressions(node);
        };
        let shape = self.annotation(right);
        let name = left.named_child(0).unwrap_or(left);
        self.value(name, Some(shape), None, node);
    }

    fn decorated(&mut self, node: Node<'t>) {
        let mut decorators = Vec::new();
        for child in children(node) {
            match child.kind() {
                "decorator" => {
                    self.expressions(child);
                    let name = child.named_child(0).map_or("", |it| self.found.text(it));
                    decorators.push(name);
                }
                "function_definition" => return self.function(child, &decorators, node),
                "class_definition" => return self.class(child, &decorators, node),
                _ => {}
            }
        }
    }

    fn class(&mut self, node: Node<'t>, decorators: &[&str], whole: Node<'t>) {
        let Some(name) = node.child_by_field_name("name").map(|it| self.found.text(it)) else { return };
        let body = node.child_by_field_name("body");
        let mut definition = self.found.definition(name, DefinitionKind::Type, whole);
        let within = self.found.within;
        if let Some(bases) = node.child_by_field_name("superclasses") {
            definition.extends = self.bases(bases);
        }
        (definition.signature, definition.body) =
            self.found.digests(whole, node.child_by_field_name("name"), body);
        if self.found.scopes.is_inside() && !self.in_class() {
            definition.reach = Reach::File;
            self.found.scopes.bind(name, Shape::Name(self.found.path(name).into()));
        }
        let record = decorators.iter().any(|it| it.contains("dataclass") || it.ends_with("define"));
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
        if record {
            self.record(name, node);
        }
    }

    /// The bases of a class, as written; what they name is used.
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
                    self.named(base, Role::Extend, None);
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

    /// The constructor that a record gets from its fields.
    fn record(&mut self, class: &str, node: Node<'t>) {
        let container: Box<str> = self.found.path(class).into();
        let mine = |it: &&Definition| it.container.as_deref() == Some(&*container);
        let definitions = || self.found.facts.definitions.iter().filter(mine);
        if definitions().any(|it| &*it.name == "__init__") {
            return;
        }
        let fields = definitions().filter(|it| it.kind == DefinitionKind::Field && it.gives.is_some());
        let most = u16::try_from(fields.count()).unwrap_or(u16::MAX);
        let mut definition = self.found.definition("__init__", DefinitionKind::Method, node);
        definition.container = Some(container);
        definition.arity = Some(Arity { least: 0, most: Some(most) });
        self.found.define(definition);
    }

    fn function(&mut self, node: Node<'t>, decorators: &[&str], whole: Node<'t>) {
        let Some(name) = node.child_by_field_name("name").map(|it| self.found.text(it)) else { return };
        let body = node.child_by_field_name("body");
        let is_method = self.in_class();
        let nested = self.found.scopes.is_inside() && !is_method;
        let is_property = decorators.iter().any(|it| it.ends_with("property") || it.ends_with(".getter"));
        let is_setter = decorators.iter().any(|it| it.ends_with(".setter") || it.ends_with(".deleter"));
        let is_static = decorators.iter().any(|it| it.ends_with("staticmethod"));
        let is_class = decorators.iter().any(|it| it.ends_with("classmethod"))
            || matches!(name, "__new__" | "__init_subclass__" | "__class_getitem__");

        let within = self.found.within;
        let mut at = within;
        if !nested && !is_setter {
            let kind = match (is_method, is_property) {
                (true, true) => DefinitionKind::Field,
                (true, false) => DefinitionKind::Method,
                _ => DefinitionKind::Function,
            };
            let mut definition = self.found.definition(name, kind, whole);
            (definition.signature, definition.body) =
                self.found.digests(whole, node.child_by_field_name("name"), body);
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
            (arity, takes) = self.parameters(parameters, receiver);
        }
        let declared = node.child_by_field_name("return_type").map(|it| self.annotation(it));
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

        let is_async = node.child(0).is_some_and(|it| it.kind() == "async");
        let gives = result(declared, returns, is_async, decorators);
        if nested {
            self.found.scopes.bind(name, Shape::Function(takes, Box::new(gives)));
        } else if !is_setter
            && let Some(definition) = at.and_then(|at| {
                self.found.facts.definitions.get_mut(usize::try_from(at).unwrap_or(usize::MAX))
            })
        {
            definition.gives = Some(gives);
            definition.arity = (!(is_method && is_property)).then_some(arity);
        }
    }

    /// Binds the parameters of a function. How many it takes, and of which types.
    pub(super) fn parameters(&mut self, list: Node<'t>, receiver: Option<Shape>) -> (Arity, Vec<Shape>) {
        let mut arity = Arity { least: 0, most: Some(0) };
        let mut takes = Vec::new();
        let mut receiver = receiver;
        for parameter in children(list) {
            let name = match parameter.kind() {
                "identifier" => Some(parameter),
                "typed_parameter" => parameter.named_child(0),
                "default_parameter" | "typed_default_parameter" => parameter.child_by_field_name("name"),
                "list_splat_pattern" | "dictionary_splat_pattern" => Some(parameter),
                _ => None,
            };
            let Some(name) = name else { continue };
            let default = parameter.child_by_field_name("value").map(|it| self.expression(it));
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
                continue;
            }
            if default.is_none() {
                arity.least += 1;
            } else if shape == Shape::Untyped
                && let Some(default) = default
                && default != Shape::Of("None".into())
            {
                // A checker takes the type of the default for that of the parameter.
                shape = default;
            }
            arity.most = arity.most.map(|most| most.saturating_add(1));
            self.found.scopes.bind(self.found.text(name), shape.clone());
            takes.push(shape);
        }
        (arity, takes)
    }

    /// An expression as a statement: assignments define, the rest only uses.
    fn expression_statement(&mut self, node: Node<'t>) {
        match node.kind() {
            "assignment" => self.assignment(node),
            "augmented_assignment" => {
                let left = node.child_by_field_name("left");
                let right = node.child_by_field_name("right").map(|it| (it, self.expression(it)));
                if let Some(left) = left {
                    if left.kind() == "identifier" && self.found.text(left) == "__all__" {
                        match right.and_then(|(right, _)| self.strings(right)) {
                            Some(more) => self.all.get_or_insert_default().extend(more),
                            None => self.all_is_open = true,
                        }
                    } else if left.kind() == "identifier" {
                        self.named(left, Role::Value, None);
                    } else {
                        self.expression(left);
                    }
                }
            }
            _ => {
                self.expression(node);
                if node.kind() == "call" {
                    self.call_on_all(node);
                }
            }
        }
    }

    /// `__all__.extend(…)`, `__all__.append(…)`.
    fn call_on_all(&mut self, node: Node<'t>) {
        let Some(function) = node.child_by_field_name("function") else { return };
        let Some(object) = function.child_by_field_name("object") else { return };
        if object.kind() != "identifier" || self.found.text(object) != "__all__" {
            return;
        }
        let argument = node.child_by_field_name("arguments").and_then(|it| it.named_child(0));
        match argument.and_then(|it| self.strings(it)) {
            Some(more) => self.all.get_or_insert_default().extend(more),
            None => self.all_is_open = true,
        }
    }

    /// The strings of a list or tuple, or a string alone; `None` where there is anything else.
    fn strings(&self, node: Node<'t>) -> Option<Vec<Box<str>>> {
        match node.kind() {
            "string" => {
                let content = children(node).into_iter().find(|it| it.kind() == "string_content");
                Some(vec![content.map_or("", |it| self.found.text(it)).into()])
            }
            "list" | "tuple" => {
                let mut all = Vec::new();
                for child in children(node) {
                    if child.kind() != "comment" {
                        all.extend(self.strings(child)?);
                    }
                }
                Some(all)
            }
            "binary_operator" | "parenthesized_expression" => {
                let mut all = Vec::new();
                for child in children(node) {
                    all.extend(self.strings(child)?);
                }
                Some(all)
            }
            _ => None,
        }
    }

    fn assignment(&mut self, node: Node<'t>) {
        let declared = node.child_by_field_name("type").map(|it| self.annotation(it));
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
                Some(inner.map_or(Shape::Unknown, |it| self.quietly(|walk| walk.expression(it))))
            }
            Some(right) => Some(self.expression(right)),
            None => None,
        };
        self.assign(left, value, declared, node);
    }

    /// Binds what stands left of an assignment.
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
                    self.found.scopes.bind(name, narrowed(value, declared));
                } else {
                    self.value(left, declared, value, whole);
                }
            }
            "attribute" => {
                let own = left.child_by_field_name("object").is_some_and(|object| {
                    object.kind() == "identifier"
                        && self.found.scopes.get(self.found.text(object)) == Some(&Shape::Itself)
                });
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

    /// A variable of the module or of a class.
    fn value(&mut self, name: Node<'t>, declared: Option<Shape>, value: Option<Shape>, whole: Node<'t>) {
        let text = self.found.text(name);
        let in_class = self.in_class();
        if in_class {
            self.found.scopes.bind(text, narrowed(value.clone(), declared.clone()));
        }
        let container = self.found.container();
        let kind = if in_class { DefinitionKind::Field } else { DefinitionKind::Value };
        self.keep(text, kind, container, declared, value, whole);
    }

    /// `self.x = …`: a field of the class around.
    fn field(&mut self, name: Node<'t>, declared: Option<Shape>, value: Option<Shape>, whole: Node<'t>) {
        let text = self.found.text(name);
        let Some(class) = self.class_around() else { return };
        // Where it is defined already, by a base perhaps, this is a use of it.
        self.found.use_name(name, Role::Value, Some(Shape::Itself), None);
        self.keep(text, DefinitionKind::Field, Some(class), declared, value, whole);
    }

    /// Keeps a variable; assigned again, it may be either.
    fn keep(
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
        let known = self.found.facts.definitions.iter_mut().rev().find(|it| {
            *it.name == *name
                && it.container == container
                && matches!(it.kind, DefinitionKind::Field | DefinitionKind::Value)
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
        definition.gives = gives;
        if !self.found.scopes.is_inside() || self.in_class() || kind == DefinitionKind::Field {
            self.found.define(definition);
        }
    }

    fn import(&mut self, node: Node<'t>) {
        for child in children(node) {
            let (module, alias) = match child.kind() {
                "dotted_name" => (child, None),
                "aliased_import" => match child.child_by_field_name("name") {
                    Some(name) => (name, child.child_by_field_name("alias")),
                    None => continue,
                },
                _ => continue,
            };
            let import = Import {
                module: squeeze(self.found.text(module)),
                names: Vec::new(),
                alias: alias.map(|it| self.found.text(it).into()),
                glob: false,
                reexport: false,
                form: ImportForm::Plain,
                container: self.local_container(),
                line: line_of(child),
            };
            self.unbind(import.alias.as_deref().unwrap_or_else(|| first_part(&import.module)));
            self.found.facts.imports.push(import);
        }
    }

    fn import_from(&mut self, node: Node<'t>) {
        let Some(module) = node.child_by_field_name("module_name") else { return };
        let mut names = Vec::new();
        let mut glob = false;
        for child in children(node) {
            if child == module {
                continue;
            }
            let (name, local) = match child.kind() {
                "dotted_name" => (child, child),
                "aliased_import" => {
                    match (child.child_by_field_name("name"), child.child_by_field_name("alias")) {
                        (Some(name), Some(alias)) => (name, alias),
                        _ => continue,
                    }
                }
                "wildcard_import" => {
                    glob = true;
                    continue;
                }
                _ => continue,
            };
            self.unbind(self.found.text(local));
            names.push(ImportedName {
                name: self.found.text(name).into(),
                local: self.found.text(local).into(),
                line: line_of(child),
            });
        }
        if names.is_empty() && !glob {
            return;
        }
        let import = Import {
            module: squeeze(self.found.text(module)),
            names,
            alias: None,
            glob,
            reexport: false,
            form: ImportForm::Plain,
            container: self.local_container(),
            line: line_of(node),
        };
        self.found.facts.imports.push(import);
    }

    /// What an import stands in, where its names are not those of the module.
    fn local_container(&self) -> Option<Box<str>> {
        if self.found.scopes.is_inside() { self.found.container() } else { None }
    }

    /// An import in a function hides a variable of the same name.
    fn unbind(&mut self, name: &str) {
        if self.found.scopes.get(name).is_some() {
            self.found.scopes.bind(name, Shape::Name(name.into()));
        }
    }

    /// Whether the walk stands directly in the body of a class.
    pub(super) fn in_class(&self) -> bool {
        matches!(self.frames.last(), Some(Some(_)))
    }

    /// The class around, as it is known in this file.
    pub(super) fn class_around(&self) -> Option<Box<str>> {
        self.frames.iter().rev().find_map(Clone::clone)
    }

    /// Walks on with one more container.
    fn found_inside(&mut self, name: &str, walk: impl FnOnce(&mut Self)) {
        let before = self.found.enter(name);
        walk(self);
        self.found.leave(before);
    }
}

/// What a function gives its callers.
fn result(declared: Option<Shape>, returns: Returns, is_async: bool, decorators: &[&str]) -> Shape {
    let manages = decorators.iter().any(|it| it.ends_with("contextmanager"));
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

/// What a variable is worth after an assignment: its declared type, where the value says nothing better.
fn narrowed(value: Option<Shape>, declared: Option<Shape>) -> Shape {
    match (value, declared) {
        (Some(value @ (Shape::Call(_) | Shape::Of(_))), Some(_)) if value != Shape::Of("None".into()) => {
            value
        }
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

/// A dotted name without the spaces that may stand in it.
fn squeeze(name: &str) -> Box<str> {
    name.split_whitespace().collect::<String>().into()
}

/// The part of a dotted name before the first dot.
fn first_part(name: &str) -> &str {
    name.split('.').next().unwrap_or(name)
}
