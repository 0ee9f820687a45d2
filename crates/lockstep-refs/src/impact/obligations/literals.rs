//! Literals that do not give a field which their type requires now.

use std::collections::BTreeSet;

use tree_sitter::Node;

use super::super::tree::{Source, ancestors};
use super::{Obligation, Search, Unmet, empty_objects, expected};
use crate::facts::{Definition, Role};
use crate::language::Language;
use crate::reference::Reference;
use crate::resolve::path_of;
use crate::syntax::line_of;
use crate::world::FileId;

pub(super) fn find(search: &Search<'_>, obligation: &Obligation, found: &mut Vec<Unmet>) {
    let Some(facts) = search.world.facts(search.file) else { return };
    let symbols: Vec<Definition> = match facts.language {
        // An empty object shows no property: it is found by the type that is written for it.
        language if is_script(language) => {
            obligation.siblings.iter().chain([&obligation.owner]).cloned().collect()
        }
        _ => vec![obligation.owner.clone()],
    };
    let mut seen: BTreeSet<(FileId, usize)> = BTreeSet::new();
    let unmet = |file: FileId, literal: Node<'_>, pattern: &str| Unmet {
        file,
        line: line_of(literal),
        pattern: pattern.into(),
        reason: format!("{} now requires {}", obligation.owner.name, obligation.member),
        owner: path_of(&obligation.owner),
    };
    if let Some(source) = search.trees.get(search.file).filter(|source| source.language == Language::Rust) {
        let lacking = own_structs(&source, &obligation.owner.name);
        let lacking = lacking.into_iter().filter(|node| !sets_field(&source, *node, &obligation.member));
        found.extend(lacking.map(|lacking| unmet(search.file, lacking, "Self")));
    }
    for reference in search.references(search.file, &symbols) {
        let Some(source) = search.trees.get(reference.file) else { continue };
        if is_script(source.language) && reference.role == Role::Type {
            empty_objects::passed(search, &source, &reference, &mut |file, literal| {
                if seen.insert((file, literal.start_byte())) {
                    found.push(unmet(file, literal, &obligation.member));
                }
            });
        }
        let literals: Vec<Node<'_>> = match source.language {
            Language::Rust if reference.file != search.file => continue,
            Language::Rust => structs(&source, reference.line, &obligation.owner.name),
            Language::Go => composites(&source, reference.line, &obligation.owner.name),
            _ if is_script(source.language) && reference.role == Role::Type => {
                empty_objects::typed_values(search, &source, &reference)
            }
            _ if reference.role == Role::Require => passed_variables(search, &source, reference.line),
            _ if is_read(&source, &reference) => continue,
            _ => {
                let given = objects(&source, reference.line, &reference.pattern).into_iter();
                given.filter(|node| !expected::is_loose(search.world, &source, *node)).collect()
            }
        };
        for literal in literals {
            let is_met = match source.language {
                Language::Go => !is_unkeyed(literal),
                _ => sets_field(&source, literal, &obligation.member),
            };
            if !is_met && seen.insert((reference.file, literal.start_byte())) {
                found.push(unmet(reference.file, literal, &reference.pattern));
            }
        }
    }
}

fn is_script(language: Language) -> bool {
    matches!(language, Language::TypeScript | Language::Tsx)
}

/// The objects and elements of TypeScript that give a property on this line.
fn objects<'s>(source: &'s Source, line: u32, key: &str) -> Vec<Node<'s>> {
    let given = source.leaves(line, key).into_iter().filter_map(|leaf| {
        let around = leaf.parent()?;
        match around.kind() {
            "object" => Some(around),
            "pair" | "method_definition" if around.named_child(0) == Some(leaf) => around.parent(),
            "jsx_attribute" if around.named_child(0) == Some(leaf) => around.parent(),
            _ => None,
        }
    });
    given.filter(|node| node.kind().starts_with("jsx_") || node.kind() == "object").collect()
}

/// The objects without a written type that variables hold which are passed on this line.
fn passed_variables<'s>(search: &Search<'_>, source: &'s Source, line: u32) -> Vec<Node<'s>> {
    let declarators = source.nodes(&["variable_declarator"]);
    let is_passed = |name: &str| {
        let leaves = source.leaves(line, name).into_iter();
        let mut passed =
            leaves.filter(|leaf| leaf.parent().is_some_and(|parent| parent.kind() == "arguments"));
        passed.any(|node| !expected::is_loose(search.world, source, node))
    };
    let object = |node: Node<'s>| {
        let name = node.child_by_field_name("name").map(|name| source.text(name))?;
        let is_open = node.child_by_field_name("type").is_none() && is_passed(name);
        node.child_by_field_name("value").filter(|value| is_open && value.kind() == "object")
    };
    declarators.into_iter().filter_map(object).collect()
}

