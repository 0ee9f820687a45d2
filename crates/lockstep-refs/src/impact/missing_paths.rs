//! Missing paths in settings that an edit introduced: an action of a workflow, a script that a command runs,
//! a value that replaced a path to a file.
//!
//! A path in settings may name a file that is created later. Therefore only paths are reported that must
//! exist, or whose former value existed.

use crate::language::Language;
use crate::world::{World, base, join, parent};

/// Programs whose first argument is a file that they run.
const INTERPRETERS: [&str; 9] = ["bash", "sh", "zsh", "python", "python3", "node", "ruby", "php", "deno"];

/// A path without a file.
pub(super) struct MissingPath {
    pub(super) line: u32,
    pub(super) path: String,
}

/// Variables of Claude Code that hold a directory of the project.
const ROOTS: [&str; 4] =
    ["$CLAUDE_PROJECT_DIR", "${CLAUDE_PROJECT_DIR}", "$CLAUDE_PLUGIN_ROOT", "${CLAUDE_PLUGIN_ROOT}"];

/// Keys whose relative values (`./x`, `../x`) name a file or directory that must exist.
const REQUIRED_KEYS: [&str; 5] = ["extends", "build", "context", "$ref", "source"];

/// Returns the missing paths on new lines of a settings file, a build file or a script.
pub(super) fn missing_paths(world: &dyn World, path: &str, now: &str, former: &str) -> Vec<MissingPath> {
    if !holds_settings(path) {
        return Vec::new();
    }
    let was: Vec<&str> = former.lines().collect();
    let is: Vec<&str> = now.lines().collect();
    let removed: Vec<&str> = was.iter().filter(|line| !is.contains(line)).copied().collect();
    let mut found = Vec::new();
    for (line, number) in is.iter().zip(1_u32..).filter(|(line, _)| !was.contains(line)) {
        for token in tokens(line).filter(|token| !exists(world, path, token.written)) {
            let took_place = || {
                let mut former = removed.iter().flat_map(|line| tokens(line));
                former.any(|candidate| {
                    candidate.before == token.before && exists(world, path, candidate.written)
                })
            };
            if is_required(world, path, &token) || took_place() {
                found.push(MissingPath { line: number, path: token.written.to_owned() });
            }
        }
    }
    found
}

fn holds_settings(path: &str) -> bool {
    let name = base(path);
    matches!(Language::of(path), Language::Yaml | Language::Json | Language::Toml | Language::Bash)
        || matches!(name, "Makefile" | "makefile" | "GNUmakefile" | "justfile" | "Justfile")
        || name.ends_with(".mk")
        || is_dockerfile(path)
}

fn is_dockerfile(path: &str) -> bool {
    ["Dockerfile", "Containerfile"].iter().any(|name| base(path).starts_with(name))
}

/// A path in a line.
struct Token<'t> {
    before: &'t str,
    written: &'t str,
}

/// The relative paths of a line: they have a slash or an ending.
fn tokens(line: &str) -> impl Iterator<Item = Token<'_>> {
    let is_end = |c: char| {
        c.is_whitespace() || matches!(c, '"' | '\'' | '\\' | ',' | '[' | ']' | '(' | ')' | '=' | ';' | ':')
    };
    let comment = line.find(" #").or_else(|| line.trim_start().starts_with('#').then_some(0));
    line.split(is_end).filter_map(move |part| {
        let at = part.as_ptr() as usize - line.as_ptr() as usize;
        let before = &line[..at];
        let is_url =
            line[at + part.len()..].starts_with("://") || before.ends_with(':') && part.starts_with("//");
        let root = ROOTS.iter().find(|root| before.trim_end_matches(['"', '\\']).ends_with(*root));
        let inside = ROOTS.iter().find_map(|root| part.strip_prefix(root)).or(root.map(|_| part));
        let written = inside.and_then(|inside| inside.strip_prefix('/')).unwrap_or(part);
        let is_code = comment.is_none_or(|comment| at < comment);
        let before = &line[..at + part.len() - written.len()];
        (is_code && !is_url && is_path(written)).then_some(Token { before, written })
    })
}

