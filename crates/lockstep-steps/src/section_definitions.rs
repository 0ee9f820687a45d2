//! `_section-definitions.yaml`: the sections that a prompt must have.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::yaml;

const BUILT_IN: &str = include_str!("../data/_section-definitions.json");

/// The template whose sections are required.
const TEMPLATE: &str = "execute_step";

/// The sections of a prompt, in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SectionDefinitions {
    pub sections: Vec<PromptSection>,
}

#[derive(Debug, Default, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PromptSection {
    #[serde(skip)]
    pub name: String,
    pub description: String,
    /// Prefixes of lines that begin it, besides a heading with its name.
    pub markers: Vec<String>,
    /// Words it must contain.
    pub required_content: Vec<String>,
    /// Set if it must contain every phase of the step's phase set.
    pub phases: bool,
}

/// The reason why definitions cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SectionDefinitionsError {
    /// The definitions do not parse.
    #[error("{0}")]
    Yaml(String),
    /// There is no template with sections.
    #[error("there is no template {TEMPLATE:?} with mandatory_sections, and not exactly one other")]
    NoTemplate,
    #[error("the section {name:?}: {why}")]
    Section { name: String, why: String },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTemplate {
    mandatory_sections: Map<String, Value>,
}

impl SectionDefinitions {
    /// The definitions of the documents.
    pub fn built_in() -> Self {
        Self::of(yaml::parse_bundled(BUILT_IN)).expect("the built-in definitions are tested")
    }

    /// Reads definitions: the template `execute_step`, or the only one there is.
    pub fn parse(text: &str) -> Result<Self, SectionDefinitionsError> {
        Self::of(yaml::read(text).map_err(SectionDefinitionsError::Yaml)?)
    }

    fn of(mut templates: Map<String, Value>) -> Result<Self, SectionDefinitionsError> {
        let template = match (templates.remove(TEMPLATE), templates.len()) {
            (Some(template), _) => template,
            (None, 1) => templates.into_iter().next().map(|(_, template)| template).unwrap_or_default(),
            _ => return Err(SectionDefinitionsError::NoTemplate),
        };
        let template: RawTemplate = serde_json::from_value(template)
            .map_err(|error| SectionDefinitionsError::Yaml(error.to_string()))?;
        let sections = template.mandatory_sections.into_iter().map(|(name, value)| section(name, value));
        Ok(Self { sections: sections.collect::<Result<_, _>>()? })
    }

    pub fn section(&self, name: &str) -> Option<&PromptSection> {
        self.sections.iter().find(|section| section.name == name)
    }
}

fn section(name: String, value: Value) -> Result<PromptSection, SectionDefinitionsError> {
    // A name without anything is a section that must be there.
    let value = if value.is_null() { Value::Object(Map::new()) } else { value };
    match serde_json::from_value::<PromptSection>(value) {
        Ok(section) => Ok(PromptSection { name, ..section }),
        Err(error) => Err(SectionDefinitionsError::Section { name, why: error.to_string() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definitions_of_the_documents() {
        let names: Vec<_> =
            SectionDefinitions::built_in().sections.into_iter().map(|section| section.name).collect();
        assert_eq!(
            names,
            [
                "DES_METADATA",
                "AGENT_IDENTITY",
                "TASK_CONTEXT",
                "TDD_14_PHASES",
                "QUALITY_GATES",
                "OUTCOME_RECORDING",
                "BOUNDARY_RULES",
                "TIMEOUT_INSTRUCTION"
            ]
        );
    }

    #[test]
    fn a_project_may_have_its_own() {
        let own = "mine:\n  mandatory_sections:\n    GOAL: {required_content: [WHY]}\n    END:\n";
        let sections = SectionDefinitions::parse(own).unwrap().sections;
        assert_eq!(sections[0].required_content, ["WHY"]);
        assert_eq!(sections[1].name, "END");
        assert_eq!(SectionDefinitions::parse("a: {}\nb: {}\n"), Err(SectionDefinitionsError::NoTemplate));
        let wrong =
            SectionDefinitions::parse("mine:\n  mandatory_sections:\n    GOAL: {wanted: 1}\n").unwrap_err();
        assert!(wrong.to_string().contains("GOAL"), "{wrong}");
    }
}
