//! Types of variables and constants that are declared without one, as far as their initial values show them.

use tree_sitter::Node;

use crate::facts::Definition;
use crate::syntax::{TOKEN_END, digest_words, header};
use crate::walk::Walk;

/// Operators whose result is a truth value.
const COMPARISONS: &[&str] = &["!=", "&&", "<", "<=", "==", ">", ">=", "||"];

/// More nested expressions are not followed.
const MAX_DEPTH: usize = 8;

/// Returns the tokens of an expression's type, each with its end. Empty if the expression alone does not show it.
pub(super) fn type_tokens(walk: &Walk<'_>, value: Node<'_>) -> String {
    tokens_at(walk, value, 0)
}

fn tokens_at(walk: &Walk<'_>, value: Node<'_>, depth: usize) -> String {
    if depth > MAX_DEPTH {
        return String::new();
    }
    let word = |word: &str| format!("{word}{TOKEN_END}");
    let field = |name: &str| value.child_by_field_name(name);
    let written = |type_: Option<Node<'_>>| {
        type_.map(|type_| header(type_, None, &[], walk.collector.text).into_string()).unwrap_or_default()
    };
    match value.kind() {
        "interpreted_string_literal" | "raw_string_literal" => word("string"),
        "int_literal" | "iota" => word("int"),
        "float_literal" => word("float64"),
        "rune_literal" => word("rune"),
        "true" | "false" => word("bool"),
        "composite_literal" => written(field("type")),
        "unary_expression" if field("operator").is_some_and(|node| walk.text(node) == "&") => {
            let operand = field("operand").filter(|node| node.kind() == "composite_literal");
            let type_ = written(operand.and_then(|operand| operand.child_by_field_name("type")));
            if type_.is_empty() { type_ } else { word("*") + &type_ }
        }
        "parenthesized_expression" | "unary_expression" => {
            value.named_child(0).map(|child| tokens_at(walk, child, depth + 1)).unwrap_or_default()
        }
        "binary_expression" => {
            let operator = field("operator").map_or("", |node| walk.text(node));
            let left = field("left").map(|node| tokens_at(walk, node, depth + 1)).unwrap_or_default();
            if COMPARISONS.contains(&operator) { word("bool") } else { left }
        }
        _ => String::new(),
    }
}

/// Adds the tokens of its type to a definition.
pub(super) fn add_type(definition: &mut Definition, tokens: &str) {
    if tokens.is_empty() {
        return;
    }
    let (high, low) = (u64::from(u32::MAX) << 32, u64::from(u32::MAX));
    let added = digest_words(tokens.split(TOKEN_END));
    let (was, mixed) = (definition.signature, definition.signature ^ added);
    definition.signature = (mixed & high) | (was.wrapping_add(added) & low);
    definition.header = format!("{}{tokens}", definition.header).into();
}
