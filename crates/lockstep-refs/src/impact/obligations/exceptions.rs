//! Java: exceptions that a method no longer throws. A method that overrides it must not throw them, and a `catch` of an exception that
//! nothing throws is an error.

use tree_sitter::Node;

use super::super::modifiers::covers;
use super::super::tree::{Source, ancestors, descendants};
use super::{Search, Unmet};
use crate::facts::{Definition, DefinitionKind, Facts, Role};
use crate::language::Language;
use crate::reference::Reference;
use crate::resolve::path_of;
use crate::syntax::{TOKEN_END, children, line_of};
use crate::world::words;

/// Exceptions that a `catch` may name although nothing throws them.
const ALWAYS_CAUGHT: &[&str] = &["Exception", "Throwable", "RuntimeException", "Error"];
const CALLS: &[&str] = &[
    "explicit_constructor_invocation",
    "method_invocation",
    "object_creation_expression",
    "throw_statement",
];

/// Adds the places that still expect an exception.
pub(super) fn find(search: &Search<'_>, old: &Facts, new: &Facts, found: &mut Vec<Unmet>) {
    if new.language != Language::Java {
        return;
    }
    let methods = new.definitions.iter().filter(|definition| definition.kind == DefinitionKind::Method);
    for method in methods {
        let same = |was: &&Definition| {
            was.name == method.name && was.container == method.container && was.arity == method.arity
        };
        let was = old.definitions.iter().find(same).filter(|was| was.header != method.header);
        let Some(was) = was else { continue };
        let remaining: Vec<&str> = exceptions(method).collect();
        let lost: Vec<&str> = exceptions(was).filter(|exception| !covers(&remaining, exception)).collect();
        if lost.is_empty() {
            continue;
        }
        for reference in search.references(search.file, std::slice::from_ref(method)) {
            if let Some((line, exception)) = expected(search, &reference, &lost) {
                found.push(Unmet {
                    file: reference.file,
                    line,
                    pattern: reference.pattern.clone(),
                    reason: format!("{} no longer throws {exception}", method.name),
                    owner: path_of(method),
                });
            }
        }
    }
}

/// The names of the exceptions behind `throws`.
pub(in crate::impact) fn exceptions(method: &Definition) -> impl Iterator<Item = &str> {
    let thrown = method.header.split(TOKEN_END).skip_while(|token| *token != "throws");
    thrown.filter(|thrown| thrown.starts_with(char::is_uppercase))
}

/// Returns the line and the exception that the place of a reference expects.
fn expected<'e>(search: &Search<'_>, reference: &Reference, lost: &[&'e str]) -> Option<(u32, &'e str)> {
    if matches!(reference.role, Role::Override | Role::Redefine | Role::Implement) {
        let facts = search.world.facts(reference.file)?;
        let here = |definition: &&Definition| {
            definition.line == reference.line && *definition.name == *reference.pattern
        };
        let method = facts.definitions.iter().find(here)?;
        let thrown = lost.iter().find(|name| exceptions(method).any(|thrown| thrown == **name));
        return thrown.map(|thrown| (reference.line, *thrown));
    }
    let source = search.trees.get(reference.file).filter(|_| reference.role == Role::Call)?;
    let leaves = source.leaves(reference.line, &reference.pattern);
    leaves.into_iter().find_map(|leaf| caught(&source, leaf, lost))
}

/// Returns the line of the `catch` around a call that is the only one in its `try`.
fn caught<'e>(source: &Source, call: Node<'_>, lost: &[&'e str]) -> Option<(u32, &'e str)> {
    let tried = ancestors(call).find(|ancestor| ancestor.kind() == "try_statement")?;
    let body = tried.child_by_field_name("body")?;
    let calls = descendants(body).into_iter().filter(|descendant| CALLS.contains(&descendant.kind())).count();
    let is_inside = body.start_byte() <= call.start_byte() && call.end_byte() <= body.end_byte();
    if calls != 1 || !is_inside {
        return None;
    }
    let clauses = children(tried).into_iter().filter(|child| child.kind() == "catch_clause");
    clauses.into_iter().find_map(|clause| {
        let types = clause.named_child(0).map(|child| source.text(child)).unwrap_or_default();
        let is_named =
            |text: &&&str| !ALWAYS_CAUGHT.contains(*text) && words(types).any(|word| word == **text);
        lost.iter().find(is_named).map(|name| (line_of(clause), *name))
    })
}