/// Returns true if the property is also read on the line: the reference may be that one.
fn is_read(source: &Source, reference: &Reference) -> bool {
    let leaves = source.leaves(reference.line, &reference.pattern).into_iter();
    leaves.filter_map(|leaf| leaf.parent()).any(|around| around.kind() == "member_expression")
}

/// The struct literals of Rust on this line.
fn structs<'s>(source: &'s Source, line: u32, owner: &str) -> Vec<Node<'s>> {
    let names = source.leaves(line, owner).into_iter();
    names
        .filter_map(|leaf| ancestors(leaf).take(2).find(|ancestor| ancestor.kind() == "struct_expression"))
        .filter_map(|node| node.child_by_field_name("body"))
        .collect()
}

/// The literals of Rust that call the type `Self`, inside its own implementations.
fn own_structs<'s>(source: &'s Source, owner: &str) -> Vec<Node<'s>> {
    let is_own = |node: &Node<'_>| {
        let name = node.child_by_field_name("name").map(|name| source.text(name));
        let of = ancestors(*node).find(|ancestor| ancestor.kind() == "impl_item");
        let of =
            of.and_then(|node| node.child_by_field_name("type")).map(|annotation| source.text(annotation));
        name == Some("Self") && of.and_then(|text| text.split('<').next()) == Some(owner)
    };
    let own = source.nodes(&["struct_expression"]).into_iter().filter(is_own);
    own.filter_map(|node| node.child_by_field_name("body")).collect()
}

/// The bodies of the composite literals of Go with this type on this line, those inside `[]T{{…}}` included.
fn composites<'s>(source: &'s Source, line: u32, owner: &str) -> Vec<Node<'s>> {
    let mut found = Vec::new();
    for leaf in source.leaves(line, owner) {
        let around = ancestors(leaf).take_while(|ancestor| ancestor.kind() != "literal_value");
        let literal = around.into_iter().find(|node| node.kind() == "composite_literal");
        let type_ = literal.and_then(|literal| literal.child_by_field_name("type"));
        let body = literal.and_then(|literal| literal.child_by_field_name("body"));
        if let (Some(type_), Some(body)) = (type_, body) {
            add_bodies(type_, body, leaf, &mut found);
        }
    }
    found
}

/// Adds the parts of a literal of `type_` that are values of the type which `leaf` names.
fn add_bodies<'s>(type_: Node<'s>, body: Node<'s>, leaf: Node<'s>, found: &mut Vec<Node<'s>>) {
    let inner = match type_.kind() {
        "slice_type" | "array_type" | "implicit_length_array_type" => type_.child_by_field_name("element"),
        "map_type" => type_.child_by_field_name("value"),
        "pointer_type" => {
            return type_.named_child(0).into_iter().for_each(|child| add_bodies(child, body, leaf, found));
        }
        "type_identifier" if type_ == leaf => return found.push(body),
        "qualified_type" if type_.child_by_field_name("name") == Some(leaf) => return found.push(body),
        "generic_type" => {
            return type_
                .child_by_field_name("type")
                .into_iter()
                .for_each(|node| add_bodies(node, body, leaf, found));
        }
        _ => None,
    };
    let Some(inner) = inner else { return };
    for element in body.named_children(&mut body.walk()) {
        let value = element.child_by_field_name("value").unwrap_or(element);
        let value = value.named_child(0).filter(|child| child.kind() == "literal_value");
        value.into_iter().for_each(|node| add_bodies(inner, node, leaf, found));
    }
}

/// Returns true if a composite literal of Go lists values without their fields.
fn is_unkeyed(body: Node<'_>) -> bool {
    body.named_children(&mut body.walk()).any(|child| child.kind() == "literal_element")
}

/// Returns true if a literal gives a field, or takes the rest from another value.
fn sets_field(source: &Source, literal: Node<'_>, member: &str) -> bool {
    const REST: &[&str] = &["spread_element", "jsx_expression", "base_field_initializer"];
    literal.named_children(&mut literal.walk()).any(|part| {
        let key = ["key", "name", "field"].iter().find_map(|field| part.child_by_field_name(field));
        let key = key.or_else(|| part.named_child(0)).unwrap_or(part);
        REST.contains(&part.kind())
            || source.text(key).trim_matches(['"', '\'']) == member
            || source.text(part) == member
    })
}
