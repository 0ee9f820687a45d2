//! Spots at which skills, agents and commands are named. A distinctive name (`plan-order`) needs only a place
//! where names occur; an ordinary word (`status`) needs a place where names of its kind are used.

use super::context::{Document, Spot};
use crate::entity::{EntityKind, framework_root};
use crate::language::Language;

/// The use of a name at one spot, ordered by strength.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum NameUse {
    /// A place that holds names of this kind: `agent: NAME`, `Task(NAME)`.
    Declared,
    /// A place where names occur.
    Likely,
    /// Prose, comments, strings.
    Mentioned,
}

/// Words for a kind of entity, as they occur beside a name, in a column's title or a heading.
fn kind_words(kind: EntityKind) -> &'static [&'static str] {
    match kind {
        EntityKind::Agent => {
            &["agent", "agents", "subagent", "subagents", "subagent_type", "teammate", "role", "roles"]
        }
        EntityKind::Skill => &["skill", "skills"],
        EntityKind::Command => &["command", "commands", "slash"],
        _ => &["agent", "agents", "subagent", "skill", "skills", "rule", "rules", "hook", "hooks", "style"],
    }
}

/// Keys whose values are names of entities.
const NAME_KEYS: &[&str] = &[
    "agent",
    "agents",
    "subagent",
    "subagents",
    "subagent_type",
    "subagenttype",
    "agent_type",
    "skill",
    "skills",
];

/// Keys and titles that declare an edge between skills.
const EDGE_KEYS: &[&str] = &[
    "input_from",
    "output_to",
    "receives_from",
    "sends_to",
    "depends_on",
    "depends-on",
    "routes_to",
    "receives from",
    "sends to",
    "depends on",
    "related skills",
    "delegates to",
    "handoff to",
    "see also",
];

/// Keys that declare an edge only where they begin a line or are a key of data.
const LINE_KEYS: &[&str] = &["requires", "next", "triggers"];

/// Verbs of instructions that start an agent or a skill.
const DELEGATION: &[&str] = &[
    "spawn",
    "spawns",
    "delegate",
    "delegates",
    "dispatch",
    "dispatches",
    "invoke",
    "invokes",
    "hand",
    "hands",
    "handoff",
    "assign",
    "assigns",
    "ask",
    "asks",
    "launch",
    "launches",
    "escalate",
    "escalates",
    "route",
    "routes",
];

/// Returns the use of a distinctive name at a spot. `None` if it certainly means something else.
pub(crate) fn use_of_name(document: &Document<'_>, spot: &Spot<'_>, kind: EntityKind) -> Option<NameUse> {
    if is_package_line(document, spot) || is_route(spot.before) {
        return None;
    }
    if is_declared(document, spot, kind) {
        return Some(NameUse::Declared);
    }
    let (before, after) = (spot.before, spot.after);
    let is_used = match document.language {
        Language::Markdown if document.is_front(spot) => is_value(before, after) || is_marked(before, after),
        Language::Markdown | Language::Text => {
            is_marked(before, after)
                || is_routed(before, after)
                || is_item(before, after)
                || is_cell(before, after)
                || is_beside(before, after, kind)
                || document.instructs && is_prefixed(before)
        }
        Language::Yaml | Language::Toml | Language::Json if is_manifest(document.path) => return None,
        Language::Yaml | Language::Toml | Language::Json => {
            is_value(before, after) || is_slash(before, after) || is_routed(before, after)
        }
        _ => {
            is_slash(before, after)
                || is_beside(before, after, kind)
                || is_quoted(before, after) && line_has(spot, kind_words(kind))
        }
    };
    Some(if is_used { NameUse::Likely } else { NameUse::Mentioned })
}

