//! Places where paths are written. A word without a slash and without an extension (`check`, `LICENSE`) is a
//! path only there.

use super::context::{Document, Spot};
use crate::world::{base, parent};

/// Words in the names of keys that hold paths.
const KEY_WORDS: &[&str] = &[
    "path",
    "paths",
    "file",
    "files",
    "filename",
    "dir",
    "dirs",
    "directory",
    "directories",
    "folder",
    "folders",
    "member",
    "members",
    "workspace",
    "workspaces",
    "package",
    "packages",
    "include",
    "includes",
    "exclude",
    "src",
    "source",
    "sources",
    "entry",
    "main",
    "bin",
    "readme",
    "license",
    "reference",
    "references",
    "project",
    "projects",
    "root",
    "roots",
    "context",
    "dockerfile",
    "testpaths",
    "uses",
    "extends",
    "href",
];

/// Words in the names of functions that take paths.
const CALL_WORDS: &[&str] = &[
    "open",
    "read",
    "write",
    "path",
    "paths",
    "file",
    "files",
    "join",
    "resolve",
    "load",
    "source",
    "include",
    "stat",
    "exists",
    "copy",
    "move",
    "rename",
    "remove",
    "unlink",
    "require",
    "glob",
    "dir",
    "directory",
    "relative",
    "exec",
    "spawn",
    "str",
    "bytes",
];

/// Words of command lines after which a path follows.
const COMMAND_WORDS: &[&str] = &[
    "cd",
    "pushd",
    "-C",
    "--prefix",
    "--cwd",
    "--dir",
    "--directory",
    "--project",
    "--manifest-path",
    "source",
    "-f",
    "--file",
    "add_subdirectory(",
    "include",
    "cat",
    "bash",
    "sh",
];

/// Returns true if a path is expected at a spot.
pub(crate) fn holds_paths(document: &Document<'_>, spot: &Spot<'_>) -> bool {
    let line = spot.line().trim_start();
    let dockerfile = ["Dockerfile", "Containerfile"].iter().any(|name| base(document.path).starts_with(name));
    lists_paths(document.path)
        || dockerfile && ["COPY ", "ADD "].iter().any(|start| line.starts_with(start))
        || follows_command(spot.before)
        || is_attribute(spot.before)
        || document.is_data(spot) && follows_sibling(document.path, spot.before)
        || document.is_data(spot) && document.key(spot).is_some_and(|key| has_word(key, KEY_WORDS))
        || document.is_code()
            && is_quoted(spot)
            && (is_path_argument(spot.before) || is_appended(spot.before))
}

/// Returns true if every word of a file is a path or a path pattern.
fn lists_paths(path: &str) -> bool {
    let name = base(path);
    name.starts_with('.') && name.ends_with("ignore")
        || matches!(name, ".gitattributes" | "CODEOWNERS" | "MANIFEST.in" | ".gitmodules")
}

fn follows_command(before: &str) -> bool {
    let before = before.trim_end_matches(['"', '\'']);
    let apart = before.ends_with([' ', '\t', '(']);
    let word = before.trim_end().rsplit([' ', '\t', '`', '"', '\'', ';', '&']).next().unwrap_or_default();
    apart && COMMAND_WORDS.contains(&word)
}

/// Returns true if the word before is the path of a program in the directory of the file: it runs files beside it by their names.
fn follows_sibling(path: &str, before: &str) -> bool {
    let before = before.trim_end_matches([' ', '"', '\'', '\\']);
    let program = before.rsplit([' ', '"', '\'']).next().unwrap_or_default();
    let directory = base(parent(path));
    !directory.is_empty() && base(parent(program)) == directory
}

/// `href="…"`, `src="…"`.
fn is_attribute(before: &str) -> bool {
    let Some(before) = before.strip_suffix(['"', '\'']) else { return false };
    before.ends_with("href=") || before.ends_with("src=")
}

fn is_quoted(spot: &Spot<'_>) -> bool {
    spot.before.ends_with(['"', '\'', '`']) && spot.after.starts_with(['"', '\'', '`'])
}

/// Returns true if a string is an argument of a call that takes paths.
fn is_path_argument(before: &str) -> bool {
    let Some((call, arguments)) = before.rsplit_once('(') else { return false };
    let function = call.trim_end_matches('!');
    let start =
        function.trim_end_matches(|c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | ':')).len();
    !arguments.contains(')') && has_word(function.get(start..).unwrap_or_default(), CALL_WORDS)
}

/// `directory / "name"`.
fn is_appended(before: &str) -> bool {
    before.trim_end_matches(['"', '\'']).ends_with("/ ")
}

/// Returns true if a name of several words has one of these, in any case.
fn has_word(name: &str, words: &[&str]) -> bool {
    let mut current = String::new();
    let mut found = false;
    for c in name.chars().chain(['_']) {
        let ends = !c.is_alphanumeric() || c.is_uppercase() && current.ends_with(char::is_lowercase);
        if ends {
            found |= words.contains(&current.to_lowercase().as_str());
            current.clear();
        }
        if c.is_alphanumeric() {
            current.push(c);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_calls_and_commands_hold_paths() {
        let rows = [
            ("a.toml", "members = [\"check\"]", true),
            ("a.toml", "license-file = \"check\"", true),
            ("a.toml", "profile = \"check\"", false),
            ("a.json", "{\"files\": [\n\"check\"\n]}", true),
            ("a.yml", "run: cd check && make", true),
            ("a.yml", "run: ruff check --fix", false),
            ("a.py", "open('check')", true),
            ("a.py", "HERE / 'check'", true),
            ("a.py", "run(x)['check']", false),
            ("a.rs", "include_str!(\"check\")", true),
            ("a.js", "readFileSync(join(here, 'check'))", true),
            ("a.js", "label('check')", false),
            ("Makefile", "\t$(MAKE) -C check all", true),
            ("Dockerfile", "COPY check /", true),
            ("Dockerfile", "RUN check", false),
            (".gitignore", "check", true),
        ];
        for (path, text, expected) in rows {
            let document = Document::new(path, text);
            let spot = document.occurrences("check").next().unwrap();
            assert_eq!(holds_paths(&document, &spot), expected, "{text}");
        }
    }
}
