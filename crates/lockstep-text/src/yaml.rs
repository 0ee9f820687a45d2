//! YAML from outside, within limits: a document can cost neither a second nor the stack.
//!
//! Anchors, aliases and merge keys are refused, not expanded: a document that is written back could not keep them.

use std::fmt;

use serde::de::DeserializeOwned;
use serde_saphyr::budget::BudgetBreach;
use serde_saphyr::options::{DuplicateKeyPolicy, MergeKeyPolicy, NonFiniteFloatPolicy};
use serde_saphyr::{Budget, Error, Options};

/// Limits and rules for reading one document.
#[derive(Debug, Clone, Copy)]
pub struct YamlLimits {
    pub bytes: usize,
    /// The deepest nesting.
    pub depth: usize,
    /// The most mappings, lists and scalars.
    pub nodes: usize,
    /// Reads `yes`, `on`, `no`, `off` and `.inf` as text.
    pub words_are_text: bool,
}

/// The reason why a text could not be read as YAML.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum YamlError {
    #[error("the text is not UTF-8: the first bad byte is at offset {offset}; save it as UTF-8")]
    NotUtf8 { offset: usize },
    #[error("the text has {bytes} bytes, more than the {limit} that are read; keep bulk in other files")]
    TooLong { bytes: usize, limit: usize },
    #[error("{at}: nested deeper than {limit} levels; flatten it, or move a part to another file")]
    TooDeep { at: Position, limit: usize },
    #[error("more than {limit} entries; keep bulk in other files")]
    TooMany { limit: usize },
    #[error(
        "{at}: anchors, aliases and merge keys are not accepted (`&`, `*`, `<<`); write the value out, or quote it if it is text"
    )]
    Alias { at: Position },
    #[error("{at}: the key {key:?} occurs twice; keep one")]
    DuplicateKey {
        /// The second occurrence.
        at: Position,
        key: String,
    },
    #[error("{at}: a key must be text; quote it")]
    Key { at: Position },
    #[error("{at}: a second YAML document begins; keep one, without `---` after it")]
    SecondDocument { at: Position },
    /// Anything else that the parser refuses, with its message.
    #[error("{at}: {reason}")]
    Syntax { at: Position, reason: String },
}

/// Line and column from 1; `None` if the parser has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position(Option<(u64, u64)>);

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some((line, column)) => write!(f, "line {line}, column {column}"),
            None => f.write_str("somewhere in the text"),
        }
    }
}

/// Reads `bytes` as one document.
pub fn read<T: DeserializeOwned>(bytes: &[u8], limits: YamlLimits) -> Result<T, YamlError> {
    if bytes.len() > limits.bytes {
        return Err(YamlError::TooLong { bytes: bytes.len(), limit: limits.bytes });
    }
    let text = std::str::from_utf8(bytes).map_err(|e| YamlError::NotUtf8 { offset: e.valid_up_to() })?;
    serde_saphyr::from_str_with_options(text, options(limits)).map_err(|error| classify(&error, limits))
}

fn options(limits: YamlLimits) -> Options {
    let mut budget = Budget::default();
    budget.max_depth = limits.depth;
    budget.flow_nesting_limit = limits.depth;
    budget.max_nodes = limits.nodes;
    budget.max_events = budget.max_events.max(2 * limits.nodes);
    budget.max_anchors = 0;
    budget.max_aliases = 0;
    let mut options = Options::default();
    options.budget = Some(budget);
    options.duplicate_keys = DuplicateKeyPolicy::Error;
    options.merge_keys = MergeKeyPolicy::Error;
    options.with_snippet = false;
    if limits.words_are_text {
        options.strict_booleans = true;
        options.non_finite_float_policy = NonFiniteFloatPolicy::AsString;
    }
    options
}

fn classify(error: &Error, limits: YamlLimits) -> YamlError {
    let error = error.without_snippet();
    let at = Position(error.location().map(|l| (l.line(), l.column())));
    match error {
        Error::Budget { breach, .. } => match breach {
            BudgetBreach::Depth { .. } => YamlError::TooDeep { at, limit: limits.depth },
            BudgetBreach::Anchors { .. } | BudgetBreach::Aliases { .. } | BudgetBreach::MergeKeys { .. } => {
                YamlError::Alias { at }
            }
            BudgetBreach::Nodes { .. } | BudgetBreach::Events { .. } => {
                YamlError::TooMany { limit: limits.nodes }
            }
            other => {
                YamlError::Syntax { at, reason: format!("the reader's limits are exceeded ({other:?})") }
            }
        },
        Error::MergeKeyNotAllowed { .. } | Error::UnknownAnchor { .. } => YamlError::Alias { at },
        Error::DuplicateMappingKey { key, .. } => {
            YamlError::DuplicateKey { at, key: key.clone().unwrap_or_default() }
        }
        Error::NullIntoString { .. } | Error::Unexpected { expected: "string scalar", .. } => {
            YamlError::Key { at }
        }
        Error::MultipleDocuments { .. } => YamlError::SecondDocument { at },
        other => syntax(at, &other.to_string(), limits),
    }
}

/// The parser ends its messages with the place, which ours begin with.
fn syntax(at: Position, message: &str, limits: YamlLimits) -> YamlError {
    if message.contains("recursion limit") {
        return YamlError::TooDeep { at, limit: limits.depth };
    }
    let reason = message.split(" at line ").next().unwrap_or(message).replace('\n', " ");
    YamlError::Syntax { at, reason }
}