fn is_path(part: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '-' | '_');
    part.chars().all(is_plain)
        && !part.starts_with('/')
        && !part.contains("//")
        && (part.contains('/') || has_ending(part))
        && base(part.trim_end_matches('/')).chars().any(char::is_alphabetic)
}

fn has_ending(part: &str) -> bool {
    base(part).rsplit_once('.').is_some_and(|(stem, ending)| {
        !stem.is_empty() && (1..=5).contains(&ending.len()) && ending.starts_with(|c: char| c.is_alphabetic())
    })
}

/// Returns true if a path is a file or directory, from the root or from a directory that paths in `from` are
/// relative to.
fn exists(world: &dyn World, from: &str, written: &str) -> bool {
    let is_there = |path: String| {
        path.is_empty() || world.find(&path).is_some() || {
            let inside = format!("{path}/");
            world.files().into_iter().any(|file| world.path(file).starts_with(&inside))
        }
    };
    let directory = parent(from);
    // The root of a plugin is above the directory of its manifests, and pages of a site have a directory.
    let pages = join(directory, "docs").filter(|_| base(from).starts_with("mkdocs"));
    let bases = ["", directory, parent(directory)];
    let mut bases = bases.into_iter().chain(pages.as_deref());
    bases.any(|base| join(base, written).is_some_and(is_there))
}

/// Returns true if a file or directory must exist at the path.
fn is_required(world: &dyn World, path: &str, token: &Token<'_>) -> bool {
    let is_relative = token.written.starts_with("./") || token.written.starts_with("../");
    let before = token.before.trim_end_matches(['"', '\'', ' ']);
    let key =
        before.strip_suffix([':', '=']).map(|strip_suffix| strip_suffix.trim_end_matches(['"', '\'', ' ']));
    let has_key = |name: &str| {
        let rest = key.and_then(|key| key.strip_suffix(name));
        rest.is_some_and(|rest| {
            !rest.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'))
        })
    };
    let of_client = parent(path).split('/').any(|part| part == ".claude-plugin");
    let from_root = token
        .before
        .strip_suffix('/')
        .is_some_and(|before| ROOTS.iter().any(|root| before.trim_end_matches(['"', '\\']).ends_with(root)));
    from_root && has_ending(token.written)
        || is_relative && of_client
        || is_relative && path.starts_with(".github/") && has_key("uses")
        || is_relative && !is_generated(token.written) && REQUIRED_KEYS.iter().any(|key| has_key(key))
        || base(path) == "Cargo.toml" && has_key("path") && !has_ending(token.written)
        || is_copied(path, token)
        || is_run(world, path, token)
}

/// Returns true if a path is in a directory that programs write: `.nuxt`, `node_modules`, `dist`.
fn is_generated(written: &str) -> bool {
    let is_hidden = |part: &str| part.starts_with('.') && part.contains(char::is_alphabetic);
    parent(written).split('/').any(|part| {
        is_hidden(part) || matches!(part, "node_modules" | "dist" | "build" | "target" | "out" | "vendor")
    })
}

/// Returns true if a Dockerfile copies the file from the project.
fn is_copied(path: &str, token: &Token<'_>) -> bool {
    let mut words = token.before.split_whitespace();
    let is_copy = matches!(words.next(), Some("COPY" | "ADD"));
    is_dockerfile(path)
        && is_copy
        && has_ending(token.written)
        && words.all(|word| word.starts_with("--chown"))
}

/// Returns true if a command runs the file, and the directory of the file exists.
fn is_run(world: &dyn World, from: &str, token: &Token<'_>) -> bool {
    let program = token.before.split_whitespace().next_back().unwrap_or_default();
    let program = program.trim_start_matches(['"', '\'']);
    let is_file = token.written.contains('/') && has_ending(token.written);
    is_file && INTERPRETERS.contains(&program) && exists(world, from, parent(token.written))
}
