//! Types that a module defines: classes, interfaces, enums, aliases, and their members.

use tree_sitter::Node;

use super::object_parts::ObjectParts;
use super::statement::reach;
use super::{Walk, alias};
use crate::facts::{ANY_MEMBER, Definition, DefinitionKind, OPTIONAL, Reach, Role, STATIC, Shape};
use crate::scope::union;
use crate::syntax::{children, digest};

impl<'t> Walk<'t> {
    pub(super) fn class(&mut self, node: Node<'t>, exported: bool, whole: Node<'t>) {
        if let Some(name) = node.child_by_field_name("name") {
            self.class_named(self.found.text(name), node, exported, whole);
        }
    }

    /// A class under a name: its own, or that of the variable that holds it.
    pub(super) fn class_named(&mut self, name: &str, node: Node<'t>, exported: bool, whole: Node<'t>) {
        let body = node.child_by_field_name("body");
        let local = self.found.scopes.is_inside();
        let mut definition = self.found.definition(name, DefinitionKind::Type, whole);
        definition.reach = if local { Reach::File } else { reach(exported) };
        (definition.signature, definition.body) =
            self.found.digests(node, node.child_by_field_name("name"), body);
        definition.header = self.found.header(node, node.child_by_field_name("name"), body);
        if local {
            self.found.scopes.bind(name, Shape::Name(self.found.path(name).into()));
        }
        self.generics.push(Default::default());
        if let Some(parameters) = node.child_by_field_name("type_parameters") {
            self.type_parameters(parameters);
        }
        for part in children(node) {
            match part.kind() {
                "class_heritage" => definition.extends = self.heritage(part),
                "decorator" => drop(self.expression(part)),
                _ => {}
            }
        }
        let at = self.found.define(definition);
        let before = std::mem::replace(&mut self.found.within, at);
        let entered = self.found.enter(name);
        self.this.push(Shape::Itself);
        for member in body.map(children).unwrap_or_default() {
            self.class_member(member);
        }
        if let Some(heritage) = children(node).into_iter().find(|child| child.kind() == "class_heritage") {
            self.own_properties(heritage, node);
        }
        self.this.pop();
        self.found.leave(entered);
        self.found.within = before;
        self.generics.pop();
    }

    /// Returns the types that a class extends and implements.
    fn heritage(&mut self, node: Node<'t>) -> Vec<Box<str>> {
        let mut bases = Vec::new();
        let clauses = children(node);
        for clause in clauses {
            match clause.kind() {
                "extends_clause" => {
                    for part in children(clause) {
                        match part.kind() {
                            "type_arguments" => self.type_arguments(part),
                            _ => bases.push(self.base(part)),
                        }
                    }
                }
                "implements_clause" => {
                    for part in children(clause) {
                        bases.extend(self.base_type(part));
                    }
                }
                // In JavaScript it is only an expression.
                _ => bases.push(self.base(clause)),
            }
        }
        bases
    }

    /// An expression that is extended.
    fn base(&mut self, node: Node<'t>) -> Box<str> {
        match node.kind() {
            "identifier" => match self.bare_name(node, Role::Extend, None) {
                Shape::Name(name) => name,
                _ => "?".into(),
            },
            "member_expression" => {
                self.member_access(node, Role::Extend, None);
                self.found.text(node).into()
            }
            _ => {
                self.expression(node);
                "?".into()
            }
        }
    }

