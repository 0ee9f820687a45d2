//! Paths in text: the extent of a path-like string, and the file that it resolves to.

use std::borrow::Cow;

use crate::entity::is_common_file_name;
use crate::reference::Certainty;
use crate::world::{World, base, join, parent};

/// The files that paths can resolve to: those of a world, and optionally a deleted one.
#[derive(Clone, Copy)]
pub(crate) struct Paths<'a> {
    pub(crate) world: &'a dyn World,
    /// The path of a queried file, in the world or not.
    pub(crate) also: Option<&'a str>,
}

/// The target of a path.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ResolvedPath {
    pub(crate) path: String,
    pub(crate) certainty: Certainty,
}

/// A path-like string in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    pub(crate) written: &'a str,
    pub(crate) path: Cow<'a, str>,
    /// Byte offset of the start.
    pub(crate) start: usize,
    /// Byte offset of the end.
    pub(crate) end: usize,
    pub(crate) enclosure: Enclosure,
    /// Set if an expression with an unknown value precedes it: `$(dirname "$0")/x`, `"$DIR"/x`.
    pub(crate) joined: bool,
}

/// The enclosure of a path-like string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Enclosure {
    Nothing,
    Quotes,
    Backticks,
    Link,
    /// Parentheses or angle brackets that are no link.
    Brackets,
}

impl Token<'_> {
    /// Returns true if it is the whole of a quoted string, a link's target, or such.
    pub(crate) fn is_delimited(&self) -> bool {
        self.enclosure != Enclosure::Nothing
    }

    /// Returns true if it is a word alone: without a slash, and without an extension after a name.
    pub(crate) fn is_word(&self) -> bool {
        is_word(&self.path)
    }
}

fn is_word(path: &str) -> bool {
    !path.contains('/') && path.rsplit_once('.').is_none_or(|(stem, end)| stem.is_empty() || end.is_empty())
}

/// Returns true for characters of paths, including variables (`$X/`, `${X}/`) and `~`.
pub(crate) fn is_path_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '~' | '$' | '{' | '}' | '+' | '@')
}

/// Returns the path-like string that ends with `start..end`. `None` if that is part of a longer word, or of
/// an address.
pub(crate) fn token(text: &str, start: usize, end: usize) -> Option<Token<'_>> {
    let mut next = text.get(end..)?.chars();
    if let Some(c) = next.next() {
        let longer = c.is_alphanumeric() || matches!(c, '_' | '-' | '/' | '$' | '{');
        // `a/b@v1` is a package or an action with its version.
        if longer || (matches!(c, '.' | '@') && next.next().is_some_and(char::is_alphanumeric)) {
            return None;
        }
    }
    extended(text, start, end)
}

/// The same for a directory, which a `/` or a pattern for the files in it may follow.
pub(crate) fn directory_token(text: &str, start: usize, end: usize) -> Option<Token<'_>> {
    let after = text.get(end..)?;
    if let Some(inside) = after.strip_prefix('/') {
        let whole = inside.chars().next().is_none_or(|c| c == '*' || !is_path_char(c));
        return extended(text, start, end).filter(|_| whole);
    }
    token(text, start, end)
}

fn extended(text: &str, start: usize, end: usize) -> Option<Token<'_>> {
    let before = text.get(..start)?;
    let after = text.get(end..)?;
    let after = after.strip_prefix('/').unwrap_or(after);
    let from =
        before.char_indices().rev().take_while(|(_, c)| is_path_char(*c)).last().map_or(start, |(at, _)| at);
    // Other characters need delimiters.
    let written = text.get(from..end).filter(|written| written.chars().all(is_path_char))?;
    let last = before.get(from..)?;
    if last.chars().next_back().is_some_and(|c| c != '/' && c != '}' && c != '$') {
        return None;
    }
    let outside = text.get(..from)?;
    if outside.ends_with(':') && written.starts_with("//") {
        return None;
    }
    let shut = outside
        .strip_suffix(['"', '\''])
        .is_some_and(|name| name.ends_with(|c: char| matches!(c, '}' | ')') || c.is_alphanumeric()));
    let joined = written.starts_with('/') && (outside.ends_with(')') || shut);
    let enclosure = enclosure(outside, after);
    Some(Token { written, path: Cow::Borrowed(written), start: from, end, enclosure, joined })
}