/// Returns the use of an ordinary word as the name of the file at `path`. `None` if it is only that word.
pub(crate) fn use_of_word(
    document: &Document<'_>,
    spot: &Spot<'_>,
    kind: EntityKind,
    path: &str,
) -> Option<NameUse> {
    if is_package_line(document, spot) {
        return None;
    }
    if is_declared(document, spot, kind) {
        return Some(NameUse::Declared);
    }
    let (before, after) = (spot.before, spot.after);
    let quoted = is_quoted(before, after);
    if quoted && is_beside(before, after, kind) {
        return Some(NameUse::Likely);
    }
    let prose = matches!(document.language, Language::Markdown);
    let inside = document.path.starts_with(framework_root(path).unwrap_or_default());
    if !prose || !(document.instructs || inside) {
        return None;
    }
    let is_used = is_beside(before, after, kind)
        || is_slash(before, after)
            && matches!(kind, EntityKind::Command | EntityKind::Skill)
            && is_spoken(document, spot)
        || before.ends_with('@') && kind == EntityKind::Agent && is_marked(before, after)
        || is_namespaced(before, after, path)
        || is_whole_cell(before, after) && has_kind_title(document, spot, kind)
        || is_item(before, after) && document.heading(spot).is_some_and(|title| is_kind_title(title, kind))
        || document.instructs
            && (is_routed(before, after)
                || (quoted || is_bold(before, after))
                    && (line_has(spot, kind_words(kind)) || line_has(spot, DELEGATION)));
    let is_mentioned = quoted && document.instructs && matches!(kind, EntityKind::Agent | EntityKind::Skill);
    if is_used { Some(NameUse::Likely) } else { is_mentioned.then_some(NameUse::Mentioned) }
}

/// Returns true if the spot is one that only names of the kind are written at: an argument of a tool, the value of a key.
fn is_declared(document: &Document<'_>, spot: &Spot<'_>, kind: EntityKind) -> bool {
    let before = spot.before;
    if is_argument(before) {
        return true;
    }
    let key = document.key(spot).map(|key| key.to_ascii_lowercase());
    let of_kind = |key: &str| match kind {
        EntityKind::Agent => !key.starts_with("skill"),
        EntityKind::Skill | EntityKind::Command => key.starts_with("skill"),
        _ => true,
    };
    if key.as_deref().is_some_and(|key| {
        NAME_KEYS.contains(&key) && of_kind(key) || LINE_KEYS.contains(&key) && document.is_data(spot)
    }) {
        return true;
    }
    let prose = matches!(document.language, Language::Markdown | Language::Text);
    (prose || document.is_data(spot))
        && (follows_edge(before) || LINE_KEYS.iter().any(|key| starts_with_key(before, key)))
}

/// Returns true if a key that declares an edge precedes it on the line.
fn follows_edge(before: &str) -> bool {
    let lower = before.to_ascii_lowercase();
    EDGE_KEYS.iter().any(|key| {
        lower.match_indices(key).any(|(at, _)| {
            let rest = lower.get(at + key.len()..).unwrap_or_default();
            rest.trim_start_matches(['*', '`', '"', '\'', ' ']).starts_with([':', '=', '|'])
        })
    })
}

/// Returns true if a line begins with a key, after the marks of a list or of emphasis.
fn starts_with_key(before: &str, key: &str) -> bool {
    let line = before.trim_start_matches(['-', '*', '#', '>', ' ', '\t', '"']).to_ascii_lowercase();
    line.strip_prefix(key)
        .is_some_and(|rest| rest.trim_start_matches(['*', '"', ' ']).starts_with([':', '=']))
}

/// Returns true if the line adds a package: an import, or a command of a package manager.
fn is_package_line(document: &Document<'_>, spot: &Spot<'_>) -> bool {
    const MANAGERS: &[&str] = &[
        "npm", "npx", "pnpm", "yarn", "bun", "pip", "pip3", "uv", "poetry", "cargo", "gem", "bundle",
        "composer", "go", "brew",
    ];
    const VERBS: &[&str] = &["install", "i", "add", "get", "remove", "require", "update"];
    let line = spot.line().trim_start();
    let first = |word: &str| line.strip_prefix(word).is_some_and(|rest| rest.starts_with([' ', '\t']));
    let taken =
        first("import") || first("use") && document.is_code() || first("from") && line.contains(" import ");
    let from = line.contains(" from ") && (first("export") || first("}"))
        || line.contains("require(")
        || line.contains("import(");
    let words: Vec<&str> = spot.before.split(|c: char| !c.is_alphanumeric()).collect();
    let managed = words.windows(2).any(|pair| MANAGERS.contains(&pair[0]) && VERBS.contains(&pair[1]));
    taken || from || managed
}

