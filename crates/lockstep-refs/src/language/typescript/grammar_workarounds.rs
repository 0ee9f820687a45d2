//! Rewrites text that TypeScript accepts and its grammar does not, byte for byte in place, so that all
//! positions stay the same.
//!
//! - A signature that begins with type parameters, after one without a semicolon: the grammar treats them as
//!   arguments of the preceding type, and loses the rest.
//! - The variance of a type parameter: `<in out T>`.
//! - `export type * from`.

use tree_sitter::{Language as Grammar, Tree};

use crate::syntax::{parse, parse_without_error, unread};

/// Parses a text, rewritten if it does not parse otherwise.
pub(super) fn parsed(grammar: &Grammar, text: &str, elements: bool) -> Option<Tree> {
    let Some(mended) = mend(text, elements) else { return parse(grammar, text) };
    // Recovering from an error costs many times as much as parsing the text again.
    if let Some(tree) = parse_without_error(grammar, text) {
        return Some(tree);
    }
    let mended = parse(grammar, &mended);
    if mended.as_ref().is_some_and(|tree| !tree.root_node().has_error()) {
        return mended;
    }
    let tree = parse(grammar, text)?;
    Some(match mended {
        Some(mended) if damage(&mended) < damage(&tree) => mended,
        _ => tree,
    })
}

/// Returns the amount of text that was not parsed.
fn damage(tree: &Tree) -> (usize, usize) {
    let parts = unread(tree);
    (parts.iter().map(ExactSizeIterator::len).sum(), parts.len())
}

/// Rewrites a text. `elements` is set if `<T>` may be an element of JSX.
fn mend(text: &str, elements: bool) -> Option<String> {
    let mut bytes = text.as_bytes().to_vec();
    part_signatures(text, elements, &mut bytes);
    blank_variance(&mut bytes);
    for (at, found) in text.match_indices("export type *") {
        blank(&mut bytes, at + "export ".len()..at + found.len() - " *".len());
    }
    if bytes == text.as_bytes() { None } else { String::from_utf8(bytes).ok() }
}

fn blank(bytes: &mut [u8], range: std::ops::Range<usize>) {
    if let Some(bytes) = bytes.get_mut(range) {
        bytes.fill(b' ');
    }
}

/// Inserts a semicolon before type parameters at the beginning of a line, after a line that ends a signature.
fn part_signatures(text: &str, elements: bool, bytes: &mut [u8]) {
    let mut at = 0;
    let mut ends = false;
    for line in text.split_inclusive('\n') {
        let code = line.trim();
        let begin = at + (line.len() - line.trim_start().len());
        if ends && begin > at && begins_signature(code, elements) {
            bytes[begin - 1] = b';';
        }
        at += line.len();
        let is_comment = code.starts_with("//") || code.starts_with("/*") || code.starts_with('*');
        if !code.is_empty() && !is_comment {
            ends = code.ends_with(|c: char| {
                c.is_alphanumeric() || matches!(c, '_' | '$' | '>' | ']' | '}' | ')' | '"' | '\'')
            });
        }
    }
}

fn begins_signature(code: &str, elements: bool) -> bool {
    let Some(inside) = code.strip_prefix('<') else { return false };
    let name =
        inside.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$'))).unwrap_or(inside.len());
    let after = &inside[name..];
    if inside.is_empty() {
        return true;
    }
    let parameters = after.starts_with(" extends ") || after.starts_with(" = ") || after.starts_with(',');
    let is_const = inside.starts_with("const ");
    name > 0 && (parameters || is_const || after.starts_with(">(") || !elements)
}

/// Blanks `in` and `out` before the name of a type parameter.
fn blank_variance(bytes: &mut [u8]) {
    for at in 0..bytes.len() {
        if !matches!(bytes[at], b'<' | b',') {
            continue;
        }
        let mut from = at + 1;
        let mut modifiers = Vec::new();
        loop {
            from += bytes[from..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            let length = bytes[from..].iter().take_while(|byte| is_word(**byte)).count();
            let word = from..from + length;
            let spaced = bytes.get(word.end).is_some_and(u8::is_ascii_whitespace);
            if modifiers.len() == 2 || !spaced || !matches!(&bytes[word.clone()], b"in" | b"out") {
                // A name must remain.
                if length > 0 && !bytes[word.start].is_ascii_digit() {
                    modifiers.into_iter().for_each(|range| blank(bytes, range));
                }
                break;
            }
            from = word.end;
            modifiers.push(word);
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || !byte.is_ascii()
}
