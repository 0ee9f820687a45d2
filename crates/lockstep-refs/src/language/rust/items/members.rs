//! Types, traits and implementations, and their members.

use tree_sitter::Node;

use super::super::extractor::{Binding, Reader, Source, without_raw_prefix};
use super::super::macros::is_given;
use super::super::types::without_arguments;
use super::{Visibility, macro_in, reach_of, visibility_of};
use crate::facts::{Arity, DefinitionKind, Implementation, Reach, Role, Shape};
use crate::syntax::children;

impl Reader {
    pub(super) fn type_item(
        &mut self,
        source: Source<'_>,
        node: Node<'_>,
        name: &str,
        attributes: &[Node<'_>],
    ) {
        let index = self.defined(source, node, name, DefinitionKind::Type, attributes, &[], &[]);
        let body = node.child_by_field_name("body");
        self.facts.definitions[index as usize].arity = body.and_then(fields_arity);
        self.within_definition(Some(index), |reader| {
            reader.scoped(|reader| {
                reader.bind_parameters(source, node, |index, _| Some(index));
                reader.owners.push(name.into());
                let outer = reader.itself.replace(name.into());
                match body {
                    Some(body) if body.kind() == "enum_variant_list" => {
                        reader.variants(source, body, reach_of(source, node));
                    }
                    Some(body) => reader.fields(source, body, None),
                    None => {}
                }
                reader.itself = outer;
                reader.owners.pop();
            });
        });
    }

    /// The fields of a struct, or of a variant with the variant's visibility.
    fn fields(&mut self, source: Source<'_>, body: Node<'_>, inherited: Option<Visibility>) {
        let mut attributes = Vec::new();
        let mut visibility = None;
        let mut position = 0_usize;
        for child in children(body) {
            match child.kind() {
                "attribute_item" => {
                    self.attribute(source, child);
                    attributes.push(child);
                }
                "visibility_modifier" => visibility = Some(visibility_of(source, child)),
                "field_declaration" => {
                    let name = child
                        .child_by_field_name("name")
                        .map_or("", |name| without_raw_prefix(source.of(name)));
                    let index =
                        self.defined(source, child, name, DefinitionKind::Field, &attributes, &[], &[]);
                    attributes.clear();
                    if let Some(inherited) = inherited {
                        self.reaching(index, inherited);
                    }
                    if let Some(declared) = child.child_by_field_name("type") {
                        self.field_type(source, index, declared);
                    }
                }
                kind if kind.contains("comment") => {}
                _ => {
                    let name = position.to_string();
                    let index =
                        self.defined(source, child, &name, DefinitionKind::Field, &attributes, &[], &[]);
                    attributes.clear();
                    self.reaching(index, inherited.or(visibility.take()).unwrap_or(Visibility::Private));
                    // Its position is not a name that others search for.
                    self.facts.definitions[index as usize].reach = Reach::File;
                    self.field_type(source, index, child);
                    position += 1;
                }
            }
        }
    }

    fn field_type(&mut self, source: Source<'_>, index: u32, declared: Node<'_>) {
        let text = self.type_text(source, declared, true);
        self.facts.definitions[index as usize].gives = Some(Shape::Of(text.into()));
        self.within_definition(Some(index), |reader| reader.type_uses(source, declared));
    }

    fn variants(&mut self, source: Source<'_>, body: Node<'_>, visibility: Visibility) {
        let mut attributes = Vec::new();
        for child in children(body) {
            if child.kind() == "attribute_item" {
                self.attribute(source, child);
                attributes.push(child);
            }
            if child.kind() != "enum_variant" {
                continue;
            }
            let name =
                child.child_by_field_name("name").map_or("", |name| without_raw_prefix(source.of(name)));
            let index = self.defined(source, child, name, DefinitionKind::Variant, &attributes, &[], &[]);
            attributes.clear();
            self.reaching(index, visibility);
            let fields = child.child_by_field_name("body");
            let definition = &mut self.facts.definitions[index as usize];
            definition.arity = fields.and_then(fields_arity);
            self.within_definition(Some(index), |reader| {
                if let Some(fields) = fields {
                    reader.owners.push(name.into());
                    reader.fields(source, fields, Some(visibility));
                    reader.owners.pop();
                }
                if let Some(value) = child.child_by_field_name("value") {
                    reader.scoped(|reader| reader.expression(source, value));
                }
            });
        }
    }

    pub(super) fn trait_item(
        &mut self,
        source: Source<'_>,
        node: Node<'_>,
        name: &str,
        attributes: &[Node<'_>],
    ) {
        let body = node.child_by_field_name("body");
        let members = body.map(children).unwrap_or_default();
        // Implementations depend on the required members, not on the provided ones.
        let provided: Vec<Node<'_>> = members.iter().copied().filter(|member| provided(*member)).collect();
        let index = self.defined(source, node, name, DefinitionKind::Interface, attributes, &provided, &[]);
        let visibility = reach_of(source, node);
        let bounds = node.child_by_field_name("bounds");
        self.within_definition(Some(index), |reader| {
            reader.scoped(|reader| {
                reader.bind_parameters(source, node, |index, _| Some(index));
                if let Some(bounds) = bounds {
                    let text = reader.type_text(source, bounds, true);
                    reader.facts.definitions[index as usize].extends = text
                        .split('+')
                        .filter(|part| *part != "_")
                        .map(|part| without_arguments(part).into())
                        .collect();
                    reader.type_uses(source, bounds);
                }
                let outer = reader.itself.replace(name.into());
                reader.owners.push(name.into());
                let first = reader.facts.definitions.len();
                if let Some(body) = body {
                    reader.items(source, body);
                }
                reader.owners.pop();
                reader.itself = outer;
                let container = reader.owners_with(name);
                reader.members_reach(first, &container, visibility);
            });
        });
    }

    fn owners_with(&self, name: &str) -> String {
        self.container().map_or(name.to_owned(), |container| format!("{container}.{name}"))
    }

    /// Members of a trait are as visible as the trait.
    fn members_reach(&mut self, first: usize, container: &str, visibility: Visibility) {
        for index in first..self.facts.definitions.len() {
            if self.facts.definitions[index].container.as_deref() == Some(container) {
                self.reaching(u32::try_from(index).unwrap_or(u32::MAX), visibility);
            }
        }
    }

    pub(super) fn impl_item(&mut self, source: Source<'_>, node: Node<'_>) {
        let Some(of) = node.child_by_field_name("type") else { return };
        self.scoped(|reader| {
            let arguments = of.child_by_field_name("type_arguments").map(children).unwrap_or_default();
            let arguments: Vec<&str> = arguments
                .into_iter()
                .filter(|node| node.kind() != "lifetime")
                .map(|node| source.of(node))
                .collect();
            reader.bind_parameters(source, node, |_, name| {
                arguments.iter().position(|argument| *argument == name)
            });
            let every = is_given(source.of(of))
                || matches!(reader.bound(source.of(of)), Some(Binding::Parameter { .. }));
            reader.type_uses(source, of);
            let itself = reader.type_text(source, of, false);
            let line = source.line(node);
            let interface = node.child_by_field_name("trait");
            let interface_path = interface.map(|interface| {
                let text: String = source.of(interface).split_whitespace().collect();
                without_arguments(&text)
            });
            reader.facts.implementations.push(Implementation {
                of: if every { "*".into() } else { itself.as_str().into() },
                interface: interface_path.as_deref().map(Into::into),
                container: reader.module(),
                line,
            });
            if let Some(interface) = interface {
                reader.path(source, interface, Role::Extend, None);
            }
            let outer = reader.itself.replace(itself.as_str().into());
            let owners = std::mem::take(&mut reader.owners);
            let plain =
                if is_given(source.of(of)) { source.of(of).into() } else { without_arguments(&itself) };
            reader.owners.push(plain.rsplit("::").next().unwrap_or(&plain).into());
            for member in node.child_by_field_name("body").map(children).unwrap_or_default() {
                reader.impl_member(source, member, interface_path.as_deref());
            }
            reader.owners = owners;
            reader.itself = outer;
        });
    }

    fn impl_member(&mut self, source: Source<'_>, node: Node<'_>, interface: Option<&str>) {
        if node.kind() == "attribute_item" {
            return self.attribute(source, node);
        }
        if let (Some(interface), Some(called)) = (interface, macro_in(node)) {
            // The macro generates the trait's member here: it is a definition by the macro.
            let name = source.of(called);
            let of = Some(Shape::Name(interface.into()));
            let name = name.rsplit("::").next().unwrap_or(name);
            self.put(name, source.line(called), Role::Override, of, None);
        }
        let name = node.child_by_field_name("name");
        let (Some(interface), Some(name)) = (interface, name) else {
            self.deeper(|reader| reader.item(source, node, &[]));
            return;
        };
        let of = Some(Shape::Name(interface.into()));
        self.put(source.of(name), source.line(name), Role::Override, of, None);
        let name = without_raw_prefix(source.of(name));
        match node.kind() {
            "function_item" => self.function(source, node, name, &[], Some(interface)),
            "type_item" => self.alias(source, node, name, &[], true),
            "const_item" => self.value(source, node, name, &[], true),
            _ => drop(self.deeper(|reader| reader.item(source, node, &[]))),
        }
    }
}

/// Returns true if a trait provides a member, so that implementations need not define it.
fn provided(member: Node<'_>) -> bool {
    match member.kind() {
        "function_item" => true,
        "const_item" => member.child_by_field_name("value").is_some(),
        _ => false,
    }
}

/// Returns the number of fields in a literal or a closed pattern.
fn fields_arity(body: Node<'_>) -> Option<Arity> {
    let fields = match body.kind() {
        "ordered_field_declaration_list" => body.children_by_field_name("type", &mut body.walk()).count(),
        "field_declaration_list" => {
            children(body).iter().filter(|child| child.kind() == "field_declaration").count()
        }
        _ => return None,
    };
    let count = u16::try_from(fields).ok()?;
    Some(Arity { least: count, most: Some(count) })
}