fn enclosure(outside: &str, after: &str) -> Enclosure {
    let closed = after.starts_with(['"', '\'', '`', ')', '>', '#', '?']) || after.is_empty();
    let target = outside.strip_suffix('<').unwrap_or(outside);
    let definition = || {
        if !target.trim_end().ends_with("]:") {
            return false;
        }
        let line = target.rsplit('\n').next().unwrap_or_default();
        line.trim_start().starts_with('[')
    };
    let titled = after.starts_with(" \"") || after.starts_with(" '");
    match outside.chars().next_back() {
        _ if target.ends_with("](") && (closed || titled) => Enclosure::Link,
        _ if definition() => Enclosure::Link,
        Some('"' | '\'') if closed => Enclosure::Quotes,
        Some('`') if closed => Enclosure::Backticks,
        Some('(' | '<') if closed => Enclosure::Brackets,
        _ => Enclosure::Nothing,
    }
}

impl Paths<'_> {
    fn exists(&self, path: &str) -> bool {
        self.also == Some(path) || self.world.find(path).is_some()
    }

    /// Resolves a path written in the file `from`. `None` if it resolves to no file, or to more than one. A
    /// word alone resolves only to a file in the same directory or at the root.
    pub(crate) fn resolve_path(&self, from: &str, token: &Token<'_>) -> Option<ResolvedPath> {
        let sure = |path: String| ResolvedPath { path, certainty: Certainty::Resolved };
        let (rest, origin) = token.origin();
        let near = || join(parent(from), rest).filter(|path| self.exists(path));
        let root = || join("", rest).filter(|path| self.exists(path));
        match origin {
            Origin::Root => root().map(sure),
            Origin::Here => near()
                .map(sure)
                .or_else(|| if rest.starts_with("..") { None } else { self.unambiguous(rest) }),
            Origin::Absolute => root().map(sure).or_else(|| self.whole_end_of(rest)),
            Origin::Variable => near().or_else(root).map(sure).or_else(|| self.unambiguous(rest)),
            Origin::Free if is_word(rest) => near().or_else(root).map(sure),
            Origin::Free if is_common_file_name(rest) => near().filter(|_| token.is_delimited()).map(sure),
            Origin::Free => near()
                .or_else(root)
                .map(sure)
                .or_else(|| self.resolve_above(from, rest))
                .or_else(|| self.unambiguous(rest)),
        }
    }

    /// Returns the directory that a path written in the file `from` means: the nearest one from that file's
    /// directory to the root.
    pub(crate) fn directory(&self, from: &str, token: &Token<'_>) -> Option<String> {
        let exists = |path: &String| {
            !path.is_empty() && (self.also == Some(path) || !self.world.directory(path).is_empty())
        };
        let (rest, origin) = token.origin();
        let near = || join(parent(from), rest).filter(exists);
        let root = || join("", rest).filter(exists);
        match origin {
            Origin::Root | Origin::Absolute => root(),
            Origin::Here if rest.starts_with("..") => near(),
            // Some tools resolve `./` from the root, regardless of the file.
            Origin::Here | Origin::Variable => near().or_else(root),
            Origin::Free if rest.starts_with("..") || is_word(rest) => near().or_else(root),
            Origin::Free => {
                let mut directories = std::iter::successors(Some(parent(from)), |name| {
                    (!name.is_empty()).then(|| parent(name))
                });
                directories.find_map(|directory| join(directory, rest).filter(exists))
            }
        }
    }

    /// Resolves a path from the nearest directory above the file in which it exists.
    fn resolve_above(&self, from: &str, rest: &str) -> Option<ResolvedPath> {
        if is_common_file_name(rest) || rest.starts_with("..") {
            return None;
        }
        let mut directory = parent(from);
        while !directory.is_empty() {
            directory = parent(directory);
            if let Some(path) = join(directory, rest).filter(|path| self.exists(path)) {
                return Some(ResolvedPath { path, certainty: Certainty::Resolved });
            }
        }
        None
    }

    /// Returns the only file whose path ends with it.
    fn unambiguous(&self, rest: &str) -> Option<ResolvedPath> {
        let rest = rest.strip_prefix("./").unwrap_or(rest);
        if is_common_file_name(rest) || rest.starts_with("..") {
            return None;
        }
        let mut found: Option<&str> = None;
        let files = self.world.named(base(rest));
        for path in files.iter().map(|file| self.world.path(*file)).chain(self.also) {
            if ends_with(path, rest) && found != Some(path) {
                if found.is_some() {
                    return None;
                }
                found = Some(path);
            }
        }
        let certainty = if rest.contains('/') { Certainty::Resolved } else { Certainty::Possible };
        found.map(|path| ResolvedPath { path: path.to_owned(), certainty })
    }

    /// Returns the file whose complete path is the end of an absolute one.
    fn whole_end_of(&self, rest: &str) -> Option<ResolvedPath> {
        let mut rest = rest;
        while let Some((_, shorter)) = rest.split_once('/') {
            if shorter.contains('/') && self.exists(shorter) {
                return Some(ResolvedPath { path: shorter.to_owned(), certainty: Certainty::Possible });
            }
            rest = shorter;
        }
        None
    }
}

