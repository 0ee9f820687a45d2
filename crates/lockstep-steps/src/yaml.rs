//! Reading the crate's data files: those of a project, YAML, within bounds, since they can cost neither a second nor the stack; those
//! that ship, from JSON.

use serde::de::DeserializeOwned;
use serde_saphyr::options::{DuplicateKeyPolicy, MergeKeyPolicy};
use serde_saphyr::{Budget, Options};

/// The longest file that is read.
pub(crate) const MAX_BYTES: usize = 256 * 1024;

/// Reads `text` as one document of this type. The error has its position and reason.
pub(crate) fn read<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    if text.len() > MAX_BYTES {
        return Err(format!("it has {} bytes, more than the {MAX_BYTES} that are read", text.len()));
    }
    serde_saphyr::from_str_with_options(text, options()).map_err(|error| {
        let error = error.without_snippet();
        error.to_string().replace('\n', " ")
    })
}

/// Reads a table that ships, as the build made JSON of it.
pub(crate) fn built_in<T: DeserializeOwned>(json: &str) -> T {
    serde_json::from_str(json).expect("a table that ships is tested")
}

fn options() -> Options {
    let mut budget = Budget::default();
    budget.max_depth = 16;
    budget.flow_nesting_limit = 16;
    budget.max_nodes = 20_000;
    budget.max_anchors = 0;
    budget.max_aliases = 0;
    let mut options = Options::default();
    options.budget = Some(budget);
    options.duplicate_keys = DuplicateKeyPolicy::Error;
    options.merge_keys = MergeKeyPolicy::Error;
    options.with_snippet = false;
    options
}

#[cfg(test)]
mod tests {
    use crate::commands::CommandTable;
    use crate::machine::Machine;
    use crate::sections::Definitions;

    #[test]
    fn what_ships_is_what_people_read() {
        let machine = Machine::parse(include_str!("../data/step-execution-fsm.yaml")).unwrap();
        assert_eq!(Machine::built_in(), machine);
        let commands = CommandTable::parse(include_str!("../data/des-commands.yaml")).unwrap();
        assert_eq!(CommandTable::built_in(), commands);
        let definitions = Definitions::parse(include_str!("../data/_section-definitions.yaml")).unwrap();
        assert_eq!(Definitions::built_in(), definitions);
    }
}
