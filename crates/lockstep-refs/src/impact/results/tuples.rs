//! Functions of Go with several results: a call need not use the one whose type changed.

use tree_sitter::Node;

use super::super::tree::{Source, ancestors, descendants};
use crate::language::Language;
use crate::syntax::children;

/// Returns true if a call drops every result whose type changed, or keeps it in a new variable of which only members are used
/// while the type only became a pointer, or is none any more.
pub(super) fn drops_changed_results(source: &Source, call: Node<'_>, former: &str, result: &str) -> bool {
    if source.language != Language::Go {
        return false;
    }
    let (was, is) = (result_types(former), result_types(result));
    let statement =
        call.parent().filter(|parent| parent.named_child_count() == 1).and_then(|parent| parent.parent());
    let Some(statement) =
        statement.filter(|statement| statement.child_by_field_name("right") == call.parent())
    else {
        return false;
    };
    let left = statement.child_by_field_name("left").map(children).unwrap_or_default();
    if was.len() != is.len() || left.len() != is.len() {
        return false;
    }
    let is_new = statement.kind() == "short_var_declaration";
    let changed = was.iter().zip(&is).zip(left).filter(|((was, is), _)| was != is);
    let mut changed = changed.peekable();
    changed.peek().is_some()
        && changed.all(|((was, is), name)| {
            let is_pointer = was.replace("* ", "") == is.replace("* ", "");
            source.text(name) == "_" || is_new && is_pointer && is_used_by_members(source, name)
        })
}

/// Returns the types of a list of results without names.
pub(in crate::impact) fn result_types(results: &str) -> Vec<String> {
    let inside = results
        .trim()
        .strip_prefix('(')
        .and_then(|strip_prefix| strip_prefix.strip_suffix(')'))
        .unwrap_or(results);
    let mut found = vec![String::new()];
    let mut depth = 0_u32;
    for c in inside.chars() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                found.push(String::new());
                continue;
            }
            _ => {}
        }
        found.last_mut().into_iter().for_each(|name| name.push(c));
    }
    found.into_iter().map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
}

/// Returns true if every later use of a variable in its function is the value of a member.
fn is_used_by_members(source: &Source, variable: Node<'_>) -> bool {
    let functions = ["function_declaration", "method_declaration", "func_literal"];
    let Some(function) = ancestors(variable).find(|ancestor| functions.contains(&ancestor.kind())) else {
        return false;
    };
    let is_use = |node: &Node<'_>| {
        node.kind() == "identifier"
            && node.start_byte() > variable.end_byte()
            && source.text(*node) == source.text(variable)
    };
    descendants(function).into_iter().filter(is_use).all(|descendant| {
        let around = descendant.parent().filter(|parent| parent.kind() == "selector_expression");
        around.is_some_and(|around| around.child_by_field_name("operand") == Some(descendant))
    })
}
