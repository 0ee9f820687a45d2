//! How a name stands in a text: where names are used, in prose, or as a part of a path. Lines are looked at as they are; no
//! format is parsed as a whole, so broken documents give the same answers as sound ones.

use crate::entity;
use crate::language::Language;

/// A text that names are looked for in.
pub(crate) struct Document<'a> {
    pub(crate) text: &'a str,
    pub(crate) language: Language,
    /// Where the opening `---` block ends; 0 without one.
    front: usize,
    /// Where each line begins.
    lines: Vec<usize>,
    /// Whether it tells agents what to do: there prose uses names, it does not only mention them.
    pub(crate) instructs: bool,
}

/// How a name stands where it is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Standing {
    /// Where names are used: marked as a name, or as an item of a list, a cell, a value.
    Named,
    /// An ordinary word that the words around it make a name: `the reviewer agent`.
    Told,
    /// In prose, comments, strings.
    Prose,
}

/// One occurrence: a line and a part of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spot<'a> {
    /// Where the line begins in the text.
    line_start: usize,
    /// The line counted from 1.
    pub(crate) number: u32,
    before: &'a str,
    after: &'a str,
}

impl<'a> Document<'a> {
    pub(crate) fn new(path: &str, text: &'a str) -> Self {
        let language = Language::of(path);
        let front = match language {
            Language::Markdown => entity::frontmatter(text).map_or(0, |front| front.len() + 8),
            _ => 0,
        };
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Self {
            text,
            language,
            front,
            lines: std::iter::once(0).chain(breaks).collect(),
            instructs: entity::instructs(path),
        }
    }

    /// The spot of a range.
    pub(crate) fn spot(&self, start: usize, end: usize) -> Spot<'a> {
        let number = self.lines.partition_point(|line| *line <= start).max(1);
        let line_start = self.lines.get(number - 1).copied().unwrap_or_default();
        let after = self.text.get(end..).unwrap_or_default();
        Spot {
            line_start,
            number: u32::try_from(number).unwrap_or(u32::MAX),
            before: self.text.get(line_start..start).unwrap_or_default(),
            after: after.split(['\n', '\r']).next().unwrap_or_default(),
        }
    }

    /// The whole words `name` in the text, where `-` and `_` belong to words, from the first to the last.
    pub(crate) fn occurrences(&self, name: &str) -> impl Iterator<Item = Spot<'a>> {
        self.text
            .match_indices(name)
            .filter(|(at, _)| is_whole(self.text, *at, at + name.len()))
            .map(|(at, _)| self.spot(at, at + name.len()))
    }

    /// How the name at a spot stands.
    pub(crate) fn standing(&self, spot: &Spot<'_>) -> Standing {
        let (before, after) = (spot.before, spot.after);
        if is_marked(before, after) || is_argument(before) || is_routed(before, after) {
            return Standing::Named;
        }
        let structured = match self.language {
            Language::Markdown if spot.line_start < self.front => is_value(before, after) || is_edge(before),
            Language::Markdown | Language::Text => {
                is_item(before, after) || is_cell(before, after) || is_edge(before)
            }
            Language::Yaml | Language::Toml | Language::Json => is_value(before, after) || is_edge(before),
            _ => false,
        };
        match structured {
            true => Standing::Named,
            false if is_told(before, after) => Standing::Told,
            false => Standing::Prose,
        }
    }
}

impl<'a> Spot<'a> {
    /// The path-like string the name is a part of, up to the end of the name, and what follows; `None` where it stands alone
    /// or after the `/` of a command.
    pub(crate) fn in_path(&self, name: &str) -> Option<(String, &'a str)> {
        let start = self.before.trim_end_matches(super::path::is_path_char);
        let lead = self.before.get(start.len()..).unwrap_or_default();
        let alone = matches!(lead, "" | "/" | "@");
        if alone && !self.after.starts_with('/') {
            return None;
        }
        if !alone && !lead.ends_with('/') {
            return None;
        }
        let end = self.after.find(|c| !super::path::is_path_char(c)).unwrap_or(self.after.len());
        Some((format!("{lead}{name}"), self.after.get(..end).unwrap_or_default()))
    }

