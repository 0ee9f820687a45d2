//! Entities: the names of a file besides its symbols. These are its path and every unambiguous suffix of it,
//! its name in an agent framework, and the project's aliases. [`text`](crate::text) finds such names in other
//! files.

mod names;

pub use names::Names;

use serde::{Deserialize, Serialize};

use crate::world::{base, parent};

/// A name of a file.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Entity {
    pub kind: EntityKind,
    pub name: Box<str>,
}

impl Entity {
    /// Returns true if it is a name, and no path.
    pub fn is_name(&self) -> bool {
        !matches!(self.kind, EntityKind::Path | EntityKind::Directory)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EntityKind {
    /// The file by its complete path, or by a suffix that no other path has.
    Path,
    /// `skills/NAME/SKILL.md`.
    Skill,
    /// `agents/NAME.md`.
    Agent,
    /// `commands/NAME.md`.
    Command,
    /// The `name:` of another file of the framework.
    Named,
    /// An alias from the project's configuration.
    Alias,
    /// The directory that the file represents: `packages/a` for `packages/a/package.json`.
    Directory,
}

/// The aliases of a project: names with their paths.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Aliases(Vec<(Box<str>, Box<str>)>);

impl Aliases {
    /// Creates the aliases from pairs of alias and path.
    pub fn new<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        Self(pairs.into_iter().map(|(alias, path)| (alias.into(), path.into())).collect())
    }

    /// Returns the pairs of alias and path, in their order.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(alias, path)| (&**alias, &**path))
    }

    fn of<'a>(&'a self, path: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(_, known)| &**known == path).map(|(alias, _)| &**alias)
    }
}

/// Returns the names of a file without repetitions, its path first.
pub fn entities(path: &str, text: Option<&str>, aliases: &Aliases) -> Vec<Entity> {
    let mut found = vec![Entity { kind: EntityKind::Path, name: path.into() }];
    let mut add = |kind, name: &str| {
        if is_name(name) && !found.iter().any(|known| &*known.name == name) {
            found.push(Entity { kind, name: name.into() });
        }
    };
    if let Some((kind, name)) = entity_from_path(path) {
        add(kind, name);
    }
    if let Some((kind, text)) = declared_kind(path).zip(text) {
        declared_names(path, text).iter().for_each(|name| add(kind, name));
    }
    for alias in aliases.of(path) {
        add(EntityKind::Alias, alias);
    }
    if directory_rank(base(path)).is_some() && !parent(path).is_empty() {
        found.push(Entity { kind: EntityKind::Directory, name: parent(path).into() });
    }
    found
}

/// Returns the names that a file of an agent framework declares for itself.
pub(crate) fn declared_names(path: &str, text: &str) -> Vec<Box<str>> {
    let front = declared_kind(path).and_then(|_| frontmatter(text)).unwrap_or_default();
    ["name", "skill_id"].iter().filter_map(|key| value(front, key)).map(Box::from).collect()
}

/// Returns the rank of a file name among those that represent their directory, lowest first. `None` for other
/// files.
pub fn directory_rank(basename: &str) -> Option<usize> {
    const NAMES: &[&str] = &[
        "action.yml",
        "action.yaml",
        "package.json",
        "Cargo.toml",
        "go.mod",
        "pyproject.toml",
        "pom.xml",
        "build.gradle",
        "build.gradle.kts",
        "composer.json",
        "Chart.yaml",
        "CMakeLists.txt",
        "Makefile",
        "Dockerfile",
        "__init__.py",
        "tsconfig.json",
        "index.ts",
        "index.tsx",
        "index.js",
        "index.jsx",
        "index.mjs",
        "index.cjs",
        "index.html",
        "main.tf",
    ];
    NAMES.iter().position(|name| *name == basename)
}

/// Returns true if a file describes a package or a build. Its content defines the package's name, scripts and
/// features, which are not analysed as definitions.
pub fn is_manifest(path: &str) -> bool {
    const NAMES: &[&str] = &[
        "package.json",
        "package-lock.json",
        "pnpm-workspace.yaml",
        "lerna.json",
        "deno.json",
        "deno.jsonc",
        "Cargo.toml",
        "go.mod",
        "go.work",
        "pyproject.toml",
        "setup.cfg",
        "Pipfile",
        "pom.xml",
        "build.gradle",
        "settings.gradle",
        "gradle.properties",
        "CMakeLists.txt",
        "Gemfile",
        "composer.json",
        "Makefile",
        "GNUmakefile",
        "makefile",
        "justfile",
        "Justfile",
        "Rakefile",
        "meson.build",
        "BUILD",
        "BUILD.bazel",
        "WORKSPACE",
        "MODULE.bazel",
        "Directory.Build.props",
        "pubspec.yaml",
        "mix.exs",
    ];
    const ENDS: &[&str] = &[
        ".csproj",
        ".fsproj",
        ".vbproj",
        ".sln",
        ".gemspec",
        ".gradle.kts",
        ".cabal",
        ".mk",
        ".cmake",
        ".nuspec",
        ".podspec",
        ".vcxproj",
    ];
    let name = base(path);
    let started = |start: &str, end: &str| name.starts_with(start) && name.ends_with(end);
    NAMES.contains(&name)
        || ENDS.iter().any(|end| name.ends_with(end))
        || started("tsconfig", ".json")
        || started("jsconfig", ".json")
        || started("requirements", ".txt")
        || name.starts_with("Dockerfile")
        || name.starts_with("Containerfile")
}