/// Returns true if a file lists packages rather than names of this project.
fn is_manifest(path: &str) -> bool {
    crate::entity::is_manifest(path) || path.ends_with("lock.yaml") || path.ends_with("lock.json")
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

/// Returns true if quotes or backticks hold nothing but the name, with the `/` of a command or the `@` of an agent.
fn is_quoted(before: &str, after: &str) -> bool {
    let before = before.strip_suffix(['/', '@']).unwrap_or(before);
    before.chars().next_back().is_some_and(|c| matches!(c, '"' | '\'' | '`') && after.starts_with(c))
}

fn is_bold(before: &str, after: &str) -> bool {
    before.ends_with('*') && after.starts_with('*')
}

/// Returns true for the `/` of a command, at the beginning of a word.
fn is_slash(before: &str, after: &str) -> bool {
    let Some(bare) = before.strip_suffix('/') else { return false };
    bare.chars().next_back().is_none_or(|c| c.is_whitespace() || "\"'`([|,*".contains(c))
        && !after.starts_with('/')
}

/// Returns true if a method of HTTP precedes `/name`.
fn is_route(before: &str) -> bool {
    let Some(before) = before.strip_suffix('/') else { return false };
    let word =
        before.trim_end_matches(['`', '"', '\'', ' ', '*']).rsplit(|c: char| !c.is_alphanumeric()).next();
    matches!(word, Some("GET" | "POST" | "PUT" | "DELETE" | "PATCH" | "HEAD"))
}

/// Returns true if `/word` is a command, and not a route of a service.
fn is_spoken(document: &Document<'_>, spot: &Spot<'_>) -> bool {
    const METHODS: &[&str] = &[
        "GET",
        "POST",
        "PUT",
        "DELETE",
        "PATCH",
        "HEAD",
        "endpoint",
        "endpoints",
        "route",
        "routes",
        "path",
        "URL",
    ];
    let line = spot.line();
    !METHODS.iter().any(|word| has_exact_word(line, word)) && (document.instructs || !line.contains("http"))
}

/// Among the arguments of `Task(…)`, `Agent(…)`, `Skill(…)`.
fn is_argument(before: &str) -> bool {
    let Some((call, arguments)) = before.rsplit_once('(') else { return false };
    let tool = call.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
    !arguments.contains(')') && matches!(tool, "Task" | "Agent" | "Skill" | "SlashCommand")
}

/// Beside an arrow.
fn is_routed(before: &str, after: &str) -> bool {
    let (before, after) = (before.trim_end(), after.trim_start());
    ["->", "→", "⇒", "=>", "<-", "←", "─▶", "▶"]
        .iter()
        .any(|arrow| before.ends_with(arrow) || after.starts_with(arrow))
}

/// An item of a list or a heading that begins with the name.
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

/// A cell of a table that holds nothing but the name, or a list that it is an item of.
fn is_whole_cell(before: &str, after: &str) -> bool {
    if !before.trim_start().starts_with(['|', '│']) {
        return false;
    }
    let marks = |text: &str| text.trim_matches(['`', '*', '/', '@', '[', ']', ' ']).is_empty();
    let start = before.rsplit(['|', '│', ',', '+', ';']).next().unwrap_or_default();
    let end = after.split(['|', '│', ',', '+', ';', '(']).next().unwrap_or_default();
    marks(start) && marks(end)
}

/// Returns true if the column's title is a word for the kind, or declares an edge.
fn has_kind_title(document: &Document<'_>, spot: &Spot<'_>, kind: EntityKind) -> bool {
    document.column(spot).is_some_and(|title| is_kind_title(title, kind))
}

/// Returns true if a title is a word for the kind, or declares an edge.
fn is_kind_title(title: &str, kind: EntityKind) -> bool {
    let lower = title.to_ascii_lowercase();
    has_word(title, kind_words(kind)) || EDGE_KEYS.iter().any(|key| lower.contains(key))
}

/// Returns true for the value of a key or an item, alone or among others.
fn is_value(before: &str, after: &str) -> bool {
    let before = before.trim_end_matches(['"', '\'', ' ', '[']);
    let after = after.trim_start_matches(['"', '\'', ' ', ']']);
    let starts = before.ends_with([':', '=', ',', '-']) || before.trim().is_empty();
    let ends = after.is_empty() || after.starts_with([',', '#', '}', ']', ':']);
    starts && ends
}

/// `plugin:NAME`.
fn is_prefixed(before: &str) -> bool {
    before.strip_suffix(':').is_some_and(|strip_suffix| strip_suffix.ends_with(|c: char| c.is_alphanumeric()))
}

/// `plugin:NAME` where the plugin is the one that has the file.
fn is_namespaced(before: &str, after: &str, path: &str) -> bool {
    let Some(before) = before.strip_suffix(':') else { return false };
    let plugin =
        before.rsplit(|c: char| !c.is_alphanumeric() && c != '-' && c != '_').next().unwrap_or_default();
    let marked = before.strip_suffix(plugin).is_some_and(|start| start.ends_with(['/', '`', '"', '\'']));
    let is_in_plugin = path.split('/').any(|part| part == plugin);
    let ends = after.chars().next().is_none_or(|c| !c.is_alphanumeric());
    !plugin.is_empty() && ends && (is_in_plugin || marked)
}

/// Returns true for `the NAME agent`, `skill NAME`, with the word for the kind directly before or after.
fn is_beside(before: &str, after: &str, kind: EntityKind) -> bool {
    let word = |text: &str, last: bool| {
        let text = text.trim_matches(['`', '"', '\'', '*', ' ', ':', '=', '/', '@']);
        let mut words =
            text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
        let word = if last { words.next_back() } else { words.next() };
        word.is_some_and(|word| kind_words(kind).iter().any(|known| word.eq_ignore_ascii_case(known)))
    };
    let near_before = before.ends_with([' ', '`', '"', '\'', '*', '/', '@'])
        && !before.trim_end().ends_with(['.', ',', ';']);
    let near_after = after.starts_with([' ', '`', '"', '\'', '*'])
        && !after.trim_start_matches(['`', '"', '\'', '*']).starts_with(['.', ',', ';']);
    (near_after && word(after, false)) || (near_before && word(before, true))
}

fn line_has(spot: &Spot<'_>, words: &[&str]) -> bool {
    has_word(spot.before, words) || has_word(spot.after, words)
}

/// Returns true if a text contains one of the words, ignoring case.
fn has_word(text: &str, words: &[&str]) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .any(|word| words.iter().any(|known| word.eq_ignore_ascii_case(known)))
}

