//! Problems of a configuration file: position, description, reason and fix.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;

use lockstep_text::single_line;

/// A position in a file. Both numbers start at 1; columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    pub line: usize,
    pub column: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigProblem {
    pub at: Position,
    pub what: String,
    pub why: Cow<'static, str>,
    pub fix: String,
}

/// On one line, for a log or a hook's reason.
impl fmt::Display for ConfigProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, what, why, fix } = self;
        let text = format!("line {}, column {}: {what} ({why}); {fix}", at.line, at.column);
        f.write_str(&single_line(&text))
    }
}

/// All `problems` of the file at `path`, for people: three lines each, in the order of the file.
pub fn render(path: &Path, problems: &[ConfigProblem]) -> String {
    let mut out = String::new();
    for ConfigProblem { at, what, why, fix } in problems {
        let Position { line, column } = at;
        let [path, what, why, fix] = [&path.to_string_lossy(), what.as_str(), why, fix].map(single_line);
        out.push_str(&format!("{path}:{line}:{column}: {what}\n  why: {why}\n  fix: {fix}\n"));
    }
    out
}

/// A problem with a byte offset instead of a position.
#[derive(Debug)]
pub struct UnlocatedProblem {
    pub(crate) offset: usize,
    pub(crate) what: String,
    pub(crate) why: Cow<'static, str>,
    pub(crate) fix: String,
}

impl UnlocatedProblem {
    /// The problems in the order of the file, each with its line and column.
    pub(crate) fn locate(mut found: Vec<Self>, text: &str) -> Vec<ConfigProblem> {
        found.sort_by_key(|problem| problem.offset);
        let mut locator = PositionFinder::new(text);
        found
            .into_iter()
            .map(|Self { offset, what, why, fix }| ConfigProblem {
                at: locator.position(offset),
                what,
                why,
                fix,
            })
            .collect()
    }
}

/// Turns ascending offsets into positions in one pass over the text, however many there are.
pub(crate) struct PositionFinder<'a> {
    text: &'a [u8],
    offset: usize,
    at: Position,
}

impl<'a> PositionFinder<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        // A byte order mark is not a column.
        let offset = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Self { text: text.as_bytes(), offset, at: Position { line: 1, column: 1 } }
    }

    /// Returns the position of `offset`, which must not be before that of the last call.
    pub(crate) fn position(&mut self, offset: usize) -> Position {
        let offset = offset.min(self.text.len());
        for &byte in self.text.get(self.offset..offset).unwrap_or_default() {
            if byte == b'\n' {
                self.at = Position { line: self.at.line + 1, column: 1 };
            } else if !is_continuation(byte) {
                self.at.column += 1;
            }
        }
        self.offset = self.offset.max(offset);
        self.at
    }
}

/// Returns true if `byte` is a continuation byte of UTF-8.
fn is_continuation(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_and_characters() {
        let text = "\u{feff}aä\r\nb\n";
        let mut locator = PositionFinder::new(text);
        let places = [0, 3, 4, 6, 8, 9, 10, 99].map(|offset| {
            let Position { line, column } = locator.position(offset);
            (line, column)
        });
        assert_eq!(places, [(1, 1), (1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (3, 1), (3, 1)]);
    }
}
