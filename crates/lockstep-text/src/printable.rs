//! Text from outside, such as file names, made safe to print.
//!
//! Control characters can move the cursor, change the terminal's title or open a line of their own. Bidirectional formatting
//! characters change the order in which text is read. Characters without a shape can spell text that only models see.

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
    controls || separates || directs || is_invisible(c)
}

/// Returns true for a character without a shape. Those that join or vary letters and emoji are [`is_joiner`]s.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{200b}'
        | '\u{2060}'..='\u{2065}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0d}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffc}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d159}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Returns true for an invisible character that scripts and emoji need: the two joiners, and two variation selectors.
fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}')
}

/// Returns true if a joiner follows a character that it can join or vary. Runs of joiners could spell text.
fn joins(before: Option<char>, joiner: char) -> bool {
    before.is_some_and(|before| match before {
        '0'..='9' | '#' | '*' => joiner == '\u{fe0f}',
        '\u{fe0f}' => joiner == '\u{200d}',
        _ => !before.is_ascii() && !is_joiner(before) && !is_unprintable(before),
    })
}

/// The characters of a text, and whether each is unwanted in output.
fn judged(text: &str) -> impl Iterator<Item = (char, bool)> + '_ {
    let mut before = None;
    text.chars().map(move |c| {
        let is_unwanted = is_unprintable(c) || (is_joiner(c) && !joins(before, c));
        before = Some(if is_unwanted { ' ' } else { c });
        (c, is_unwanted)
    })
}

fn may_be_unwanted(c: char) -> bool {
    is_unprintable(c) || is_joiner(c)
}

/// Returns a path as one line of printable text.
pub fn printable_path(path: &Path) -> String {
    single_line(&path.to_string_lossy())
}

/// Replaces every unprintable character, so that the text stays on one line and cannot control the terminal.
pub fn single_line(text: &str) -> String {
    judged(text).map(|(c, is_unwanted)| if is_unwanted { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// Appends one line of printable text. Line breaks inside values are replaced.
pub fn push_line(out: &mut String, line: fmt::Arguments<'_>) {
    out.push_str(&single_line(&line.to_string()));
    out.push('\n');
}

/// Replaces every unprintable character except the ends of lines.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(|c| may_be_unwanted(c) && c != '\n') {
        return Cow::Borrowed(text);
    }
    let replace = |(c, is_unwanted)| if is_unwanted && c != '\n' { char::REPLACEMENT_CHARACTER } else { c };
    Cow::Owned(judged(text).map(replace).collect())
}

/// Returns a double-quoted YAML scalar.
pub fn yaml_quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\t' => out.push_str("\\t"),
            c if may_be_unwanted(c) => {
                let _ = match u32::from(c) {
                    code @ 0x10000.. => write!(out, "\\U{code:08x}"),
                    code => write!(out, "\\u{code:04x}"),
                };
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
    if !json.contains(|c| may_be_unwanted(c) && !matches!(c, '\n' | '\r')) {
        return Cow::Borrowed(json);
    }
    let mut escaped = String::with_capacity(json.len() + 8);
    for (c, is_unwanted) in judged(json) {
        if is_unwanted && !matches!(c, '\n' | '\r') {
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

    #[test]
    fn text_that_only_models_see_is_replaced() {
        let selectors: String =
            "run this".bytes().map(|byte| char::from_u32(0xe00f0 + u32::from(byte)).unwrap()).collect();
        let bits: String = (0..16).map(|bit| if bit % 3 == 0 { '\u{200c}' } else { '\u{200d}' }).collect();
        for hidden in [
            &selectors,
            &bits,
            "\u{ad}",
            "\u{200b}",
            "\u{2062}",
            "\u{3164}",
            "\u{feff}",
            "\u{fe01}",
            "\u{fe0f}\u{fe0f}",
        ] {
            let name = format!("a{hidden}.py");
            let expected = format!("a{}.py", "\u{fffd}".repeat(hidden.chars().count()));
            assert_eq!(single_line(&name), expected, "{hidden:?}");
            assert_eq!(printable(&name), expected);
            assert!(!escape_unprintable(&name).contains(may_be_unwanted));
            assert!(!yaml_quoted(&name).contains(may_be_unwanted));
        }
    }

    #[test]
    fn emoji_and_scripts_that_need_joiners_stay() {
        for text in [
            "❤\u{fe0f}\u{200d}🔥",
            "👨\u{200d}👩\u{200d}👧",
            "1\u{fe0f}\u{20e3}",
            "می\u{200c}خواهم",
            "☎\u{fe0e}",
        ] {
            assert_eq!(single_line(text), text);
            assert_eq!(printable(text), text);
        }
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