fn has_exact_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric()).any(|part| part == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uses(language: Language, text: &str) -> Vec<Option<NameUse>> {
        let path = match language {
            Language::Markdown => "docs/x.md",
            Language::Yaml => "x.yaml",
            Language::Json => "x.json",
            _ => "x.ts",
        };
        let document = Document::new(path, text);
        let uses =
            document.occurrences("plan-x").map(|spot| use_of_name(&document, &spot, EntityKind::Skill));
        uses.collect()
    }

    #[test]
    fn name_uses_are_distinguished_from_prose() {
        use NameUse::*;
        let rows: &[(Language, &str, NameUse)] = &[
            (Language::Markdown, "run `plan-x` first", Likely),
            (Language::Markdown, "run /plan-x first", Likely),
            (Language::Markdown, "ask @plan-x first", Likely),
            (Language::Markdown, "- **plan-x**: does it", Likely),
            (Language::Markdown, "3. plan-x does it", Likely),
            (Language::Markdown, "| plan-x | P3 |", Likely),
            (Language::Markdown, "| P3 | design, plan-x | y |", Likely),
            (Language::Markdown, "| P3 | after it plan-x comes | y |", Mentioned),
            (Language::Markdown, "INPUT_FROM: design-a (risks), plan-x (order)", Declared),
            (Language::Markdown, "**Sends To**: plan-x", Declared),
            (Language::Markdown, "done → plan-x", Likely),
            (Language::Markdown, "what plan-x made is kept", Mentioned),
            (Language::Markdown, "---\nskills: [design-a, plan-x]\n---\n", Declared),
            (Language::Markdown, "---\nskills:\n  - plan-x\n---\n", Declared),
            (Language::Markdown, "---\ndescription: it follows plan-x in time\n---\n", Mentioned),
            (Language::Markdown, "---\ntools: Read, Skill(design-a, plan-x)\n---\n", Declared),
            (Language::Yaml, "next: plan-x", Declared),
            (Language::Yaml, "  - plan-x # last", Likely),
            (Language::Yaml, "text: after that plan-x is run", Mentioned),
            (Language::Json, "{\"skill\": \"plan-x\"}", Declared),
            (Language::Json, "{\"text\": \"after plan-x ran\"}", Mentioned),
            (Language::TypeScript, "start({ skill: 'plan-x' })", Declared),
            (Language::TypeScript, "load('plan-x') // a skill", Likely),
            (Language::TypeScript, "label('plan-x')", Mentioned),
            (Language::TypeScript, "// as plan-x does", Mentioned),
        ];
        for (language, text, expected) in rows {
            assert_eq!(uses(*language, text), [Some(*expected)], "{text}");
        }
        for text in ["import a from 'plan-x'", "const a = require('plan-x')", "export { a } from 'plan-x'"] {
            assert_eq!(uses(Language::TypeScript, text), [None], "{text}");
        }
    }
}
