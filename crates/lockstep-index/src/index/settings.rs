//! What the index is of: which files beside git's own rules, and how large they may be.

use std::path::Path;

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::codec::check;
use crate::IndexError;

/// The largest file that is looked into, unless something else is set.
pub const MAX_FILE_BYTES: u64 = 1 << 20;

/// Files of an agent framework: its definitions, and what they lean on.
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

/// Which files count, beside git's rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Only these, in the syntax of `.gitignore`; empty for all.
    pub include: Vec<String>,
    /// None of these, in the syntax of `.gitignore`.
    pub exclude: Vec<String>,
    /// Larger files are counted and not looked into.
    pub max_file_bytes: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { include: Vec::new(), exclude: Vec::new(), max_file_bytes: MAX_FILE_BYTES }
    }
}

impl Settings {
    /// Narrowed to the files of an agent framework under `.claude/`.
    pub fn only_claude(mut self) -> Self {
        self.include.extend(CLAUDE_INCLUDE.iter().map(|pattern| (*pattern).to_owned()));
        self.exclude.extend(CLAUDE_EXCLUDE.iter().map(|pattern| (*pattern).to_owned()));
        self
    }

    /// Tells one set of settings from another: an index of other settings is not used.
    pub(crate) fn fingerprint(&self) -> u64 {
        check(format!("{self:?}").as_bytes())
    }

    pub(crate) fn filter(&self, root: &Path) -> Result<Filter, IndexError> {
        Ok(Filter {
            include: if self.include.is_empty() { None } else { Some(matcher(root, &self.include)?) },
            exclude: matcher(root, &self.exclude)?,
        })
    }
}

fn matcher(root: &Path, patterns: &[String]) -> Result<Gitignore, IndexError> {
    let wrong = |error: ignore::Error| IndexError::Pattern { why: error.to_string() };
    let mut builder = GitignoreBuilder::new(root);
    for pattern in patterns {
        builder.add_line(None, pattern).map_err(wrong)?;
    }
    builder.build().map_err(wrong)
}

/// Settings, ready to be asked about paths.
#[derive(Debug, Clone)]
pub(crate) struct Filter {
    include: Option<Gitignore>,
    exclude: Gitignore,
}

impl Filter {
    /// Whether an entry of the tree counts, its directories having passed. A directory passes unless it is excluded.
    pub(crate) fn takes(&self, path: &Path, is_dir: bool) -> bool {
        if self.exclude.matched(path, is_dir).is_ignore() {
            return false;
        }
        let include = self.include.as_ref().filter(|_| !is_dir);
        include.is_none_or(|include| include.matched_path_or_any_parents(path, false).is_ignore())
    }
}
