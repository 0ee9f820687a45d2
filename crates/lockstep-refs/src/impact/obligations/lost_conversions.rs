//! Java and C#: values of a type that are used where a base is expected which the type no longer extends, and members that are marked
//! as overrides of it.

use std::collections::BTreeSet;

use tree_sitter::Node;

use super::super::overloads::type_of;
use super::super::tree::{Source, ancestors, descendants};
use super::{Search, Unmet};
use crate::facts::{Definition, DefinitionKind, Facts};
use crate::language::Language;
use crate::limits::Limit;
use crate::package::is_type;
use crate::resolve::path_of;
use crate::signature;
use crate::syntax::{TOKEN_END, children, line_of};
use crate::world::{FileId, World};

/// Types that extend one another are followed so far.
const MAX_DEPTH: usize = 4;
/// A name that more files contain is looked up in the first ones only.
const MAX_FILES: usize = 60;
const FUNCTIONS: &[&str] = &["lambda_expression", "local_function_statement", "method_declaration"];
/// Members that every type inherits.
const INHERITED: &[&str] =
    &["Equals", "GetHashCode", "ToString", "clone", "equals", "finalize", "hashCode", "toString"];

/// Adds the places that still use a type of the file as one of its former bases.
pub(super) fn find(search: &Search<'_>, old: &Facts, new: &Facts, found: &mut Vec<Unmet>) {
    if !matches!(new.language, Language::Java | Language::CSharp) {
        return;
    }
    for owner in new.definitions.iter().filter(|definition| is_type(definition)) {
        let same = |definition: &&Definition| is_type(definition) && path_of(definition) == path_of(owner);
        let Some(was) = old.definitions.iter().find(same) else { continue };
        let names = |definition: &Definition| -> BTreeSet<Box<str>> {
            definition.extends.iter().map(|base| simple(base).into()).collect()
        };
        let bases = Bases { lost: names(was), kept: names(owner) };
        if bases.lost.is_subset(&bases.kept) {
            continue;
        }
        let (lost, remaining) = (closure(search.world, bases.lost), closure(search.world, bases.kept));
        let lost: BTreeSet<Box<str>> = lost.difference(&remaining).cloned().collect();
        let unmet = |file: FileId, line: u32, name: &str, reason: String| Unmet {
            file,
            line,
            pattern: name.into(),
            reason,
            owner: path_of(owner),
        };
        for (line, name) in orphans(search.world, new, owner, &remaining) {
            found.push(unmet(search.file, line, &name, format!("{name} overrides nothing any more")));
        }
        for reference in search.references(search.file, std::slice::from_ref(owner)) {
            let Some(source) = search.trees.get(reference.file) else { continue };
            for leaf in source.leaves(reference.line, &owner.name) {
                let values = values(&source, leaf).into_iter();
                let misfit =
                    values.filter_map(|value| Some((value, expected(search.world, &source, value)?)));
                let mut misfit = misfit.filter(|(_, type_)| lost.contains(&**type_));
                if let Some((value, type_)) = misfit.next() {
                    let reason = format!("{} is no {type_} any more", owner.name);
                    found.push(unmet(reference.file, line_of(value), &owner.name, reason));
                }
            }
        }
    }
}

struct Bases {
    lost: BTreeSet<Box<str>>,
    kept: BTreeSet<Box<str>>,
}

/// Adds the names of the types behind these, as far as the project has them.
fn closure(world: &dyn World, names: BTreeSet<Box<str>>) -> BTreeSet<Box<str>> {
    let mut all = names.clone();
    let mut open: Vec<Box<str>> = names.into_iter().collect();
    for _ in 0..MAX_DEPTH {
        let mut next: Vec<Box<str>> = Vec::new();
        for name in open {
            for facts in
                Limit::Files.take(world.defining(&name), MAX_FILES).filter_map(|file| world.facts(file))
            {
                let types = facts
                    .definitions
                    .iter()
                    .filter(|definition| is_type(definition) && definition.name == name);
                next.extend(
                    types.flat_map(|definition| &definition.extends).map(|base| Box::from(simple(base))),
                );
            }
        }
        next.retain(|name| all.insert(name.clone()));
        open = next;
    }
    if !open.is_empty() {
        Limit::Subtypes.reach();
    }
    all
}

/// The members of a type that are marked as overrides, if all its bases are known and none has such a member.
fn orphans(
    world: &dyn World,
    facts: &Facts,
    owner: &Definition,
    remaining: &BTreeSet<Box<str>>,
) -> Vec<(u32, Box<str>)> {
    let is_known = |name: &str| {
        let files = world.defining(name).into_iter().filter_map(|file| world.facts(file));
        files.into_iter().any(|facts| {
            facts.definitions.iter().any(|definition| is_type(definition) && *definition.name == *name)
        })
    };
    if !remaining.iter().all(|name| is_known(name)) {
        return Vec::new();
    }
    let is_inherited = |member: &Definition| {
        let files = Limit::Files.take(world.defining(&member.name), MAX_FILES);
        files.filter_map(|file| world.facts(file)).any(|facts| {
            facts.definitions.iter().any(|definition| {
                definition.name == member.name
                    && definition.container.as_deref().is_some_and(|path| remaining.contains(simple(path)))
            })
        })
    };
    let path = path_of(owner);
    let is_marked = |definition: &Definition| {
        definition.header.split(TOKEN_END).any(|word| matches!(word, "Override" | "override"))
    };
    let marked = facts.definitions.iter().filter(|definition| {
        definition.kind == DefinitionKind::Method
            && definition.container.as_deref() == Some(&*path)
            && is_marked(definition)
    });
    let orphans =
        marked.filter(|definition| !INHERITED.contains(&&*definition.name) && !is_inherited(definition));
    orphans.map(|definition| (definition.line, definition.name.clone())).collect()
}