    /// Whether the name is only the beginning of a file name: `plan.json`.
    pub(crate) fn is_stem(&self) -> bool {
        let mut after = self.after.chars();
        after.next() == Some('.') && after.next().is_some_and(char::is_alphanumeric)
    }

    /// Whether the line is a comment after `#`.
    pub(crate) fn is_comment(&self) -> bool {
        self.before.trim_start().starts_with('#')
    }

    /// Whether it is said to be a domain of names rather than one of them.
    pub(crate) fn is_domain(&self) -> bool {
        let after = self.after.trim_start_matches(['`', '"', '*', ' ']);
        ["domain", "phase", "stage", "family", "*"].iter().any(|word| after.starts_with(word))
    }
}

/// Whether no letter, digit, `_` or `-` touches the range.
pub(crate) fn is_whole(text: &str, start: usize, end: usize) -> bool {
    let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let before = text.get(..start).and_then(|before| before.chars().next_back());
    let mut after = text.get(end..).unwrap_or_default().chars();
    let next = after.next();
    // `--flag` and `name -> other` set their dashes apart, `name--` does not.
    let arrow = next == Some('-') && after.next() == Some('>');
    !before.is_some_and(part) && (arrow || !next.is_some_and(part))
}

/// Quoted, in backticks, bold as a whole, `/name`, `@name`, a link's text.
fn is_marked(before: &str, after: &str) -> bool {
    let bare = before.strip_suffix(['/', '@']);
    if let Some(bare) = bare
        && bare.chars().next_back().is_none_or(|c| c.is_whitespace() || "\"'`([|,*".contains(c))
        && !after.starts_with('/')
    {
        return true;
    }
    let bare = bare.unwrap_or(before);
    let after = after.strip_prefix("()").unwrap_or(after);
    match bare.chars().next_back() {
        Some(quote @ ('"' | '\'' | '`')) => after.starts_with(quote),
        Some('[') => after.starts_with(']'),
        Some('*') => after.starts_with('*'),
        Some(':') => after.starts_with(['"', '\'', '`', ')']),
        _ => false,
    }
}

/// Among the arguments of `Task(…)`, `Agent(…)`, `Skill(…)`.
fn is_argument(before: &str) -> bool {
    let Some((call, arguments)) = before.rsplit_once('(') else { return false };
    !arguments.contains(')')
        && ["Task", "Agent", "Skill", "SlashCommand"].iter().any(|tool| call.ends_with(tool))
}

/// Beside an arrow.
fn is_routed(before: &str, after: &str) -> bool {
    let (before, after) = (before.trim_end(), after.trim_start());
    ["->", "→", "⇒", "=>", "<-", "←", "─▶", "▶"]
        .iter()
        .any(|arrow| before.ends_with(arrow) || after.starts_with(arrow))
}

/// An item of a list or a heading: the name comes first.
fn is_item(before: &str, after: &str) -> bool {
    let ordinal = before.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
    let marker = before.trim_start().starts_with(['-', '*', '+', '#']) || ordinal.starts_with(['.', ')']);
    let first = ordinal.trim_start_matches(['-', '*', '+', '#', '.', ')', ' ', '`', '/', '[']).is_empty();
    marker && first && !after.trim_start_matches(['`', '*']).starts_with(['.', '\''])
}

/// A cell of a table that begins with it, or lists it.
fn is_cell(before: &str, after: &str) -> bool {
    if !before.trim_start().starts_with(['|', '│']) {
        return false;
    }
    let cell = before.rsplit(['|', '│']).next().unwrap_or_default().trim();
    let lone = after.split(['|', '│']).next().unwrap_or_default().trim().is_empty();
    cell.trim_matches(['`', '*', '/', '[']).is_empty()
        || cell.ends_with([',', '/', '+', ';'])
        || lone && cell.ends_with(')')
}

/// After a key that declares an edge.
fn is_edge(before: &str) -> bool {
    const KEYS: &[&str] = &[
        "INPUT_FROM",
        "OUTPUT_TO",
        "RECEIVES_FROM",
        "SENDS_TO",
        "DEPENDS_ON",
        "Receives From",
        "Sends To",
        "Depends on",
        "depends_on",
        "depends-on",
        "input_from",
        "output_to",
        "receives_from",
        "sends_to",
        "requires:",
        "skills:",
        "agents:",
        "next:",
        "routes_to",
        "ROUTES_TO",
        "triggers:",
        "Related skills",
        "See also",
    ];
    KEYS.iter().any(|key| before.contains(key))
}

