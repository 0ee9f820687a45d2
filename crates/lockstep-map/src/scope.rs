//! The files with entries: those of the project in the map's scope, except private notes of a framework's
//! agents.

use lockstep_text::glob::covers;

/// Notes of agents are not part of the project.
const EXCLUDED: &[&str] = &[
    ".claude/agent-memory/**",
    ".claude/agent-memory-local/**",
    ".claude/projects/*/memory/cc-reference/**",
];

/// The scope of a map of the complete project.
pub const WHOLE: &str = ".";

/// The scope of a map of an agent framework's files.
pub const CLAUDE: &str = ".claude/";

/// A scope: a directory, a file, or a pattern of paths with `*`, `?` and `**`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopePattern {
    text: String,
    /// The map's own path: it is not part of itself.
    own: Option<String>,
}

/// Returns the reason why a text is not a scope. It completes the message "… is not a scope: it …".
pub fn validate(text: &str) -> Option<&'static str> {
    match text {
        "" => Some("is empty; `.` is the whole project"),
        _ if text.chars().any(char::is_control) => Some("has control characters"),
        _ if text.contains("--") => Some("cannot stand in a comment"),
        _ if text.starts_with('/') => Some("must be relative to the project's root"),
        _ if text.split('/').any(|part| part == "..") => Some("points outside the project"),
        // Each `**` may match any number of directories, and all combinations are tried.
        _ if text.split('/').filter(|part| *part == "**").count() > 4 => Some("has more than four `**`"),
        _ => None,
    }
}

impl ScopePattern {
    /// Creates a scope from `text`, for a map at the path `own` inside the project, or outside it.
    pub fn new(text: &str, own: Option<&str>) -> Self {
        Self { text: text.to_owned(), own: own.map(str::to_owned) }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Encodes the scope as one line, for the digest that decides whether a stored map can be reused.
    pub fn fingerprint(&self) -> String {
        let Self { text, own } = self;
        format!("scope {text:?} {own:?}\n")
    }

    /// Returns true for the scope of an agent framework's files, whose map a model reads in full.
    pub fn is_claude(&self) -> bool {
        self.text == ".claude" || self.text.starts_with(CLAUDE)
    }

    /// Returns true if a file of the project has an entry.
    pub fn contains(&self, path: &str) -> bool {
        !self.excludes(path) && (self.text == WHOLE || covers(&self.text, path))
    }

    /// Returns true if a path never has an entry, in any scope.
    pub fn excludes(&self, path: &str) -> bool {
        let inside = path.starts_with(CLAUDE) && EXCLUDED.iter().any(|pattern| covers(pattern, path));
        inside || self.own.as_deref() == Some(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_is_a_directory_a_file_or_a_pattern() {
        let holds = |scope: &str, path: &str| ScopePattern::new(scope, None).contains(path);
        for (scope, path, expected) in [
            (".", "a/b.rs", true),
            ("src", "src/a/b.rs", true),
            ("src/", "src/a.rs", true),
            ("src", "source/a.rs", false),
            ("src/**/*.rs", "src/a/b/c.rs", true),
            ("src/**/*.rs", "src/c.rs", true),
            ("src/?.rs", "src/é.rs", true),
            ("src/??.rs", "src/é.rs", false),
            ("src/*.rs", "src/a/c.rs", false),
            ("**/*.md", "docs/x.md", true),
            ("a.md", "a.md", true),
            (".claude/", ".claude/agents/x.md", true),
            (".claude/", ".claude/agent-memory/analyst/notes.md", false),
            (".", ".claude/projects/p/memory/cc-reference/x.md", false),
            (".", ".claude/projects/p/memory/MEMORY.md", true),
        ] {
            assert_eq!(holds(scope, path), expected, "{scope} {path}");
        }
        assert!(!ScopePattern::new(".", Some("docs/map.md")).contains("docs/map.md"));
    }

    #[test]
    fn invalid_scope_is_refused() {
        for text in ["", "/etc", "../x", "a\nb", "a --> b", "**/a/**/b/**/c/**/d/**/e"] {
            assert!(validate(text).is_some(), "{text:?}");
        }
        assert_eq!(validate("src/**/*.rs"), None);
    }
}