/// Returns true if `path` is `end`, or ends with it after a `/`.
pub(crate) fn ends_with(path: &str, end: &str) -> bool {
    path.strip_suffix(end).is_some_and(|start| start.is_empty() || start.ends_with('/'))
}

/// The base of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The project's root.
    Root,
    /// The referring file's directory: `./`, `../`.
    Here,
    /// The root of a disk or of a site.
    Absolute,
    /// An unknown variable.
    Variable,
    Free,
}

impl Token<'_> {
    /// The directory that it is relative to, and the rest of it.
    fn origin(&self) -> (&str, Origin) {
        match self.path.strip_prefix('/') {
            Some(rest) if self.joined => (rest, Origin::Variable),
            _ => origin(&self.path),
        }
    }
}

impl Token<'_> {
    /// The paths from the root that it may mean in the file `from`, the most likely first.
    pub(crate) fn meanings(&self, from: &str) -> Vec<String> {
        let (rest, origin) = self.origin();
        let above = || {
            let directories =
                std::iter::successors(Some(parent(from)), |name| (!name.is_empty()).then(|| parent(name)));
            directories.filter_map(|directory| join(directory, rest)).collect()
        };
        match origin {
            Origin::Root | Origin::Absolute => join("", rest).into_iter().collect(),
            Origin::Here | Origin::Variable => join(parent(from), rest).into_iter().collect(),
            Origin::Free if is_word(rest) || rest.starts_with("..") || !rest.contains('/') => {
                join(parent(from), rest).into_iter().collect()
            }
            Origin::Free => above(),
        }
    }
}

/// Flags of commands that a path follows without a space: `-rrequirements/base.txt`.
const FLAGS: &[&str] = &["-C", "-I", "-L", "-c", "-e", "-f", "-r"];

/// Returns the base of a path, and the rest of it.
pub(crate) fn origin(written: &str) -> (&str, Origin) {
    // An instruction imports a file with `@`. A package has a scope, but no ending.
    let is_import = written.starts_with('@') && base(written).contains('.');
    let written = if is_import { written.trim_start_matches('@') } else { written };
    let written = FLAGS.iter().find_map(|flag| written.strip_prefix(flag)).unwrap_or(written);
    if let Some((_, rest)) = written.split_once(".claude/") {
        let start = written.len() - rest.len() - ".claude/".len();
        let before = written.get(..start).unwrap_or_default();
        let known = before.is_empty() || before == "./" || before.starts_with(['~', '$']);
        let rest = written.get(start..).unwrap_or_default();
        return if known || before.starts_with('/') {
            (rest, Origin::Root)
        } else {
            (written, place(written))
        };
    }
    for prefix in
        ["$CLAUDE_PROJECT_DIR/", "${CLAUDE_PROJECT_DIR}/", "${workspaceFolder}/", "${PROJECT_ROOT}/"]
    {
        if let Some(rest) = written.strip_prefix(prefix) {
            return (rest, Origin::Root);
        }
    }
    if written.starts_with('$') || written.starts_with('}') {
        return written.split_once('/').map_or((written, Origin::Free), |(_, rest)| (rest, Origin::Variable));
    }
    match place(written) {
        Origin::Absolute => (written.trim_start_matches('/'), Origin::Absolute),
        place => (written, place),
    }
}

