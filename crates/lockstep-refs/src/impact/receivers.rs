//! Calls of a method that now changes its receiver, on a receiver that may be changed.

use tree_sitter::Node;

use super::tree::{Source, Trees, ancestors, descendants};
use crate::definition_diff::SymbolChange;
use crate::facts::{Definition, Facts, Role};
use crate::language::Language;
use crate::reference::Reference;
use crate::syntax::TOKEN_END;

/// Returns true if only the receiver of a method changed, and every call on the line of the reference has a
/// receiver that fits. `after` has the present method.
pub(super) fn may_be_changed(
    trees: &Trees<'_>,
    change: &SymbolChange,
    after: Option<&Facts>,
    reference: &Reference,
) -> bool {
    let (Some(after), Role::Call | Role::Covered) = (after, reference.role) else { return false };
    let was = &change.was;
    let same = |definition: &&Definition| {
        definition.name == was.name && definition.kind == was.kind && definition.container == was.container
    };
    let mut present = after.definitions.iter().filter(same);
    let (Some(now), None) = (present.next(), present.next()) else { return false };
    if !takes_to_change(after.language, was, now) {
        return false;
    }
    let Some(source) = trees.get(reference.file) else { return false };
    let leaves = source.leaves(reference.line, &reference.pattern);
    !leaves.is_empty() && leaves.into_iter().all(|leaf| is_mutable(&source, leaf))
}

/// Returns true if two headers differ only by the receiver: `&self` and `&mut self`, `f() const` and `f()`,
/// `(t T)` and `(t *T)`.
fn takes_to_change(language: Language, was: &Definition, is: &Definition) -> bool {
    let tokens = |definition: &'_ Definition| -> Vec<String> {
        definition.header.split(TOKEN_END).map(str::to_owned).collect()
    };
    let (was, is) = (tokens(was), tokens(is));
    let (longer, shorter, word) = match language {
        Language::Rust => (is, was, "mut"),
        Language::Go => (is, was, "*"),
        Language::Cpp => (was, is, "const"),
        _ => return false,
    };
    let Some(at) = longer.iter().zip(&shorter).position(|(a, b)| a != b) else { return false };
    let is_receiver = match language {
        Language::Rust => longer.get(at + 1).is_some_and(|longer| longer == "self"),
        Language::Go => !longer[..at].iter().any(|token| token == ")"),
        _ => longer[..at].iter().any(|token| token == ")"),
    };
    longer[at] == word && is_receiver && longer[at + 1..] == shorter[at..]
}

/// Returns true if the receiver of the call that a leaf names can be changed, as its own function shows.
fn is_mutable(source: &Source, leaf: Node<'_>) -> bool {
    const MEMBERS: &[&str] = &["field_expression", "selector_expression"];
    let Some(member) = leaf.parent().filter(|parent| MEMBERS.contains(&parent.kind())) else { return false };
    let Some(mut root) = field(member) else { return false };
    while let Some(inner) = field(root).filter(|_| MEMBERS.contains(&root.kind())) {
        root = inner;
    }
    match (source.language, root.kind()) {
        (Language::Go, "identifier") => true,
        (Language::Rust, "self") => takes_itself_mutably(source, root),
        (Language::Rust | Language::Cpp, "identifier") => is_declared_mutable(source, root),
        _ => false,
    }
}

/// The value of which a node is a member.
fn field(node: Node<'_>) -> Option<Node<'_>> {
    ["value", "operand", "argument"].into_iter().find_map(|name| node.child_by_field_name(name))
}

/// The function around a node, without closures.
fn function_around(node: Node<'_>) -> Option<Node<'_>> {
    ancestors(node).find(|ancestor| matches!(ancestor.kind(), "function_item" | "function_definition"))
}

fn takes_itself_mutably(source: &Source, node: Node<'_>) -> bool {
    let parameters = function_around(node).and_then(|child| child.child_by_field_name("parameters"));
    let itself = parameters
        .and_then(|parameters| parameters.named_child(0))
        .filter(|child| child.kind() == "self_parameter");
    itself.is_some_and(|itself| source.text(itself).split([' ', '&', ':']).any(|word| word == "mut"))
}

/// Returns true if every declaration of a variable in its function lets its value be changed.
fn is_declared_mutable(source: &Source, variable: Node<'_>) -> bool {
    const DECLARATIONS: &[&str] =
        &["let_declaration", "parameter", "declaration", "parameter_declaration", "for_range_loop"];
    let Some(function) = function_around(variable) else { return false };
    let name = source.text(variable);
    let mut found = false;
    for node in
        descendants(function).into_iter().filter(|descendant| DECLARATIONS.contains(&descendant.kind()))
    {
        let pattern = node.child_by_field_name("pattern").or_else(|| node.child_by_field_name("declarator"));
        let value = node.child_by_field_name("value");
        let Some(pattern) = pattern else { continue };
        let end = value.map_or(node.end_byte(), |value| value.start_byte());
        let head = source.text.get(node.start_byte()..end).unwrap_or_default();
        let is_named = descendants(pattern).into_iter().any(|descendant| {
            descendant.kind() == "identifier"
                && source.text(descendant) == name
                && descendant.start_byte() < end
        });
        if !is_named {
            continue;
        }
        found = true;
        let words = |text: &str, word: &str| crate::world::words(text).any(|candidate| candidate == word);
        let is_mutable = match source.language {
            Language::Rust => {
                let borrowed = value.is_some_and(|value| source.text(value).trim_start().starts_with("&mut"));
                words(head, "mut") || borrowed
            }
            _ => !words(head, "const") && !words(head, "auto"),
        };
        if !is_mutable {
            return false;
        }
    }
    found
}
