//! Keys that the object returned by a function of TypeScript or JavaScript no longer has. The result has no written type: the keys are
//! those of the returned literals.

use std::collections::BTreeSet;

use tree_sitter::Node;

use super::super::results::call_of;
use super::super::tree::{Source, ancestors, descendants};
use super::{Search, Unmet};
use crate::definition_diff::{DefinitionChangeKind, SymbolChange};
use crate::facts::{Definition, Facts};
use crate::language::{self, Language};
use crate::resolve::path_of;
use crate::signature;
use crate::syntax::line_of;

/// A function that returns objects without some keys that they had.
struct Lost<'a> {
    function: &'a Definition,
    keys: BTreeSet<String>,
    is_async: bool,
}

pub(super) fn find(
    search: &Search<'_>,
    (old, former): (&Facts, &str),
    new: &Facts,
    changes: &[SymbolChange],
    found: &mut Vec<Unmet>,
) {
    let is_other = |change: &SymbolChange| {
        matches!(
            change.what,
            DefinitionChangeKind::BodyChanged
                | DefinitionChangeKind::SignatureChanged { .. }
                | DefinitionChangeKind::Compatible
                | DefinitionChangeKind::ParametersRenamed { .. }
        ) && may_return_object(old, former, &change.was)
    };
    if language::family(new.language) != Language::TypeScript || !changes.iter().any(is_other) {
        return;
    }
    let before = Source::new(old.language, former.into());
    let Some((before, now)) = before.zip(search.trees.get(search.file)) else { return };
    for change in changes.iter().filter(|change| is_other(change)) {
        let was = &change.was;
        let same = |definition: &&Definition| {
            definition.name == was.name
                && definition.kind == was.kind
                && definition.container == was.container
        };
        let Some(function) = new.definitions.iter().find(same) else { continue };
        if let Some(lost) = lost_keys((&before, was), (&now, function)) {
            lost.report(search, found);
        }
    }
}

/// Returns true if the text of a function without a written result may return an object literal.
fn may_return_object(facts: &Facts, text: &str, function: &Definition) -> bool {
    if signature::result_type(facts.language, function).is_none_or(|result_type| !result_type.is_empty()) {
        return false;
    }
    let length = function.end_line.saturating_sub(function.line) as usize + 1;
    let lines = text.lines().skip(function.line.saturating_sub(1) as usize).take(length);
    let code: String = lines.flat_map(str::chars).filter(|c| !c.is_whitespace()).collect();
    code.contains("return{") || code.contains("=>({") || code.contains("return") && code.contains("={")
}

fn lost_keys<'a>(
    (before, was): (&Source, &Definition),
    (now, function): (&Source, &'a Definition),
) -> Option<Lost<'a>> {
    let (former, present) = (node_of(before, was)?, node_of(now, function)?);
    let mut keys = returned_keys(before, former)?.names;
    let remaining = returned_keys(now, present).filter(|key| !key.is_open)?;
    keys.retain(|key| !remaining.names.contains(key));
    let is_async = present.children(&mut present.walk()).any(|child| child.kind() == "async");
    (!keys.is_empty()).then_some(Lost { function, keys, is_async })
}

/// The function that a definition names, if its result has no written type.
fn node_of<'s>(source: &'s Source, definition: &Definition) -> Option<Node<'s>> {
    let leaf = source.leaves(definition.line, &definition.name).into_iter().next()?;
    let around = leaf.parent()?;
    let value = around.child_by_field_name("value").or_else(|| around.child_by_field_name("right"));
    let function = value.filter(|value| *value != leaf).unwrap_or(around);
    let is_untyped = function.child_by_field_name("return_type").is_none();
    (function.child_by_field_name("body").is_some() && is_untyped).then_some(function)
}

/// The keys of returned objects.
#[derive(Default)]
struct Keys {
    names: BTreeSet<String>,
    /// Set if the objects may have others.
    is_open: bool,
}

/// Returns the keys of the objects that a function returns; `None` if it returns something else.
fn returned_keys(source: &Source, function: Node<'_>) -> Option<Keys> {
    let body = function.child_by_field_name("body")?;
    let mut keys = Keys::default();
    if body.kind() != "statement_block" {
        keys.add(source, object_of(source, body, function)?);
        return Some(keys);
    }
    let is_function = |node: &Node<'_>| {
        let takes = ["parameters", "parameter"];
        node.kind() != "catch_clause" && takes.iter().any(|field| node.child_by_field_name(field).is_some())
    };
    let mut objects = 0;
    for returned in descendants(body).into_iter().filter(|descendant| descendant.kind() == "return_statement")
    {
        let is_own = ancestors(returned).find(is_function) == Some(function);
        let Some(value) = returned.named_child(0).filter(|_| is_own) else { continue };
        keys.add(source, object_of(source, value, function)?);
        objects += 1;
    }
    (objects > 0).then_some(keys)
}

