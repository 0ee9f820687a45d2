//! Limits for untrusted YAML: a document from outside can cost neither a second nor the stack.

use serde::de::DeserializeOwned;
use serde_saphyr::options::{DuplicateKeyPolicy, MergeKeyPolicy};
use serde_saphyr::{Budget, Error, Options};

/// Returns options that read one document of at most `depth` levels and `nodes` mappings, lists and scalars. Anchors, aliases and
/// merge keys are refused, not expanded.
pub fn options(depth: usize, nodes: usize) -> Options {
    let mut budget = Budget::default();
    budget.max_depth = depth;
    budget.flow_nesting_limit = depth;
    budget.max_nodes = nodes;
    budget.max_anchors = 0;
    budget.max_aliases = 0;
    let mut options = Options::default();
    options.budget = Some(budget);
    options.duplicate_keys = DuplicateKeyPolicy::Error;
    options.merge_keys = MergeKeyPolicy::Error;
    options.with_snippet = false;
    options
}

/// Reads one document with these options.
pub fn read<T: DeserializeOwned>(text: &str, options: Options) -> Result<T, Error> {
    serde_saphyr::from_str_with_options(text, options)
}
