//! The statements of a module: what it defines, imports and exports.

use tree_sitter::Node;

use super::{Returns, Walk};
use crate::facts::{Arity, DefinitionKind, Import, ImportForm, ImportedName, Reach, Role, Shape};
use crate::scope::{awaited, either, element};
use crate::syntax::{children, digest, line_of};

impl<'t> Walk<'t> {
    /// Walks a whole module.
    pub(super) fn program(&mut self, root: Node<'t>) {
        self.statements(root, false);
    }

    /// Walks the statements below a node; `exported` where each is exported, as in a declared namespace.
    pub(super) fn statements(&mut self, node: Node<'t>, exported: bool) {
        if !self.found.descend() {
            return;
        }
        let statements = children(node);
        if self.found.scopes.is_inside() {
            statements.iter().for_each(|it| self.hoist(*it));
        }
        for statement in statements {
            self.statement(statement, exported);
        }
        self.found.ascend();
    }

    /// A function is known in its whole block.
    fn hoist(&mut self, statement: Node<'t>) {
        if matches!(
            statement.kind(),
            "function_declaration" | "generator_function_declaration" | "class_declaration"
        ) && let Some(name) = statement.child_by_field_name("name")
        {
            self.found.scopes.bind(self.found.text(name), Shape::Unknown);
        }
    }

    /// Walks a block in a scope of its own.
    pub(super) fn block(&mut self, node: Node<'t>) {
        if !self.found.scopes.is_inside() {
            // What a block at the top binds is not the module's.
            self.found.scopes.open();
            self.statements(node, false);
            self.found.scopes.close();
            return;
        }
        self.found.scopes.open();
        self.statements(node, false);
        self.found.scopes.close();
    }

    pub(super) fn statement(&mut self, node: Node<'t>, exported: bool) {
        if !self.found.descend() {
            return;
        }
        self.any_statement(node, exported);
        self.found.ascend();
    }

    fn any_statement(&mut self, node: Node<'t>, exported: bool) {
        match node.kind() {
            "import_statement" => self.import(node),
            "export_statement" => self.export(node),
            "import_alias" => self.import_alias(node),
            "function_declaration" | "generator_function_declaration" | "function_signature" => {
                self.function(node, exported, node);
            }
            "class_declaration" | "abstract_class_declaration" => self.class(node, exported, node),
            "interface_declaration" => self.interface(node, exported, node),
            "enum_declaration" => self.enumeration(node, exported, node),
            "type_alias_declaration" => self.alias(node, exported, node),
            "lexical_declaration" | "variable_declaration" => self.variables(node, exported),
            "internal_module" | "module" => self.namespace(node, exported),
            "ambient_declaration" => {
                for child in children(node) {
                    self.statement(child, exported);
                }
            }
            "expression_statement" => {
                for child in children(node) {
                    self.expression_statement(child);
                }
            }
            "statement_block" => self.block(node),
            "if_statement" => self.if_(node),
            "return_statement" => {
                let expected = self.returns.last().and_then(|it| it.declared.clone());
                let value = match node.named_child(0) {
                    Some(value) => self.expected(value, expected),
                    None => Shape::Of("undefined".into()),
                };
                if let Some(returns) = self.returns.last_mut() {
                    returns.values.push(value);
                }
            }
            "for_in_statement" => self.for_in(node),
            "for_statement" | "while_statement" | "do_statement" | "try_statement" | "switch_statement"
            | "switch_body" | "switch_case" | "switch_default" | "labeled_statement" | "finally_clause"
            | "else_clause" => {
                self.found.scopes.open();
                for child in children(node) {
                    self.statement(child, false);
                }
                self.found.scopes.close();
            }
            "catch_clause" => {
                self.found.scopes.open();
                if let Some(parameter) = node.child_by_field_name("parameter") {
                    self.bind(parameter, Shape::Untyped);
                }
                if let Some(body) = node.child_by_field_name("body") {
                    self.statements(body, false);
                }
                self.found.scopes.close();
            }
            "comment" | "empty_statement" | "break_statement" | "continue_statement" => {}
            _ => drop(self.expression(node)),
        }
    }