/// Returns the directory of the framework or plugin that a skill, an agent or a command belongs to, with a
/// `/` at its end; empty for the root. `None` for other files.
pub(crate) fn framework_root(path: &str) -> Option<&str> {
    let mut at = 0;
    for part in path.split('/') {
        if matches!(part, ".claude" | "skills" | "agents" | "commands") {
            return path.get(..at);
        }
        at += part.len() + 1;
    }
    None
}

/// Returns true for file names that many directories have, so that the name alone is ambiguous.
pub fn is_common_file_name(basename: &str) -> bool {
    const STEMS: &[&str] = &[
        "skill",
        "index",
        "mod",
        "lib",
        "main",
        "__init__",
        "__main__",
        "readme",
        "package",
        "package-lock",
        "license",
        "changelog",
        "contributing",
        "claude",
        "agents",
        "gemini",
        "memory",
        "makefile",
        "dockerfile",
        "cargo",
        "setup",
        "conftest",
        "pyproject",
        "tsconfig",
        "settings",
        "config",
        "build",
        "go",
        "pom",
        "cmakelists",
        "app",
        "utils",
        "types",
        "test",
        "tests",
        "init",
        "manifest",
        "requirements",
        "gemfile",
        "rakefile",
        "composer",
    ];
    let stem = basename.split('.').find(|part| !part.is_empty()).unwrap_or_default().to_ascii_lowercase();
    STEMS.contains(&stem.as_str())
}

/// Returns true if a file records the past: change logs, memories, archives, records of runs, dated
/// documents. They mention names without depending on them.
pub fn is_historical_record(path: &str) -> bool {
    const STEMS: &[&str] =
        &["changes", "news", "releases", "release_notes", "release-notes", "l1-index", "l2-summary"];
    const STARTS: &[&str] = &["changelog", "gate-record"];
    const LAST_WORDS: &[&str] = &["history", "memory", "archive"];
    const FOLDERS: &[&str] =
        &["agent-memory", "archive", "archives", "archived", "tool-results", "transcripts", "L3-full"];
    const RUNS: &[&str] = &[".claude/projects/", ".claude/memory/", ".agent/teams/"];
    const ENDS: &[&str] = &["log", "jsonl", "bak", "orig", "old", "rej"];
    let name = base(path).to_ascii_lowercase();
    let (stem, end) = name.split_once('.').unwrap_or((&name, ""));
    let prose = matches!(end, "" | "md" | "txt" | "rst" | "adoc" | "markdown" | "yaml" | "yml");
    let is_named = STEMS.contains(&stem)
        || STARTS.iter().any(|start| stem.starts_with(start))
        || LAST_WORDS.contains(&stem.rsplit(['-', '_']).next().unwrap_or_default())
        || has_date(stem);
    (prose && is_named)
        || ENDS.contains(&end.rsplit('.').next().unwrap_or_default())
        || parent(path).split('/').any(|folder| FOLDERS.contains(&folder))
        || RUNS.iter().any(|run| path.contains(run))
}

/// Returns true if a name begins with a date: `2026-02-08-plan`.
fn has_date(stem: &str) -> bool {
    let pattern = b"0000-00-00";
    let bytes = stem.as_bytes();
    bytes.len() >= pattern.len()
        && bytes
            .iter()
            .zip(pattern)
            .all(|(byte, shape)| if *shape == b'0' { byte.is_ascii_digit() } else { byte == shape })
}

/// Returns true if a file instructs agents: skills with their resources, agents, commands, rules.
pub(crate) fn is_agent_instruction(path: &str) -> bool {
    let prose = path.ends_with(".md");
    let folders = || parent(path).split('/');
    let is_in_directory =
        || folders().any(|folder| folder == ".claude") || in_skill(path) || declared_kind(path).is_some();
    prose
        && (is_in_directory() || matches!(base(path), "CLAUDE.md" | "AGENTS.md" | "GEMINI.md"))
        && !base(path).starts_with("README")
}

/// Returns true if a file is in the directory of a skill: `skills/NAME/…`.
fn in_skill(path: &str) -> bool {
    path.split_once("skills/")
        .is_some_and(|(before, rest)| (before.is_empty() || before.ends_with('/')) && rest.contains('/'))
}

/// Returns true if a name cannot be confused with an ordinary word.
pub fn is_unlikely_word(name: &str) -> bool {
    let humps = name
        .as_bytes()
        .windows(2)
        .filter(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
        .count();
    let inner = name.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    inner.len() >= 4
        && (humps > 0 || inner.contains(['-', '_', ':']) || inner.contains(|c: char| c.is_ascii_digit()))
}

/// The text between the `---` lines that open a file.
pub(crate) fn frontmatter(text: &str) -> Option<&str> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let rest = text.strip_prefix("---")?;
    let rest = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix('\n'))?;
    let end = if rest.starts_with("---") { 0 } else { rest.find("\n---")? + 1 };
    rest.get(..end)
}