    /// Returns the name of the type whose members a mapped type has: `Partial<Props>`.
    fn seen_differently(&self, node: Node<'t>) -> Option<Node<'t>> {
        let name = node.child_by_field_name("name").filter(|_| node.kind() == "generic_type")?;
        match self.found.text(name) {
            // A picked property exists even if the type no longer has it.
            "Pick" => Some(name),
            "Omit" | "Partial" | "Readonly" | "Required" => {
                let list = children(node).into_iter().find(|child| child.kind() == "type_arguments")?;
                let first = list.named_child(0)?;
                let head = first.child_by_field_name("name").filter(|_| first.kind() == "generic_type");
                let is_name =
                    |child: &Node<'t>| matches!(child.kind(), "type_identifier" | "nested_type_identifier");
                head.or(Some(first)).filter(is_name)
            }
            _ => None,
        }
    }

    /// A type that is extended or implemented.
    fn base_type(&mut self, node: Node<'t>) -> Option<Box<str>> {
        if let Some(seen) = self.seen_differently(node) {
            self.annotation(node);
            return Some(self.in_scope(self.found.text(seen)).into());
        }
        let head = match node.kind() {
            "generic_type" => {
                for part in children(node).into_iter().filter(|child| child.kind() == "type_arguments") {
                    self.type_arguments(part);
                }
                node.child_by_field_name("name").or_else(|| node.named_child(0))?
            }
            _ => node,
        };
        match head.kind() {
            "type_identifier" => {
                self.found.use_name(head, Role::Extend, None, None);
                Some(self.in_scope(self.found.text(head)).into())
            }
            "nested_type_identifier" => {
                self.annotation(head);
                Some(self.found.text(head).into())
            }
            "comment" => None,
            _ => {
                self.annotation(node);
                Some("?".into())
            }
        }
    }

    fn class_member(&mut self, node: Node<'t>) {
        match node.kind() {
            "method_definition" | "method_signature" | "abstract_method_signature" => self.method(node),
            "public_field_definition" | "field_definition" => self.field(node),
            "class_static_block" => {
                self.found.scopes.open();
                for part in children(node) {
                    self.statement(part, false);
                }
                self.found.scopes.close();
            }
            "decorator" => drop(self.expression(node)),
            _ => {}
        }
    }

    /// Returns the name of a member, if it is a literal.
    fn member_name(&mut self, node: Node<'t>) -> Option<&'t str> {
        let name = node.child_by_field_name("name").or_else(|| node.child_by_field_name("property"))?;
        match name.kind() {
            "computed_property_name" => {
                self.expression(name);
                None
            }
            "string" => Some(self.string(name)),
            _ => Some(self.found.text(name)),
        }
    }

    fn method(&mut self, node: Node<'t>) {
        let parts: Vec<_> = node.children(&mut node.walk()).collect();
        let has = |kind: &str| parts.iter().any(|part| part.kind() == kind);
        let accessor = has("get");
        let name = self.member_name(node);
        let before = self.found.within;
        let mut at = None;
        let is_set = has("set");
        if let Some(name) = name.filter(|_| !is_set || !self.is_read(node)) {
            let kind = if accessor || is_set { DefinitionKind::Field } else { DefinitionKind::Method };
            let definition = self.member(name, kind, node);
            at = self.found.define(definition);
            self.found.within = at;
        }
        if has("override_modifier")
            && let Some(name) = node.child_by_field_name("name")
        {
            self.found.use_name(name, Role::Override, Some(Shape::Parent), None);
        }
        if name == Some("constructor") {
            self.parameter_properties(node);
        }
        let shape = self.callable(node, None);
        self.found.within = before;
        match shape {
            Shape::Function(_, gives) if accessor => self.give(at, *gives),
            Shape::Function(takes, _) if is_set => {
                self.give(at, takes.into_iter().next().unwrap_or(Shape::Unknown))
            }
            shape => self.give(at, shape),
        }
    }

    /// Returns true if a setter has a getter, which represents both.
    fn is_read(&self, setter: Node<'t>) -> bool {
        let name = |node: Node<'t>| node.child_by_field_name("name").map(|name| self.found.text(name));
        let is_getter = |node: &Node<'t>| node.children(&mut node.walk()).any(|part| part.kind() == "get");
        let beside = setter.parent().map(children).unwrap_or_default();
        beside.iter().filter(|node| is_getter(node)).any(|node| name(*node) == name(setter))
    }

    fn member(&self, name: &str, kind: DefinitionKind, node: Node<'t>) -> Definition {
        let body = node.child_by_field_name("body").or_else(|| node.child_by_field_name("value"));
        let mut definition = self.found.definition(name, kind, node);
        (definition.signature, definition.body) =
            self.found.digests(node, node.child_by_field_name("name"), body);
        definition.header = self.found.header(node, node.child_by_field_name("name"), body);
        let is_private = name.starts_with('#')
            || children(node).iter().any(|child| {
                child.kind() == "accessibility_modifier" && self.found.text(*child) == "private"
            });
        definition.reach = if is_private { Reach::File } else { Reach::Everyone };
        if kind == DefinitionKind::Method {
            definition.arity = Some(self.arity(node));
        }
        let marks = [("?", OPTIONAL), ("static", STATIC)];
        let parts: Vec<_> = node.children(&mut node.walk()).map(|child| child.kind()).collect();
        let marked = marks.iter().filter(|(word, _)| parts.contains(word));
        definition.extends = marked.map(|(_, mark)| (*mark).into()).collect();
        definition
    }

    /// `constructor(private x: X)` defines a field.
    fn parameter_properties(&mut self, node: Node<'t>) {
        for parameter in node.child_by_field_name("parameters").map(children).unwrap_or_default() {
            let modifiers: Vec<_> = parameter
                .children(&mut parameter.walk())
                .filter(|child| {
                    matches!(child.kind(), "accessibility_modifier" | "readonly" | "override_modifier")
                })
                .collect();
            let Some(name) = parameter.child_by_field_name("pattern").filter(|_| !modifiers.is_empty())
            else {
                continue;
            };
            let mut definition =
                self.found.definition(self.found.text(name), DefinitionKind::Field, parameter);
            definition.signature = digest([parameter], self.found.text, |_| false);
            if modifiers.iter().any(|modifier| self.found.text(*modifier) == "private") {
                definition.reach = Reach::File;
            }
            let annotation = parameter.child_by_field_name("type");
            let default = parameter.child_by_field_name("value");
            definition.gives = match annotation {
                Some(declared) => Some(self.quietly(|walk| walk.annotation(declared))),
                None => default.map(|default| self.outline(default)),
            };
            self.found.define(definition);
        }
    }

    fn field(&mut self, node: Node<'t>) {
        let name = self.member_name(node);
        for part in children(node).into_iter().filter(|child| child.kind() == "decorator") {
            self.expression(part);
        }
        let declared = node.child_by_field_name("type").map(|annotation| self.annotation(annotation));
        let value = node.child_by_field_name("value");
        let is_function = value.is_some_and(|value| {
            matches!(value.kind(), "arrow_function" | "function_expression" | "function")
        });
        let mut at = None;
        if let Some(name) = name {
            let kind = if is_function && declared.is_none() {
                DefinitionKind::Method
            } else {
                DefinitionKind::Field
            };
            let mut definition = self.member(name, kind, node);
            if kind == DefinitionKind::Method
                && let Some(function) = value
            {
                let body = function.child_by_field_name("body");
                definition.arity = Some(self.arity(function));
                (definition.signature, definition.body) =
                    self.found.digests(node, node.child_by_field_name("name"), body);
                definition.header = self.found.header(node, node.child_by_field_name("name"), body);
            }
            at = self.found.define(definition);
        }
        let before = self.found.within;
        if at.is_some() {
            self.found.within = at;
        }
        let shape = value.map(|value| self.expected(value, declared.clone()));
        if let (Some(node), Some(shape)) = (value, &shape) {
            self.expect_type(node, shape, declared.as_ref());
        }
        self.found.within = before;
        if let Some(shape) = declared.or(shape) {
            self.give(at, shape);
        }
    }

    pub(super) fn interface(&mut self, node: Node<'t>, exported: bool, whole: Node<'t>) {
        let Some(name) = node.child_by_field_name("name").map(|name| self.found.text(name)) else { return };
        let body = node.child_by_field_name("body");
        self.generics.push(Default::default());
        if let Some(parameters) = node.child_by_field_name("type_parameters") {
            self.type_parameters(parameters);
        }
        let mut definition = self.found.definition(name, DefinitionKind::Interface, whole);
        definition.reach = reach(exported);
        (definition.signature, definition.body) =
            self.found.digests(node, node.child_by_field_name("name"), body);
        definition.header = self.found.header(node, node.child_by_field_name("name"), body);
        for clause in children(node) {
            if matches!(clause.kind(), "extends_type_clause" | "extends_clause") {
                definition
                    .extends
                    .extend(children(clause).into_iter().filter_map(|child| self.base_type(child)));
            }
        }
        self.members_of(definition, body.as_slice());
        self.generics.pop();
    }

    /// Records a type, and the content of its bodies as its members. Returns its index.
    fn members_of(&mut self, definition: Definition, bodies: &[Node<'t>]) -> Option<u32> {
        let name = definition.name.clone();
        let at = self.found.define(definition);
        let before = std::mem::replace(&mut self.found.within, at);
        let entered = self.found.enter(&name);
        for member in bodies.iter().flat_map(|body| children(*body)) {
            self.signature(member);
        }
        self.found.leave(entered);
        self.found.within = before;
        at
    }

    /// A member of an interface or of an object type.
    pub(super) fn signature(&mut self, node: Node<'t>) {
        match node.kind() {
            "method_signature" => self.method(node),
            "property_signature" => {
                let name = self.member_name(node);
                let declared = node.child_by_field_name("type").map(|annotation| self.annotation(annotation));
                if let Some(name) = name {
                    let mut definition = self.member(name, DefinitionKind::Field, node);
                    definition.gives = declared;
                    self.found.define(definition);
                }
            }
            "call_signature" => {
                let mut definition = self.found.definition("__call__", DefinitionKind::Method, node);
                definition.reach = Reach::File;
                let at = self.found.define(definition);
                let shape = self.callable(node, None);
                self.give(at, shape);
            }
            "construct_signature" | "index_signature" => {
                for part in children(node) {
                    self.type_part(part);
                }
                let keys =
                    node.child_by_field_name("index_type").map(|index_type| self.found.text(index_type));
                if node.kind() == "index_signature" && keys == Some("string") {
                    let mut definition = self.found.definition(ANY_MEMBER, DefinitionKind::Field, node);
                    definition.reach = Reach::File;
                    self.found.define(definition);
                }
            }
            _ => {}
        }
    }

    pub(super) fn alias(&mut self, node: Node<'t>, exported: bool, whole: Node<'t>) {
        let Some(name) = node.child_by_field_name("name").map(|name| self.found.text(name)) else { return };
        let Some(value) = node.child_by_field_name("value") else { return };
        self.generics.push(Default::default());
        if let Some(parameters) = node.child_by_field_name("type_parameters") {
            self.type_parameters(parameters);
        }
        let local = self.found.scopes.is_inside();
        let mut definition = self.found.definition(name, DefinitionKind::Type, whole);
        definition.reach = if local { Reach::File } else { reach(exported) };
        definition.signature = digest([node], self.found.text, |_| false);
        let parameters = alias::parameters(node, self.found.text);
        let parts = ObjectParts::of(value);
        // A type with the members of its parameter has none of its own.
        let has_members = !parts.bodies.is_empty()
            && (parameters.is_empty() || parts.bodies.iter().all(|body| alias::mapped(*body).is_none()));
        if has_members {
            definition.kind = DefinitionKind::Interface;
            let hidden =
                |child| parts.bodies.contains(&child) || node.child_by_field_name("name") == Some(child);
            definition.signature = digest([node], self.found.text, hidden);
            definition.body = digest(parts.bodies.iter().copied(), self.found.text, |_| false);
            for base in parts.bases {
                definition.extends.extend(self.base_type(base));
            }
            let at = self.members_of(definition, &parts.bodies);
            let others: Vec<Shape> =
                parts.others.into_iter().map(|other| self.aliased(other, &parameters)).collect();
            if !others.is_empty() {
                self.give(at, union([Shape::Itself].into_iter().chain(others)));
            }
        } else {
            let at = self.found.define(definition);
            let before = std::mem::replace(&mut self.found.within, at);
            let shape = self.aliased(value, &parameters);
            self.found.within = before;
            self.give(at, shape);
        }
        self.generics.pop();
    }

    pub(super) fn enumeration(&mut self, node: Node<'t>, exported: bool, whole: Node<'t>) {
        let Some(name) = node.child_by_field_name("name").map(|name| self.found.text(name)) else { return };
        let body = node.child_by_field_name("body");
        let mut definition = self.found.definition(name, DefinitionKind::Type, whole);
        definition.reach = reach(exported);
        definition.body = digest(body, self.found.text, |_| false);
        self.found.define(definition);
        let path: Box<str> = self.found.path(name).into();
        let entered = self.found.enter(name);
        for variant in body.map(children).unwrap_or_default() {
            let (key, value) = match variant.kind() {
                "enum_assignment" => {
                    (variant.child_by_field_name("name"), variant.child_by_field_name("value"))
                }
                "property_identifier" | "string" => (Some(variant), None),
                _ => continue,
            };
            if let Some(value) = value {
                self.expression(value);
            }
            if let Some(key) = key {
                let mut definition =
                    self.found.definition(self.string(key), DefinitionKind::Variant, variant);
                definition.body = digest(value, self.found.text, |_| false);
                definition.gives = Some(Shape::Of(path.clone()));
                self.found.define(definition);
            }
        }
        self.found.leave(entered);
    }
}
