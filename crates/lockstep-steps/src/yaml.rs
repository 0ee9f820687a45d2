//! Reading the crate's YAML data files within bounds: a file of a project can cost neither a second nor the stack.

use serde::de::DeserializeOwned;
use serde_saphyr::options::{DuplicateKeyPolicy, MergeKeyPolicy};
use serde_saphyr::{Budget, Options};

/// The longest file that is read.
pub(crate) const MAX_BYTES: usize = 256 * 1024;

/// Reads `text` as one document of this type; the error says where and why.
pub(crate) fn read<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    if text.len() > MAX_BYTES {
        return Err(format!("it has {} bytes, more than the {MAX_BYTES} that are read", text.len()));
    }
    serde_saphyr::from_str_with_options(text, options()).map_err(|error| {
        let error = error.without_snippet();
        error.to_string().replace('\n', " ")
    })
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