/// Returns the one-line value of an unindented key.
fn value<'a>(front: &'a str, key: &str) -> Option<&'a str> {
    let line = front.lines().find_map(|line| line.strip_prefix(key)?.trim_start().strip_prefix(':'))?;
    let line = line.split(" #").next().unwrap_or(line).trim();
    Some(line.trim_matches(['"', '\'']))
}

fn is_name(name: &str) -> bool {
    (2..=80).contains(&name.len())
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ':' | '.'))
}

/// Returns the name that a framework derives from the file's path.
fn entity_from_path(path: &str) -> Option<(EntityKind, &str)> {
    let kind = declared_kind(path)?;
    match kind {
        EntityKind::Skill => Some((kind, base(parent(path)))),
        EntityKind::Agent | EntityKind::Command => Some((kind, base(path).strip_suffix(".md")?)),
        _ => None,
    }
}

/// Returns the kind that a file's path implies. `None` outside frameworks.
fn declared_kind(path: &str) -> Option<EntityKind> {
    let file = base(path);
    let stem = file.strip_suffix(".md")?;
    let folders: Vec<&str> = parent(path).split('/').collect();
    let above =
        |at: usize| folders.len().checked_sub(at).and_then(|at| folders.get(at)).copied().unwrap_or_default();
    if file == "SKILL.md" {
        return (!above(1).is_empty()).then_some(EntityKind::Skill);
    }
    let claude = folders.contains(&".claude");
    let is_in_directory = |folder: &str| above(1) == folder || (claude && folders.contains(&folder));
    match () {
        () if folders.contains(&"skills") => None,
        () if is_common_file_name(stem) => None,
        () if is_in_directory("agents") => Some(EntityKind::Agent),
        () if is_in_directory("commands") => Some(EntityKind::Command),
        () if claude => Some(EntityKind::Named),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(path: &str, text: &str) -> Vec<(EntityKind, String)> {
        let aliases = Aliases::new([("pt", ".claude/skills/task-management/SKILL.md")]);
        entities(path, Some(text), &aliases).into_iter().skip(1).map(|e| (e.kind, e.name.into())).collect()
    }

    #[test]
    fn frameworks_name_files_by_place_by_frontmatter_and_by_alias() {
        use EntityKind::*;
        assert_eq!(
            known(".claude/skills/execution-code/SKILL.md", "# x"),
            [(Skill, "execution-code".into())]
        );
        assert_eq!(
            known("plugins/p/skills/a-b/SKILL.md", "---\nname: \"ab\"\nskill_id: T-1 # stable\n---\n"),
            [(Skill, "a-b".into()), (Skill, "ab".into()), (Skill, "T-1".into())]
        );
        assert_eq!(
            known(".claude/skills/task-management/SKILL.md", ""),
            [(Skill, "task-management".into()), (Alias, "pt".into())]
        );
        assert_eq!(known(".claude/agents/sub/helper.md", ""), [(Agent, "helper".into())]);
        assert_eq!(known("commands/ship.md", "---\r\nname: ship\r\n---"), [(Command, "ship".into())]);
        assert_eq!(
            known(".claude/output-styles/terse.md", "---\nname: very-terse\n---\n"),
            [(Named, "very-terse".into())]
        );
        assert_eq!(known(".claude/agents/README.md", "---\nname: readme\n---\n"), []);
        assert_eq!(known("docs/notes.md", "---\nname: notes\n---\n"), []);
    }

    #[test]
    fn a_name_with_spaces_or_without_end_is_no_name() {
        assert_eq!(known(".claude/agents/a.md", "---\nname: Some Title\n---\n"), []);
        assert_eq!(
            known(".claude/agents/ab.md", "---\nname: never closed"),
            [(EntityKind::Agent, "ab".into())]
        );
    }

    #[test]
    fn history_is_distinguished_from_documents() {
        for path in [
            "CHANGELOG.md",
            "docs/changelog-2020.md",
            "x/MEMORY.md",
            ".claude/agent-memory/analyst/audit.md",
            "a/run.log",
            "HISTORY",
            ".claude/projects/-home/memory/ref_agents.md",
            "archive/old-plan.md",
            "notes-history.md",
            "docs/2026-02-08-plan.md",
            "run/phase-2/gate-record-2.yaml",
            "t.jsonl",
        ] {
            assert!(is_historical_record(path), "{path}");
        }
        for path in [
            "README.md",
            "docs/history/plan.md",
            "src/history.rs",
            "memory/x.rs",
            "docs/release.md",
            "src/log.rs",
        ] {
            assert!(!is_historical_record(path), "{path}");
        }
    }

    #[test]
    fn ordinary_words_are_not_distinctive() {
        for name in ["get", "analyst", "Error", "review", "a-b", "run2"] {
            assert_eq!(is_unlikely_word(name), name == "run2", "{name}");
        }
        for name in ["plan-verify", "read_all", "readAll", "HttpClient"] {
            assert!(is_unlikely_word(name), "{name}");
        }
    }
}