fn place(written: &str) -> Origin {
    match written {
        _ if written.starts_with("./") || written.starts_with("../") || matches!(written, "." | "..") => {
            Origin::Here
        }
        _ if written.starts_with('/') || written.starts_with("~/") => Origin::Absolute,
        _ => Origin::Free,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::MemoryWorld;

    fn resolve_path(from: &str, line: &str, basename: &str) -> Option<(String, Certainty)> {
        let world = MemoryWorld::new([
            (".claude/hooks/on-stop.sh", ""),
            (".claude/skills/a/SKILL.md", ""),
            ("a/src/one.rs", ""),
            ("b/src/one.rs", ""),
            ("b/src/two.rs", ""),
            ("docs/guide.md", ""),
            ("README.md", ""),
            ("a/README.md", ""),
            ("a/docs/x.md", ""),
        ]);
        let start = line.find(basename).unwrap();
        let token = token(line, start, start + basename.len())?;
        Paths { world: &world, also: None }.resolve_path(from, &token).map(|lead| (lead.path, lead.certainty))
    }

    fn sure(path: &str) -> Option<(String, Certainty)> {
        Some((path.to_owned(), Certainty::Resolved))
    }

    #[test]
    fn paths_lead_from_the_root_the_directory_and_known_prefixes() {
        let hook = sure(".claude/hooks/on-stop.sh");
        for written in [
            "\"$CLAUDE_PROJECT_DIR/.claude/hooks/on-stop.sh\"",
            "bash ~/.claude/hooks/on-stop.sh",
            ".claude/hooks/on-stop.sh --x",
            "`hooks/on-stop.sh`",
            "/home/me/.claude/hooks/on-stop.sh",
            "\"${SCRIPT_DIR}/on-stop.sh\"",
            "$(dirname $0)/hooks/on-stop.sh",
        ] {
            let from = if written.contains("SCRIPT_DIR") { ".claude/hooks/other.sh" } else { "docs/x.md" };
            assert_eq!(resolve_path(from, written, "on-stop.sh"), hook, "{written}");
        }
        assert_eq!(resolve_path("docs/x.md", "[g](guide.md#top)", "guide.md"), sure("docs/guide.md"));
        assert_eq!(resolve_path("docs/x.md", "[g](../README.md)", "README.md"), sure("README.md"));
        assert_eq!(resolve_path("a/src/one.rs", "see src/one.rs", "one.rs"), sure("a/src/one.rs"));
        assert_eq!(
            resolve_path("docs/x.md", "`two.rs`", "two.rs"),
            Some(("b/src/two.rs".into(), Certainty::Possible))
        );
    }

    #[test]
    fn ambiguous_generic_and_foreign_paths_do_not_resolve() {
        assert_eq!(resolve_path("docs/x.md", "`one.rs`", "one.rs"), None);
        assert_eq!(resolve_path("docs/x.md", "src/one.rs", "one.rs"), None);
        assert_eq!(resolve_path("docs/x.md", "the README.md of it", "README.md"), None);
        assert_eq!(resolve_path("a/docs/y.md", "[r](README.md)", "README.md"), None);
        assert_eq!(resolve_path("a/y.md", "[r](README.md)", "README.md"), sure("a/README.md"));
        assert_eq!(resolve_path("docs/x.md", "https://example.org/docs/guide.md", "guide.md"), None);
        assert_eq!(resolve_path("docs/x.md", "my-guide.md", "guide.md"), None);
        assert_eq!(resolve_path("docs/x.md", "guide.md.bak", "guide.md"), None);
        assert_eq!(resolve_path("docs/x.md", "../gone/two.rs", "two.rs"), None);
        assert_eq!(
            resolve_path("docs/x.md", "/etc/docs/guide.md", "guide.md").map(|lead| lead.1),
            Some(Certainty::Possible)
        );
    }
}
