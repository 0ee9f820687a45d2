//! Sections as configuration: name, source, strategy, priority.

use std::fmt;
use std::path::{Component, Path};

use crate::framework_paths;

const MAX_NAME: usize = 64;

/// The name of a section: `UPPER_SNAKE_CASE`, so that a marker can contain it unchanged.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SectionName(String);

impl SectionName {
    pub fn new(name: &str) -> Result<Self, SectionError> {
        let well_formed = name.starts_with(|c: char| c.is_ascii_uppercase())
            && name.len() <= MAX_NAME
            && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
        if well_formed {
            Ok(Self(name.to_owned()))
        } else {
            Err(SectionError::Name { name: name.to_owned() })
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SectionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The way a section's content is created from its sources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContentStrategy {
    /// The first source that exists, as it is.
    Raw,
    /// The first source that exists, which must be JSON; unchanged, or serialised without some of its
    /// top-level keys.
    Json {
        /// Keys that are left out.
        without: Vec<String>,
    },
    /// Skills by the agent that owns them. The sources are places of the skills manifest.
    SkillIndex,
    /// Every skill below the sources, and those of installed plugins.
    SkillList,
    /// Skills from elsewhere that users registered. The sources are places of their manifest.
    ExternalSkills,
    /// Personas and topics, from their places in the layout.
    Roundtable,
    /// Every agent in the sources, and those of installed plugins.
    Agents,
    /// All sources, each under its path.
    Files,
    /// The first source that exists, otherwise Lockstep's own text.
    Instructions,
    /// The caller's text.
    Given,
}

impl ContentStrategy {
    /// The strategies by their names in configuration.
    pub const NAMES: [&str; 11] = [
        "raw",
        "json",
        "skills-manifest",
        "skill-index",
        "skill-list",
        "external-skills",
        "roundtable",
        "agents",
        "files",
        "instructions",
        "given",
    ];

    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "raw" => Self::Raw,
            "json" => Self::Json { without: Vec::new() },
            "skills-manifest" => Self::Json {
                without: framework_paths::LOOKUP_TABLES.iter().map(ToString::to_string).collect(),
            },
            "skill-index" => Self::SkillIndex,
            "skill-list" => Self::SkillList,
            "external-skills" => Self::ExternalSkills,
            "roundtable" => Self::Roundtable,
            "agents" => Self::Agents,
            "files" => Self::Files,
            "instructions" => Self::Instructions,
            "given" => Self::Given,
            _ => return None,
        })
    }

    /// Encodes the strategy for the content hash.
    fn fingerprint(&self) -> String {
        let name = match self {
            Self::Raw => "raw",
            Self::Json { without } => {
                return without.iter().fold("json without".to_owned(), |text, key| format!("{text} {key:?}"));
            }
            Self::SkillIndex => "skill-index",
            Self::SkillList => "skill-list",
            Self::ExternalSkills => "external-skills",
            Self::Roundtable => "roundtable",
            Self::Agents => "agents",
            Self::Files => "files",
            Self::Instructions => "instructions",
            Self::Given => "given",
        };
        name.to_owned()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SectionConfig {
    pub name: SectionName,
    /// The paths, relative to the root. The strategy defines their meaning.
    pub source: Vec<String>,
    pub strategy: ContentStrategy,
    /// The priority: 1 is kept longest and delivered first.
    pub priority: u32,
}

impl SectionConfig {
    /// A section from its configuration. All problems at once.
    pub fn new(
        name: &str,
        source: &[impl AsRef<str>],
        strategy: &str,
        priority: u32,
    ) -> Result<Self, Vec<SectionError>> {
        let mut problems = Vec::new();
        let checked = SectionName::new(name).map_err(|problem| problems.push(problem));
        let named = ContentStrategy::named(strategy);
        if named.is_none() {
            problems.push(SectionError::Strategy { name: name.to_owned(), strategy: strategy.to_owned() });
        }
        let source: Vec<String> = source.iter().map(|path| path.as_ref().to_owned()).collect();
        for path in source.iter().filter(|path| !stays_inside(path)) {
            problems.push(SectionError::Outside { name: name.to_owned(), path: path.clone() });
        }
        match (checked, named) {
            (Ok(name), Some(strategy)) if problems.is_empty() => {
                Ok(Self { name, source, strategy, priority })
            }
            _ => Err(problems),
        }
    }

    /// Encodes the section as one line for the content hash.
    pub(crate) fn fingerprint(&self) -> String {
        let Self { name, source, strategy, priority } = self;
        let line = format!("section {name} {priority} {} from", strategy.fingerprint());
        source.iter().fold(line, |line, path| format!("{line} {path:?}")) + "\n"
    }
}

/// Returns true if an untrusted relative path stays below its start and fits on one line.
pub(crate) fn stays_inside(path: &str) -> bool {
    !path.is_empty()
        && !path.chars().any(char::is_control)
        && Path::new(path).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

/// A problem of a section's configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SectionError {
    /// The name does not fit into a marker.
    #[error(
        "`{name}` is not a section name; use capital letters, digits and `_`, at most {MAX_NAME}, such as `TEAM_RULES`"
    )]
    Name { name: String },
    /// Two sections have one name.
    #[error("section `{name}` occurs twice; remove one, or give it another name")]
    Twice { name: String },
    /// There is no such strategy.
    #[error("section `{name}` has the strategy `{strategy}`, which is none of: {}", ContentStrategy::NAMES.join(", "))]
    Strategy { name: String, strategy: String },
    /// A source is not below the project's root.
    #[error("section `{name}` has the source `{path}`, which is not a path below the project's root")]
    Outside { name: String, path: String },
    /// The budget leaves no room for anything.
    #[error("a budget of {budget} characters is too small; give at least {least}")]
    Budget { budget: usize, least: usize },
    /// The cache would be written outside of the project.
    #[error("the cache path `{path}` is not a path below the project's root")]
    Target { path: String },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_strategy_has_a_name() {
        assert!(ContentStrategy::NAMES.iter().all(|name| ContentStrategy::named(name).is_some()));
    }

    #[test]
    fn all_problems_come_at_once() {
        let problems =
            SectionConfig::new("a -->", &["../x", "/etc/passwd", "ok.md"], "magic", 1).unwrap_err();
        assert_eq!(problems.len(), 4, "{problems:?}");
    }
}
