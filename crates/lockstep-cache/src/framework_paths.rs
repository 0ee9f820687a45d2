//! Paths of the supported frameworks. Of several paths the first that exists wins.

use std::path::Path;

pub const CONSTITUTION: [&str; 2] = ["docs/isdlc/constitution.md", ".isdlc/constitution.md"];

/// Directories of configuration files.
const CONFIG_DIRS: [&str; 4] =
    ["src/isdlc/config", ".isdlc/config", ".claude/hooks/config", "src/claude/hooks/config"];

/// Places of the manifest of external skills.
pub const EXTERNAL_MANIFEST: [&str; 2] =
    ["docs/isdlc/external-skills-manifest.json", ".isdlc/external-skills-manifest.json"];

/// The folder that `file` of an external skill starts in and must not leave.
pub const EXTERNAL_SKILLS: &str = ".claude/skills/external";

/// Directories of skills. All are read; of two skills with one id the first wins.
pub const SKILLS: [&str; 2] = ["src/claude/skills", ".claude/skills"];

/// Directories of the personas that a framework brings. Only files called `persona-*.md` are personas there.
pub const PERSONAS: [&str; 2] = ["src/claude/agents", ".claude/agents"];

/// The directory of the project's own personas; one with the name of a framework's replaces it.
pub const OWN_PERSONAS: &str = ".isdlc/personas";

/// Directories of topics: `CATEGORY/TOPIC.md`.
pub const TOPICS: [&str; 2] = ["src/claude/skills/analysis-topics", ".claude/skills/analysis-topics"];

/// Keys of the skills manifest that repeat the content of the skill index.
pub const LOOKUP_TABLES: [&str; 2] = ["path_lookup", "skill_paths"];

/// The directory that marks a project of the framework.
pub const FRAMEWORK_DIR: &str = ".isdlc";

pub fn config_file(name: &str) -> Vec<String> {
    CONFIG_DIRS.iter().map(|dir| format!("{dir}/{name}")).collect()
}

pub fn default_target(root: &Path) -> String {
    let dir = if root.join(FRAMEWORK_DIR).is_dir() { FRAMEWORK_DIR } else { lockstep_store::StateDir::NAME };
    format!("{dir}/session-cache.md")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_cache_lies_with_the_framework() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(default_target(dir.path()), ".lockstep/session-cache.md");
        fs::create_dir(dir.path().join(".isdlc")).unwrap();
        assert_eq!(default_target(dir.path()), ".isdlc/session-cache.md");
    }
}
