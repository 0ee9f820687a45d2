//! Section markers inside content: escaped on writing, restored on extraction.
//!
//! Any text that a reader, or a model, could confuse with one of our markers gets a `~` after its `<`:
//! content `<!-- SECTION: X -->` is written `<~!-- SECTION: X -->`. A text that already has `~`s gets one
//! more, so that every text is restored exactly. A tilde keeps JSON strings valid, which a backslash would
//! not.

use std::ops::Range;

/// The exact beginnings of our markers.
const MARKER_PREFIXES: [&str; 3] = ["<!-- SECTION: ", "<!-- /SECTION: ", "<!-- SESSION CACHE: "];

pub fn escape(content: &str) -> String {
    rewrite(content, |tildes| tildes + 1)
}

/// Restores what [`escape`] changed.
pub fn unescape(content: &str) -> String {
    rewrite(content, |tildes| tildes.saturating_sub(1))
}

/// Counts unescaped markers in `content`: accidental ones, or attempts to open, close or replace a section.
///
/// Fewer are counted than escaped, because an ordinary comment may resemble a marker.
pub fn count_markers(content: &str) -> usize {
    let at = content.match_indices('<').map(|(at, _)| &content[at..]);
    at.filter(|rest| MARKER_PREFIXES.iter().any(|marker| rest.starts_with(marker))).count()
}

fn rewrite(content: &str, tildes: impl Fn(usize) -> usize) -> String {
    let mut out = String::with_capacity(content.len());
    let mut copied = 0;
    for found in (MarkerFinder { text: content, at: 0 }) {
        out.push_str(&content[copied..found.start]);
        out.extend(std::iter::repeat_n('~', tildes(found.len())));
        copied = found.end;
    }
    out.push_str(&content[copied..]);
    out
}

/// Finds markers in a text. Yields the range of their tildes, or an empty range behind the `<`.
struct MarkerFinder<'a> {
    text: &'a str,
    at: usize,
}

impl Iterator for MarkerFinder<'_> {
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

/// Returns true if `text`, which follows a `<`, forms a marker: `!--`, an optional slash, our words in any
/// case, a colon. White space between them is ignored, because a model ignores it too.
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
            assert_eq!(count_markers(&escaped), 0);
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
            prop_assert_eq!(count_markers(&escaped), 0);
            prop_assert_eq!(unescape(&escaped), text);
        }
    }
}
