//! Sections as configuration: name, source, strategy, priority.

use std::fmt;
use std::path::{Component, Path};

use crate::layout;

/// The longest section name.
const MAX_NAME: usize = 64;

/// A section's name: `UPPER_SNAKE_CASE`, so that it can stand in a marker as it is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SectionName(String);

impl SectionName {
    /// Checks a name.
    pub fn new(name: &str) -> Result<Self, SectionProblem> {
        let well_formed = name.starts_with(|c: char| c.is_ascii_uppercase())
            && name.len() <= MAX_NAME
            && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
        if well_formed {
            Ok(Self(name.to_owned()))
        } else {
            Err(SectionProblem::Name { name: name.to_owned() })
        }
    }

    /// The name itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SectionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How a section's content is made from its sources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Strategy {
    /// The first source that exists, as it is.
    Raw,
    /// The first source that exists, which must be JSON; as it is, or written anew without some of its top-level keys.
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
    /// The first source that exists; without one, what Lockstep offers.
    Instructions,
    /// Text that the caller gives.
    Given,
}

impl Strategy {
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

    /// The strategy of a name.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "raw" => Self::Raw,
            "json" => Self::Json { without: Vec::new() },
            "skills-manifest" => {
                Self::Json { without: layout::LOOKUP_TABLES.iter().map(ToString::to_string).collect() }
            }
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
}

/// One section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Its name.
    pub name: SectionName,
    /// Its places, relative to the root. What they mean, the strategy says.
    pub source: Vec<String>,
    /// How its content is made.
    pub strategy: Strategy,
    /// How much it matters: 1 is kept longest and delivered first.
    pub priority: u32,
}

impl Section {
    /// A section from its configuration. All problems at once.
    pub fn new(
        name: &str,
        source: &[impl AsRef<str>],
        strategy: &str,
        priority: u32,
    ) -> Result<Self, Vec<SectionProblem>> {
        let mut problems = Vec::new();
        let checked = SectionName::new(name).map_err(|problem| problems.push(problem));
        let named = Strategy::named(strategy);
        if named.is_none() {
            problems.push(SectionProblem::Strategy { name: name.to_owned(), strategy: strategy.to_owned() });
        }
        let source: Vec<String> = source.iter().map(|path| path.as_ref().to_owned()).collect();
        for path in source.iter().filter(|path| !stays_inside(path)) {
            problems.push(SectionProblem::Outside { name: name.to_owned(), path: path.clone() });
        }
        match (checked, named) {
            (Ok(name), Some(strategy)) if problems.is_empty() => {
                Ok(Self { name, source, strategy, priority })
            }
            _ => Err(problems),
        }
    }
}

/// Whether a path from outside, read as relative, stays below where it starts and can be written on one line.
pub(crate) fn stays_inside(path: &str) -> bool {
    !path.is_empty()
        && !path.chars().any(char::is_control)
        && Path::new(path).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

/// What is wrong with a section's configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SectionProblem {
    /// The name cannot stand in a marker.
    #[error(
        "`{name}` is no section name; use capital letters, digits and `_`, at most {MAX_NAME}, such as `TEAM_RULES`"
    )]
    Name {
        /// The name.
        name: String,
    },
    /// Two sections have one name.
    #[error("section `{name}` is there twice; remove one, or give it another name")]
    Twice {
        /// The name.
        name: String,
    },
    /// There is no such strategy.
    #[error("section `{name}` has the strategy `{strategy}`, which is none of: {}", Strategy::NAMES.join(", "))]
    Strategy {
        /// The section.
        name: String,
        /// What was asked for.
        strategy: String,
    },
    /// A source is not below the project's root.
    #[error("section `{name}` has the source `{path}`, which is not a path below the project's root")]
    Outside {
        /// The section.
        name: String,
        /// The source.
        path: String,
    },
    /// The budget leaves no room for anything.
    #[error("a budget of {budget} characters is too small; give at least {least}")]
    Budget {
        /// What was asked for.
        budget: usize,
        /// The least that is accepted.
        least: usize,
    },
    /// The cache would be written outside of the project.
    #[error("the cache path `{path}` is not a path below the project's root")]
    Target {
        /// The path.
        path: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_strategy_has_a_name() {
        assert!(Strategy::NAMES.iter().all(|name| Strategy::named(name).is_some()));
    }

    #[test]
    fn all_problems_come_at_once() {
        let problems = Section::new("a -->", &["../x", "/etc/passwd", "ok.md"], "magic", 1).unwrap_err();
        assert_eq!(problems.len(), 4, "{problems:?}");
    }
}
