//! YAML text in and out, within bounds.
//!
//! Owns the reader's limits: a document from outside can cost neither a second nor the stack. Anchors, aliases
//! and merge keys are refused rather than expanded: a document that is written back could not keep them.

use lockstep_text::yaml;
use serde_saphyr::Options;
use serde_saphyr::budget::BudgetBreach;
use serde_saphyr::options::NonFiniteFloatPolicy;

use crate::value::Value;

/// The deepest nesting accepted. The deepest place the task has by its own shape is five levels down.
pub const MAX_DEPTH: usize = 32;

/// The most mappings, lists and scalars accepted in one text.
pub const MAX_NODES: usize = 20_000;

/// The reason why a text could not be read as YAML.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum YamlError {
    /// The bytes are no text.
    #[error("the text is not UTF-8: the first bad byte is at offset {offset}; save it as UTF-8")]
    NotUtf8 {
        /// The number of valid bytes.
        offset: usize,
    },
    /// The text exceeds the limit.
    #[error(
        "the text has {bytes} bytes, more than the {limit} that are read; keep bulk in files and point to them"
    )]
    TooLong {
        bytes: usize,
        /// The most that is read.
        limit: usize,
    },
    /// Nesting beyond [`MAX_DEPTH`].
    #[error("{at}: nested deeper than {MAX_DEPTH} levels; flatten it, or move it to a file and point to it")]
    TooDeep {
        /// Line and column.
        at: Mark,
    },
    /// More nodes than [`MAX_NODES`].
    #[error("more than {MAX_NODES} entries; keep bulk in files and point to them")]
    TooMany,
    /// `&name`, `*name` or `<<`.
    #[error(
        "{at}: anchors, aliases and merge keys (`&`, `*`, `<<`) are not accepted, because a new version could not keep them; write the value out, or quote it if it is text"
    )]
    Alias {
        /// Line and column.
        at: Mark,
    },
    /// The same key twice in one mapping.
    #[error("{at}: the key {key:?} occurs twice; keep one")]
    DuplicateKey {
        /// Line and column of the second.
        at: Mark,
        key: String,
    },
    /// A key that is not text.
    #[error("{at}: a key must be text; quote it")]
    Key {
        /// Line and column.
        at: Mark,
    },
    /// More than one document.
    #[error("{at}: a second YAML document begins; keep one, without `---` after it")]
    SecondDocument {
        /// Line and column.
        at: Mark,
    },
    /// Anything else the parser refuses.
    #[error("{at}: {reason}")]
    Syntax {
        /// Line and column.
        at: Mark,
        /// The parser's message.
        reason: String,
    },
}

/// A line and a column, starting at 1; `None` if the parser has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark(Option<(u64, u64)>);

impl std::fmt::Display for Mark {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Some((line, column)) => write!(f, "line {line}, column {column}"),
            None => f.write_str("somewhere in the text"),
        }
    }
}

/// Reads `bytes` as one YAML document of at most `limit` bytes. An empty text is [`Value::Null`].
pub fn read(bytes: &[u8], limit: usize) -> Result<Value, YamlError> {
    if bytes.len() > limit {
        return Err(YamlError::TooLong { bytes: bytes.len(), limit });
    }
    let text = std::str::from_utf8(bytes).map_err(|e| YamlError::NotUtf8 { offset: e.valid_up_to() })?;
    yaml::read(text, options()).map_err(|error| classify_error(&error))
}

/// Writes `value` in block style, keys in their order, with a final newline.
pub fn write(value: &Value) -> String {
    serde_saphyr::to_string(value).expect("a value has only text keys and finite numbers")
}

fn options() -> Options {
    let mut options = yaml::options(MAX_DEPTH, MAX_NODES);
    // `yes`, `on` and `no` stay text.
    options.strict_booleans = true;
    options.non_finite_float_policy = NonFiniteFloatPolicy::AsString;
    options
}

fn classify_error(error: &serde_saphyr::Error) -> YamlError {
    use serde_saphyr::Error;

    let error = error.without_snippet();
    let at = Mark(error.location().map(|l| (l.line(), l.column())));
    match error {
        Error::Budget { breach, .. } => match breach {
            BudgetBreach::Depth { .. } => YamlError::TooDeep { at },
            BudgetBreach::Anchors { .. } | BudgetBreach::Aliases { .. } | BudgetBreach::MergeKeys { .. } => {
                YamlError::Alias { at }
            }
            BudgetBreach::Nodes { .. } | BudgetBreach::Events { .. } => YamlError::TooMany,
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
        other => syntax(at, &other.to_string()),
    }
}

/// The parser ends its messages with the place, which ours begin with.
fn syntax(at: Mark, message: &str) -> YamlError {
    if message.contains("recursion limit") {
        return YamlError::TooDeep { at };
    }
    let reason = message.split(" at line ").next().unwrap_or(message).replace('\n', " ");
    YamlError::Syntax { at, reason }
}
