//! Reading the crate's data files: those of a project, YAML, within bounds, since they can cost neither a second nor the stack; those
//! that ship, from JSON, which is read ten times as fast: gates read them in every hook.

use lockstep_text::yaml::{self, YamlLimits};
use serde::de::DeserializeOwned;

const LIMITS: YamlLimits = YamlLimits { bytes: 256 * 1024, depth: 16, nodes: 20_000, words_are_text: false };

/// Reads `text` as one document of this type.
pub(crate) fn read<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    yaml::read(text.as_bytes(), LIMITS).map_err(|error| error.to_string())
}

/// Reads a table that ships, from its copy in JSON.
pub(crate) fn parse_bundled<T: DeserializeOwned>(json: &str) -> T {
    serde_json::from_str(json).expect("a table that ships is tested")
}

#[cfg(test)]
mod tests {
    use crate::command_table::CommandTable;
    use crate::section_definitions::SectionDefinitions;
    use crate::state_machine::StepMachines;

    #[test]
    fn tables_in_json_equal_those_in_yaml() {
        macro_rules! data {
            ($name:literal, $extension:literal) => {
                include_str!(concat!("../data/", $name, ".", $extension))
            };
        }
        for (yaml, json) in [
            (data!("step-execution-fsm", "yaml"), data!("step-execution-fsm", "json")),
            (data!("des-commands", "yaml"), data!("des-commands", "json")),
            (data!("_section-definitions", "yaml"), data!("_section-definitions", "json")),
        ] {
            let table: serde_json::Value = serde_saphyr::from_str(yaml).unwrap();
            assert_eq!(json, format!("{table}\n"), "put the second text into the file");
        }
        assert_eq!(
            StepMachines::built_in(),
            StepMachines::parse(data!("step-execution-fsm", "yaml")).unwrap()
        );
        assert_eq!(CommandTable::built_in(), CommandTable::parse(data!("des-commands", "yaml")).unwrap());
        assert_eq!(
            SectionDefinitions::built_in(),
            SectionDefinitions::parse(data!("_section-definitions", "yaml")).unwrap()
        );
    }
}
