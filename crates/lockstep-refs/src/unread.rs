//! Names in text that a parser could not make sense of: what they are used for is not known, but that they stand there is.
//!
//! A grammar that stumbles over one line may lose the rest of a file. Whoever is named there still depends.

use tree_sitter::Tree;

use crate::facts::{Role, Shape, Use};
use crate::syntax::unread;

/// More names than this are not taken from one file: it is no text of that language.
const MOST: usize = 20_000;

/// How a language writes what is no code.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Script {
    /// What begins a comment that ends with its line.
    pub(crate) comment: &'static str,
    /// What begins and ends a string within a line.
    pub(crate) quotes: &'static [char],
}

/// The names that are used where the tree has only an error.
pub(crate) fn uses(tree: &Tree, text: &str, script: Script) -> Vec<Use> {
    let mut found = Vec::new();
    for range in unread(tree) {
        let Some(part) = text.get(range.clone()) else { continue };
        let before = text.get(..range.start).map_or(0, |before| before.matches('\n').count());
        let mut line = u32::try_from(before).unwrap_or(u32::MAX).saturating_add(1);
        for words in part.lines() {
            names_of(words, line, script, &mut found);
            line = line.saturating_add(1);
            if found.len() > MOST {
                return Vec::new();
            }
        }
    }
    found
}

fn names_of(text: &str, line: u32, script: Script, found: &mut Vec<Use>) {
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

/// What a name is probably used for.
fn role_of(name: &str, after: &str) -> Role {
    if after.trim_start().starts_with(['(', '!']) {
        Role::Call
    } else if name.starts_with(char::is_uppercase) {
        Role::Type
    } else {
        Role::Value
    }
}
