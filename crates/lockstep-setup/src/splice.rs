//! Adds a child to a container and removes one, as splices into the text.
//!
//! The operations are inverse: removing an added child restores every byte, including comments and trailing
//! commas. The only exception is a container that had nothing but whitespace.

use std::ops::Range;

use jsonc_parser::common::Ranged;
use jsonc_parser::tokens::Token;

use crate::json::NewChild;
use crate::json_style::{JsonStyle, leading_blanks, line_indent};
use crate::settings_document::{JsonContainer, SettingsDocument};

/// Replaces the bytes of `range` by `text`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Splice {
    pub(crate) range: Range<usize>,
    pub(crate) text: String,
}

impl Splice {
    pub(crate) fn replace(range: Range<usize>, text: impl Into<String>) -> Self {
        Self { range, text: text.into() }
    }

    fn insert(offset: usize, text: impl Into<String>) -> Self {
        Self::replace(offset..offset, text)
    }

    fn delete(range: Range<usize>) -> Self {
        Self::replace(range, "")
    }
}

/// Applies `splices`, which do not overlap. Those at one place keep their order.
pub(crate) fn apply(text: &str, mut splices: Vec<Splice>) -> String {
    splices.sort_by_key(|splice| splice.range.start);
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for Splice { range, text: new } in splices {
        out.push_str(&text[done..range.start]);
        out.push_str(&new);
        done = range.end;
    }
    out.push_str(&text[done..]);
    out
}

/// Adds `child` at the end of `container`.
pub(crate) fn insert_child(
    document: &SettingsDocument<'_>,
    style: &JsonStyle,
    container: &JsonContainer,
    child: &NewChild,
) -> Vec<Splice> {
    match container.children.last() {
        Some(last) => add_after(document, style, container, last, child),
        None => vec![add_first(document, style, container, child)],
    }
}

fn add_after(
    document: &SettingsDocument<'_>,
    style: &JsonStyle,
    container: &JsonContainer,
    last: &Range<usize>,
    child: &NewChild,
) -> Vec<Splice> {
    let end = container.inner().end;
    let indent =
        line_indent(document, last.start).or_else(|| line_indent_after_comment(document, style, end));
    let gap = match indent {
        Some(indent) => format!("{}{indent}", style.newline),
        None => comma_gap(document, style, container),
    };
    let text = format!("{gap}{}", child.render(style, indent));
    // Behind the comments of the last child, which are not the new one's.
    let place = document.token_before(end).map_or(last.end, |token| token.end());
    match document.comma_in(last.end..end) {
        Some(_) => vec![Splice::insert(place, text + ",")],
        None => vec![Splice::insert(last.end, ","), Splice::insert(place, text)],
    }
}

/// Returns an indentation if a line comment precedes the closing bracket: new text must start on its own line
/// then.
fn line_indent_after_comment<'a>(
    document: &SettingsDocument<'a>,
    style: &'a JsonStyle,
    end: usize,
) -> Option<&'a str> {
    let token = document.token_before(end)?;
    matches!(token.token, Token::CommentLine(_)).then_some(style.unit.as_str())
}

fn comma_gap(document: &SettingsDocument<'_>, style: &JsonStyle, container: &JsonContainer) -> String {
    let [.., before, last] = container.children.as_slice() else { return style.comma_gap.clone() };
    let gap = document.comma_in(before.end..last.start).map(|comma| &document.text[comma.end..last.start]);
    gap.filter(|gap| gap.chars().all(|c| c == ' ')).unwrap_or(&style.comma_gap).to_owned()
}

fn add_first(
    document: &SettingsDocument<'_>,
    style: &JsonStyle,
    container: &JsonContainer,
    child: &NewChild,
) -> Splice {
    let inner = container.inner();
    let comment = document.tokens_in(inner.clone()).last();
    let on_line = matches!(comment.map(|comment| &comment.token), Some(Token::CommentLine(_)));
    let outer = leading_blanks(document.text, container.range.start);
    let indent = (style.spread || on_line).then(|| format!("{outer}{}", style.unit));
    let mut text = indent.as_deref().map_or(String::new(), |indent| format!("{}{indent}", style.newline));
    text.push_str(&child.render(style, indent.as_deref()));
    match comment {
        Some(comment) => Splice::insert(comment.end(), text),
        None => {
            if indent.is_some() {
                text.push_str(style.newline);
                text.push_str(outer);
            }
            Splice::replace(inner, text)
        }
    }
}

/// Takes the child number `index` out of `container`, with the comma that only it needed.
pub(crate) fn remove_child(
    document: &SettingsDocument<'_>,
    container: &JsonContainer,
    index: usize,
) -> Vec<Splice> {
    let child = &container.children[index];
    let inner = container.inner();
    let next = container.children.get(index + 1).map_or(inner.end, |next| next.start);
    let comma_after = document.comma_in(child.end..next);
    let previous = index.checked_sub(1).map(|index| &container.children[index]);
    let comma = comma_after
        .clone()
        .or_else(|| previous.and_then(|previous| document.comma_in(previous.end..child.start)));

    if container.children.len() == 1 && !has_comments_beside(document, container, index) {
        return vec![Splice::delete(inner)];
    }
    let mut splices = vec![Splice::delete(blanks_before(document, child, comma_after.as_ref())..child.end)];
    splices.extend(comma.map(Splice::delete));
    splices
}

/// Returns true if `container` has comments outside its child number `index`.
pub(crate) fn has_comments_beside(
    document: &SettingsDocument<'_>,
    container: &JsonContainer,
    index: usize,
) -> bool {
    let child = &container.children[index];
    let inner = container.inner();
    document.has_comment_in(inner.start..child.start) || document.has_comment_in(child.end..inner.end)
}

/// Returns the start of the whitespace before `child`. It is removed with the child, unless it keeps a line
/// comment from swallowing the text after the child.
fn blanks_before(
    document: &SettingsDocument<'_>,
    child: &Range<usize>,
    comma_after: Option<&Range<usize>>,
) -> usize {
    let Some(before) = document.token_before(child.start) else { return child.start };
    let after = comma_after.filter(|comma| comma.start == child.end).map_or(child.end, |comma| comma.end);
    let rest = document.text[after..].trim_start_matches([' ', '\t']);
    let ends_line = rest.starts_with(['\n', '\r']);
    if matches!(before.token, Token::CommentLine(_)) && !ends_line { child.start } else { before.end() }
}
