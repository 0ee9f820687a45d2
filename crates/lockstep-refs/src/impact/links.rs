//! Links of Markdown texts into the project, and those among them without a target.

use super::broken_references::Missing;
use crate::entity::is_agent_instruction;
use crate::language::Language;
use crate::reference::Kind;
use crate::text::{decode, is_same_anchor};
use crate::world::{World, base, join, parent};

/// Endings of files that an instruction imports with `@`.
const IMPORTED: [&str; 6] = [".md", ".txt", ".json", ".yaml", ".yml", ".toml"];

/// Returns the links of a Markdown file that have no target.
pub(super) fn missing_links(world: &dyn World, from: &str, text: &str) -> Vec<Missing> {
    let mut found = Vec::new();
    for (line, number) in prose(text) {
        let imports = is_agent_instruction(from).then(|| imports(line)).into_iter().flatten();
        for target in links(line).into_iter().chain(imports) {
            let reason = missing_target(world, from, target);
            let missing =
                |reason| Missing { line: number, kind: Kind::Path, pattern: target.to_owned(), reason };
            found.extend(reason.map(missing));
        }
    }
    found
}

/// Returns the lines that are not code, not a comment and not a setting, with their numbers.
fn prose(text: &str) -> Vec<(&str, u32)> {
    let front = crate::entity::frontmatter(text).map_or(0, |front| front.lines().count() + 2);
    let mut found = Vec::new();
    let (mut is_fenced, mut is_comment, mut is_list, mut is_indented) = (false, false, false, false);
    let mut follows_blank = true;
    for (line, number) in text.lines().zip(1_u32..).skip(front) {
        let start = line.trim_start();
        if start.starts_with("```") || start.starts_with("~~~") {
            is_fenced = !is_fenced;
        }
        is_comment |= start.starts_with("<!--");
        let has_indent = line.starts_with("    ") || line.starts_with('\t');
        is_indented = has_indent && !is_list && (is_indented || follows_blank);
        if !is_fenced && !is_comment && !is_indented {
            found.push((line, number));
        }
        is_comment &= !line.contains("-->");
        follows_blank = start.is_empty();
        if !has_indent && !start.is_empty() {
            let ordinal = start.trim_start_matches(|c: char| c.is_ascii_digit());
            let is_item = start.starts_with(['-', '*', '+']) || ordinal.len() < start.len();
            is_list = is_item || is_list && line.starts_with(' ');
        }
    }
    found
}

/// Returns the targets of a line's links into the project: inline, of a definition, of an HTML attribute.
fn links(line: &str) -> Vec<&str> {
    let mut starts: Vec<usize> = line.match_indices("](").map(|(at, _)| at + 2).collect();
    let label = line.trim_start().strip_prefix('[').filter(|rest| !rest.starts_with('^'));
    if let Some(definition) = label.and_then(|rest| rest.split_once(']')?.1.strip_prefix(':')) {
        starts.push(line.len() - definition.trim_start().len());
    }
    for attribute in [" src=\"", " href=\"", " src='", " href='"] {
        starts.extend(line.match_indices(attribute).map(|(at, _)| at + attribute.len()));
    }
    let is_shown = |at: &usize| line[..*at].matches('`').count().is_multiple_of(2);
    starts.into_iter().filter(is_shown).filter_map(|at| target(&line[at..])).collect()
}

/// Returns the target of a link at the start of a text. `None` if it is outside of the project.
fn target(text: &str) -> Option<&str> {
    let target = match text.strip_prefix('<') {
        Some(inner) => inner.split('>').next()?,
        None => {
            let mut depth = 0_i32;
            let ends = |c: char| {
                depth += i32::from(c == '(') - i32::from(c == ')');
                depth < 0 || c.is_whitespace() || matches!(c, '"' | '\'')
            };
            text.split(ends).next()?
        }
    };
    let is_foreign = target.contains([':', '{', '$', '*', '<', '`']) || target.starts_with("//");
    // A path from the root of a site; only a document is known to be a file of the project.
    let is_route = target.starts_with('/') && !target.split(['#', '?']).any(|part| part.ends_with(".md"));
    (!is_foreign && !is_route && !target.is_empty()).then_some(target)
}

/// Returns the paths of files that a line imports with `@`.
fn imports(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (at, _) in line.match_indices('@') {
        let (before, after) = (&line[..at], &line[at + 1..]);
        let is_start = before.chars().next_back().is_none_or(|c| c.is_whitespace() || c == '(');
        let is_shown = before.matches('`').count().is_multiple_of(2);
        let is_path = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '-' | '_');
        let path = after.split(|c| !is_path(c)).next().unwrap_or_default().trim_end_matches('.');
        let is_file = IMPORTED.iter().any(|ending| path.ends_with(ending)) && !path.starts_with('/');
        if is_start && is_shown && is_file {
            found.push(path);
        }
    }
    found
}

/// Returns the reason if a link has no target.
fn missing_target(world: &dyn World, from: &str, target: &str) -> Option<String> {
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let path = decode(path.split('?').next().unwrap_or(path));
    let to = match path.strip_prefix('/') {
        _ if path.is_empty() => from.to_owned(),
        Some(rest) => join("", rest)?,
        None => join(parent(from), &path)?,
    };
    let Some(file) = world.find(&to) else {
        return (!is_page(world, &to, path.starts_with('/'))).then(|| format!("{to} does not exist"));
    };
    let facts =
        world.facts(file).filter(|facts| facts.language == Language::Markdown && !anchor.is_empty())?;
    let anchor = decode(anchor);
    let is_heading = facts.definitions.iter().any(|definition| is_same_anchor(&definition.name, &anchor));
    let text = world.text(file)?;
    let is_marked =
        ["id=\"", "name=\"", "id='", "{#"].iter().any(|mark| text.contains(&format!("{mark}{anchor}")));
    // Lines of a source, the start of a page, a heading with letters that renderers treat differently.
    let is_line = anchor.strip_prefix('L').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let is_known = is_heading || is_marked || is_line || anchor == "top" || !anchor.is_ascii();
    (!is_known).then(|| format!("{to} has no heading #{anchor}"))
}

/// Returns true if a path without a file is a directory, or a page that a site generates from a document.
fn is_page(world: &dyn World, to: &str, is_absolute: bool) -> bool {
    let stem = to.strip_suffix(".html").or_else(|| to.strip_suffix(".htm")).unwrap_or(to);
    let is_file = |path: String| world.find(&path).is_some();
    let is_document = (stem.len() < to.len() || !base(to).contains('.'))
        && [".md", ".mdx", ".rst", "/index.md", "/README.md"]
            .iter()
            .any(|end| is_file(format!("{stem}{end}")));
    let (inside, end) = (format!("{to}/"), format!("/{to}"));
    let is_elsewhere = |path: &str| path.starts_with(&inside) || is_absolute && path.ends_with(&end);
    to.is_empty() || is_document || world.files().into_iter().any(|file| is_elsewhere(world.path(file)))
}
