//! Rust: traits that a type of the changed file no longer implements, and the places that need them.

use std::collections::BTreeSet;

use tree_sitter::Node;

use super::super::tree::{Source, ancestors};
use super::{Search, Unmet, lost_copies};
use crate::facts::{Definition, DefinitionKind, Facts};
use crate::language::{Language, TraitUses, trait_uses};
use crate::limits::Limit;
use crate::resolve::path_of;
use crate::syntax::{is_empty_digest, line_of};
use crate::world::{FileId, World};

/// A type that more files name is looked up in the first ones only.
const MAX_FILES: usize = 200;

/// A trait that values need for a use.
struct Needed {
    name: &'static str,
    methods: &'static [&'static str],
    functions: &'static [&'static str],
    of_error: &'static [&'static str],
    is_deep: bool,
}

const fn needed(name: &'static str, methods: &'static [&'static str]) -> Needed {
    Needed { name, methods, functions: &[], of_error: &[], is_deep: true }
}

const TRAITS: &[Needed] = &[
    needed("Clone", &["clone", "clone_from"]),
    Needed { functions: &["default"], ..needed("Default", &["unwrap_or_default"]) },
    Needed { of_error: &["unwrap", "expect"], ..needed("Debug", &["{:?}"]) },
    needed("PartialEq", &["==", "eq", "ne", "contains", "dedup"]),
    needed("PartialOrd", &["<", "partial_cmp"]),
    needed("Ord", &["cmp", "sort", "sort_unstable", "binary_search", "max", "min"]),
    needed("Hash", &["hash"]),
    Needed { is_deep: false, ..needed("Display", &["{}", "to_string"]) },
    Needed { functions: &["from"], ..needed("From", &[]) },
    Needed { functions: &["try_from"], ..needed("TryFrom", &[]) },
    Needed { functions: &["from_str"], ..needed("FromStr", &[]) },
    needed("Eq", &[]),
    needed("Copy", &[]),
    needed("Serialize", &[]),
    needed("Deserialize", &[]),
];

/// The keys of these collections are compared or hashed.
const KEYED: &[(&str, &[&str])] = &[
    ("HashMap", &["Hash", "Eq", "PartialEq"]),
    ("HashSet", &["Hash", "Eq", "PartialEq"]),
    ("BTreeMap", &["Ord", "Eq", "PartialEq", "PartialOrd"]),
    ("BTreeSet", &["Ord", "Eq", "PartialEq", "PartialOrd"]),
];

/// Adds the places that need a trait which a type of the file had in its former content and no longer has.
pub(super) fn find(
    search: &Search<'_>,
    (old, before): (&Facts, &Source),
    new: &Facts,
    found: &mut Vec<Unmet>,
) {
    if new.language != Language::Rust {
        return;
    }
    let Some(now) = search.trees.get(search.file) else { return };
    let (types_before, types_now) = (types(before), types(&now));
    for owner in new.definitions.iter().filter(|definition| definition.kind == DefinitionKind::Type) {
        let is_same = |definition: &Definition| {
            definition.name == owner.name && definition.container == owner.container
        };
        if !old.definitions.iter().any(is_same) {
            continue;
        }
        let remaining = traits((&now, &types_now), new, &owner.name);
        let lost: Vec<Box<str>> = traits((before, &types_before), old, &owner.name)
            .into_iter()
            .filter(|name| !remaining.contains(name))
            .collect();
        for needed in TRAITS.iter().filter(|needed| lost.iter().any(|name| **name == *needed.name)) {
            if !is_implemented_elsewhere(search.world, &owner.name, needed.name) {
                find_uses(search, owner, needed, found);
                if needed.name == "Copy" {
                    lost_copies::find(search, owner, found);
                }
            }
        }
    }
}

fn find_uses(search: &Search<'_>, owner: &Definition, needed: &Needed, found: &mut Vec<Unmet>) {
    let unmet = |file: FileId, line: u32, pattern: &str| Unmet {
        file,
        line,
        pattern: pattern.into(),
        reason: format!("{} does not implement {} any more", owner.name, needed.name),
        owner: path_of(owner),
    };
    for reference in search.references(search.file, std::slice::from_ref(owner)) {
        let Some(source) = search.trees.get(reference.file) else { continue };
        let mut places = source.leaves(reference.line, &reference.pattern).into_iter();
        if places.any(|place| needs(&source, place, needed.name)) {
            found.push(unmet(reference.file, reference.line, &reference.pattern));
        }
    }
    let wanted = TraitUses {
        file: search.file,
        name: &owner.name,
        container: owner.container.as_deref(),
        methods: needed.methods,
        functions: needed.functions,
        of_error: needed.of_error,
        is_deep: needed.is_deep,
    };
    for file in Limit::Files.take(search.world.containing(&owner.name), MAX_FILES) {
        if Language::of(search.world.path(file)) == Language::Rust {
            let uses = trait_uses(search.world, file, &wanted);
            found.extend(uses.into_iter().map(|(line, name)| unmet(file, line, &name)));
        }
    }
}

/// The definitions of types. One traversal of a file serves all its types.
fn types(source: &Source) -> Vec<Node<'_>> {
    source.nodes(&["struct_item", "enum_item", "union_item"])
}

