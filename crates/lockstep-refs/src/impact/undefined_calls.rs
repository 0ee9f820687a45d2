//! Calls of functions that nothing defines: a name that an edit made up. The languages are those in which a bare name of a call
//! must be declared in the project or in a library that the file names.

use std::collections::{BTreeMap, BTreeSet};

use tree_sitter::Node;

use super::tree::{Source, descendants};
use crate::facts::{Facts, Import};
use crate::language::Language;
use crate::syntax::line_of;
use crate::world::{FileId, World, parent, words};

const GO_BUILTINS: &[&str] = &[
    "append",
    "bool",
    "byte",
    "cap",
    "clear",
    "close",
    "complex",
    "complex128",
    "complex64",
    "copy",
    "delete",
    "error",
    "float32",
    "float64",
    "imag",
    "int",
    "int16",
    "int32",
    "int64",
    "int8",
    "len",
    "make",
    "max",
    "min",
    "new",
    "panic",
    "print",
    "println",
    "real",
    "recover",
    "rune",
    "string",
    "uint",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
    "uintptr",
];
const RUST_PRELUDE: &[&str] = &["Err", "Ok", "Self", "Some", "drop"];
/// The number of functions of the project with the same prefix that make a name of C one of the project.
const SIBLINGS: usize = 2;

/// Returns the calls in a file of functions that nothing defines, with their lines. Names that the former text has are left out.
pub(super) fn undefined_calls(
    world: &dyn World,
    file: FileId,
    facts: &Facts,
    former: &str,
) -> Vec<(u32, String)> {
    let language = facts.language;
    if !matches!(language, Language::C | Language::Go | Language::Rust) || opens_library(language, facts) {
        return Vec::new();
    }
    let Some(text) = world.text(file) else { return Vec::new() };
    let known: BTreeSet<&str> = words(former).collect();
    if words(&text).all(|word| known.contains(word)) {
        return Vec::new();
    }
    let Some(source) = Source::new(language, std::sync::Arc::clone(&text)) else { return Vec::new() };
    let mut calls: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    let mut bound: BTreeSet<&str> = BTreeSet::new();
    let names =
        descendants(source.root()).into_iter().filter(|descendant| descendant.kind().ends_with("identifier"));
    for leaf in names.filter(|name| name.child_count() == 0) {
        let name = source.text(leaf);
        if known.contains(name) {
            continue;
        }
        match is_callee(leaf) {
            true => calls.entry(name).or_default().push(line_of(leaf)),
            false => drop(bound.insert(name)),
        }
    }
    calls.retain(|name, _| !bound.contains(name) && !is_provided(world, file, (facts, &source), name));
    calls
        .into_iter()
        .flat_map(|(name, lines)| lines.into_iter().map(move |line| (line, name.to_owned())))
        .collect()
}

fn is_callee(leaf: Node<'_>) -> bool {
    leaf.parent().is_some_and(|parent| {
        parent.kind() == "call_expression" && parent.child_by_field_name("function") == Some(leaf)
    })
}

/// Returns true if names of a library are visible without a path.
fn opens_library(language: Language, facts: &Facts) -> bool {
    let is_own = |import: &Import| {
        let root = import.module.split("::").next().unwrap_or_default();
        language == Language::Rust && matches!(root, "crate" | "self" | "super")
    };
    facts.problems > 0 || facts.imports.iter().any(|import| import.glob && !is_own(import))
}

/// Returns true if a name may be defined somewhere.
fn is_provided(world: &dyn World, file: FileId, (facts, source): (&Facts, &Source), name: &str) -> bool {
    let others = || world.containing(name).into_iter().filter(|candidate| *candidate != file);
    match facts.language {
        Language::Go => {
            let directory = parent(world.path(file));
            GO_BUILTINS.contains(&name) || others().any(|other| parent(world.path(other)) == directory)
        }
        Language::Rust => RUST_PRELUDE.contains(&name) || others().next().is_some(),
        _ => others().next().is_some() || !has_siblings(world, source, name),
    }
}

/// Returns true if the file calls several functions of the project whose names begin like this one.
fn has_siblings(world: &dyn World, source: &Source, name: &str) -> bool {
    let Some((prefix, _)) = name.split_once('_').filter(|(prefix, _)| prefix.len() > 1) else { return false };
    let calls = descendants(source.root()).into_iter().filter(|descendant| is_callee(*descendant));
    let siblings: BTreeSet<&str> = calls
        .map(|call| source.text(call))
        .filter(|text| *text != name && text.split_once('_').is_some_and(|(other, _)| other == prefix))
        .filter(|text| !world.defining(text).is_empty())
        .collect();
    siblings.len() >= SIBLINGS
}
