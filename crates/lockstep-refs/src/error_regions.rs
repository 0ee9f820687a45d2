//! Names in text that could not be parsed: their use is unknown, but not their presence.
//!
//! A grammar that fails at one line may lose the rest of a file. Its names are still references.

use tree_sitter::Tree;

use crate::facts::{Facts, Role, Shape, Use};
use crate::syntax::{LineStarts, unread};

/// The maximum number of names from one file; with more, it is not a text of that language.
const MOST: usize = 20_000;

/// The syntax of comments and strings of a language.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CommentSyntax {
    /// The start of a line comment.
    pub(crate) comment: &'static str,
    /// The delimiters of a string within a line.
    pub(crate) quotes: &'static [char],
}

/// Adds the names that are used where the tree has only an error.
pub(crate) fn add_uses(tree: &Tree, text: &str, script: CommentSyntax, facts: &mut Facts) {
    match uses(tree, text, script) {
        Some(found) => facts.uses.extend(found),
        None => facts.omitted += 1,
    }
}

/// `None` if there are too many.
fn uses(tree: &Tree, text: &str, script: CommentSyntax) -> Option<Vec<Use>> {
    let mut found = Vec::new();
    let starts = LineStarts::of(text);
    for range in unread(tree) {
        let Some(part) = text.get(range.clone()) else { continue };
        let mut line = starts.line_at(range.start);
        for words in part.lines() {
            names_of(words, line, script, &mut found);
            line = line.saturating_add(1);
            if found.len() > MOST {
                return None;
            }
        }
    }
    Some(found)
}

fn names_of(text: &str, line: u32, script: CommentSyntax, found: &mut Vec<Use>) {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
    // A line of a longer comment.
    if text.trim_start().starts_with(['*']) {
        return;
    }
    let mut rest = text;
    let mut behind = ' ';
    while let Some(first) = rest.chars().next() {
        if rest.starts_with(script.comment) || rest.starts_with("/*") {
            return;
        }
        if script.quotes.contains(&first) {
            let inside = &rest[first.len_utf8()..];
            rest = inside.find(first).map_or("", |end| &inside[end + first.len_utf8()..]);
            behind = first;
            continue;
        }
        let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        if end == 0 {
            behind = if first.is_whitespace() { behind } else { first };
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let (name, after) = rest.split_at(end);
        rest = after;
        if !first.is_ascii_digit() {
            found.push(Use {
                name: name.into(),
                line,
                role: role_of(name, after),
                of: (behind == '.').then_some(Shape::Unknown),
                arguments: None,
                keywords: Vec::new(),
                within: None,
            });
        }
        behind = 'a';
    }
}

/// Returns the probable kind of use of a name.
fn role_of(name: &str, after: &str) -> Role {
    if after.trim_start().starts_with(['(', '!']) {
        Role::Call
    } else if name.starts_with(char::is_uppercase) {
        Role::Type
    } else {
        Role::Value
    }
}
