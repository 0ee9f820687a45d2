//! A text and the places in it: lines, headings, columns of tables, keys of data. Lines are read one by one,
//! and no format is parsed completely, so broken documents give the same results as valid ones.

use std::cell::OnceCell;

use crate::entity;
use crate::language::Language;

/// A text that is searched for paths and names.
pub(crate) struct Document<'a> {
    pub(crate) path: &'a str,
    pub(crate) text: &'a str,
    pub(crate) language: Language,
    /// The end of the opening `---` block; 0 without one.
    front: usize,
    /// The start of each line.
    lines: Vec<usize>,
    /// Set if it instructs agents: its prose uses names, it does not only mention them.
    pub(crate) instructs: bool,
    is_historical_record: OnceCell<bool>,
}

/// One occurrence: a line and a part of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spot<'a> {
    /// The start of the line in the text.
    line_start: usize,
    /// The line counted from 1.
    pub(crate) number: u32,
    /// The rest of the line on either side, within [`MAX_REACH`].
    pub(crate) before: &'a str,
    pub(crate) after: &'a str,
    /// The line, or the part of a long line around the spot, and the start of this text.
    line: &'a str,
    visible_start: usize,
}

/// The number of lines above a spot that are searched for its key.
const MAX_LINES_TO_KEY: usize = 200;

/// The length to which a line is considered on either side of a spot. Generated files have lines of any length with a
/// spot at each word.
const MAX_REACH: usize = 2_000;

impl<'a> Document<'a> {
    pub(crate) fn new(path: &'a str, text: &'a str) -> Self {
        let language = Language::of(path);
        let front = match language {
            Language::Markdown => entity::frontmatter(text).map_or(0, |front| front.len() + 8),
            _ => 0,
        };
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Self {
            path,
            text,
            language,
            front,
            lines: std::iter::once(0).chain(breaks).collect(),
            instructs: entity::is_agent_instruction(path),
            is_historical_record: OnceCell::new(),
        }
    }

    /// Returns true if it records the past.
    pub(crate) fn is_historical_record(&self) -> bool {
        *self.is_historical_record.get_or_init(|| entity::is_historical_record(self.path))
    }