    fn if_(&mut self, node: Node<'t>) {
        let condition = node.child_by_field_name("condition");
        if let Some(condition) = condition {
            self.expression(condition);
        }
        self.found.scopes.open();
        if let Some(condition) = condition {
            self.narrow(condition, true);
        }
        if let Some(yes) = node.child_by_field_name("consequence") {
            self.statement(yes, false);
        }
        self.found.scopes.close();
        self.found.scopes.open();
        if let Some(condition) = condition {
            self.narrow(condition, false);
        }
        if let Some(no) = node.child_by_field_name("alternative") {
            self.statement(no, false);
        }
        self.found.scopes.close();
        // `if (!(x instanceof C)) return;` says it for the rest of the block.
        let leaves = node.child_by_field_name("consequence").is_some_and(leaves);
        if leaves && let Some(condition) = condition {
            self.narrow(condition, false);
        }
    }

    fn for_in(&mut self, node: Node<'t>) {
        self.found.scopes.open();
        let items = node.child_by_field_name("right").map_or(Shape::Unknown, |it| self.expression(it));
        let of = node.child_by_field_name("operator").is_some_and(|it| self.found.text(it) == "of");
        let waits = node.children(&mut node.walk()).any(|it| it.kind() == "await");
        let item = match (of, waits) {
            (true, true) => awaited(element(items)),
            (true, false) => element(items),
            _ => Shape::Of("string".into()),
        };
        if let Some(left) = node.child_by_field_name("left") {
            self.bind(left, item);
        }
        if let Some(body) = node.child_by_field_name("body") {
            self.statement(body, false);
        }
        self.found.scopes.close();
    }

    /// An expression as a statement: `module.exports = …`, `exports.x = …` define.
    fn expression_statement(&mut self, node: Node<'t>) {
        if node.kind() == "assignment_expression" && !self.found.scopes.is_inside() && self.commonjs(node) {
            return;
        }
        if node.kind() == "internal_module" || node.kind() == "module" {
            return self.namespace(node, false);
        }
        self.expression(node);
    }

    fn commonjs(&mut self, node: Node<'t>) -> bool {
        let (Some(left), Some(right)) = (node.child_by_field_name("left"), node.child_by_field_name("right"))
        else {
            return false;
        };
        let target = self.found.text(left);
        let name = match target {
            "module.exports" | "exports" => "default",
            _ => match target.strip_prefix("module.exports.").or_else(|| target.strip_prefix("exports.")) {
                Some(name) if !name.contains(['.', '[']) => name,
                _ => return false,
            },
        };
        if name == "default" && right.kind() == "object" {
            let names: Vec<ImportedName> = children(right)
                .into_iter()
                .filter_map(|property| match property.kind() {
                    "shorthand_property_identifier" => {
                        let name: Box<str> = self.found.text(property).into();
                        Some(ImportedName { name: name.clone(), local: name, line: line_of(property) })
                    }
                    "pair" => {
                        let key = property.child_by_field_name("key")?;
                        let value =
                            property.child_by_field_name("value").filter(|it| it.kind() == "identifier")?;
                        let (name, local) = (self.found.text(value).into(), self.found.text(key).into());
                        Some(ImportedName { name, local, line: line_of(property) })
                    }
                    _ => None,
                })
                .collect();
            self.own_exports(names, node);
            self.expression(right);
            return true;
        }
        if right.kind() == "identifier" {
            let local: Box<str> = self.found.text(right).into();
            self.expression(right);
            self.own_exports(
                vec![ImportedName { name: local, local: name.into(), line: line_of(node) }],
                node,
            );
            return true;
        }
        self.value(name, None, Some(right), true, node);
        true
    }

    fn own_exports(&mut self, names: Vec<ImportedName>, node: Node<'t>) {
        if !names.is_empty() {
            let import = Import { names, reexport: true, ..plain(node) };
            self.found.facts.imports.push(import);
        }
    }

