//! YAML text in and out, within bounds.

use lockstep_text::yaml;
pub use lockstep_text::yaml::YamlError;
use lockstep_text::yaml::YamlLimits;

use crate::value::Value;

/// The deepest nesting accepted. The deepest place the task has by its own shape is five levels down.
pub const MAX_DEPTH: usize = 32;

/// The most mappings, lists and scalars accepted in one text.
pub const MAX_NODES: usize = 20_000;

/// Reads `bytes` as one YAML document of at most `limit` bytes. An empty text is [`Value::Null`].
pub fn read(bytes: &[u8], limit: usize) -> Result<Value, YamlError> {
    yaml::read(bytes, YamlLimits { bytes: limit, depth: MAX_DEPTH, nodes: MAX_NODES, words_are_text: true })
}

/// Writes `value` in block style, keys in their order, with a final newline.
pub fn write(value: &Value) -> String {
    serde_saphyr::to_string(value).expect("a value has only text keys and finite numbers")
}