    pub(crate) fn spot(&self, start: usize, end: usize) -> Spot<'a> {
        let number = self.lines.partition_point(|line| *line <= start).max(1);
        let line_start = self.lines.get(number - 1).copied().unwrap_or_default();
        let from = self.text.floor_char_boundary(start.saturating_sub(MAX_REACH)).max(line_start);
        let after = self.text.get(end..self.text.floor_char_boundary(end + MAX_REACH)).unwrap_or_default();
        let whole = self.line(number - 1);
        let (line, visible_start) = if whole.len() > 2 * MAX_REACH {
            let at = |place: usize| whole.floor_char_boundary(place.saturating_sub(line_start));
            (whole.get(at(from)..at(end + MAX_REACH)).unwrap_or_default(), from)
        } else {
            (whole, line_start)
        };
        Spot {
            line_start,
            number: u32::try_from(number).unwrap_or(u32::MAX),
            before: self.text.get(from..start).unwrap_or_default(),
            after: after.split(['\n', '\r']).next().unwrap_or_default(),
            line,
            visible_start,
        }
    }

    /// Returns the complete words `name` in the text, in order. `-` and `_` are part of words.
    pub(crate) fn occurrences(&self, name: &str) -> impl Iterator<Item = Spot<'a>> {
        self.text
            .match_indices(name)
            .filter(|(at, _)| is_whole(self.text, *at, at + name.len()))
            .map(|(at, _)| self.spot(at, at + name.len()))
    }

    /// Returns true if the spot is in the opening `---` block of a document.
    pub(crate) fn is_front(&self, spot: &Spot<'_>) -> bool {
        spot.line_start < self.front
    }

    /// Returns true if the spot is in data with keys and values.
    pub(crate) fn is_data(&self, spot: &Spot<'_>) -> bool {
        matches!(self.language, Language::Yaml | Language::Json | Language::Toml) || self.is_front(spot)
    }

    /// Returns true if it is written in a programming language.
    pub(crate) fn is_code(&self) -> bool {
        use Language::{Html, Json, Markdown, Text, Toml, Yaml};
        !matches!(self.language, Markdown | Text | Html | Json | Yaml | Toml)
    }

    /// The line at a position, counted from 0, without its end.
    fn line(&self, at: usize) -> &'a str {
        let start = self.lines.get(at).copied().unwrap_or(self.text.len());
        let end = self.lines.get(at + 1).copied().unwrap_or(self.text.len());
        self.text.get(start..end).unwrap_or_default().trim_end_matches(['\n', '\r'])
    }

    /// The lines above a spot, the nearest first.
    fn above(&self, spot: &Spot<'_>) -> impl Iterator<Item = &'a str> {
        (0..(spot.number as usize).saturating_sub(1)).rev().map(|at| self.line(at))
    }

    /// Returns true if the spot is in a block of code of a Markdown text.
    pub(crate) fn is_fenced(&self, spot: &Spot<'_>) -> bool {
        let fences = ["```", "~~~"];
        let is_fence = |line: &&str| fences.iter().any(|fence| line.trim_start().starts_with(fence));
        self.language == Language::Markdown && !self.above(spot).filter(is_fence).count().is_multiple_of(2)
    }

    /// The title of the section that a spot is in.
    pub(crate) fn heading(&self, spot: &Spot<'_>) -> Option<&'a str> {
        self.above(spot).find(|line| line.starts_with('#'))
    }

    /// The title of the column that a spot in a table is in.
    pub(crate) fn column(&self, spot: &Spot<'_>) -> Option<&'a str> {
        let is_line = |line: &&str| line.trim_start().starts_with(['|', '│', '├', '┌', '╞']);
        let is_row = |line: &&str| line.trim_start().starts_with(['|', '│']);
        let title = self.above(spot).take_while(is_line).filter(is_row).last()?;
        title.split(['|', '│']).nth(spot.before.matches(['|', '│']).count())
    }

    /// Returns the key whose value the spot is, or is an item of.
    pub(crate) fn key(&self, spot: &Spot<'a>) -> Option<&'a str> {
        let before = spot.before.trim_end_matches(['"', '\'', '`', '/', '@']);
        let is_item = before.trim_matches(['-', '[', '"', '\'', ' ', '\t']).is_empty();
        if is_item { self.is_data(spot).then(|| self.key_above(spot)).flatten() } else { key_before(before) }
    }

    /// The key of the list that a line is an item of.
    fn key_above(&self, spot: &Spot<'_>) -> Option<&'a str> {
        let indent = |line: &str| line.len() - line.trim_start().len();
        let own = indent(spot.line);
        for line in self.above(spot).take(MAX_LINES_TO_KEY).filter(|line| !line.trim().is_empty()) {
            let end = line.trim_end();
            if let Some(list) = end.strip_suffix('[') {
                return key_before(list);
            }
            let is_key = end.ends_with(':') && !line.trim_start().starts_with('-');
            if is_key && indent(line) <= own {
                return key_before(end);
            }
            if indent(line) < own || end.ends_with(']') {
                return None;
            }
        }
        None
    }
}

/// The key at the end of a text, before `:` or `=` and the items of a list.
fn key_before(text: &str) -> Option<&str> {
    let (keyed, value) = text.rfind([':', '=']).map(|at| text.split_at(at))?;
    let items = value.trim_start_matches([':', '=']).trim_matches(['[', '"', '\'', '`', ' ', '*', '{', '(']);
    let is_list = items.is_empty() || items.ends_with(',') && items.split(',').all(is_list_item);
    // `key: plugin:name` has another key before it.
    let is_namespace = items.is_empty() && value == ":" && keyed.trim_end().len() == keyed.len();
    let word = |text: &'_ str| -> Option<usize> {
        let text = text.trim_end_matches(['"', '\'', '`', '*', ' ', ')']);
        let start = text.trim_end_matches(|c: char| c.is_alphanumeric() || matches!(c, '_' | '-')).len();
        (start < text.len()).then_some(start)
    };
    let start = word(keyed)?;
    let outer = keyed.get(..start)?.trim_end_matches(['"', '\'', '`', '/', '@']);
    if is_namespace && let Some(key) = outer.ends_with([' ', ':', '=']).then(|| key_before(outer)).flatten() {
        return Some(key);
    }
    let key = keyed.get(start..)?.trim_end_matches(['"', '\'', '`', '*', ' ', ')']);
    is_list.then_some(key.trim_start_matches('-')).filter(|key| !key.is_empty())
}

fn is_list_item(item: &str) -> bool {
    let item = item.split('(').next().unwrap_or_default();
    !item.trim_matches(['"', '\'', '`', ' ', '*', '/', '@', '[']).contains(' ')
}

impl<'a> Spot<'a> {
    /// The start of [`line`](Self::line) in the text.
    pub(crate) fn start(&self) -> usize {
        self.visible_start
    }

    pub(crate) fn line(&self) -> &'a str {
        self.line
    }

    /// Returns the path-like string that contains the name, up to the end of the name, and the rest of it.
    /// `None` if the name is alone or after the `/` of a command.
    pub(crate) fn in_path(&self, name: &str) -> Option<(String, &'a str)> {
        let start = self.before.trim_end_matches(super::paths::is_path_char);
        let lead = self.before.get(start.len()..).unwrap_or_default();
        let alone = matches!(lead, "" | "/" | "@");
        if alone && !self.after.starts_with('/') {
            return None;
        }
        if !alone && !lead.ends_with('/') {
            return None;
        }
        let end = self.after.find(|c| !super::paths::is_path_char(c)).unwrap_or(self.after.len());
        Some((format!("{lead}{name}"), self.after.get(..end).unwrap_or_default()))
    }

    /// Returns true if the name is only the beginning of a file name: `plan.json`.
    pub(crate) fn is_stem(&self) -> bool {
        let mut after = self.after.chars();
        after.next() == Some('.') && after.next().is_some_and(char::is_alphanumeric)
    }

    /// Returns true if the line is a comment after `#`.
    pub(crate) fn is_comment(&self) -> bool {
        self.before.trim_start().starts_with('#')
    }

    /// Returns true if it is described as a domain of names rather than one of them.
    pub(crate) fn is_domain(&self) -> bool {
        let after = self.after.trim_start_matches(['`', '"', '*', ' ']);
        ["domain", "phase", "stage", "family", "*"].iter().any(|word| after.starts_with(word))
    }
}

/// Returns true if no letter, digit, `_` or `-` touches the range.
pub(crate) fn is_whole(text: &str, start: usize, end: usize) -> bool {
    let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let before = text.get(..start).and_then(|before| before.chars().next_back());
    let mut after = text.get(end..).unwrap_or_default().chars();
    let next = after.next();
    // `--flag` and `name -> other` set their dashes apart, `name--` does not.
    let arrow = next == Some('-') && after.next() == Some('>');
    !before.is_some_and(part) && (arrow || !next.is_some_and(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_whole_words() {
        for text in ["plan-x-impl", "my-plan-x", "plan-x_2", "plan-xy"] {
            assert_eq!(Document::new("x.md", text).occurrences("plan-x").count(), 0, "{text}");
        }
        let document = Document::new("x.txt", "a\nplan-x b\n\nplan-x");
        assert_eq!(document.occurrences("plan-x").map(|spot| spot.number).collect::<Vec<_>>(), [2, 4]);
    }

    #[test]
    fn a_value_belongs_to_the_nearest_key() {
        let rows = [
            ("x.yaml", "agent: plan-x", Some("agent")),
            ("x.yaml", "skills: [a, \"b\", plan-x]", Some("skills")),
            ("x.yaml", "a:\n  skills:\n  - b\n  - plan-x", Some("skills")),
            ("x.yaml", "skills:\n  b: c\nother:\n  - plan-x", Some("other")),
            ("x.json", "{\"skills\": [\n  \"a\",\n  \"plan-x\"\n]}", Some("skills")),
            ("x.ts", "f({ agent: 'a', skill: 'plan-x' })", Some("skill")),
            ("x.py", "Task(subagent_type=\"plan-x\")", Some("subagent_type")),
            ("x.sh", "claude --agent=plan-x", Some("agent")),
            ("x.yaml", "skill: super:plan-x", Some("skill")),
            ("x.yaml", "text: after that plan-x", None),
        ];
        for (path, text, key) in rows {
            let document = Document::new(path, text);
            let spot = document.occurrences("plan-x").next().unwrap();
            assert_eq!(document.key(&spot), key, "{text}");
        }
    }

    #[test]
    fn a_cell_has_the_title_of_its_column() {
        let document = Document::new("x.md", "| Agent | Use |\n|---|---|\n| plan-x | a |\n| b | plan-x |\n");
        let titles: Vec<_> = document.occurrences("plan-x").map(|spot| document.column(&spot)).collect();
        assert_eq!(titles, [Some(" Agent "), Some(" Use ")]);
    }

    #[test]
    fn parts_of_paths_are_seen_as_such() {
        let path = |text: &'static str| {
            let document = Document::new("x.md", text);
            document.occurrences("plan-x").next().unwrap().in_path("plan-x")
        };
        assert_eq!(path("see skills/plan-x/SKILL.md"), Some(("skills/plan-x".into(), "/SKILL.md")));
        assert_eq!(path("plan-x/"), Some(("plan-x".into(), "/")));
        assert_eq!(path("run /plan-x now"), None);
        assert_eq!(path("plan-x"), None);
    }
}