    fn import(&mut self, node: Node<'t>) {
        let Some(source) = node
            .child_by_field_name("source")
            .or_else(|| children(node).into_iter().find(|it| it.kind() == "import_require_clause"))
        else {
            return;
        };
        if source.kind() == "import_require_clause" {
            let name = source.named_child(0);
            let module = source.child_by_field_name("source");
            if let (Some(name), Some(module)) = (name, module) {
                let import = Import {
                    module: self.string(module).into(),
                    alias: Some(self.found.text(name).into()),
                    ..plain(node)
                };
                self.found.facts.imports.push(import);
            }
            return;
        }
        let type_only = node.children(&mut node.walk()).any(|it| it.kind() == "type");
        let mut import = Import {
            module: self.string(source).into(),
            form: if type_only { ImportForm::TypeOnly } else { ImportForm::Plain },
            ..plain(node)
        };
        let clause = children(node).into_iter().find(|it| it.kind() == "import_clause");
        for part in clause.map(children).unwrap_or_default() {
            match part.kind() {
                "identifier" => import.names.push(ImportedName {
                    name: "default".into(),
                    local: self.found.text(part).into(),
                    line: line_of(part),
                }),
                "namespace_import" => {
                    import.alias = part.named_child(0).map(|it| self.found.text(it).into());
                }
                "named_imports" => {
                    import.names.extend(children(part).into_iter().filter_map(|it| self.specifier(it)));
                }
                _ => {}
            }
        }
        self.found.facts.imports.push(import);
    }

    /// `a`, `a as b` in braces.
    fn specifier(&self, node: Node<'t>) -> Option<ImportedName> {
        let name = node.child_by_field_name("name")?;
        let local = node.child_by_field_name("alias").unwrap_or(name);
        let text = |node| self.found.text(node).trim_matches(['"', '\'']);
        Some(ImportedName { name: text(name).into(), local: text(local).into(), line: line_of(node) })
    }

    /// `import A = B.C`
    fn import_alias(&mut self, node: Node<'t>) {
        let parts = children(node);
        if let [name, value] = parts.as_slice() {
            let shape = Shape::Name(self.found.text(*value).into());
            self.expression(*value);
            let mut definition = self.found.definition(self.found.text(*name), DefinitionKind::Value, node);
            definition.reach = Reach::File;
            definition.gives = Some(shape);
            self.found.define(definition);
        }
    }

    fn export(&mut self, node: Node<'t>) {
        if let Some(declaration) = node.child_by_field_name("declaration") {
            let is_default = node.children(&mut node.walk()).any(|it| it.kind() == "default");
            for decorator in children(node).into_iter().filter(|it| it.kind() == "decorator") {
                self.expression(decorator);
            }
            if !is_default {
                return self.statement(declaration, true);
            }
            self.statement(declaration, false);
            if let Some(name) = declaration.child_by_field_name("name") {
                let name = self.found.text(name).into();
                let names = vec![ImportedName { name, local: "default".into(), line: line_of(node) }];
                self.own_exports(names, node);
            }
            return;
        }
        if let Some(value) = node.child_by_field_name("value") {
            return self.default(value, node);
        }
        let source = node.child_by_field_name("source").map(|it| Box::from(self.string(it)));
        let type_only = node.children(&mut node.walk()).any(|it| it.kind() == "type");
        let form = if type_only { ImportForm::TypeOnly } else { ImportForm::Plain };
        let mut import = Import { module: source.unwrap_or_default(), reexport: true, form, ..plain(node) };
        let mut found = false;
        for part in node.children(&mut node.walk()).collect::<Vec<_>>() {
            match part.kind() {
                "export_clause" => {
                    found = true;
                    import.names.extend(children(part).into_iter().filter_map(|it| self.specifier(it)));
                }
                "namespace_export" => {
                    found = true;
                    import.alias = part.named_child(0).map(|it| self.found.text(it).into());
                }
                "*" => {
                    found = true;
                    import.glob = true;
                }
                // `export = x`
                "identifier" => {
                    let name = self.found.text(part).into();
                    let names = vec![ImportedName { name, local: "default".into(), line: line_of(part) }];
                    return self.own_exports(names, node);
                }
                _ => {}
            }
        }
        if found {
            self.found.facts.imports.push(import);
        }
    }

