//! Decodes the spellings of paths in text: percent-encoding in links, escaped spaces in shells, quotes and brackets.

use std::borrow::Cow;

use super::paths::{Enclosure, Token, is_path_char};

/// The longest quoted string that is treated as a path.
const MAX_PATH_BYTES: usize = 300;

/// Returns the possible spellings of a path, or of its end: as it is, percent-encoded, with escaped spaces.
pub(crate) fn spellings(path: &str) -> Vec<String> {
    let mut found = vec![path.to_owned()];
    if path.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '/' | '-' | '.' | '_' | '~')) {
        return found;
    }
    let is_literal = |c: char| c.is_ascii_alphanumeric() || "/-._~!$&'()*+,;=:@".contains(c);
    let plain = |c: char| c.is_ascii_alphanumeric() || "/-._~".contains(c);
    for spelling in [
        path.replace(' ', "%20"),
        encode(path, is_literal, false),
        encode(path, is_literal, true),
        encode(path, plain, false),
        path.replace(' ', "\\ "),
    ] {
        if !found.contains(&spelling) {
            found.push(spelling);
        }
    }
    found
}

fn encode(path: &str, is_kept: impl Fn(char) -> bool, lower: bool) -> String {
    let mut out = String::new();
    for c in path.chars() {
        if is_kept(c) {
            out.push(c);
            continue;
        }
        for byte in c.encode_utf8(&mut [0; 4]).bytes() {
            out.push_str(&if lower { format!("%{byte:02x}") } else { format!("%{byte:02X}") });
        }
    }
    out
}

/// Decodes percent-encoded bytes; returns the text unchanged if they are not UTF-8.
pub(crate) fn decode(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..2).filter(|_| *first == b'%').and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).map_or(Cow::Borrowed(text), Cow::Owned)
}

/// The paths on a line that only their delimiters hold together: link targets and quoted strings with spaces, brackets,
/// percent-encoded or other characters that plain paths do not have. `start` is the start of the line in its text.
pub(crate) fn enclosed(line: &str, start: usize) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    if line.len() > 4_000 || !line.contains(['.', '/']) {
        return found;
    }
    for (at, _) in line.match_indices("](") {
        found.extend(link_target(line, at + 2, start));
    }
    if line.trim_start().starts_with('[')
        && let Some(at) = line.find("]:")
    {
        let rest = line.get(at + 2..).unwrap_or_default();
        found.extend(link_target(line, at + 2 + rest.len() - rest.trim_start().len(), start));
    }
    for quote in ['"', '\'', '`'] {
        let marks: Vec<usize> = line.match_indices(quote).map(|(at, _)| at).collect();
        for pair in marks.windows(2) {
            let attribute =
                line.get(..pair[0]).is_some_and(|line| line.ends_with("href=") || line.ends_with("src="));
            let enclosure = match quote {
                _ if attribute => Enclosure::Link,
                '`' => Enclosure::Backticks,
                _ => Enclosure::Quotes,
            };
            found.extend(special(line, pair[0] + 1..pair[1], start, enclosure));
        }
    }
    found.extend(escaped(line, start));
    found
}

/// The target of a link that begins at a position of a line: in angle brackets, or up to its closing parenthesis.
fn link_target(line: &str, at: usize, start: usize) -> Option<Token<'_>> {
    let rest = line.get(at..)?;
    if let Some(inner) = rest.strip_prefix('<') {
        let length = inner.find('>')?;
        return special(line, at + 1..at + 1 + length, start, Enclosure::Link);
    }
    let mut depth = 0_i32;
    let closes = |c: char| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth < 0
    };
    let length = rest.find(closes).unwrap_or(rest.len());
    let target = rest.get(..length)?;
    // A title follows the target in quotes.
    let end = target
        .find([' ', '\t'])
        .filter(|end| target.get(*end..).is_some_and(|target| target.contains(['"', '\''])));
    let end = end.unwrap_or(target.trim_end().len());
    special(line, at..at + end, start, Enclosure::Link)
}

/// Returns a token for a part of a line with characters that plain paths do not have.
fn special(
    line: &str,
    range: std::ops::Range<usize>,
    start: usize,
    enclosure: Enclosure,
) -> Option<Token<'_>> {
    let inner = line.get(range.clone())?;
    let written = match enclosure {
        Enclosure::Link => inner.split(['#', '?']).next()?,
        _ => inner,
    };
    let plain = written.chars().all(is_path_char);
    if plain || written.len() > MAX_PATH_BYTES || written.contains("://") || !written.contains(['.', '/']) {
        return None;
    }
    let path = if enclosure == Enclosure::Link || !written.contains(' ') {
        decode(written)
    } else {
        Cow::Borrowed(written)
    };
    let from = start + range.start;
    Some(Token { written, path, start: from, end: from + written.len(), enclosure, joined: false })
}

/// Returns paths with escaped spaces, as in shells.
fn escaped(line: &str, start: usize) -> Vec<Token<'_>> {
    let mut found: Vec<Token<'_>> = Vec::new();
    for (at, _) in line.match_indices("\\ ") {
        if found.last().is_some_and(|token| token.end > start + at) {
            continue;
        }
        let before = line.get(..at).unwrap_or_default();
        let from = before.trim_end_matches(is_path_char).len();
        let rest = line.get(from..).unwrap_or_default();
        let mut is_escaped = false;
        let ends = |c: char| {
            let part = is_path_char(c) || c == '\\' || is_escaped && c == ' ';
            is_escaped = c == '\\';
            !part
        };
        let length = rest.find(ends).unwrap_or(rest.len());
        let written = rest.get(..length).unwrap_or_default();
        if written.len() <= MAX_PATH_BYTES {
            let path = Cow::Owned(written.replace("\\ ", " "));
            let from = start + from;
            found.push(Token {
                written,
                path,
                start: from,
                end: from + length,
                enclosure: Enclosure::Quotes,
                joined: false,
            });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_with_special_characters_are_spelled_in_several_ways() {
        assert_eq!(spellings("docs/a-b.md"), ["docs/a-b.md"]);
        assert_eq!(
            spellings("my file (1).md"),
            ["my file (1).md", "my%20file%20(1).md", "my%20file%20%281%29.md", "my\\ file\\ (1).md"]
        );
        assert_eq!(spellings("é.md"), ["é.md", "%C3%A9.md", "%c3%a9.md"]);
        assert_eq!(decode("%C3%A9%20%"), "é %");
        assert_eq!(decode("%FF"), "%FF");
    }

    #[test]
    fn delimiters_hold_paths_together() {
        let paths =
            |line| enclosed(line, 0).into_iter().map(|token| token.path.into_owned()).collect::<Vec<_>>();
        assert_eq!(paths("[x](my%20file.md#top) and [y](<a b.md> \"t\")"), ["my file.md", "a b.md"]);
        assert_eq!(paths("[x]: my%20file.md \"title\""), ["my file.md"]);
        assert_eq!(paths("[x](a%20(1).md)"), ["a (1).md"]);
        assert_eq!(paths("<img src=\"a b.png\">"), ["a b.png"]);
        assert_eq!(paths("cat my\\ file.md"), ["my file.md"]);
        assert_eq!(paths("open('app/[id]/page.tsx')"), ["app/[id]/page.tsx"]);
        assert_eq!(paths("[x](plain.md) `https://x.org/a b.md`"), [""; 0]);
    }
}
