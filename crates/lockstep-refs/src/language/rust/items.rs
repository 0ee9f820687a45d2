//! Items: the definitions of a file, and the walk into their bodies.

mod members;

use tree_sitter::Node;

use super::extractor::{Reader, Source, without_raw_prefix};
use super::macros::is_given;
use super::modules::MACRO_USE;
use crate::facts::{Arity, Definition, DefinitionKind, Reach, Role, Shape};
use crate::syntax::{children, digest, header};

/// The declared visibility of an item.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Visibility {
    Everyone,
    Package,
    /// Visible in its module, and those below.
    Private,
    /// Not visible outside the file: its name belongs to an interface.
    Hidden,
}

impl Reader {
    /// The items directly below a node.
    pub(super) fn items(&mut self, source: Source<'_>, node: Node<'_>) {
        let mut attributes = Vec::new();
        for child in children(node) {
            match child.kind() {
                "attribute_item" => {
                    self.attribute(source, child);
                    attributes.push(child);
                }
                "inner_attribute_item" => self.attribute(source, child),
                kind if kind.contains("comment") => {}
                _ => {
                    self.deeper(|reader| reader.item(source, child, &attributes));
                    attributes.clear();
                }
            }
        }
    }

    pub(super) fn item(&mut self, source: Source<'_>, node: Node<'_>, attributes: &[Node<'_>]) {
        let name = node.child_by_field_name("name").map(|name| without_raw_prefix(source.of(name)));
        match (node.kind(), name) {
            ("mod_item", Some(name)) => self.module_item(source, node, name, attributes),
            ("function_item" | "function_signature_item", Some(name)) => {
                self.function(source, node, name, attributes, None);
            }
            ("struct_item" | "union_item" | "enum_item", Some(name)) => {
                self.type_item(source, node, name, attributes);
            }
            ("type_item" | "associated_type", Some(name)) => {
                self.alias(source, node, name, attributes, false)
            }
            ("const_item" | "static_item", Some(name)) => self.value(source, node, name, attributes, false),
            ("trait_item", Some(name)) => self.trait_item(source, node, name, attributes),
            ("impl_item", _) => self.impl_item(source, node),
            ("use_declaration", _) => self.use_declaration(source, node),
            ("extern_crate_declaration", _) => self.extern_crate(source, node),
            ("macro_definition", Some(name)) => self.macro_definition(source, node, name, attributes),
            ("macro_invocation", _) => self.macro_item(source, node),
            ("expression_statement", _) => {
                for child in children(node) {
                    if child.kind() == "macro_invocation" {
                        self.macro_item(source, child);
                    } else {
                        self.expression(source, child);
                    }
                }
            }
            ("foreign_mod_item", _) => {
                if let Some(body) = node.child_by_field_name("body") {
                    self.items(source, body);
                }
            }
            _ => {
                self.scoped(|reader| reader.expression(source, node));
            }
        }
    }

    /// Records the names in attributes: derives, and paths in strings.
    pub(super) fn attribute(&mut self, source: Source<'_>, node: Node<'_>) {
        let text = source.of(node);
        let inner = text.trim_start_matches("#[").trim_start_matches("#![");
        if inner.starts_with("cfg(") {
            return self.conditional(source, node);
        }
        if inner.starts_with("doc") || inner.starts_with("allow") {
            return;
        }
        let Some(attribute) = children(node).into_iter().find(|child| child.kind() == "attribute") else {
            return;
        };
        let line = source.line(node);
        if inner.starts_with("derive") {
            if let Some(tree) = attribute.child_by_field_name("arguments") {
                let text = source.of(tree).trim_matches(['(', ')']);
                for path in text.split(',').map(str::trim).filter(|path| !path.is_empty()) {
                    let segments: Vec<(&str, u32)> =
                        path.split("::").map(|part| (part.trim(), line)).collect();
                    self.segments_used(None, &segments, Role::Call, None);
                }
            }
            return;
        }
        if let Some(path) = children(attribute)
            .first()
            .filter(|path| path.kind() == "scoped_identifier" || path.kind() == "identifier")
        {
            self.path(source, *path, Role::Call, None);
        }
        for quoted in text.split('"').skip(1).step_by(2).filter(|quoted| path_like(quoted)) {
            let segments: Vec<(&str, u32)> = quoted.split("::").map(|part| (part, line)).collect();
            self.segments_used(None, &segments, Role::Value, None);
        }
    }

    fn module_item(&mut self, source: Source<'_>, node: Node<'_>, name: &str, attributes: &[Node<'_>]) {
        let macros = attributes.iter().any(|attribute| source.of(*attribute).contains(MACRO_USE));
        let Some(body) = node.child_by_field_name("body") else {
            let path = attributes.iter().find_map(|attribute| {
                let text = source.of(*attribute);
                let inside = text.trim_start_matches("#[").trim_start();
                let value = inside.strip_prefix("path")?.trim_start().strip_prefix('=')?;
                value.split('"').nth(1)
            });
            self.child_module(source, node, name, path, macros);
            return;
        };
        let index = self.defined(source, node, name, DefinitionKind::Module, attributes, &[], &[]);
        if macros {
            self.facts.definitions[index as usize].extends = vec![MACRO_USE.into()];
        }
        self.within_definition(Some(index), |reader| {
            reader.modules.push(name.into());
            let owners = std::mem::take(&mut reader.owners);
            reader.apart(|reader| reader.items(source, body));
            reader.owners = owners;
            reader.modules.pop();
        });
    }

    fn macro_definition(&mut self, source: Source<'_>, node: Node<'_>, name: &str, attributes: &[Node<'_>]) {
        let exported = attributes.iter().any(|attribute| source.of(*attribute).contains("macro_export"));
        let rules: Vec<Node<'_>> =
            children(node).into_iter().filter(|child| child.kind() == "macro_rule").collect();
        // Users depend on the patterns of its rules; the generated code is the body.
        let makes: Vec<Node<'_>> =
            rules.iter().filter_map(|rule| rule.child_by_field_name("right")).collect();
        let index = self.defined(source, node, name, DefinitionKind::Macro, attributes, &makes, &makes);
        // Macros are seen by order and attributes, not by visibility.
        let reach = if exported { Reach::Everyone } else { Reach::Package };
        self.facts.definitions[index as usize].reach = reach;
        self.private.remove(&index);
        let outer = self.making.replace(self.making.unwrap_or(index));
        // The generated code belongs to the places of use.
        self.owners.push(format!("{name}!").into());
        for rule in rules {
            self.macro_rule(source, rule);
        }
        self.owners.pop();
        self.making = outer;
    }

    fn function(
        &mut self,
        source: Source<'_>,
        node: Node<'_>,
        name: &str,
        attributes: &[Node<'_>],
        hidden: Option<&str>,
    ) {
        let body = node.child_by_field_name("body");
        let parameters = node.child_by_field_name("parameters").map(children).unwrap_or_default();
        let patterns: Vec<Node<'_>> =
            parameters.iter().filter_map(|parameter| parameter.child_by_field_name("pattern")).collect();
        // Without `self` it is an associated function.
        let method =
            self.itself.is_some() && parameters.iter().any(|parameter| takes_itself(source, *parameter));
        let kind = if method { DefinitionKind::Method } else { DefinitionKind::Function };
        let mut unsigned: Vec<Node<'_>> = patterns.clone();
        unsigned.extend(body);
        let index = self.defined(source, node, name, kind, attributes, &unsigned, &unsigned);
        let counted =
            |parameter: &&Node<'_>| parameter.kind() == "parameter" && !takes_itself(source, **parameter);
        let count = parameters.iter().filter(counted).count();
        let count = u16::try_from(count).unwrap_or(u16::MAX);
        let variadic = parameters.iter().any(|parameter| parameter.kind() == "variadic_parameter");
        self.facts.definitions[index as usize].arity =
            Some(Arity { least: count, most: if variadic { None } else { Some(count) } });
        if let Some(interface) = hidden {
            self.hide(index, interface);
        }
        self.within_definition(Some(index), |reader| {
            reader.scoped(|reader| {
                reader.bind_parameters(source, node, |_, _| None);
                if let Some(result) = node.child_by_field_name("return_type") {
                    let text = reader.type_text(source, result, true);
                    reader.facts.definitions[index as usize].gives = Some(Shape::Of(text.into()));
                    reader.type_uses(source, result);
                }
                for parameter in parameters {
                    match parameter.kind() {
                        "parameter" => reader.parameter(source, parameter),
                        "self_parameter" | "attribute_item" => {}
                        _ => reader.type_uses(source, parameter),
                    }
                }
                reader.owners.push(name.into());
                if let Some(body) = body {
                    reader.block(source, body);
                }
                reader.owners.pop();
            });
        });
    }

    fn value(
        &mut self,
        source: Source<'_>,
        node: Node<'_>,
        name: &str,
        attributes: &[Node<'_>],
        hidden: bool,
    ) {
        let value = node.child_by_field_name("value");
        // `const _: () = { … }` contains items of the module.
        let index = (name != "_").then(|| {
            let values: Vec<Node<'_>> = value.into_iter().collect();
            self.defined(source, node, name, DefinitionKind::Value, attributes, &values, &values)
        });
        if let (true, Some(index)) = (hidden, index) {
            self.hide(index, "");
        }
        self.within_definition(index.or(self.within), |reader| {
            reader.scoped(|reader| {
                if let Some(declared) = node.child_by_field_name("type") {
                    reader.type_uses(source, declared);
                    let text = reader.type_text(source, declared, true);
                    if let Some(index) = index {
                        reader.facts.definitions[index as usize].gives = Some(Shape::Of(text.into()));
                    }
                }
                if let Some(value) = value {
                    reader.expression(source, value);
                }
            });
        });
    }

    fn alias(
        &mut self,
        source: Source<'_>,
        node: Node<'_>,
        name: &str,
        attributes: &[Node<'_>],
        hidden: bool,
    ) {
        let index = self.defined(source, node, name, DefinitionKind::Type, attributes, &[], &[]);
        if hidden {
            self.hide(index, "");
        }
        let own_positions = self.itself.is_none();
        self.within_definition(Some(index), |reader| {
            reader.scoped(|reader| {
                reader.bind_parameters(source, node, |index, _| own_positions.then_some(index));
                let meant = node.child_by_field_name("type");
                if let Some(meant) = meant {
                    let text = reader.type_text(source, meant, true);
                    reader.facts.definitions[index as usize].gives = Some(Shape::Of(text.into()));
                    reader.type_uses(source, meant);
                } else if let Some(bounds) = node.child_by_field_name("bounds") {
                    let text = reader.type_text(source, bounds, true);
                    reader.facts.definitions[index as usize].gives = Some(Shape::Of(text.into()));
                    reader.type_uses(source, bounds);
                }
            });
        });
    }

    /// Records a definition. `unsigned` are the parts that users of its name do not depend on, `body` are its
    /// other parts.
    #[expect(clippy::too_many_arguments, reason = "one call for every kind of item")]
    fn defined(
        &mut self,
        source: Source<'_>,
        node: Node<'_>,
        name: &str,
        kind: DefinitionKind,
        attributes: &[Node<'_>],
        unsigned: &[Node<'_>],
        body: &[Node<'_>],
    ) -> u32 {
        let container_only = matches!(kind, DefinitionKind::Module);
        let skip = |node: Node<'_>| {
            node.kind() == "visibility_modifier"
                || node.kind() == "attribute_item"
                || unsigned.contains(&node)
                || (container_only && node.kind() == "declaration_list")
        };
        let signature = digest([node], source.text, skip);
        let visibility = children(node).into_iter().find(|child| child.kind() == "visibility_modifier");
        let rest = attributes.iter().chain(&visibility).chain(body).copied();
        let body = digest(rest, source.text, |_| false);
        let visibility = reach_of(source, node);
        // An item that a macro generates under its own name belongs to the place of use, and such a macro is
        // rarely used elsewhere.
        let bare = self.owners.last().is_some_and(|owner| owner.ends_with('!'));
        let own = bare && visibility != Visibility::Private && !is_given(name);
        let definition = Definition {
            container: if own { self.module() } else { self.container() },
            signature,
            body,
            header: rust_header(source, node, kind),
            ..Definition::new(name, kind, source.line(node), source.end_line(node))
        };
        let index = self.define(definition);
        self.reaching(index, if is_given(name) { Visibility::Hidden } else { visibility });
        index
    }

    fn reaching(&mut self, index: u32, visibility: Visibility) {
        self.private.remove(&index);
        let reach = match visibility {
            Visibility::Everyone => Reach::Everyone,
            Visibility::Package => Reach::Package,
            Visibility::Hidden => Reach::File,
            // Users of the macro have it in their own modules.
            Visibility::Private if self.making.is_some() => Reach::File,
            Visibility::Private => {
                let module = self.module();
                self.private.insert(index, module);
                Reach::Package
            }
        };
        if let Some(definition) = self.facts.definitions.get_mut(index as usize) {
            definition.reach = reach;
        }
    }

    /// Hides a member whose name belongs to an interface: its users use the interface's member.
    fn hide(&mut self, index: u32, interface: &str) {
        self.reaching(index, Visibility::Hidden);
        if !interface.is_empty() {
            self.facts.definitions[index as usize].extends = vec![interface.into()];
        }
    }

    fn within_definition(&mut self, within: Option<u32>, read: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.within, within);
        read(self);
        self.within = outer;
    }
}

/// Returns the name of the macro that generates a member of an implementation.
fn macro_in(node: Node<'_>) -> Option<Node<'_>> {
    match node.kind() {
        "macro_invocation" => node.child_by_field_name("macro"),
        "expression_statement" => children(node).first().copied().and_then(macro_in),
        _ => None,
    }
}

/// Returns true if a parameter is `self`, with or without a type.
fn takes_itself(source: Source<'_>, parameter: Node<'_>) -> bool {
    let pattern = parameter.child_by_field_name("pattern").map(|pattern| source.of(pattern));
    parameter.kind() == "self_parameter"
        || pattern.is_some_and(|pattern| pattern.trim_start_matches("mut ") == "self")
}

fn reach_of(source: Source<'_>, node: Node<'_>) -> Visibility {
    let own = children(node).into_iter().find(|child| child.kind() == "visibility_modifier");
    own.map_or(Visibility::Private, |own| visibility_of(source, own))
}

fn visibility_of(source: Source<'_>, node: Node<'_>) -> Visibility {
    let text: String = source.of(node).split_whitespace().collect();
    match text.as_str() {
        "pub" => Visibility::Everyone,
        "pub(self)" | "" => Visibility::Private,
        _ => Visibility::Package,
    }
}

/// Returns true if a string looks like a path: `default = "crate::defaults::port"`.
fn path_like(text: &str) -> bool {
    let part = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    text.split("::").all(part)
}

/// The header of a function or a value. Attributes and visibility are no part of it.
fn rust_header(source: Source<'_>, node: Node<'_>, kind: DefinitionKind) -> Box<str> {
    use DefinitionKind::{Field, Function, Method, Value};
    if !matches!(kind, Function | Method | Value | Field) {
        return Box::default();
    }
    let inside = node.child_by_field_name("body").or_else(|| node.child_by_field_name("value"));
    header(node, node.child_by_field_name("name"), inside.as_slice(), source.text)
}
