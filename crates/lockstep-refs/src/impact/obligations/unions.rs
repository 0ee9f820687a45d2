//! Unions of literals in TypeScript that got one more: `"low" | "high"` is now `"low" | "mid" | "high"`. Unions of objects that a property
//! tells apart.

use tree_sitter::Node;

use super::super::tree::Trees;
use super::{Action, Obligation};
use crate::definition_diff::{DefinitionChangeKind, SymbolChange};
use crate::facts::{Definition, DefinitionKind, Facts, Role};
use crate::language::Language;
use crate::package::is_type;
use crate::reference::Reference;
use crate::syntax::{TOKEN_END, children};

/// The obligations of literals that unions have now and did not have before.
pub(super) fn grown((old, former): (&Facts, &str), (new, now): (&Facts, &str)) -> Vec<Obligation> {
    if !matches!(new.language, Language::TypeScript | Language::Tsx) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for owner in new.definitions.iter().filter(|definition| is_type(definition)) {
        let same = |definition: &&Definition| {
            definition.kind == owner.kind
                && definition.name == owner.name
                && definition.container == owner.container
        };
        let Some(was) = old.definitions.iter().find(same) else { continue };
        let (before, after) = (literals(former, was), literals(now, owner));
        for added in after.iter().filter(|name| before.len() > 1 && !before.contains(name)) {
            let sibling =
                |name: &&str| Definition::new(name, DefinitionKind::Variant, owner.line, owner.line);
            found.push(Obligation {
                owner: owner.clone(),
                member: (*added).into(),
                action: Action::Handle,
                siblings: before.iter().filter(|name| after.contains(name)).map(sibling).collect(),
                is_met: false,
            });
        }
    }
    found
}

/// Returns true if a property of a union of objects is still one of its others: it is only read, or given a literal that one of them
/// has. Comparisons with lost literals are searched one by one.
pub(in crate::impact) fn is_one_of_others(
    trees: &Trees<'_>,
    change: &SymbolChange,
    after: Option<&Facts>,
    reference: &Reference,
) -> bool {
    let was = &change.was;
    let is_affected = was.kind == DefinitionKind::Field
        && matches!(
            change.what,
            DefinitionChangeKind::Removed
                | DefinitionChangeKind::Renamed(_)
                | DefinitionChangeKind::SignatureChanged { .. }
        );
    let Some(after) =
        after.filter(|facts| is_affected && matches!(facts.language, Language::TypeScript | Language::Tsx))
    else {
        return false;
    };
    let is_other = |definition: &&Definition| {
        definition.kind == was.kind && definition.name == was.name && definition.container == was.container
    };
    let others: Vec<&Definition> = after.definitions.iter().filter(is_other).collect();
    let has_literal = |definition: &&Definition| definition.header.contains(['"', '\'']);
    if others.is_empty() || !others.iter().all(has_literal) || !was.header.contains(['"', '\'']) {
        return false;
    }
    let Some(source) = trees.get(reference.file) else { return false };
    let is_given = |literal: &str| {
        others.iter().any(|definition| definition.header.split(TOKEN_END).any(|token| token == literal))
    };
    let leaves = source.leaves(reference.line, &reference.pattern);
    let strings = |of: Node<'_>| -> Vec<String> {
        let found = children(of).into_iter().filter(|child| child.kind() == "string");
        found.map(|node| source.text(node).trim_matches(['"', '\'']).to_owned()).collect()
    };
    let literals: Vec<String> = match reference.role {
        // The key and its value.
        Role::Construct => leaves.into_iter().filter_map(|leaf| leaf.parent()).flat_map(strings).collect(),
        Role::Value => {
            let is_compared = |node: &Node<'_>| node.kind() == "binary_expression";
            let around = leaves.into_iter().filter_map(|leaf| leaf.parent()?.parent());
            let compared = around.filter(is_compared).flat_map(strings).collect::<Vec<_>>();
            // Without a comparison, the value is only read.
            return compared.iter().all(|name| is_given(name)) && !source.text.contains("switch");
        }
        _ => return false,
    };
    !literals.is_empty() && literals.iter().all(|literal| is_given(literal))
}

/// The string literals of a union: of an alias or a field in TypeScript, of `Literal` in Python.
pub(super) fn literals<'t>(text: &'t str, alias: &Definition) -> Vec<&'t str> {
    let lines = text.lines().skip(alias.line.saturating_sub(1) as usize);
    let lines: Vec<&str> = lines.take((alias.end_line - alias.line + 1) as usize).collect();
    let Some(first) = lines.first() else { return Vec::new() };
    let is_union = match alias.kind {
        DefinitionKind::Field => first.contains(':') && !first.contains('{'),
        _ => is_type(alias) && crate::world::words(first).any(|word| word == "type"),
    };
    let is_union = is_union && lines.iter().any(|line| line.contains('|'));
    if !is_union && !first.contains("Literal[") {
        return Vec::new();
    }
    lines.iter().flat_map(|line| line.split(['"', '\'']).skip(1).step_by(2)).collect()
}
