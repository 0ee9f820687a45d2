//! The style of a file: its newlines, indentation and gaps, so that new text looks like the old.

use jsonc_parser::ast::Object;
use jsonc_parser::common::Ranged;

use crate::settings_document::{JsonContainer, SettingsDocument};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct JsonStyle {
    pub(crate) newline: &'static str,
    /// One level of indentation.
    pub(crate) unit: String,
    /// The text between a name and its value.
    pub(crate) colon: String,
    /// The text after a comma on one line.
    pub(crate) comma_gap: String,
    /// Set if a new container is spread over lines.
    pub(crate) spread: bool,
}

impl JsonStyle {
    /// Detects the style of a file whose outermost object is `root`.
    pub(crate) fn of(document: &SettingsDocument<'_>, root: &Object<'_>) -> Self {
        let text = document.text;
        let colon = colon(text, root).unwrap_or(": ");
        let container = JsonContainer::from(root);
        let indent = container.children.first().and_then(|child| line_indent(document, child.start));
        let outer = leading_blanks(text, root.start());
        Self {
            newline: newline(text),
            unit: indent.map_or("  ", |indent| indent.strip_prefix(outer).unwrap_or(indent)).to_owned(),
            colon: colon.to_owned(),
            comma_gap: if colon.ends_with(' ') { " " } else { "" }.to_owned(),
            spread: container.children.is_empty() || indent.is_some(),
        }
    }
}

/// Returns the indentation at `offset`, if only whitespace precedes it on its line.
pub(crate) fn line_indent<'a>(document: &SettingsDocument<'a>, offset: usize) -> Option<&'a str> {
    let gap_start = document.token_before(offset).map_or(0, |token| token.end());
    let gap = &document.text[gap_start..offset];
    gap.rfind('\n').map(|newline| &gap[newline + 1..])
}

/// The blanks at the beginning of the line that holds `offset`.
pub(crate) fn leading_blanks(text: &str, offset: usize) -> &str {
    let line_start = text[..offset].rfind('\n').map_or(0, |newline| newline + 1);
    let line = &text[line_start..offset];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

fn newline(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// Returns the text between the first name and its value, if it is a colon with whitespace.
fn colon<'a>(text: &'a str, root: &Object<'_>) -> Option<&'a str> {
    let first = root.properties.first()?;
    let gap = text.get(first.name.end()..first.value.start())?;
    gap.chars().all(|c| matches!(c, ':' | ' ' | '\t')).then_some(gap)
}