    /// `export default x`
    fn default(&mut self, value: Node<'t>, node: Node<'t>) {
        if value.kind() == "identifier" {
            let name = self.found.text(value).into();
            self.expression(value);
            let names = vec![ImportedName { name, local: "default".into(), line: line_of(node) }];
            return self.own_exports(names, node);
        }
        self.value("default", None, Some(value), true, node);
    }

    fn namespace(&mut self, node: Node<'t>, exported: bool) {
        let Some(name) = node.child_by_field_name("name") else { return };
        let text = self.found.text(name);
        let Some(body) = node.child_by_field_name("body") else { return };
        if name.kind() == "string" || text == "global" {
            // What is said about other modules, or about all.
            return self.statements(body, true);
        }
        let mut definition = self.found.definition(text, DefinitionKind::Module, node);
        definition.reach = reach(exported);
        definition.body = digest([body], self.found.text, |_| false);
        self.found.define(definition);
        let before = self.found.enter(text);
        self.namespaces += 1;
        self.statements(body, false);
        self.namespaces -= 1;
        self.found.leave(before);
    }

    /// A function of the module, or one inside a function.
    pub(super) fn function(&mut self, node: Node<'t>, exported: bool, whole: Node<'t>) {
        let Some(name) = node.child_by_field_name("name").map(|it| self.found.text(it)) else { return };
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
        definition.arity = Some(self.arity(node));
        let at = self.found.define(definition);
        let before = std::mem::replace(&mut self.found.within, at);
        let shape = self.callable(node, None);
        self.found.within = before;
        self.give(at, shape);
    }

    /// Says what a definition gives.
    pub(super) fn give(&mut self, at: Option<u32>, shape: Shape) {
        let at = at.and_then(|at| usize::try_from(at).ok());
        if let Some(definition) = at.and_then(|at| self.found.facts.definitions.get_mut(at)) {
            definition.gives = Some(shape);
        }
    }