/// The traits that a file derives or implements for a type.
fn traits((source, types): (&Source, &[Node<'_>]), facts: &Facts, name: &str) -> BTreeSet<Box<str>> {
    let implemented = facts.implementations.iter().filter(|implementation| last(&implementation.of) == name);
    let mut found: BTreeSet<Box<str>> = implemented
        .filter_map(|implementation| implementation.interface.as_deref())
        .map(|text| last(text).into())
        .collect();
    for &item in types {
        if item.child_by_field_name("name").is_some_and(|name_node| source.text(name_node) == name) {
            found.extend(derived(source, item).into_iter().map(Into::into));
        }
    }
    found
}

/// The traits in the `derive` attributes of an item, conditional ones included.
fn derived<'s>(source: &'s Source, item: Node<'_>) -> Vec<&'s str> {
    let before = std::iter::successors(item.prev_sibling(), Node::prev_sibling);
    let attributes =
        before.take_while(|node| matches!(node.kind(), "attribute_item" | "line_comment" | "block_comment"));
    let texts = attributes
        .filter(|attribute| attribute.kind() == "attribute_item")
        .map(|attribute| source.text(attribute));
    let lists = texts.filter_map(|text| text.split_once("derive(")).map(|(_, list)| list);
    lists
        .flat_map(|list| list.split(')').next().unwrap_or(list).split(','))
        .map(|name| last(name.trim()))
        .collect()
}

/// The last name of a path, without type arguments.
fn last(path: &str) -> &str {
    let path = path.split('<').next().unwrap_or(path).trim_start_matches('&');
    path.rsplit("::").next().unwrap_or(path).trim()
}

fn is_implemented_elsewhere(world: &dyn World, name: &str, interface: &str) -> bool {
    let files = Limit::Files.take(world.containing(name), MAX_FILES);
    files.filter_map(|file| world.facts(file)).any(|facts| {
        facts.implementations.iter().any(|implementation| {
            (last(&implementation.of) == name || *implementation.of == *"*")
                && implementation.interface.as_deref().is_some_and(|text| last(text) == interface)
        })
    })
}

/// Returns true if the place of a type's name needs the trait.
fn needs(source: &Source, place: Node<'_>, needed: &str) -> bool {
    let mut inner = place;
    let mut is_reached = true;
    for node in ancestors(place) {
        match node.kind() {
            "generic_type" => {
                let outer =
                    node.child_by_field_name("type").map_or("", |annotation| last(source.text(annotation)));
                if inner.kind() == "type_arguments" {
                    if is_key(source, inner, place, outer, needed) {
                        return true;
                    }
                    is_reached &= reaches(outer, needed);
                }
            }
            "reference_type" => is_reached &= !matches!(needed, "Clone" | "Copy" | "Default"),
            "pointer_type" | "function_type" | "dynamic_type" | "abstract_type" => is_reached = false,
            "struct_expression" if node.child_by_field_name("name") == Some(inner) => {
                return needed == "Default" && has_default_base(source, node);
            }
            "field_declaration" if has_attribute(source, node, "skip") => return false,
            "enum_item" if needed == "Default" => return false,
            "struct_item" | "enum_item" | "union_item" => {
                let is_inside = node.child_by_field_name("body") == Some(inner);
                return is_reached && is_inside && derived(source, node).contains(&needed);
            }
            "block" | "function_item" | "impl_item" | "trait_item" => return false,
            _ => {}
        }
        inner = node;
    }
    false
}

/// Returns true if a derived trait of a generic type needs the trait of its argument.
fn reaches(outer: &str, needed: &str) -> bool {
    match needed {
        "Clone" => !matches!(outer, "Arc" | "Rc" | "Weak" | "PhantomData" | "Sender"),
        "Copy" => outer != "PhantomData",
        "Default" => matches!(outer, "Box" | "Arc" | "Rc" | "Cell" | "RefCell" | "Mutex" | "RwLock"),
        _ => outer != "PhantomData",
    }
}

/// Returns true if a type is the key of a collection that needs the trait.
fn is_key(source: &Source, arguments: Node<'_>, place: Node<'_>, outer: &str, needed: &str) -> bool {
    let first = arguments.named_child(0);
    let is_first = first.is_some_and(|node| last(source.text(node)) == source.text(place));
    is_first && KEYED.iter().any(|(name, traits)| *name == outer && traits.contains(&needed))
}

/// Returns true if a literal takes its other fields from `Default::default()`.
fn has_default_base(source: &Source, literal: Node<'_>) -> bool {
    let body = literal.child_by_field_name("body");
    let parts = body.map(|body| body.children(&mut body.walk()).collect::<Vec<_>>()).unwrap_or_default();
    parts.into_iter().any(|part| {
        part.kind() == "base_field_initializer" && source.text(part).contains("Default::default()")
    })
}

fn has_attribute(source: &Source, node: Node<'_>, word: &str) -> bool {
    let before = std::iter::successors(node.prev_sibling(), Node::prev_sibling);
    let mut attributes = before.take_while(|child| child.kind() == "attribute_item");
    attributes.any(|attribute| crate::world::words(source.text(attribute)).any(|text| *text == *word))
}

/// The methods and types that an implementation of a standard trait must define.
const REQUIRED: &[(&str, &[&str])] = &[
    ("Add", &["add", "Output"]),
    ("AddAssign", &["add_assign"]),
    ("AsMut", &["as_mut"]),
    ("AsRef", &["as_ref"]),
    ("Binary", &["fmt"]),
    ("Borrow", &["borrow"]),
    ("BufRead", &["fill_buf", "consume"]),
    ("BitAnd", &["bitand", "Output"]),
    ("BitOr", &["bitor", "Output"]),
    ("Clone", &["clone"]),
    ("Debug", &["fmt"]),
    ("Default", &["default"]),
    ("Deref", &["deref", "Target"]),
    ("DerefMut", &["deref_mut"]),
    ("Deserialize", &["deserialize"]),
    ("Display", &["fmt"]),
    ("Div", &["div", "Output"]),
    ("DoubleEndedIterator", &["next_back"]),
    ("Drop", &["drop"]),
    ("Extend", &["extend"]),
    ("From", &["from"]),
    ("FromIterator", &["from_iter"]),
    ("FromStr", &["from_str", "Err"]),
    ("Future", &["poll", "Output"]),
    ("Hash", &["hash"]),
    ("Hasher", &["finish", "write"]),
    ("Index", &["index", "Output"]),
    ("IndexMut", &["index_mut"]),
    ("Into", &["into"]),
    ("IntoIterator", &["into_iter", "Item", "IntoIter"]),
    ("Iterator", &["next", "Item"]),
    ("LowerHex", &["fmt"]),
    ("Mul", &["mul", "Output"]),
    ("Neg", &["neg", "Output"]),
    ("Not", &["not", "Output"]),
    ("Ord", &["cmp"]),
    ("PartialEq", &["eq"]),
    ("PartialOrd", &["partial_cmp"]),
    ("Read", &["read"]),
    ("Rem", &["rem", "Output"]),
    ("Seek", &["seek"]),
    ("Serialize", &["serialize"]),
    ("Sub", &["sub", "Output"]),
    ("SubAssign", &["sub_assign"]),
    ("TryFrom", &["try_from", "Error"]),
    ("TryInto", &["try_into", "Error"]),
    ("UpperHex", &["fmt"]),
];

/// Adds implementations of traits outside the project that lack a member which they had and need.
pub(super) fn find_incomplete(search: &Search<'_>, before: &Source, new: &Facts, found: &mut Vec<Unmet>) {
    if new.language != Language::Rust {
        return;
    }
    let Some(now) = search.trees.get(search.file) else { return };
    let implementations = implementations(before);
    for is in self::implementations(&now) {
        let Some(was) = implementations.iter().find(|was| was.header == is.header) else { continue };
        let missing: Vec<&str> =
            was.members.iter().filter(|member| !is.members.contains(member)).copied().collect();
        // A member with another name is reported itself.
        if is.members.iter().any(|member| !was.members.contains(member)) {
            continue;
        }
        let required = required_members(search.world, is.interface);
        let Some(missing) = missing.into_iter().find(|text| required.iter().any(|name| **name == **text))
        else {
            continue;
        };
        found.push(Unmet {
            file: search.file,
            line: is.line,
            pattern: is.interface.into(),
            reason: format!("{} requires {missing}", is.interface),
            owner: String::new(),
        });
    }
}

/// The members that every implementation of a trait must define: of a trait of the project or, if there is
/// none of this name, of the standard library.
fn required_members(world: &dyn World, interface: &str) -> Vec<Box<str>> {
    let mut found: Vec<Box<str>> = Vec::new();
    let mut is_own = false;
    for facts in world.defining(interface).into_iter().filter_map(|file| world.facts(file)) {
        let is_trait = |definition: &&Definition| {
            definition.kind == DefinitionKind::Interface && *definition.name == *interface
        };
        for owner in facts.definitions.iter().filter(is_trait) {
            is_own = true;
            let path = path_of(owner);
            let members =
                facts.definitions.iter().filter(|definition| definition.container.as_deref() == Some(&*path));
            found.extend(
                members
                    .filter(|definition| is_empty_digest(definition.body))
                    .map(|definition| definition.name.clone()),
            );
        }
    }
    if !is_own {
        let standard = REQUIRED.iter().find(|(name, _)| *name == interface);
        found.extend(standard.into_iter().flat_map(|(_, names)| *names).map(|name| Box::from(*name)));
    }
    found
}

/// Returns the implementations of traits with more bounds than before whose types meet the new bounds.
pub(super) fn meeting_new_bounds(search: &Search<'_>, before: &Source, new: &Facts) -> Vec<(FileId, u32)> {
    let mut found = Vec::new();
    if new.language != Language::Rust {
        return found;
    }
    let Some(now) = search.trees.get(search.file) else { return found };
    for owner in new.definitions.iter().filter(|definition| definition.kind == DefinitionKind::Interface) {
        let (was, is) = (bounds(before, &owner.name), bounds(&now, &owner.name));
        let added: Vec<&String> = is.iter().filter(|name| !was.contains(name)).collect();
        if added.is_empty() || was.iter().any(|name| !is.contains(name)) {
            continue;
        }
        for reference in search.references(search.file, std::slice::from_ref(owner)) {
            let Some(source) = search.trees.get(reference.file) else { continue };
            let places = source.leaves(reference.line, &reference.pattern);
            let blocks = places
                .into_iter()
                .filter_map(|place| ancestors(place).find(|ancestor| ancestor.kind() == "impl_item"));
            let types: Vec<&str> = blocks
                .filter_map(|block| block.child_by_field_name("type"))
                .map(|annotation| last(source.text(annotation)))
                .collect();
            let meets = |of: &&str| added.iter().all(|bound| has_trait(search, of, bound));
            if !types.is_empty() && types.iter().all(meets) {
                found.push((reference.file, reference.line));
            }
        }
    }
    found
}

/// The names of the traits that a trait requires.
fn bounds(source: &Source, name: &str) -> Vec<String> {
    let items = source.nodes(&["trait_item"]).into_iter();
    let mut own = items.filter(|item| {
        item.child_by_field_name("name").is_some_and(|name_node| source.text(name_node) == name)
    });
    let list = own.next().and_then(|node| node.child_by_field_name("bounds"));
    let parts =
        list.map(|list| list.named_children(&mut list.walk()).collect::<Vec<_>>()).unwrap_or_default();
    parts.into_iter().map(|part| last(source.text(part)).to_owned()).collect()
}

/// Returns true if the project derives or implements a trait for a type, or every plain type has it.
fn has_trait(search: &Search<'_>, of: &str, interface: &str) -> bool {
    if matches!(interface, "Sized" | "Send" | "Sync" | "Any" | "Unpin") || interface.starts_with('\'') {
        return true;
    }
    let defining = search.world.defining(of).into_iter().filter(|file| {
        let is_type =
            |definition: &Definition| definition.kind == DefinitionKind::Type && *definition.name == *of;
        search.world.facts(*file).is_some_and(|facts| facts.definitions.iter().any(is_type))
    });
    let derives = |file: FileId| {
        let (source, facts) = (search.trees.get(file), search.world.facts(file));
        source
            .zip(facts)
            .is_some_and(|(source, facts)| traits((&source, &types(&source)), &facts, of).contains(interface))
    };
    defining.into_iter().any(derives) || is_implemented_elsewhere(search.world, of, interface)
}

/// A block that implements a trait.
struct Implementation<'s> {
    /// The trait and the type, as written.
    header: String,
    interface: &'s str,
    members: Vec<&'s str>,
    line: u32,
}

fn implementations(source: &Source) -> Vec<Implementation<'_>> {
    let mut found = Vec::new();
    for node in source.nodes(&["impl_item"]) {
        let field = |name: &str| node.child_by_field_name(name);
        let (Some(interface), Some(of), Some(body)) = (field("trait"), field("type"), field("body")) else {
            continue;
        };
        let parts: Vec<Node<'_>> = body.named_children(&mut body.walk()).collect();
        // A macro may define anything.
        if parts.iter().any(|part| part.kind() == "macro_invocation") {
            continue;
        }
        let names = parts.iter().filter_map(|part| part.child_by_field_name("name"));
        found.push(Implementation {
            header: format!("{} for {}", source.text(interface), source.text(of)),
            interface: last(source.text(interface)),
            members: names.map(|name| source.text(name)).collect(),
            line: line_of(node),
        });
    }
    found
}
