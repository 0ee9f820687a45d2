//! Text from outside, such as file names, made safe to print.
//!
//! Control characters can move the cursor, change the terminal's title or open a line of their own. Bidirectional formatting
//! characters change the order in which text is read.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::path::Path;

/// Returns true if a character controls a terminal, separates lines, changes the direction of text or is text that people do not
/// see and models read. A tab does none of it.
pub fn is_unprintable(c: char) -> bool {
    let controls = c.is_control() && c != '\t';
    let separates = matches!(c, '\u{2028}' | '\u{2029}');
    let directs =
        matches!(c, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{206f}');
    let hides = matches!(c, '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}');
    controls || separates || directs || hides
}

/// Returns a path as one line of printable text.
pub fn printable_path(path: &Path) -> String {
    single_line(&path.to_string_lossy())
}

/// Replaces every unprintable character, so that the text stays on one line and cannot control the terminal.
pub fn single_line(text: &str) -> String {
    text.chars().map(|c| if is_unprintable(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// Appends one line of printable text, whatever ends of lines its values have.
pub fn push_line(out: &mut String, line: fmt::Arguments<'_>) {
    out.push_str(&single_line(&line.to_string()));
    out.push('\n');
}

/// Replaces every unprintable character except the ends of lines.
pub fn printable(text: &str) -> Cow<'_, str> {
    let is_unwanted = |c: char| is_unprintable(c) && c != '\n';
    if !text.contains(is_unwanted) {
        return Cow::Borrowed(text);
    }
    let replaced = text.chars().map(|c| if is_unwanted(c) { char::REPLACEMENT_CHARACTER } else { c });
    Cow::Owned(replaced.collect())
}

/// Returns a double-quoted YAML scalar.
pub fn yaml_quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\t' => out.push_str("\\t"),
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}') => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Writes unprintable characters of a JSON document as `\uXXXX`. The document keeps its meaning: JSON has them only inside strings,
/// apart from the ends of lines, which stay.
pub fn escape_unprintable(json: &str) -> Cow<'_, str> {
    let is_unwanted = |c: char| is_unprintable(c) && !matches!(c, '\n' | '\r');
    if !json.contains(is_unwanted) {
        return Cow::Borrowed(json);
    }
    let mut escaped = String::with_capacity(json.len() + 8);
    for c in json.chars() {
        if is_unwanted(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        } else {
            escaped.push(c);
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn escapes_and_directions_are_replaced() {
        assert_eq!(single_line("a\u{1b}[2Jb\r\nc\u{202e}d\te"), "a\u{fffd}[2Jb\u{fffd}\u{fffd}c\u{fffd}d\te");
        assert_eq!(printable("a\u{9b}1m\nb\u{2066}"), "a\u{fffd}1m\nb\u{fffd}");
        assert_eq!(printable("plain\ttext\n"), "plain\ttext\n");
        assert_eq!(escape_unprintable("\"a\u{202e}b\"\n"), "\"a\\u202eb\"\n");
        assert_eq!(escape_unprintable("\"\u{e0041}\""), "\"\\udb40\\udc41\"");
        assert_eq!(printable_path(Path::new("a\nb")), "a\u{fffd}b");
    }

    proptest! {
        #[test]
        fn a_single_line_is_printable_and_has_no_end(text in any::<String>()) {
            let line = single_line(&text);
            prop_assert!(!line.contains(is_unprintable));
            prop_assert_eq!(line.chars().count(), text.chars().count());
            prop_assert_eq!(printable(&line), line.as_str());
        }

        #[test]
        fn a_printable_text_keeps_its_lines(text in any::<String>()) {
            prop_assert_eq!(printable(&text).matches('\n').count(), text.matches('\n').count());
        }
    }
}
