//! `des-commands.yaml`: how much of a prompt is checked for a command.

use serde::Deserialize;

use crate::yaml;

/// The table of the documents.
const BUILT_IN: &str = include_str!("../data/des-commands.json");

/// Which command is checked how far.
#[derive(Debug, Default, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CommandTable {
    validation_required: Vec<FullyValidatedCommand>,
    validation_partial: Vec<PartlyValidatedCommand>,
    validation_none: Vec<UnvalidatedCommand>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct FullyValidatedCommand {
    command: String,
    #[serde(default = "default_true")]
    full_validation: bool,
    #[serde(default = "default_true")]
    step_file_required: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct PartlyValidatedCommand {
    command: String,
    validate_sections: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct UnvalidatedCommand {
    command: String,
}

fn default_true() -> bool {
    true
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ValidationScope {
    /// Every section, and the step file.
    Full {
        /// Set if a step file must be named.
        step_file: bool,
    },
    /// These sections only.
    Sections(Vec<String>),
    Nothing,
}

/// The reason why a table cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommandTableError {
    /// The table does not parse.
    #[error("{0}")]
    Yaml(String),
    /// Commands that are listed more than once, which is ambiguous.
    #[error("these commands are named more than once: {}; keep one line for each", .0.join(", "))]
    Repeated(Vec<String>),
}

impl CommandTable {
    /// The table of the documents.
    pub fn built_in() -> Self {
        yaml::parse_bundled(BUILT_IN)
    }

    pub fn parse(text: &str) -> Result<Self, CommandTableError> {
        let table: Self = yaml::read(text).map_err(CommandTableError::Yaml)?;
        let mut names: Vec<&str> = table.names().collect();
        names.sort_unstable();
        let mut repeated: Vec<String> =
            names.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0].to_owned()).collect();
        repeated.dedup();
        if repeated.is_empty() { Ok(table) } else { Err(CommandTableError::Repeated(repeated)) }
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        let required = self.validation_required.iter().map(|one| one.command.as_str());
        let partial = self.validation_partial.iter().map(|one| one.command.as_str());
        required.chain(partial).chain(self.validation_none.iter().map(|one| one.command.as_str()))
    }

    /// Returns the extent of the validation for a command. A missing command, or one that is not in the
    /// table, is validated in full.
    pub fn scope(&self, command: Option<&str>) -> ValidationScope {
        let Some(command) = command else { return ValidationScope::Full { step_file: true } };
        if let Some(one) = self.validation_partial.iter().find(|one| one.command == command) {
            return ValidationScope::Sections(one.validate_sections.clone());
        }
        if self.validation_none.iter().any(|one| one.command == command) {
            return ValidationScope::Nothing;
        }
        match self.validation_required.iter().find(|one| one.command == command) {
            Some(one) if !one.full_validation => ValidationScope::Sections(Vec::new()),
            one => ValidationScope::Full { step_file: one.is_none_or(|one| one.step_file_required) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_the_documented_table() {
        let table = CommandTable::built_in();
        assert_eq!(table.scope(Some("/nw:execute")), ValidationScope::Full { step_file: true });
        assert_eq!(
            table.scope(Some("/nw:baseline")),
            ValidationScope::Sections(vec!["TASK_CONTEXT".to_owned(), "BOUNDARY_RULES".to_owned()])
        );
        assert_eq!(table.scope(Some("/nw:review")), ValidationScope::Nothing);
        assert_eq!(table.scope(Some("/unknown")), ValidationScope::Full { step_file: true });
        assert_eq!(table.scope(None), ValidationScope::Full { step_file: true });
    }

    #[test]
    fn a_table_that_contradicts_itself_is_refused() {
        let text =
            "validation_none: [{command: /a}]\nvalidation_partial: [{command: /a, validate_sections: []}]\n";
        assert_eq!(CommandTable::parse(text), Err(CommandTableError::Repeated(vec!["/a".to_owned()])));
        assert!(matches!(CommandTable::parse("validation_non: []"), Err(CommandTableError::Yaml(_))));
    }
}