/// The value of a key or an item, alone or among others.
fn is_value(before: &str, after: &str) -> bool {
    let before = before.trim_end_matches(['"', '\'', ' ', '[']);
    let after = after.trim_start_matches(['"', '\'', ' ', ']']);
    let starts = before.ends_with([':', '=', ',', '-']) || before.trim().is_empty();
    let ends = after.is_empty() || after.starts_with([',', '#', '}', ']', ':']);
    starts && ends
}

/// `the NAME agent`, `skill NAME`.
fn is_told(before: &str, after: &str) -> bool {
    const WORDS: &[&str] =
        &["agent", "agents", "subagent", "skill", "skills", "command", "subagent_type", "hook"];
    let word = |text: &str, last: bool| {
        let text = text.trim_matches(['`', '"', '\'', '*', ' ', ':', '=']);
        let mut words =
            text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
        let word = if last { words.next_back() } else { words.next() };
        word.is_some_and(|word| WORDS.iter().any(|known| word.eq_ignore_ascii_case(known)))
    };
    let near_before = before.ends_with([' ', '`', '"', '*']) && !before.trim_end().ends_with(['.', ',', ';']);
    let near_after = after.starts_with([' ', '`', '"', '*']);
    (near_after && word(after, false)) || (near_before && word(before, true))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standing(language: Language, text: &str) -> Vec<Standing> {
        let path = match language {
            Language::Markdown => "docs/x.md",
            Language::Yaml => "x.yaml",
            Language::Json => "x.json",
            _ => "x.ts",
        };
        let document = Document::new(path, text);
        document.occurrences("plan-x").map(|spot| document.standing(&spot)).collect()
    }

    #[test]
    fn names_are_whole_words() {
        for text in ["plan-x-impl", "my-plan-x", "plan-x_2", "plan-xy"] {
            assert_eq!(standing(Language::Markdown, text), [], "{text}");
        }
        let document = Document::new("x.txt", "a\nplan-x b\n\nplan-x");
        assert_eq!(document.occurrences("plan-x").map(|spot| spot.number).collect::<Vec<_>>(), [2, 4]);
    }

    #[test]
    fn places_where_names_are_used_are_told_from_prose() {
        use Standing::*;
        let rows: &[(Language, &str, Standing)] = &[
            (Language::Markdown, "run `plan-x` first", Named),
            (Language::Markdown, "run /plan-x first", Named),
            (Language::Markdown, "ask @plan-x first", Named),
            (Language::Markdown, "- **plan-x**: does it", Named),
            (Language::Markdown, "3. plan-x does it", Named),
            (Language::Markdown, "| plan-x | P3 |", Named),
            (Language::Markdown, "| P3 | design, plan-x | y |", Named),
            (Language::Markdown, "| P3 | after it plan-x comes | y |", Prose),
            (Language::Markdown, "INPUT_FROM: design-a (risks), plan-x (order)", Named),
            (Language::Markdown, "**Sends To**: plan-x", Named),
            (Language::Markdown, "done → plan-x", Named),
            (Language::Markdown, "the plan-x skill does", Told),
            (Language::Markdown, "what plan-x made is kept", Prose),
            (Language::Markdown, "---\nskills: [design-a, plan-x]\n---\n", Named),
            (Language::Markdown, "---\nskills:\n  - plan-x\n---\n", Named),
            (Language::Markdown, "---\ndescription: it follows plan-x in time\n---\n", Prose),
            (Language::Markdown, "---\ntools: Read, Task(design-a, plan-x)\n---\n", Named),
            (Language::Yaml, "next: plan-x", Named),
            (Language::Yaml, "  - plan-x # last", Named),
            (Language::Yaml, "text: after that plan-x is run", Prose),
            (Language::Json, "{\"skill\": \"plan-x\"}", Named),
            (Language::Json, "{\"text\": \"after plan-x ran\"}", Prose),
            (Language::TypeScript, "start({ agent: 'plan-x' })", Named),
            (Language::TypeScript, "// as plan-x does", Prose),
        ];
        for (language, text, expected) in rows {
            assert_eq!(standing(*language, text), [*expected], "{text}");
        }
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
