//! References that lead to nothing: to entities that are gone, and paths in structured places that no file has.
//!
//! Which entities are gone is told from outside, by git and by the index's own history.

use std::collections::BTreeSet;

use crate::entity::{Aliases, Entity, EntityKind, Names, is_history};
use crate::language::Language;
use crate::reference::{Certainty, Kind};
use crate::text::{Subject, referrers};
use crate::world::{FileId, World, base, join, parent};

/// A file that was, with what it was known by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Former {
    /// Where it was.
    pub path: Box<str>,
    /// Its entities then: see [`entities`](crate::entity::entities).
    pub entities: Vec<Entity>,
}

/// A place that names what is gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dangling {
    /// Where.
    pub file: FileId,
    /// The line, counted from 1.
    pub line: u32,
    /// How it names it: a path or a name; a mention is stale, but nothing follows it.
    pub kind: Kind,
    /// How sure it is that what is gone is meant.
    pub certainty: Certainty,
    /// As written there.
    pub pattern: Box<str>,
    /// Which of the former files; `None` for a path to a file that nobody knows.
    pub former: Option<usize>,
}

/// All places that reference former files which no present one replaces, and all links and hook commands that lead nowhere.
/// Sorted by path and line.
pub fn dangling(world: &dyn World, former: &[Former], aliases: &Aliases) -> Vec<Dangling> {
    let names = Names::of(world, aliases);
    let mut found: Vec<Dangling> =
        former.iter().enumerate().flat_map(|(at, former)| stale(world, &names, at, former)).collect();
    let known: BTreeSet<(FileId, u32)> = found.iter().map(|place| (place.file, place.line)).collect();
    let folders = folders(world);
    for file in world.files() {
        let nowhere = nowhere(world, &folders, file);
        found.extend(nowhere.into_iter().filter(|place| !known.contains(&(place.file, place.line))));
    }
    found.sort_by(|a, b| world.path(a.file).cmp(world.path(b.file)).then(a.line.cmp(&b.line)));
    found
}

fn stale(world: &dyn World, names: &Names, at: usize, former: &Former) -> Vec<Dangling> {
    let gone = |entity: &&Entity| match entity.kind {
        EntityKind::Path => world.find(&entity.name).is_none(),
        _ => names.get(&entity.name).is_empty(),
    };
    let entities: Vec<Entity> = former.entities.iter().filter(gone).cloned().collect();
    let subject = Subject { path: &former.path, entities: &entities, symbols: &[], history: false };
    let place = |reference: crate::reference::Reference| Dangling {
        file: reference.file,
        line: reference.line,
        kind: reference.kind,
        certainty: reference.certainty,
        pattern: reference.pattern,
        former: Some(at),
    };
    referrers(world, &subject).into_iter().map(place).collect()
}

/// Every directory with a file somewhere below it.
fn folders(world: &dyn World) -> BTreeSet<String> {
    let mut folders = BTreeSet::new();
    for file in world.files() {
        let mut folder = parent(world.path(file));
        while !folder.is_empty() && folders.insert(folder.to_owned()) {
            folder = parent(folder);
        }
    }
    folders
}

/// The paths in a file's structured places that no file has.
fn nowhere(world: &dyn World, folders: &BTreeSet<String>, file: FileId) -> Vec<Dangling> {
    let from = world.path(file);
    let markdown = Language::of(from) == Language::Markdown;
    if is_history(from) || !(markdown || is_settings(from)) {
        return Vec::new();
    }
    let Some(text) = world.text(file) else { return Vec::new() };
    let (targets, origin) = if markdown { (links(&text), parent(from)) } else { (hook_paths(&text), "") };
    let leads = |path: &str| {
        let with = |end: &str| world.find(&format!("{path}{end}")).is_some();
        // A page of a site may be made from the document beside it.
        let made = path.strip_suffix(".html").is_some_and(|stem| world.find(&format!("{stem}.md")).is_some());
        made || folders.contains(path) || ["", ".md", ".mdx", "/index.md", "/README.md"].into_iter().any(with)
    };
    let lost =
        |target: &&(u32, &str)| join(origin, target.1).is_some_and(|path| !path.is_empty() && !leads(&path));
    let place = |target: &(u32, &str)| Dangling {
        file,
        line: target.0,
        kind: Kind::Path,
        certainty: Certainty::Resolved,
        pattern: target.1.into(),
        former: None,
    };
    targets.iter().filter(lost).map(place).collect()
}

fn is_settings(path: &str) -> bool {
    matches!(base(path), "settings.json" | "settings.local.json") && base(parent(path)) == ".claude"
}

/// The targets of Markdown links that say which file they mean: relative, with an extension, outside code.
fn links(text: &str) -> Vec<(u32, &str)> {
    let mut found = Vec::new();
    let mut fenced = false;
    for (line, number) in text.lines().zip(1_u32..) {
        if line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        let code = code_spans(line);
        for (at, _) in line.match_indices("](") {
            let target = line
                .get(at + 2..)
                .and_then(|rest| rest.split([')', ' ', '#', '?']).next())
                .unwrap_or_default();
            if !code.iter().any(|span| span.contains(&at)) && is_relative(target) {
                found.push((number, target));
            }
        }
    }
    found
}

/// What stands between backticks.
fn code_spans(line: &str) -> Vec<std::ops::Range<usize>> {
    let ticks: Vec<usize> = line.match_indices('`').map(|(at, _)| at).collect();
    ticks.chunks_exact(2).map(|pair| pair[0]..pair[1]).collect()
}

fn is_relative(target: &str) -> bool {
    let plain = target.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '/' | '_' | '-' | '+'));
    let extension =
        base(target).rsplit_once('.').is_some_and(|(stem, end)| !stem.is_empty() && !end.is_empty());
    plain && extension && !target.starts_with('/')
}

/// The project's files that hook commands of a client's settings name.
fn hook_paths(text: &str) -> Vec<(u32, &str)> {
    let mut found = Vec::new();
    for (line, number) in text.lines().zip(1_u32..).filter(|(line, _)| line.contains("\"command\"")) {
        for prefix in ["$CLAUDE_PROJECT_DIR/", "${CLAUDE_PROJECT_DIR}/", "$CLAUDE_PROJECT_DIR\\\"/"] {
            for (at, _) in line.match_indices(prefix) {
                let rest = line.get(at + prefix.len()..).unwrap_or_default();
                let target =
                    rest.split(['"', '\'', ' ', '\\', ';', '|', '&', ')']).next().unwrap_or_default();
                if is_relative(target) {
                    found.push((number, target));
                }
            }
        }
    }
    found
}
