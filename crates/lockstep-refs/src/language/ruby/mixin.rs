//! Modules that are mixed into types: inside them, from outside, and by a module with an inclusion hook.

use tree_sitter::Node;

use super::is_constant;
use crate::facts::{DefinitionKind, Reach};
use crate::syntax::children;
use crate::walk::{Walk, dotted};

/// The depth to which a hook is searched.
const MAX_DEPTH: usize = 6;

/// Returns the modules that the body of a class or module mixes in. Instance methods and class methods are
/// not distinguished.
pub(super) fn mixed_in<'n>(walk: &Walk<'_>, body: Node<'n>) -> Vec<Node<'n>> {
    let mut found = Vec::new();
    for part in children(body) {
        match part.kind() {
            "call" if part.child_by_field_name("receiver").is_none() => found.extend(mixed_by(walk, part)),
            "singleton_class" => {
                found.extend(
                    part.child_by_field_name("body").map(|body| mixed_in(walk, body)).unwrap_or_default(),
                );
            }
            // `def self.included(base) base.extend(ClassMethods) end`
            "singleton_method" if is_hook(walk, part) => hooked(walk, part, 0, &mut found),
            _ => {}
        }
    }
    found
}

/// Handles `T.include(M)`, `T.send(:include, M)`: another part of the type, as if it were reopened.
pub(super) fn from_outside(walk: &mut Walk<'_>, node: Node<'_>, of: Node<'_>) {
    let modules = mixed_by(walk, node);
    if modules.is_empty() {
        return;
    }
    let path = dotted(walk.text(of));
    let (outer, name) = path.rsplit_once('.').map_or(("", path.as_str()), |(outer, name)| (outer, name));
    let entered = (!outer.is_empty()).then(|| walk.collector.enter(outer));
    let mut definition = walk.collector.definition(name, DefinitionKind::Type, node);
    definition.reach = Reach::File;
    definition.extends = modules.iter().map(|module| dotted(walk.text(*module)).into()).collect();
    walk.collector.define(definition);
    if let Some(before) = entered {
        walk.collector.leave(before);
    }
}

fn mixed_by<'n>(walk: &Walk<'_>, call: Node<'n>) -> Vec<Node<'n>> {
    let is_word = |text: &str| matches!(text, "include" | "extend" | "prepend");
    let method = call.child_by_field_name("method").map(|method| walk.text(method)).unwrap_or_default();
    let given = call.child_by_field_name("arguments").map(children).unwrap_or_default();
    let sent = given.first().map(|node| walk.text(*node).trim_start_matches(':')).unwrap_or_default();
    match is_word(method) || (method == "send" && is_word(sent)) {
        true => given.into_iter().filter(|node| is_constant(*node)).collect(),
        false => Vec::new(),
    }
}

fn is_hook(walk: &Walk<'_>, method: Node<'_>) -> bool {
    let name = method.child_by_field_name("name").map(|name| walk.text(name));
    matches!(name, Some("included" | "extended" | "prepended" | "inherited"))
}

/// Collects the modules that a hook mixes into its argument.
fn hooked<'n>(walk: &Walk<'_>, node: Node<'n>, depth: usize, found: &mut Vec<Node<'n>>) {
    for part in children(node).into_iter().filter(|_| depth < MAX_DEPTH) {
        if part.kind() == "call" && part.child_by_field_name("receiver").is_some() {
            found.extend(mixed_by(walk, part));
        }
        hooked(walk, part, depth + 1, found);
    }
}
