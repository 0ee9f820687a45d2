//! Uses of a generic type that give it another number of arguments than it takes now.

use std::collections::{BTreeMap, BTreeSet};

use tree_sitter::Node;

use super::super::tree::{Source, ancestors};
use super::{Search, Unmet};
use crate::facts::{Arity, Definition, Facts};
use crate::language::Language;
use crate::package::is_type;
use crate::resolve::path_of;
use crate::syntax::{TOKEN_END, children};

/// Adds the places that give too few or too many type arguments. Returns the paths of the types of Java with another number of
/// parameters: it decides their uses, because a use without arguments stays valid.
pub(super) fn find(
    search: &Search<'_>,
    before: &Source,
    new: &Facts,
    found: &mut Vec<Unmet>,
) -> BTreeSet<String> {
    let mut checked = BTreeSet::new();
    let Some(now) = search.trees.get(search.file) else { return checked };
    let (types_before, types_now) = (types(before), types(&now));
    for owner in new.definitions.iter().filter(|definition| is_type(definition)) {
        let was = parameters((before, &types_before), &owner.name);
        let is = parameters((&now, &types_now), &owner.name);
        let (Some(was), Some(is)) = (was, is) else { continue };
        let lifetimes = |(source, types): (&Source, &[Node<'_>])| count_lifetimes(source, types, &owner.name);
        if lifetimes((before, &types_before)) == 0 && lifetimes((&now, &types_now)) > 0 {
            check_lifetimes(search, owner, found);
        }
        if was != is {
            check(search, owner, is, found);
            checked.extend((new.language == Language::Java).then(|| path_of(owner)));
        }
    }
    if matches!(new.language, Language::Tsx | Language::TypeScript) {
        check_bounds(search, before, (&now, new), found);
    }
    checked
}

/// Returns true if a type with parameters has another header.
pub(super) fn may_differ(old: &Facts, new: &Facts) -> bool {
    let is_common_file_name =
        |definition: &Definition| definition.header.split(TOKEN_END).any(|token| token == "<");
    let differs = |definition: &Definition| {
        let was = old
            .definitions
            .iter()
            .find(|was| was.kind == definition.kind && path_of(was) == path_of(definition));
        was.is_some_and(|was| {
            was.header != definition.header && (is_common_file_name(was) || is_common_file_name(definition))
        })
    };
    let is_function = |definition: &Definition| definition.arity.is_some() && new.language != Language::Java;
    new.definitions
        .iter()
        .any(|definition| (is_type(definition) || is_function(definition)) && differs(definition))
}

fn check(search: &Search<'_>, owner: &Definition, takes: Arity, found: &mut Vec<Unmet>) {
    for reference in search.references(search.file, std::slice::from_ref(owner)) {
        let Some(source) = search.trees.get(reference.file) else { continue };
        let leaves = source.leaves(reference.line, &reference.pattern).into_iter();
        let mut given = leaves.filter_map(|leaf| arguments(&source, leaf));
        let fits = |count: u16| takes.takes(count) || count == 0 && source.language == Language::Java;
        if given.any(|count| !fits(count)) {
            found.push(Unmet {
                file: reference.file,
                line: reference.line,
                pattern: reference.pattern.clone(),
                reason: format!("{} takes another number of type arguments", owner.name),
                owner: path_of(owner),
            });
        }
    }
}

/// The number of lifetime parameters of a type of Rust.
fn count_lifetimes(source: &Source, types: &[Node<'_>], name: &str) -> usize {
    let mut own = types.iter().filter(|node| {
        node.child_by_field_name("name").is_some_and(|name_node| source.text(name_node) == name)
    });
    let list = own.next().and_then(|node| node.child_by_field_name("type_parameters"));
    let parts = list.map(children).unwrap_or_default();
    parts.iter().filter(|part| matches!(part.kind(), "lifetime_parameter" | "lifetime")).count()
}

/// Adds the places that name a type without the lifetime that it takes now, where the compiler infers none.
fn check_lifetimes(search: &Search<'_>, owner: &Definition, found: &mut Vec<Unmet>) {
    for reference in search.references(search.file, std::slice::from_ref(owner)) {
        let Some(source) = search.trees.get(reference.file) else { continue };
        let mut leaves = source.leaves(reference.line, &reference.pattern).into_iter();
        if leaves.any(lacks_lifetime) {
            found.push(Unmet {
                file: reference.file,
                line: reference.line,
                pattern: reference.pattern.clone(),
                reason: format!("{} takes a lifetime", owner.name),
                owner: path_of(owner),
            });
        }
    }
}

/// Returns true if a type is written without a lifetime in a field, an alias or the head of an implementation.
fn lacks_lifetime(name: Node<'_>) -> bool {
    let mut inner = name;
    for node in ancestors(name) {
        match node.kind() {
            "generic_type" if node.named_child(0) == Some(inner) => {
                let list = node.child_by_field_name("type_arguments").map(children).unwrap_or_default();
                if list.iter().any(|child| child.kind() == "lifetime") {
                    return false;
                }
            }
            "field_declaration" | "ordered_field_declaration_list" | "type_item" => return true,
            "impl_item" => return node.child_by_field_name("type") == Some(inner),
            "scoped_type_identifier"
            | "type_arguments"
            | "reference_type"
            | "tuple_type"
            | "array_type"
            | "generic_type" => {}
            _ => return false,
        }
        inner = node;
    }
    false
}

/// The definitions of types. One traversal of a file serves all its types.
fn types(source: &Source) -> Vec<Node<'_>> {
    if source.language == Language::Cpp {
        let mut types = source.nodes(&["class_specifier", "struct_specifier", "alias_declaration"]);
        types.retain(|node| node.kind() == "alias_declaration" || node.child_by_field_name("body").is_some());
        return types;
    }
    source.nodes(&[
        "abstract_class_declaration",
        "class_declaration",
        "enum_item",
        "interface_declaration",
        "record_declaration",
        "struct_item",
        "trait_item",
        "type_alias_declaration",
        "type_item",
        "type_spec",
        "union_item",
    ])
}

/// The number of types that a generic type takes; `None` if the file does not define it once.
fn parameters((source, types): (&Source, &[Node<'_>]), name: &str) -> Option<Arity> {
    let mut own = types.iter().filter(|node| {
        node.child_by_field_name("name").is_some_and(|name_node| source.text(name_node) == name)
    });
    let (Some(item), None) = (own.next(), own.next()) else { return None };
    let template = item.parent().filter(|parent| parent.kind() == "template_declaration");
    let template = template.and_then(|template| template.child_by_field_name("parameters"));
    let Some(list) = item.child_by_field_name("type_parameters").or(template) else {
        return Some(Arity { least: 0, most: Some(0) });
    };
    if template.is_some() {
        let parts = children(list);
        let count =
            |is_counted: fn(&str) -> bool| parts.iter().filter(|part| is_counted(part.kind())).count();
        let least = u16::try_from(count(|kind| kind.ends_with("declaration") && !is_open(kind))).ok()?;
        let most = u16::try_from(count(|kind| kind.ends_with("declaration"))).ok()?;
        let takes_any = parts.iter().any(|part| part.kind().starts_with("variadic"));
        return Some(Arity { least, most: (!takes_any).then_some(most) });
    }
    let (mut least, mut most) = (0, 0);
    for part in list.named_children(&mut list.walk()) {
        let count = match part.kind() {
            "type_parameter_declaration" => part.children_by_field_name("name", &mut part.walk()).count(),
            "lifetime_parameter" | "lifetime" | "attribute_item" | "line_comment" => 0,
            _ => 1,
        };
        let count = u16::try_from(count).ok()?;
        let has_default =
            ["default_type", "value"].iter().any(|field| part.child_by_field_name(field).is_some());
        let is_optional = has_default || part.kind() == "optional_type_parameter";
        most += count;
        least += if is_optional { 0 } else { count };
    }
    Some(Arity { least, most: Some(most) })
}

/// Returns true for a template parameter of C++ that needs no argument.
fn is_open(kind: &str) -> bool {
    kind.starts_with("optional") || kind.starts_with("variadic")
}

/// The number of type arguments at the name of a type. `None` if they may be left out there.
fn arguments(source: &Source, name: Node<'_>) -> Option<u16> {
    let mut inner = name;
    for node in ancestors(name) {
        match node.kind() {
            "scoped_type_identifier" | "qualified_type"
                if node.child_by_field_name("name") == Some(inner) =>
            {
                inner = node;
            }
            "generic_type" | "template_type" if node.named_child(0) == Some(inner) => {
                let list = children(node).pop()?;
                let mut given: Vec<Node<'_>> = list.named_children(&mut list.walk()).collect();
                given.retain(|child| !matches!(child.kind(), "lifetime" | "type_binding" | "line_comment"));
                return u16::try_from(given.len()).ok();
            }
            _ => break,
        }
    }
    match source.language {
        // The arguments may be those of the class around, or inferred.
        Language::Java | Language::Cpp => return None,
        Language::TypeScript | Language::Tsx => return arguments_in_typescript(inner),
        _ => {}
    }
    // Without arguments, a type is named where one is written: not in a path, a pattern or an import.
    let around = inner.parent()?;
    let is_written = match around.kind() {
        "parameter"
        | "field_declaration"
        | "reference_type"
        | "function_item"
        | "type_arguments"
        | "parameter_declaration"
        | "pointer_type"
        | "slice_type"
        | "map_type"
        | "type_item" => true,
        "impl_item" => around.child_by_field_name("type") == Some(inner),
        _ => false,
    };
    let is_type = matches!(inner.kind(), "type_identifier" | "scoped_type_identifier" | "qualified_type");
    (is_written && is_type && source.text(inner) != "Self").then_some(0)
}

/// The number of type arguments at a name of TypeScript that has none behind it as a generic type. A call or a base may leave them out.
fn arguments_in_typescript(name: Node<'_>) -> Option<u16> {
    let around = name.parent()?;
    let given = around.child_by_field_name("type_arguments");
    let is_declared = around.child_by_field_name("name") == Some(name);
    match (name.kind(), given) {
        (_, Some(given)) => u16::try_from(given.named_child_count()).ok(),
        ("type_identifier", None) => (!is_declared).then_some(0),
        _ => None,
    }
}

/// The functions and types of TypeScript with type parameters: the name, and the bound of each parameter.
fn bounds_of_parameters(source: &Source) -> BTreeMap<&str, Vec<Option<&str>>> {
    let mut found = BTreeMap::new();
    for list in source.nodes(&["type_parameters"]) {
        let owner = list.parent();
        let named = owner.into_iter().chain(owner.and_then(|owner| owner.parent()));
        let Some(name) = named.into_iter().find_map(|node| node.child_by_field_name("name")) else {
            continue;
        };
        let bound = |node: Node<'_>| {
            let constraint = node.child_by_field_name("constraint");
            constraint.map(|constraint| source.text(constraint).trim_start_matches("extends").trim())
        };
        found.insert(source.text(name), children(list).into_iter().map(bound).collect());
    }
    found
}

/// Adds the places that give a type argument which evidently does not fit a bound that was added.
fn check_bounds(search: &Search<'_>, before: &Source, (now, new): (&Source, &Facts), found: &mut Vec<Unmet>) {
    let former = bounds_of_parameters(before);
    for (name, bounds) in bounds_of_parameters(now) {
        let Some(was) = former.get(name).filter(|was| was.len() == bounds.len() && **was != bounds) else {
            continue;
        };
        let owners: Vec<Definition> = new
            .definitions
            .iter()
            .filter(|definition| {
                *definition.name == *name && (definition.arity.is_some() || is_type(definition))
            })
            .cloned()
            .collect();
        for reference in search.references(search.file, &owners) {
            let Some(source) = search.trees.get(reference.file) else { continue };
            let leaves = source.leaves(reference.line, &reference.pattern);
            let lists = leaves.into_iter().filter_map(type_arguments_behind);
            let is_misfit = |list: Node<'_>| {
                children(list).into_iter().zip(bounds.iter().zip(was)).any(|(given, (bound, before))| {
                    bound != before && bound.is_some_and(|bound| is_outside(new, source.text(given), bound))
                })
            };
            if lists.into_iter().any(is_misfit) {
                found.push(Unmet {
                    file: reference.file,
                    line: reference.line,
                    pattern: reference.pattern.clone(),
                    reason: format!("{name} takes other type arguments"),
                    owner: owners.first().map(path_of).unwrap_or_default(),
                });
            }
        }
    }
}

/// The list of type arguments behind a name of TypeScript.
fn type_arguments_behind(name: Node<'_>) -> Option<Node<'_>> {
    let around = name.parent()?;
    let list = around.child_by_field_name("type_arguments");
    list.or_else(|| children(around).into_iter().find(|child| child.kind() == "type_arguments"))
}

/// Returns true if a primitive type evidently does not fit a bound.
fn is_outside(facts: &Facts, given: &str, bound: &str) -> bool {
    const PRIMITIVES: &[&str] = &["string", "number", "boolean", "bigint", "symbol", "null", "undefined"];
    let is_object = |part: &str| {
        let name = part.split('<').next().unwrap_or(part).trim();
        let has_members = |definition: &Definition| {
            *definition.name == *name && is_type(definition) && definition.gives.is_none()
        };
        part == "object" || name == "Record" || facts.definitions.iter().any(has_members)
    };
    PRIMITIVES.contains(&given)
        && bound
            .split('|')
            .map(str::trim)
            .all(|part| part != given && (PRIMITIVES.contains(&part) || is_object(part)))
}
