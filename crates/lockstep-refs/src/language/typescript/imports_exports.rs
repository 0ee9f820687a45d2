//! Imports, exports and CommonJS of a module.

use tree_sitter::Node;

use super::Walk;
use super::statement::reach;
use crate::facts::{Definition, DefinitionKind, Import, ImportForm, ImportedName, Shape};
use crate::language::Language;
use crate::syntax::{children, digest, line_of};

impl<'t> Walk<'t> {
    pub(super) fn commonjs(&mut self, node: Node<'t>) -> bool {
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
                        let value = property
                            .child_by_field_name("value")
                            .filter(|value| value.kind() == "identifier")?;
                        let (name, local) = (self.found.text(value).into(), self.found.text(key).into());
                        Some(ImportedName { name, local, line: line_of(property) })
                    }
                    _ => None,
                })
                .collect();
            self.own_exports(names, node);
            children(right).into_iter().for_each(|property| self.offered_property(property));
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

    /// Handles `App.prototype.m = function …` and `app.m = function …` for a class, function or object of the module: a member of it.
    pub(super) fn assigned_member(&mut self, node: Node<'t>) -> bool {
        const FUNCTIONS: &[&str] = &["arrow_function", "function_expression", "generator_function"];
        let field = |name: &str| node.child_by_field_name(name);
        let function = field("right").filter(|child| FUNCTIONS.contains(&child.kind()));
        let (Some(left), Some(function)) = (field("left"), function) else { return false };
        let member =
            left.child_by_field_name("property").filter(|property| property.kind() == "property_identifier");
        let (Some(owner), Some(member)) = (left.child_by_field_name("object"), member) else { return false };
        let owner = self.found.text(owner);
        let owner = owner.strip_suffix(".prototype").unwrap_or(owner);
        let is_owner = |definition: &Definition| {
            use DefinitionKind::{Function, Type, Value};
            *definition.name == *owner
                && definition.container.is_none()
                && matches!(definition.kind, Function | Type | Value)
        };
        if self.found.facts.language != Language::JavaScript
            || !self.found.facts.definitions.iter().any(is_owner)
        {
            return false;
        }
        let mut definition = self.found.definition(self.found.text(member), DefinitionKind::Method, node);
        definition.container = Some(owner.into());
        let body = function.child_by_field_name("body");
        (definition.signature, definition.body) = self.found.digests(function, None, body);
        definition.header = self.found.header(node, Some(member), body);
        definition.arity = Some(self.arity(function));
        let at = self.found.define(definition);
        let before = std::mem::replace(&mut self.found.within, at);
        self.this.push(Shape::Unknown);
        let shape = self.callable(function, None);
        self.this.pop();
        self.found.within = before;
        self.give(at, shape);
        true
    }

    /// Handles a property of an exported object: unless it is only an alias, it is defined there.
    fn offered_property(&mut self, property: Node<'t>) {
        let key = property.child_by_field_name("key").or_else(|| property.child_by_field_name("name"));
        let key = key.filter(|key| matches!(key.kind(), "property_identifier" | "string"));
        let value = property.child_by_field_name("value").filter(|value| value.kind() != "identifier");
        match (property.kind(), key, value) {
            ("pair", Some(key), Some(value)) => {
                self.value(self.string(key), None, Some(value), true, property);
            }
            ("method_definition", Some(_), _) => {
                let at = self.found.facts.definitions.len();
                self.property_value(property);
                if let Some(definition) = self.found.facts.definitions.get_mut(at) {
                    definition.kind = DefinitionKind::Function;
                }
            }
            _ => drop(self.expression(property)),
        }
    }

    pub(super) fn own_exports(&mut self, names: Vec<ImportedName>, node: Node<'t>) {
        if !names.is_empty() {
            let import =
                Import { names, reexport: true, container: self.namespace_path(), ..empty_import(node) };
            self.found.facts.imports.push(import);
        }
    }

    /// Returns the namespace of a list of exports, which exports them instead of the module.
    fn namespace_path(&self) -> Option<Box<str>> {
        self.found.container().filter(|_| self.namespaces > 0)
    }

    pub(super) fn import(&mut self, node: Node<'t>) {
        let Some(source) = node
            .child_by_field_name("source")
            .or_else(|| children(node).into_iter().find(|child| child.kind() == "import_require_clause"))
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
                    ..empty_import(node)
                };
                self.found.facts.imports.push(import);
            }
            return;
        }
        let type_only = node.children(&mut node.walk()).any(|child| child.kind() == "type");
        let mut import = Import {
            module: self.string(source).into(),
            form: if type_only { ImportForm::TypeOnly } else { ImportForm::Plain },
            ..empty_import(node)
        };
        let clause = children(node).into_iter().find(|child| child.kind() == "import_clause");
        for part in clause.map(children).unwrap_or_default() {
            match part.kind() {
                "identifier" => import.names.push(ImportedName {
                    name: "default".into(),
                    local: self.found.text(part).into(),
                    line: line_of(part),
                }),
                "namespace_import" => {
                    import.alias = part.named_child(0).map(|child| self.found.text(child).into());
                }
                "named_imports" => {
                    import.names.extend(children(part).into_iter().filter_map(|child| self.specifier(child)));
                }
                _ => {}
            }
        }
        self.push_by_form(import, clause.into_iter().flat_map(children).collect());
    }

    /// Records an import or a re-export. Its names that are marked as types become an import of their own. `lists` contain the
    /// specifiers.
    fn push_by_form(&mut self, mut import: Import, lists: Vec<Node<'t>>) {
        let specifiers = lists.into_iter().flat_map(children);
        let is_type = |node: &Node<'t>| node.children(&mut node.walk()).any(|child| child.kind() == "type");
        let types: Vec<ImportedName> =
            specifiers.filter(is_type).filter_map(|specifier| self.specifier(specifier)).collect();
        if import.form == ImportForm::Plain && !types.is_empty() {
            import.names.retain(|imported| !types.contains(imported));
            let others = !import.names.is_empty() || import.alias.is_some();
            let form = ImportForm::TypeOnly;
            self.found.facts.imports.push(Import { names: types, alias: None, form, ..import.clone() });
            if !others {
                return;
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
    pub(super) fn import_alias(&mut self, node: Node<'t>, exported: bool) {
        let parts = children(node);
        if let [name, value] = parts.as_slice() {
            let shape = Shape::Name(self.found.text(*value).into());
            self.expression(*value);
            let mut definition = self.found.definition(self.found.text(*name), DefinitionKind::Value, node);
            definition.reach = reach(exported);
            definition.signature = digest([*value], self.found.text, |_| false);
            definition.gives = Some(shape);
            self.found.define(definition);
        }
    }

    pub(super) fn export(&mut self, node: Node<'t>) {
        if let Some(declaration) = node.child_by_field_name("declaration") {
            let is_default = node.children(&mut node.walk()).any(|child| child.kind() == "default");
            for decorator in children(node).into_iter().filter(|child| child.kind() == "decorator") {
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
        let source = node.child_by_field_name("source").map(|source| Box::from(self.string(source)));
        let type_only = node.children(&mut node.walk()).any(|child| child.kind() == "type");
        let form = if type_only { ImportForm::TypeOnly } else { ImportForm::Plain };
        let mut import = Import {
            module: source.unwrap_or_default(),
            reexport: true,
            form,
            container: self.namespace_path(),
            ..empty_import(node)
        };
        let mut found = false;
        for part in node.children(&mut node.walk()).collect::<Vec<_>>() {
            match part.kind() {
                "export_clause" => {
                    found = true;
                    import.names.extend(children(part).into_iter().filter_map(|child| self.specifier(child)));
                }
                "namespace_export" => {
                    found = true;
                    import.alias = part.named_child(0).map(|child| self.found.text(child).into());
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
            let is_list = |child: &Node<'t>| child.kind() == "export_clause";
            self.push_by_form(import, children(node).into_iter().filter(is_list).collect());
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

    /// The module that an expression loads while running: `require('./x')`, `await import('./x')`.
    pub(super) fn loaded(&self, value: Node<'t>) -> Option<Node<'t>> {
        let (call, awaited) = match value.kind() {
            "await_expression" => (value.named_child(0)?, true),
            _ => (value, false),
        };
        let function = call.child_by_field_name("function").filter(|_| call.kind() == "call_expression")?;
        let loads = match function.kind() {
            "import" => awaited,
            _ => self.found.text(function) == "require",
        };
        let module = call.child_by_field_name("arguments")?.named_child(0)?;
        (loads && module.kind() == "string").then_some(module)
    }

    /// `const x = require('./x')`, `const { a } = await import('./x')`
    pub(super) fn required(&mut self, name: Node<'t>, value: Node<'t>, node: Node<'t>) -> bool {
        let Some(module) = self.loaded(value) else { return false };
        let mut import =
            Import { module: self.string(module).into(), form: ImportForm::Dynamic, ..empty_import(node) };
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

    /// Records a module that is named in an expression or a type, and binds it to a name that cannot be
    /// written. Returns that name.
    pub(super) fn inline(&mut self, module: Node<'t>, node: Node<'t>, form: ImportForm) -> String {
        let name = format!("@{}", self.found.facts.imports.len());
        let module = self.string(module).into();
        self.found.facts.imports.push(Import {
            module,
            alias: Some(name.as_str().into()),
            form,
            ..empty_import(node)
        });
        name
    }
}

pub(super) fn empty_import(node: Node<'_>) -> Import {
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
