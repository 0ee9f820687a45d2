//! Parses bytes to a TOML table with spans. Broken lines are reported, valid ones are kept.
//!
//! Sections and keys are handled by [`parse`](crate::parse).

use std::borrow::Cow;
use std::ops::Range;

use toml::Spanned;
use toml::de::DeTable;

use crate::diagnostic::UnlocatedProblem;

/// Replaces each byte that is not UTF-8. TOML never allows it, so its line counts as broken, and all offsets
/// stay the same.
const UNREADABLE: u8 = 0x01;

const NOT_TOML: &str = "the text is not valid TOML";

/// The bytes as text, with a problem for each line that is not UTF-8.
pub(crate) fn decode(bytes: &[u8]) -> (Cow<'_, str>, Vec<UnlocatedProblem>) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return (Cow::Borrowed(text), Vec::new());
    }
    let mut text = String::with_capacity(bytes.len());
    let mut found: Vec<UnlocatedProblem> = Vec::new();
    let mut reported_line_ends = 0;
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        let [first, ..] = chunk.invalid() else { continue };
        let offset = text.len();
        if offset >= reported_line_ends {
            found.push(not_utf8(offset, *first));
            reported_line_ends = offset + bytes[offset..].iter().take_while(|byte| **byte != b'\n').count();
        }
        text.extend(chunk.invalid().iter().map(|_| char::from(UNREADABLE)));
    }
    (Cow::Owned(text), found)
}

fn not_utf8(offset: usize, byte: u8) -> UnlocatedProblem {
    UnlocatedProblem {
        offset,
        what: format!("the byte 0x{byte:02X} is not UTF-8"),
        why: "a TOML file is UTF-8 text".into(),
        fix: "save the file as UTF-8".to_owned(),
    }
}

/// A TOML text, as far as it could be read.
pub(crate) struct TomlDocument<'i> {
    pub(crate) table: Spanned<DeTable<'i>>,
    lines: LineIndex,
    /// Offsets of broken lines, ascending.
    broken: Vec<usize>,
}

impl<'i> TomlDocument<'i> {
    /// Parses `text`. Its problems are added to `found`, which already has those of lines that are not UTF-8.
    pub(crate) fn read(text: &'i str, found: &mut Vec<UnlocatedProblem>) -> Self {
        let (table, errors) = DeTable::parse_recoverable(text);
        if errors.is_empty() && found.is_empty() {
            return Self { table, lines: LineIndex::default(), broken: Vec::new() };
        }
        let broken = found.iter().map(|problem| problem.offset).collect();
        let mut document = Self { table, lines: LineIndex::of(text), broken };
        let mut problems: Vec<_> = errors
            .iter()
            .map(|error| problem(text, &document.lines, error))
            .filter(|problem| !document.is_broken(&(problem.offset..problem.offset)))
            .collect();
        problems.sort_by_key(|problem| problem.offset);
        problems.dedup_by(|next, problem| next.offset == problem.offset && next.what == problem.what);
        document.broken.extend(problems.iter().map(|problem| problem.offset));
        document.broken.sort_unstable();
        found.extend(problems);
        document
    }

    /// Returns true if a line that `span` touches is broken. Its value is a guess of the parser then.
    pub(crate) fn is_broken(&self, span: &Range<usize>) -> bool {
        if self.broken.is_empty() {
            return false;
        }
        let next = self.broken.partition_point(|offset| *offset < self.lines.start(span.start));
        self.broken.get(next).is_some_and(|offset| *offset <= self.lines.end(span.end))
    }
}

/// The ends of the lines of a text. It is used for every key of a broken text, so it must not search.
#[derive(Default)]
struct LineIndex {
    ends: Vec<usize>,
}

impl LineIndex {
    fn of(text: &str) -> Self {
        let newlines = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(offset, _)| offset);
        Self { ends: newlines.chain([text.len()]).collect() }
    }

    fn start(&self, offset: usize) -> usize {
        match self.ends.partition_point(|end| *end < offset) {
            0 => 0,
            line => self.ends[line - 1] + 1,
        }
    }

    fn end(&self, offset: usize) -> usize {
        let line = self.ends.partition_point(|end| *end < offset);
        self.ends.get(line).copied().unwrap_or(offset)
    }
}

fn problem(text: &str, lines: &LineIndex, error: &toml::de::Error) -> UnlocatedProblem {
    let span = error.span().unwrap_or_default();
    let source = text.get(span.clone()).unwrap_or_default();
    let line = lines.start(span.start);
    if is_conflict_marker(text.get(line..).unwrap_or_default()) {
        return UnlocatedProblem {
            // The parser may stumble several times over one marker.
            offset: line,
            what: "a merge conflict is not resolved".to_owned(),
            why: NOT_TOML.into(),
            fix: "keep one side of the conflict and remove its markers".to_owned(),
        };
    }
    let (what, why, fix) = explain(source, error.message());
    UnlocatedProblem { offset: span.start, what, why: why.into(), fix }
}

fn is_conflict_marker(line: &str) -> bool {
    ["<<<<<<<", "=======", ">>>>>>>"].iter().any(|marker| line.starts_with(marker))
}

/// Returns description, reason and fix for a parser's `message` about `source`.
fn explain(source: &str, message: &str) -> (String, &'static str, String) {
    let unquoted = message.starts_with("string values must be quoted");
    if message == "duplicate key" {
        let why = "TOML allows a key or section once; until one goes, the first value counts";
        (
            format!("`{source}` occurs twice"),
            why,
            "keep the one that is meant and remove the other".to_owned(),
        )
    } else if unquoted && source.is_empty() {
        ("the value is missing".to_owned(), NOT_TOML, "write a value after `=`".to_owned())
    } else if unquoted {
        (format!("`{source}` is not in quotes"), NOT_TOML, format!("write \"{source}\""))
    } else {
        (message.to_owned(), NOT_TOML, "correct this line".to_owned())
    }
}
