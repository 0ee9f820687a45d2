//! The outline of a Markdown file: headings with their content.
//!
//! Headings inside code fences and HTML comments are text. No other Markdown syntax is interpreted.

/// A heading with the lines up to the next heading of the same or a higher level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    pub level: usize,
    /// The text without `#` and surrounding space.
    pub title: String,
    /// Starts at 1.
    pub line: usize,
    /// The lines under it, headings of lower levels included.
    pub body: String,
}

impl Heading {
    /// Returns true if the heading has no content except comments and lower headings.
    pub fn is_blank(&self) -> bool {
        visible_lines(&self.body).iter().all(|line| line.text.trim().is_empty() || line.heading.is_some())
    }

    /// The headings one level down.
    pub fn children(&self) -> Vec<Self> {
        outline(&self.body, self.line).into_iter().filter(|h| h.level == self.level + 1).collect()
    }

    /// Returns the items of the lists under it, without markers. Continuation lines are joined.
    pub fn items(&self) -> Vec<String> {
        let mut items: Vec<String> = Vec::new();
        for line in visible_lines(&self.body) {
            if let Some(item) = list_item(&line.text) {
                items.push(item.to_owned());
            } else if let (true, Some(last)) = (line.text.starts_with(' '), items.last_mut()) {
                last.push(' ');
                last.push_str(line.text.trim());
            }
        }
        items
    }

    /// Returns the lines under it that belong to no list and are no heading.
    pub fn prose(&self) -> Vec<String> {
        let mut in_item = false;
        let mut prose = Vec::new();
        for line in visible_lines(&self.body) {
            let text = line.text.trim();
            if list_item(&line.text).is_some() {
                in_item = true;
            } else if !(text.is_empty() || line.heading.is_some() || in_item && line.text.starts_with(' ')) {
                in_item = false;
                prose.push(text.to_owned());
            }
        }
        prose
    }
}

/// The text behind `- `, `* `, `+ ` or `1. ` at the start of a line.
fn list_item(line: &str) -> Option<&str> {
    let bulleted = ["- ", "* ", "+ "].iter().find_map(|mark| line.strip_prefix(mark));
    let numbered = || {
        let digits = line.bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 { None } else { line[digits..].strip_prefix(". ") }
    };
    bulleted.or_else(numbered).map(str::trim)
}

/// All headings of a text. `offset` is the number of lines before it.
pub fn outline(text: &str, offset: usize) -> Vec<Heading> {
    let lines: Vec<&str> = text.lines().collect();
    let marks: Vec<_> = visible_lines(text)
        .into_iter()
        .filter_map(|line| line.heading.map(|(level, title)| (line.number, level, title)))
        .collect();
    let mut headings = Vec::new();
    for (n, (start, level, title)) in marks.iter().enumerate() {
        let end =
            marks[n + 1..].iter().find(|(_, other, _)| other <= level).map_or(lines.len(), |(at, ..)| *at);
        headings.push(Heading {
            level: *level,
            title: title.clone(),
            line: start + 1 + offset,
            body: lines[start + 1..end].join("\n"),
        });
    }
    headings
}

struct VisibleLine {
    number: usize,
    text: String,
    heading: Option<(usize, String)>,
}

/// Returns the lines without comments, with their headings.
fn visible_lines(text: &str) -> Vec<VisibleLine> {
    let mut fence: Option<String> = None;
    let mut comment = false;
    let mut lines = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if let Some(open) = &fence {
            if is_closing_fence(line, open) {
                fence = None;
            }
            lines.push(VisibleLine { number, text: line.to_owned(), heading: None });
            continue;
        }
        let seen = without_comments(line, &mut comment);
        fence = opening_fence(&seen);
        let heading = if fence.is_none() { heading(&seen) } else { None };
        lines.push(VisibleLine { number, text: seen, heading });
    }
    lines
}

fn opening_fence(line: &str) -> Option<String> {
    let line = line.trim_start();
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let run: String = line.chars().take_while(|c| *c == mark).collect();
    // A backtick after the first run makes the line an inline code span.
    let is_span = mark == '`' && line[run.len()..].contains('`');
    (run.len() >= 3 && !is_span).then_some(run)
}

fn is_closing_fence(line: &str, open: &str) -> bool {
    let line = line.trim();
    line.len() >= open.len() && line.chars().all(|c| open.starts_with(c))
}

fn without_comments(line: &str, inside: &mut bool) -> String {
    let mut seen = String::new();
    let mut rest = line;
    loop {
        let mark = if *inside { "-->" } else { "<!--" };
        let Some((before, after)) = rest.split_once(mark) else {
            if !*inside {
                seen.push_str(rest);
            }
            return seen;
        };
        if !*inside {
            seen.push_str(before);
        }
        *inside = !*inside;
        rest = after;
    }
}

fn heading(line: &str) -> Option<(usize, String)> {
    let level = line.bytes().take_while(|b| *b == b'#').count();
    let rest = &line[level..];
    if !(1..=6).contains(&level) || !(rest.is_empty() || rest.starts_with([' ', '\t'])) {
        return None;
    }
    Some((level, rest.trim().trim_end_matches('#').trim().to_owned()))
}
