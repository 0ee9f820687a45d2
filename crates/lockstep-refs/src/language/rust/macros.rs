//! Reads the rules of a macro as the code they generate: placeholders replace the arguments, and repetitions
//! occur once.

use std::collections::HashMap;

use tree_sitter::Node;

use super::extractor::{Reader, Source, parse};
use super::tokens::{comment, quote, raw, string};
use crate::syntax::children;

/// The prefix of placeholders for macro arguments. No name in a text has it.
pub(super) const GIVEN: char = 'ǀ';

/// Returns true if a name is a placeholder.
pub(super) fn is_given(name: &str) -> bool {
    name.starts_with(GIVEN)
}

impl Reader {
    /// Reads the result of a rule: as items, otherwise as a function body, otherwise as words.
    pub(super) fn macro_rule(&mut self, source: Source<'_>, rule: Node<'_>) {
        let Some(right) = rule.child_by_field_name("right") else { return };
        let text = source.of(right);
        let line = source.line(right).saturating_sub(1);
        let left = rule.child_by_field_name("left").map(|left| source.of(left)).unwrap_or_default();
        let inside = text.get(1..text.len().saturating_sub(1)).unwrap_or_default();
        let expansion = transcribed(inside, &fragments(left), 0);
        let expanded = Source { text: &expansion, line };
        let done = self.within_brackets(|reader| {
            reader.reread_made(expanded) || reader.reread(expanded, "fn f(){", "}", false)
        });
        if !done {
            self.words(Source { text, line }, false);
        }
    }

    /// Reads items, if there is nothing but items.
    fn reread_made(&mut self, source: Source<'_>) -> bool {
        let Some(tree) = parse(source.text) else { return false };
        let root = tree.root_node();
        let is_item = |node: &Node<'_>| {
            node.kind().ends_with("_item")
                || matches!(
                    node.kind(),
                    "use_declaration" | "extern_crate_declaration" | "macro_definition" | "empty_statement"
                )
                || node.is_extra()
        };
        let nodes = children(root);
        if root.has_error() || !nodes.iter().all(is_item) || nodes.iter().all(Node::is_extra) {
            return false;
        }
        self.items(source, root);
        true
    }
}

/// Returns the fragment kind of each variable of a rule: `ty` of `$t:ty`.
fn fragments(left: &str) -> HashMap<&str, &str> {
    let mut fragments = HashMap::new();
    for part in left.split('$').skip(1) {
        let (name, rest) = word(part);
        if let Some(rest) = rest.trim_start().strip_prefix(':') {
            fragments.insert(name, word(rest.trim_start()).0);
        }
    }
    fragments
}

/// Splits a text after its first word.
pub(super) fn word(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len()))
}

/// The depth to which nested repetitions are read.
const MOST_REPEATED: usize = 16;

/// Returns the text that a rule generates, keeping its lines.
fn transcribed(text: &str, fragments: &HashMap<&str, &str>, depth: usize) -> String {
    let mut expansion = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['$', '"', '\'', '/', 'r']) {
        expansion.push_str(&rest[..at]);
        rest = &rest[at..];
        let length = match rest.strip_prefix('$') {
            Some(after) if after.starts_with('(') && depth < MOST_REPEATED => {
                let (inner, length) = repeated(after);
                expansion.push_str(&transcribed(inner, fragments, depth + 1));
                let skipped = &after[inner.len() + 1..length];
                expansion.extend(skipped.chars().filter(|c| *c == '\n'));
                1 + length
            }
            Some(after) => {
                let (name, _) = word(after);
                stand_in(name, fragments.get(name).copied(), &mut expansion);
                1 + name.len()
            }
            None => {
                let length = untouched(rest);
                expansion.push_str(&rest[..length]);
                length
            }
        };
        rest = rest.get(length..).unwrap_or_default();
    }
    expansion.push_str(rest);
    expansion
}

fn stand_in(name: &str, fragment: Option<&str>, expansion: &mut String) {
    match (name, fragment) {
        ("", _) => expansion.push('$'),
        ("crate", _) => expansion.push_str("crate"),
        (_, Some("vis" | "item" | "stmt")) => {}
        (_, Some("block")) => expansion.push_str("{}"),
        (_, Some("lifetime")) => expansion.push_str("'a"),
        _ => {
            expansion.push(GIVEN);
            expansion.push_str(name);
        }
    }
}

/// Returns the length of the string, comment or raw identifier that a text begins with, which is not changed.
pub(super) fn untouched(text: &str) -> usize {
    let length = match text.as_bytes() {
        [b'"', ..] => string(text),
        [b'\'', ..] => quote(text),
        [b'/', b'/' | b'*', ..] => comment(text),
        [b'r', b'"', ..] | [b'r', b'#', b'"', ..] => raw(text),
        _ => 1,
    };
    if text.is_char_boundary(length) { length } else { text.len() }
}

/// Returns the content of the brackets that a text begins with, and the length including the brackets and the
/// repetition operator.
fn repeated(text: &str) -> (&str, usize) {
    let (mut depth, mut at) = (0_u32, 0);
    while let Some(c) = text[at..].chars().next() {
        let length = match c {
            '"' | '\'' | '/' | 'r' => untouched(&text[at..]).max(1),
            _ => c.len_utf8(),
        };
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += length;
        if depth == 0 {
            return (&text[1..at - 1], at + marks(&text[at..]));
        }
    }
    (text.get(1..).unwrap_or_default(), text.len())
}

/// Returns the length of a repetition operator: `*`, `,*`, `=>+`.
fn marks(text: &str) -> usize {
    let is_mark = |c: char| matches!(c, '*' | '+' | '?');
    let mut chars = text.char_indices();
    match (chars.next(), chars.next()) {
        // A separator may look like the operator.
        (Some((_, '+' | '?')), Some((at, '*' | '+'))) => at + 1,
        (Some((_, c)), _) if is_mark(c) => c.len_utf8(),
        _ => {
            let end = text.char_indices().take(4).find(|(_, c)| is_mark(*c));
            end.map_or(0, |(at, c)| at + c.len_utf8())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_read_as_what_it_makes() {
        let left = "($(#[$m:meta])* $v:vis struct $n:ident { $($f:ident: $t:ty),* $(,)? }, $l:lifetime)";
        let right = "\n$(#[$m])*\n$v struct $n<$l> { $($f: $t,)* s: &$l str }\n\
                     impl $crate::T for $n { fn f() { \"$n\"; '$'; [$($f),+]; $(g($f);)=>* } } // $n\n";
        assert_eq!(
            transcribed(right, &fragments(left), 0),
            "\n#[ǀm]\n struct ǀn<'a> { ǀf: ǀt, s: &'a str }\n\
             impl crate::T for ǀn { fn f() { \"$n\"; '$'; [ǀf]; g(ǀf); } } // $n\n"
        );
    }

    #[test]
    fn incomplete_macro_input_does_not_panic() {
        for text in ["$(", "$", "$(a", "$)", "\"$x", "'", "r#\"$(", "/*$x", "$é(", "$(é)é*"] {
            transcribed(text, &HashMap::new(), 0);
        }
    }
}
