//! Types that extend an interface or abstract class, and lack a member that it requires now.

use tree_sitter::Node;

use super::super::tree::{Source, ancestors, descendants};
use super::{Obligation, Search, Unmet};
use crate::facts::{Definition, DefinitionKind, Role};
use crate::language::Language;
use crate::limits::Limit;
use crate::package::is_type;
use crate::reference::Reference;
use crate::resolve::path_of;
use crate::syntax::{end_line_of, is_empty_digest, line_of};
use crate::world::{FileId, World};

/// Interfaces that extend one another are followed so far.
const MAX_DEPTH: usize = 6;
/// A member name that more files contain is looked up in the first ones only.
const MAX_FILES: usize = 200;

/// The nodes that have members.
const CLASSES: &[&str] = &[
    "anonymous_class",
    "abstract_class_declaration",
    "class",
    "class_declaration",
    "class_definition",
    "enum_declaration",
    "impl_item",
    "interface_declaration",
    "object_creation_expression",
    "object_declaration",
    "object_literal",
    "protocol_declaration",
    "record_declaration",
    "struct_declaration",
    "trait_item",
];

/// The nodes that contain the names of what a type extends.
const HERITAGE: &[&str] = &[
    "argument_list",
    "base_clause",
    "base_list",
    "class_heritage",
    "class_interface_clause",
    "delegation_specifiers",
    "delegation_specifier",
    "extends_interfaces",
    "extends_type_clause",
    "inheritance_specifier",
    "super_interfaces",
    "superclass",
    "trait_bounds",
];

/// Adds the places that lack the member. Returns all places of implementers that were checked.
pub(super) fn find(
    search: &Search<'_>,
    obligation: &Obligation,
    found: &mut Vec<Unmet>,
) -> Vec<(FileId, u32)> {
    let unmet = |reference: &Reference| Unmet {
        file: reference.file,
        line: reference.line,
        pattern: reference.pattern.clone(),
        reason: format!("{} now requires {}", obligation.owner.name, obligation.member),
        owner: path_of(&obligation.owner),
    };
    let Some(facts) = search.world.facts(search.file) else { return Vec::new() };
    let mut checked = Vec::new();
    let interface = (search.file, &obligation.owner);
    let rules = crate::language::rules(facts.language);
    let unfit = rules.unfit_conversions(search.world, interface, &obligation.member);
    found.extend(unfit.iter().map(unmet));
    let mut open = vec![(search.file, obligation.owner.clone(), 0)];
    let mut seen: Vec<(FileId, String)> = Vec::new();
    while let Some((file, owner, depth)) = open.pop() {
        if depth > MAX_DEPTH {
            Limit::Subtypes.reach();
            continue;
        }
        if seen.contains(&(file, path_of(&owner))) {
            continue;
        }
        seen.push((file, path_of(&owner)));
        for reference in search.references(file, std::slice::from_ref(&owner)) {
            let Some(implementer) = check(search, obligation, &reference) else { continue };
            checked.push((reference.file, reference.line));
            match implementer {
                Implementer::Having => {}
                Implementer::Abstract(heir) => open.push((reference.file, heir, depth + 1)),
                // Python reports a class that lacks a member where an object of it is made.
                Implementer::Lacking(Some(class)) if facts.language == Language::Python => {
                    let creations = search.references(reference.file, &[class]);
                    found
                        .extend(creations.iter().filter(|candidate| candidate.role == Role::Call).map(unmet));
                }
                Implementer::Lacking(_) => found.push(unmet(&reference)),
            }
        }
    }
    checked
}

/// A type that extends the owner.
enum Implementer {
    Having,
    Lacking(Option<Definition>),
    /// Its own implementers must have the member.
    Abstract(Definition),
}

