//! Edits of a text at positions of its syntax tree.

use tree_sitter::{Language, Node, Parser, Tree};

pub(super) fn parse(language: &Language, text: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(language).ok()?;
    parser.parse(text, None)
}

/// Every node of a tree, in the order of the text.
pub(super) fn nodes(tree: &Tree) -> Vec<Node<'_>> {
    let mut all = Vec::new();
    let mut stack = vec![tree.root_node()];
    while let Some(node) = stack.pop() {
        all.push(node);
        let children: Vec<_> = node.children(&mut node.walk()).collect();
        stack.extend(children.into_iter().rev());
    }
    all
}

/// The line of a node, counted from 1.
pub(super) fn line(node: Node<'_>) -> u32 {
    u32::try_from(node.start_position().row).unwrap_or(u32::MAX - 1) + 1
}

/// The text with parts replaced: start, end, and what comes there. `None` if nothing is.
pub(super) fn apply(text: &str, mut edits: Vec<(usize, usize, String)>) -> Option<String> {
    if edits.is_empty() {
        return None;
    }
    edits.sort_by_key(|(start, ..)| *start);
    let mut result = String::with_capacity(text.len() + 64);
    let mut at = 0;
    for (start, end, new) in edits {
        result.push_str(text.get(at..start)?);
        result.push_str(&new);
        at = end;
    }
    result.push_str(text.get(at..)?);
    Some(result)
}