/// The object literal that an expression is, or that a variable of the function holds.
fn object_of<'n>(source: &Source, value: Node<'n>, function: Node<'n>) -> Option<Node<'n>> {
    match value.kind() {
        "object" => Some(value),
        "parenthesized_expression" => object_of(source, value.named_child(0)?, function),
        "as_expression" if source.text(value).ends_with(" as const") => {
            object_of(source, value.named_child(0)?, function)
        }
        "identifier" => {
            let name = source.text(value);
            let is_written = |node: &Node<'_>| {
                node.kind() == "assignment_expression"
                    && node
                        .child_by_field_name("left")
                        .is_some_and(|left_node| source.text(left_node).starts_with(name))
            };
            let inside = descendants(function);
            let is_it = |node: &Node<'_>| {
                node.kind() == "variable_declarator"
                    && node.child_by_field_name("type").is_none()
                    && node
                        .child_by_field_name("name")
                        .is_some_and(|name_node| source.text(name_node) == name)
            };
            let declarator = inside.iter().copied().find(is_it)?;
            let object = declarator.child_by_field_name("value").filter(|value| value.kind() == "object");
            object.filter(|_| !inside.iter().any(is_written))
        }
        _ => None,
    }
}

impl Keys {
    fn add(&mut self, source: &Source, object: Node<'_>) {
        for part in object.named_children(&mut object.walk()) {
            let key = match part.kind() {
                "shorthand_property_identifier" => Some(part),
                "pair" => part.child_by_field_name("key"),
                "method_definition" => part.child_by_field_name("name"),
                "comment" => continue,
                _ => None,
            };
            match key.filter(|key| key.kind() != "computed_property_name") {
                Some(key) => {
                    self.names.insert(source.text(key).trim_matches(['"', '\'']).to_owned());
                }
                None => self.is_open = true,
            }
        }
    }
}

impl Lost<'_> {
    fn report(&self, search: &Search<'_>, found: &mut Vec<Unmet>) {
        for reference in search.references(search.file, std::slice::from_ref(self.function)) {
            let Some(source) = search.trees.get(reference.file) else { continue };
            let mut uses = Vec::new();
            for leaf in source.leaves(reference.line, &reference.pattern) {
                self.uses_of_call(&source, leaf, &mut uses);
            }
            found.extend(uses.into_iter().map(|key| Unmet {
                file: reference.file,
                line: line_of(key),
                pattern: source.text(key).into(),
                reason: format!("{} returns no {} any more", self.function.name, source.text(key)),
                owner: path_of(self.function),
            }));
        }
    }

    /// Adds the places that take a lost key from the result of the call that a leaf names.
    fn uses_of_call<'n>(&self, source: &Source, leaf: Node<'n>, uses: &mut Vec<Node<'n>>) {
        let Some(mut value) = call_of(leaf) else { return };
        let mut is_awaited = !self.is_async;
        while let Some(around) = value.parent() {
            match around.kind() {
                "await_expression" => is_awaited = true,
                "parenthesized_expression" | "non_null_expression" => {}
                _ => break,
            }
            value = around;
        }
        let Some(around) = value.parent() else { return };
        if !is_awaited {
            if let Some(taken) = callback_parameter(source, around) {
                self.uses_of_binding(source, taken, uses);
            }
            return;
        }
        match around.kind() {
            "member_expression" => self.uses_of_member(source, around, uses),
            "variable_declarator" if around.child_by_field_name("type").is_none() => {
                if let Some(name) = around.child_by_field_name("name") {
                    self.uses_of_binding(source, name, uses);
                }
            }
            _ => {}
        }
    }

    fn uses_of_member<'n>(&self, source: &Source, member: Node<'n>, uses: &mut Vec<Node<'n>>) {
        let key = member.child_by_field_name("property");
        uses.extend(key.filter(|key| self.keys.contains(source.text(*key))));
    }

    /// Adds the places that take a lost key from a variable, or the parts of a pattern that do.
    fn uses_of_binding<'n>(&self, source: &Source, binding: Node<'n>, uses: &mut Vec<Node<'n>>) {
        if binding.kind() == "object_pattern" {
            for part in binding.named_children(&mut binding.walk()) {
                let key = match part.kind() {
                    "pair_pattern" => part.child_by_field_name("key"),
                    "object_assignment_pattern" => part.child_by_field_name("left"),
                    _ => Some(part),
                };
                uses.extend(key.filter(|key| self.keys.contains(source.text(*key))));
            }
            return;
        }
        let is_scope =
            |node: &Node<'_>| matches!(node.kind(), "statement_block" | "program" | "arrow_function");
        let Some(scope) = ancestors(binding).find(is_scope) else { return };
        let is_it = |node: Node<'_>| node.kind() == "identifier" && source.text(node) == source.text(binding);
        for node in descendants(scope) {
            match node.kind() {
                "member_expression" if node.child_by_field_name("object").is_some_and(is_it) => {
                    self.uses_of_member(source, node, uses);
                }
                "variable_declarator" if node.child_by_field_name("value").is_some_and(is_it) => {
                    let pattern =
                        node.child_by_field_name("name").filter(|name| name.kind() == "object_pattern");
                    pattern.into_iter().for_each(|child| self.uses_of_binding(source, child, uses));
                }
                _ => {}
            }
        }
    }
}

/// The parameter of the function that a promise is given: `p.then(r => …)`.
fn callback_parameter<'n>(source: &Source, member: Node<'n>) -> Option<Node<'n>> {
    let is_then =
        member.child_by_field_name("property").is_some_and(|property| source.text(property) == "then");
    let call = member.parent().filter(|parent| parent.kind() == "call_expression" && is_then)?;
    let callback = call.child_by_field_name("arguments")?.named_child(0)?;
    let single = callback.child_by_field_name("parameter");
    let first = callback.child_by_field_name("parameters").and_then(|parameters| parameters.named_child(0));
    let first = first.map(|node| node.child_by_field_name("pattern").unwrap_or(node));
    single.or(first)
}