fn check(search: &Search<'_>, obligation: &Obligation, reference: &Reference) -> Option<Implementer> {
    let source = search.trees.get(reference.file)?;
    let names = source.leaves(reference.line, &reference.pattern);
    let class = names.iter().copied().find_map(heir)?;
    let is_delegated =
        |name: &Node<'_>| ancestors(*name).take(4).any(|ancestor| ancestor.kind() == "explicit_delegation");
    if names.iter().any(is_delegated) || has_member(&source, class, &obligation.member) {
        return Some(Implementer::Having);
    }
    let facts = search.world.facts(reference.file)?;
    let is_same = |definition: &&Definition| {
        is_type(definition)
            && (line_of(class)..=end_line_of(class)).contains(&definition.line)
            && definition.line <= reference.line
    };
    let definition = facts.definitions.iter().find(is_same).filter(|_| class.kind() != "impl_item");
    if is_abstract(&source, class) {
        return definition.cloned().map(Implementer::Abstract);
    }
    let own = definition.map(|definition| &*definition.name).into_iter();
    let bases = definition.iter().flat_map(|candidate| &candidate.extends).map(|base| last(base));
    let bases = bases.filter(|base| *base != &*obligation.owner.name);
    let holders: Vec<&str> = own.chain(bases).collect();
    match is_defined(search.world, &obligation.member, &holders) {
        true => Some(Implementer::Having),
        false => Some(Implementer::Lacking(definition.cloned())),
    }
}

/// The type of which a name is part of what it extends.
fn heir(name: Node<'_>) -> Option<Node<'_>> {
    let mut is_heritage = false;
    let mut inner = name;
    for node in ancestors(name) {
        let kind = node.kind();
        if kind.contains("type_argument") || kind.contains("body") || kind.contains("parameter") {
            return None;
        }
        if CLASSES.contains(&kind) {
            // `impl Trait for T` and `new Shape() { … }` name it in a field.
            let named = match kind {
                "impl_item" => node.child_by_field_name("trait") == Some(inner),
                "object_creation_expression" => {
                    let has_body =
                        |child: Node<'_>| matches!(child.kind(), "class_body" | "declaration_list");
                    node.children(&mut node.walk()).any(has_body)
                        && node.child_by_field_name("type") == Some(inner)
                }
                "class_definition" => node.child_by_field_name("superclasses") == Some(inner),
                _ => is_heritage,
            };
            return named.then_some(node);
        }
        is_heritage |= HERITAGE.contains(&kind);
        inner = node;
    }
    None
}

/// Returns true if a type declares the member itself.
fn has_member(source: &Source, class: Node<'_>, member: &str) -> bool {
    const DECLARING: &[&str] = &[
        "declaration",
        "declarator",
        "definition",
        "_item",
        "class_parameter",
        "required_parameter",
        "signature",
        "pattern",
        "property_element",
        "assignment",
    ];
    let declares = |node: &Node<'_>| {
        let parent = node.parent().map_or("", |parent| parent.kind());
        DECLARING.iter().any(|part| parent.contains(part))
    };
    descendants(class).iter().any(|descendant| {
        descendant.child_count() == 0 && source.text(*descendant) == member && declares(descendant)
    })
}

fn is_abstract(source: &Source, class: Node<'_>) -> bool {
    let declares = matches!(
        class.kind(),
        "interface_declaration" | "protocol_declaration" | "trait_item" | "abstract_class_declaration"
    );
    let head = source.text(class).split('{').next().unwrap_or_default();
    let mut words = crate::world::words(head);
    match source.language {
        Language::Python => head.contains("ABC") || head.contains("Protocol"),
        _ => declares || words.any(|word| matches!(word, "abstract" | "interface" | "sealed")),
    }
}

/// Returns true if a type of one of these names has the member in another place: a part of the type, an extension, a base.
fn is_defined(world: &dyn World, member: &str, holders: &[&str]) -> bool {
    let files = Limit::Files.take(world.containing(member), MAX_FILES);
    let facts = files.filter_map(|file| world.facts(file));
    facts.into_iter().any(|facts| {
        facts.definitions.iter().any(|definition| {
            let holder = definition.container.as_deref().map(last);
            let is_whole = !is_empty_digest(definition.body) || definition.kind == DefinitionKind::Field;
            *definition.name == *member && is_whole && holder.is_some_and(|name| holders.contains(&name))
        })
    })
}

fn last(path: &str) -> &str {
    let path = path.split('<').next().unwrap_or(path);
    path.rsplit(['.', '\\', ':']).next().unwrap_or(path)
}
