//! Rows of the report, cut to the width of the terminal.

use anstyle::Style;
use lockstep_text::single_line;

use crate::terminal::Terminal;

/// Rows are cut to this width where the output is not a terminal.
const DEFAULT_WIDTH: usize = 80;

/// A shorter piece of source text is not useful.
const MIN_TEXT: usize = 12;

/// The width that rows may have.
pub(super) struct Columns(usize);

impl Columns {
    pub(super) fn of(terminal: &Terminal) -> Self {
        Self(terminal.width().unwrap_or(DEFAULT_WIDTH))
    }
}

/// One place in a file.
pub(super) struct Row<'a> {
    pub(super) path: &'a str,
    pub(super) line: u32,
    pub(super) reason: Option<&'a str>,
    /// The source line.
    pub(super) text: &'a str,
    /// The number of places of the same file that are not shown.
    pub(super) more: usize,
}

impl Row<'_> {
    /// Renders `path:line: reason: text`. The text is cut to the width; path, line and reason are never cut, so that they can be
    /// clicked and copied.
    pub(super) fn render(&self, columns: &Columns, terminal: &Terminal) -> String {
        let dim = Style::new().dimmed();
        let place = format!("{}:{}", single_line(self.path), self.line);
        let reason = self.reason.map(|reason| format!(": {}", single_line(reason))).unwrap_or_default();
        let more = match self.more {
            0 => String::new(),
            n => format!("  (and {n} more)"),
        };
        let used = 2 + width(&place) + width(&reason) + width(&more);
        let room = columns.0.saturating_sub(used + 2);
        let source = single_line(self.text.trim());
        let source = if room < MIN_TEXT.min(width(&source)) { String::new() } else { cut(&source, room) };
        let source = if source.is_empty() { source } else { format!(": {source}") };
        let bold = Style::new().bold();
        format!("{}{reason}{source}{}", terminal.styled(bold, &place), terminal.styled(dim, &more))
    }
}

fn width(text: &str) -> usize {
    text.chars().count()
}

fn cut(text: &str, max: usize) -> String {
    if width(text) <= max {
        text.to_owned()
    } else {
        text.chars().take(max.saturating_sub(1)).chain(['…']).collect()
    }
}
