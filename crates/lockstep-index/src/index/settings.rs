//! The settings of the index: the files in scope besides git's own rules, and their maximum size.

use std::path::Path;

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::codec::check;
use crate::{IndexError, IndexResult};

/// The default size limit of indexed files.
pub const MAX_FILE_BYTES: u64 = 1 << 20;

/// Files of an agent framework: its definitions and the files they use.
const CLAUDE_INCLUDE: &[&str] = &[
    "/.claude/agents/**/*.md",
    "/.claude/skills/**",
    "/.claude/commands/**",
    "/.claude/rules/**",
    "/.claude/hooks/**",
    "/.claude/settings.json",
    "/.claude/settings.local.json",
    "/.claude/CLAUDE.md",
    "/.claude/projects/*/memory/MEMORY.md",
    "/CLAUDE.md",
];
const CLAUDE_EXCLUDE: &[&str] = &["node_modules/", "/.claude/agent-memory/", "*.log"];

/// The files in scope, besides git's rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexSettings {
    /// Only files that match, in the syntax of `.gitignore`; empty for all files.
    pub include: Vec<String>,
    /// No files that match, in the syntax of `.gitignore`.
    pub exclude: Vec<String>,
    /// Larger files are counted, but not read.
    pub max_file_bytes: u64,
}

impl Default for IndexSettings {
    fn default() -> Self {
        Self { include: Vec::new(), exclude: Vec::new(), max_file_bytes: MAX_FILE_BYTES }
    }
}

impl IndexSettings {
    /// Restricts the settings to the files of an agent framework under `.claude/`.
    pub fn only_claude(mut self) -> Self {
        self.include.extend(CLAUDE_INCLUDE.iter().map(|pattern| (*pattern).to_owned()));
        self.exclude.extend(CLAUDE_EXCLUDE.iter().map(|pattern| (*pattern).to_owned()));
        self
    }

    /// Encodes the settings as text, for digests that decide whether stored data can be reused.
    ///
    /// The number at the start is the version of the encoding. Raising it rebuilds every index.
    pub fn fingerprint(&self) -> String {
        let Self { include, exclude, max_file_bytes } = self;
        format!("index 2 {max_file_bytes}\ninclude {include:?}\nexclude {exclude:?}\n")
    }

    /// Returns the digest in the manifest. An index with other settings is not used.
    pub(crate) fn digest(&self) -> u64 {
        check(self.fingerprint().as_bytes())
    }

    pub(crate) fn filter(&self, root: &Path) -> IndexResult<ScopeFilter> {
        Ok(ScopeFilter {
            include: if self.include.is_empty() { None } else { Some(matcher(root, &self.include)?) },
            exclude: matcher(root, &self.exclude)?,
        })
    }
}

fn matcher(root: &Path, patterns: &[String]) -> IndexResult<Gitignore> {
    let wrong = |error: ignore::Error| IndexError::Pattern { why: error.to_string() };
    let mut builder = GitignoreBuilder::new(root);
    for pattern in patterns {
        builder.add_line(None, pattern).map_err(wrong)?;
    }
    builder.build().map_err(wrong)
}

#[derive(Debug, Clone)]
pub(crate) struct ScopeFilter {
    include: Option<Gitignore>,
    exclude: Gitignore,
}

impl ScopeFilter {
    /// Returns true if an entry is in scope, given that its parent directories are. A directory is in scope
    /// unless it is excluded.
    pub(crate) fn takes(&self, path: &Path, is_dir: bool) -> bool {
        if self.exclude.matched(path, is_dir).is_ignore() {
            return false;
        }
        let include = self.include.as_ref().filter(|_| !is_dir);
        include.is_none_or(|include| include.matched_path_or_any_parents(path, false).is_ignore())
    }
}