    /// Walks a function of any kind: what it takes and gives. `expected` is what it is passed to or assigned to.
    pub(super) fn callable(&mut self, node: Node<'t>, expected: Option<&Shape>) -> Shape {
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
        let declared = node.child_by_field_name("return_type").map(|it| self.annotation(it));
        let is_async = node.child(0).is_some_and(|it| it.kind() == "async")
            || node.children(&mut node.walk()).any(|it| it.kind() == "async");
        let inside = match (&declared, is_async) {
            (Some(declared), true) => Some(awaited(declared.clone())),
            (declared, _) => declared.clone(),
        };
        self.returns.push(Returns { declared: inside.clone(), ..Returns::default() });
        if !is_arrow
            && matches!(node.kind(), "function_expression" | "function_declaration" | "generator_function")
        {
            self.this.push(self.found.scopes.get("this").cloned().unwrap_or(Shape::Untyped));
        }
        let depth = self.this.len();
        match node.child_by_field_name("body") {
            Some(body) if body.kind() == "statement_block" => self.statements(body, false),
            Some(body) => {
                let value = self.expected(body, inside);
                if let Some(returns) = self.returns.last_mut() {
                    returns.values.push(value);
                }
            }
            None => {}
        }
        debug_assert_eq!(depth, self.this.len(), "every walk leaves `this` as it found it");
        if !is_arrow
            && matches!(node.kind(), "function_expression" | "function_declaration" | "generator_function")
        {
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
    fn parameters(&mut self, list: Node<'t>, expected: Option<&Shape>) -> Vec<Shape> {
        let mut takes = Vec::new();
        let mut at = 0;
        for parameter in children(list) {
            if parameter.kind() == "comment" {
                continue;
            }
            let pattern = parameter.child_by_field_name("pattern").unwrap_or(match parameter.kind() {
                "assignment_pattern" => parameter.child_by_field_name("left").unwrap_or(parameter),
                _ => parameter,
            });
            for decorator in children(parameter).into_iter().filter(|it| it.kind() == "decorator") {
                self.expression(decorator);
            }
            let annotation = parameter.child_by_field_name("type").map(|it| self.annotation(it));
            let default = parameter
                .child_by_field_name("value")
                .or_else(|| parameter.child_by_field_name("right"))
                .map(|it| self.expected(it, annotation.clone()));
            if pattern.kind() == "this" {
                self.found.scopes.bind("this", annotation.unwrap_or(Shape::Untyped));
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
            } else {
                self.bind(pattern, shape.clone());
            }
            takes.push(shape);
            at += 1;
        }
        takes
    }

    /// How many arguments a function takes.
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

    fn variables(&mut self, node: Node<'t>, exported: bool) {
        for declarator in children(node).into_iter().filter(|it| it.kind() == "variable_declarator") {
            let declared = declarator.child_by_field_name("type").map(|it| self.annotation(it));
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
            let shape = value.map(|it| self.expected(it, declared.clone()));
            let shape = declared.or(shape).unwrap_or(Shape::Unknown);
            if self.found.scopes.is_inside() {
                self.bind(name, shape);
            } else {
                self.destructured(name, shape, exported, declarator);
            }
        }
    }

    /// `const x = require('./x')`, `const { a } = require('./x')`
    fn required(&mut self, name: Node<'t>, value: Node<'t>, node: Node<'t>) -> bool {
        let is_require = value.kind() == "call_expression"
            && value.child_by_field_name("function").is_some_and(|it| self.found.text(it) == "require");
        let module = value.child_by_field_name("arguments").and_then(|it| it.named_child(0));
        let Some(module) = module.filter(|it| is_require && it.kind() == "string") else { return false };
        let mut import =
            Import { module: self.string(module).into(), form: ImportForm::Dynamic, ..plain(node) };
        match name.kind() {
            "identifier" => import.alias = Some(self.found.text(name).into()),
            "object_pattern" => {
                for part in children(name) {
                    let (key, local) = match part.kind() {
                        "shorthand_property_identifier_pattern" => (Some(part), Some(part)),
                        "pair_pattern" => {
                            (part.child_by_field_name("key"), part.child_by_field_name("value"))
                        }
                        _ => (None, None),
                    };
                    if let (Some(key), Some(local)) = (key, local) {
                        let (name, local) = (self.found.text(key).into(), self.found.text(local).into());
                        import.names.push(ImportedName { name, local, line: line_of(part) });
                    }
                }
            }
            _ => return false,
        }
        self.found.facts.imports.push(import);
        true
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
        let function = value.filter(|it| {
            matches!(it.kind(), "arrow_function" | "function_expression" | "generator_function" | "function")
        });
        if let Some(class) = value.filter(|it| it.kind() == "class") {
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
        definition.arity = function.map(|it| self.arity(it));
        let at = self.found.define(definition);
        let before = std::mem::replace(&mut self.found.within, at);
        let shape = match value {
            Some(value) => match unwrapped(value) {
                object if object.kind() == "object" && declared.is_none() => {
                    self.object_value(name, object);
                    None
                }
                _ => Some(self.expected(value, declared.clone())),
            },
            None => Some(Shape::Unknown),
        };
        self.found.within = before;
        if let Some(shape) = declared.or(shape) {
            self.give(at, shape);
        }
    }

    /// The properties of an object that a module defines can be named by others.
    fn object_value(&mut self, name: &str, object: Node<'t>) {
        let before = self.found.enter(name);
        for property in children(object) {
            self.property_value(property);
        }
        self.found.leave(before);
    }

    fn property_value(&mut self, property: Node<'t>) {
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

    /// The content of a string.
    pub(super) fn string(&self, node: Node<'t>) -> &'t str {
        self.found.text(node).trim_matches(['"', '\'', '`'])
    }

    /// Keeps a module that is loaded while running.
    pub(super) fn dynamic(&mut self, module: Node<'t>, node: Node<'t>) {
        let import = Import { module: self.string(module).into(), form: ImportForm::Dynamic, ..plain(node) };
        self.found.facts.imports.push(import);
    }

    /// What a condition says about variables, where it holds or where it does not.
    pub(super) fn narrow(&mut self, condition: Node<'t>, holds: bool) {
        match condition.kind() {
            "parenthesized_expression" => {
                if let Some(inner) = condition.named_child(0) {
                    self.narrow(inner, holds);
                }
            }
            "unary_expression" if self.found.text(condition).starts_with('!') => {
                if let Some(inner) = condition.child_by_field_name("argument") {
                    self.narrow(inner, !holds);
                }
            }
            "binary_expression" => {
                let operator = condition.child_by_field_name("operator").map_or("", |it| self.found.text(it));
                let (left, right) =
                    (condition.child_by_field_name("left"), condition.child_by_field_name("right"));
                let (Some(left), Some(right)) = (left, right) else { return };
                match operator {
                    "&&" if holds => {
                        self.narrow(left, true);
                        self.narrow(right, true);
                    }
                    "||" if !holds => {
                        self.narrow(left, false);
                        self.narrow(right, false);
                    }
                    "instanceof" if holds && self.found.scopes.is_inside() => {
                        let class = self.quietly(|walk| walk.expression(right));
                        let shape = match class {
                            Shape::Name(name) => Shape::Of(name),
                            other => crate::scope::call(other),
                        };
                        self.found.scopes.bind(self.found.text(left), shape);
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }

    /// Walks without keeping the uses that are found: for what was walked already.
    pub(super) fn quietly<R>(&mut self, walk: impl FnOnce(&mut Self) -> R) -> R {
        let before = self.found.facts.uses.len();
        let result = walk(self);
        self.found.facts.uses.truncate(before);
        result
    }

    /// A name in a place where it is used.
    pub(super) fn named(&mut self, node: Node<'t>, role: Role, arguments: Option<u16>) -> Shape {
        let name = self.found.text(node);
        if let Some(shape) = self.found.scopes.get(name) {
            return shape.clone();
        }
        self.found.use_name(node, role, None, arguments);
        Shape::Name(self.in_scope(name).into())
    }

    /// A name as it is known in the file: inside a namespace its own names come first.
    pub(super) fn in_scope(&self, name: &str) -> String {
        if self.namespaces == 0 {
            return name.to_owned();
        }
        let Some(container) = self.found.container() else { return name.to_owned() };
        let mut around: &str = &container;
        loop {
            let is_known = self.found.facts.definitions.iter().any(|it| {
                it.container.as_deref() == Some(around) && *it.name == *name && !is_member_kind(it.kind)
            });
            if is_known {
                return format!("{around}.{name}");
            }
            match around.rsplit_once('.') {
                Some((outer, _)) => around = outer,
                None => return name.to_owned(),
            }
        }
    }
}

fn is_member_kind(kind: DefinitionKind) -> bool {
    matches!(kind, DefinitionKind::Method | DefinitionKind::Field | DefinitionKind::Variant)
}

/// The shape of a parameter, from what is expected of the function.
fn parameter_shape(expected: Option<&Shape>, at: u16) -> Shape {
    match expected {
        Some(Shape::Parameter(call, argument, u16::MAX)) => Shape::Parameter(call.clone(), *argument, at),
        Some(Shape::Function(takes, _)) => takes.get(usize::from(at)).cloned().unwrap_or(Shape::Unknown),
        // What the callable takes: as an argument of a call of it.
        Some(Shape::Unknown) => Shape::Unknown,
        Some(expected) => Shape::Parameter(Box::new(expected.clone()), at, u16::MAX),
        None => Shape::Untyped,
    }
}

/// Whether a statement always leaves its block.
fn leaves(node: Node<'_>) -> bool {
    match node.kind() {
        "return_statement" | "throw_statement" | "continue_statement" | "break_statement" => true,
        "statement_block" => children(node).last().is_some_and(|it| leaves(*it)),
        _ => false,
    }
}

/// An expression without what only speaks about its type.
pub(super) fn unwrapped(node: Node<'_>) -> Node<'_> {
    match node.kind() {
        "as_expression" | "satisfies_expression" | "parenthesized_expression" | "non_null_expression" => {
            node.named_child(0).map_or(node, unwrapped)
        }
        _ => node,
    }
}

/// Who can name a definition that is exported or not.
pub(super) fn reach(exported: bool) -> Reach {
    if exported { Reach::Everyone } else { Reach::File }
}

fn plain(node: Node<'_>) -> Import {
    Import {
        module: Box::default(),
        names: Vec::new(),
        alias: None,
        glob: false,
        reexport: false,
        form: ImportForm::Plain,
        container: None,
        line: line_of(node),
    }
}