/// The expressions with a value of the type that a leaf names: its creation, or the uses of a variable that is declared with it.
fn values<'s>(source: &'s Source, leaf: Node<'s>) -> Vec<Node<'s>> {
    let mut inner = leaf;
    for node in ancestors(leaf).take(3) {
        match node.kind() {
            "object_creation_expression" if node.child_by_field_name("type") == Some(inner) => {
                return vec![node];
            }
            "generic_type" | "scoped_type_identifier" | "qualified_name" | "generic_name" => {}
            "local_variable_declaration"
            | "formal_parameter"
            | "field_declaration"
            | "parameter"
            | "variable_declaration"
                if node.child_by_field_name("type") == Some(inner) =>
            {
                let scope = ancestors(node).find(|ancestor| {
                    FUNCTIONS.contains(&ancestor.kind())
                        || ancestor.kind() == "class_body"
                        || ancestor.kind() == "declaration_list"
                        || ancestor.kind() == "constructor_declaration"
                });
                let declared = node.child_by_field_name("name").or_else(|| {
                    let declarator =
                        children(node).into_iter().find(|child| child.kind() == "variable_declarator")?;
                    declarator.child_by_field_name("name").or_else(|| declarator.named_child(0))
                });
                let (Some(scope), Some(name)) = (scope, declared) else { return Vec::new() };
                let name = source.text(name);
                let is_use = |child: &Node<'_>| child.kind() == "identifier" && source.text(*child) == name;
                return descendants(scope).into_iter().filter(is_use).collect();
            }
            _ => return Vec::new(),
        }
        inner = node;
    }
    Vec::new()
}

/// The simple name of the type that is expected of an expression, if the text around it or the called function shows it.
fn expected(world: &dyn World, source: &Source, value: Node<'_>) -> Option<String> {
    let mut inner = value;
    for node in ancestors(value).take(5) {
        let is = |field: &str| node.child_by_field_name(field) == Some(inner);
        match node.kind() {
            "parenthesized_expression" | "argument" | "equals_value_clause" => {}
            "ternary_expression" | "conditional_expression" if !is("condition") => {}
            "variable_declarator" if is("value") || node.child_by_field_name("value").is_none() => {
                let type_ = node.parent()?.child_by_field_name("type")?;
                return Some(simple(source.text(type_)).to_owned());
            }
            "assignment_expression" if is("right") => {
                return type_of(source, node.child_by_field_name("left")?);
            }
            "return_statement" => {
                let function = ancestors(node).find(|ancestor| FUNCTIONS.contains(&ancestor.kind()))?;
                let type_ = function
                    .child_by_field_name("type")
                    .or_else(|| function.child_by_field_name("returns"))?;
                return Some(simple(source.text(type_)).to_owned());
            }
            "argument_list" => return parameter(world, source, node, inner),
            _ => return None,
        }
        inner = node;
    }
    None
}

/// The type of the parameter that an argument is passed for, if all functions of the name agree.
fn parameter(world: &dyn World, source: &Source, list: Node<'_>, argument: Node<'_>) -> Option<String> {
    let call = list.parent()?;
    let callee = ["name", "type", "function"].iter().find_map(|field| call.child_by_field_name(field))?;
    let name = simple(source.text(callee));
    let given: Vec<Node<'_>> = children(list).into_iter().filter(|child| !child.is_extra()).collect();
    let at = given.iter().position(|node| *node == argument)?;
    let count = u16::try_from(given.len()).ok()?;
    let mut types = BTreeSet::new();
    for facts in Limit::Files.take(world.defining(name), MAX_FILES).filter_map(|file| world.facts(file)) {
        let functions = facts.definitions.iter().filter(|definition| {
            *definition.name == *name
                && definition.arity.is_some_and(|arity| arity.takes(count))
                && !is_type(definition)
        });
        for function in functions {
            let parameters = signature::parameters(facts.language, function);
            types.insert(simple(&parameters.get(at)?.1.replace(' ', "")).to_owned());
        }
    }
    types.pop_first().filter(|_| types.is_empty())
}

/// Returns a type without its arguments and its package.
fn simple(type_: &str) -> &str {
    let type_ = type_.split('<').next().unwrap_or(type_).trim();
    type_.rsplit('.').next().unwrap_or(type_)
}
