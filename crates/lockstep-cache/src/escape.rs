//! Section markers inside content: escaped on writing, restored on extraction.
//!
//! Anything that a reader, or a model, could take for one of our markers gets a `~` behind its `<`: content
//! `<!-- SECTION: X -->` is written `<~!-- SECTION: X -->`. One that already has `~`s gets one more, so that every text comes
//! back exactly. The tilde, because it leaves JSON valid inside strings, which a backslash does not.

use std::ops::Range;

/// How our own markers begin, exactly.
const EXACT: [&str; 3] = ["<!-- SECTION: ", "<!-- /SECTION: ", "<!-- SESSION CACHE: "];

/// Escapes every marker in `content`.
pub fn escape(content: &str) -> String {
    rewrite(content, |tildes| tildes + 1)
}

/// Restores what [`escape`] changed.
pub fn unescape(content: &str) -> String {
    rewrite(content, |tildes| tildes.saturating_sub(1))
}

/// How many of our own markers `content` has, unescaped: an accident, or someone who wants to open, close or replace a
/// section. Fewer than are escaped, because an ordinary comment may look a little like one.
pub fn markers(content: &str) -> usize {
    let at = content.match_indices('<').map(|(at, _)| &content[at..]);
    at.filter(|rest| EXACT.iter().any(|marker| rest.starts_with(marker))).count()
}

fn rewrite(content: &str, tildes: impl Fn(usize) -> usize) -> String {
    let mut out = String::with_capacity(content.len());
    let mut copied = 0;
    for found in (Markers { text: content, at: 0 }) {
        out.push_str(&content[copied..found.start]);
        out.extend(std::iter::repeat_n('~', tildes(found.len())));
        copied = found.end;
    }
    out.push_str(&content[copied..]);
    out
}

/// Finds markers in a text; gives where their tildes are, an empty range behind the `<` if there are none.
struct Markers<'a> {
    text: &'a str,
    at: usize,
}

impl Iterator for Markers<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        while let Some(found) = self.text[self.at..].find('<') {
            let start = self.at + found + 1;
            self.at = start;
            let rest = &self.text[start..];
            let tildes = rest.len() - rest.trim_start_matches('~').len();
            if is_marker(&rest[tildes..]) {
                return Some(start..start + tildes);
            }
        }
        None
    }
}

/// Whether `text`, which follows a `<`, makes a marker: `!--`, perhaps a slash, our words in any case, a colon. White
/// space between them is ignored, because a model ignores it too.
fn is_marker(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("!--") else { return false };
    let rest = rest.trim_start();
    let rest = rest.strip_prefix('/').unwrap_or(rest);
    let opened = after_word(rest, "SECTION")
        .or_else(|| after_word(rest, "SESSION").and_then(|rest| after_word(rest, "CACHE")));
    opened.is_some_and(|rest| rest.trim_start().starts_with(':'))
}

fn after_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let text = text.trim_start();
    text.get(..word.len()).filter(|start| start.eq_ignore_ascii_case(word)).map(|_| &text[word.len()..])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn markers_of_any_spelling_are_escaped() {
        for marker in [
            "<!-- SECTION: CONSTITUTION -->",
            "<!-- /SECTION: CONSTITUTION -->",
            "<!--section: X-->",
            "<!--\n  / Section : X",
            "<!-- SESSION CACHE: Generated",
        ] {
            let escaped = escape(marker);
            assert!(escaped.starts_with("<~!--"), "{escaped}");
            assert_eq!(markers(&escaped), 0);
            assert_eq!(unescape(&escaped), marker);
        }
    }

    #[test]
    fn other_comments_are_left_alone() {
        let text = "<!-- a section: --> <~x <!-- SECT: --> < !-- SECTION: <!-- Section 1 -->";
        assert_eq!(escape(text), text);
    }

    #[test]
    fn json_stays_json() {
        let json = r#"{"a": "<!-- SECTION: X -->"}"#;
        assert!(serde_json::from_str::<serde_json::Value>(&escape(json)).is_ok());
    }

    proptest! {
        #[test]
        fn every_text_comes_back(parts in prop::collection::vec(prop_oneof![
            any::<String>(),
            "(<~{0,3}!-- ?/?(SECTION:|section :|SESSION CACHE: )|<|~|!--|\n| )",
        ], 0..12)) {
            let text = parts.concat();
            let escaped = escape(&text);
            prop_assert_eq!(markers(&escaped), 0);
            prop_assert_eq!(unescape(&escaped), text);
        }
    }
}
