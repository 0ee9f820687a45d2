//! Missing paths in settings that an edit introduced: an action of a workflow, a script that a command runs,
//! a value that replaced a path to a file.
//!
//! A path in settings may name a file that is created later. Therefore only paths are reported that must
//! exist, or whose former value existed.

use crate::language::Language;
use crate::world::{World, join, parent};

/// Programs whose first argument is a file that they run.
const INTERPRETERS: [&str; 9] = ["bash", "sh", "zsh", "python", "python3", "node", "ruby", "php", "deno"];

/// A path without a file.
pub(super) struct MissingPath {
    pub(super) line: u32,
    pub(super) path: String,
}

/// Returns the missing paths on new lines of a settings file.
pub(super) fn missing_paths(world: &dyn World, path: &str, now: &str, former: &str) -> Vec<MissingPath> {
    if !matches!(Language::of(path), Language::Yaml | Language::Json | Language::Toml) {
        return Vec::new();
    }
    let was: Vec<&str> = former.lines().collect();
    let is: Vec<&str> = now.lines().collect();
    let removed: Vec<&str> = was.iter().filter(|line| !is.contains(line)).copied().collect();
    let mut found = Vec::new();
    for (line, number) in is.iter().zip(1_u32..).filter(|(line, _)| !was.contains(line)) {
        for token in tokens(line).filter(|token| !exists(world, path, token.written)) {
            let is_required = is_action(path, &token) || is_run(world, path, &token);
            let took_place = || {
                let mut former = removed.iter().flat_map(|line| tokens(line));
                former.any(|it| it.before == token.before && exists(world, path, it.written))
            };
            if is_required || took_place() {
                found.push(MissingPath { line: number, path: token.written.to_owned() });
            }
        }
    }
    found
}

/// A path in a line.
struct Token<'t> {
    before: &'t str,
    written: &'t str,
}

/// The relative paths of a line: they have a slash, and the last part has an ending, or they begin with `./`.
fn tokens(line: &str) -> impl Iterator<Item = Token<'_>> {
    let is_end =
        |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ',' | '[' | ']' | '(' | ')' | '=' | ';');
    let parts = line.split(is_end).filter(|part| is_path(part));
    let comment = line.find(" #").or_else(|| line.trim_start().starts_with('#').then_some(0));
    parts.filter_map(move |written| {
        let at = written.as_ptr() as usize - line.as_ptr() as usize;
        let is_code = comment.is_none_or(|comment| at < comment);
        is_code.then(|| Token { before: &line[..at], written })
    })
}

fn is_path(part: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '-' | '_');
    let name = part.rsplit('/').next().unwrap_or_default();
    let has_ending = name.rsplit_once('.').is_some_and(|(stem, ending)| {
        !stem.is_empty() && (1..=5).contains(&ending.len()) && ending.starts_with(|c: char| c.is_alphabetic())
    });
    part.contains('/')
        && part.chars().all(is_plain)
        && !part.starts_with('/')
        && !part.contains("//")
        && (has_ending || part.starts_with("./"))
        && name.chars().any(char::is_alphabetic)
}

/// Returns true if a path is a file or directory, from the root or from the directory of the file that
/// contains it.
fn exists(world: &dyn World, from: &str, written: &str) -> bool {
    let is_there = |path: String| {
        world.find(&path).is_some() || {
            let inside = format!("{path}/");
            world.files().into_iter().any(|file| world.path(file).starts_with(&inside))
        }
    };
    ["", parent(from)].iter().filter_map(|base| join(base, written)).any(is_there)
}

/// Returns true if a workflow uses an action of its own repository there.
fn is_action(path: &str, token: &Token<'_>) -> bool {
    let key = token.before.trim_end_matches(['"', '\'']).trim();
    path.starts_with(".github/") && token.written.starts_with("./") && matches!(key, "uses:" | "- uses:")
}

/// Returns true if a command runs the file, and the directory of the file exists.
fn is_run(world: &dyn World, from: &str, token: &Token<'_>) -> bool {
    let program = token.before.split_whitespace().next_back().unwrap_or_default();
    let program = program.trim_start_matches(['"', '\'']);
    INTERPRETERS.contains(&program) && exists(world, from, parent(token.written))
}
