//! Reads untrusted YAML.

use lockstep_text::yaml::{self, YamlLimits};
use serde::de::DeserializeOwned;

/// Reads one document of at most `limit` bytes. The error is one line.
pub(crate) fn read<T: DeserializeOwned>(bytes: &[u8], limit: usize) -> Result<T, String> {
    // A report of dependents is five levels deep. A node takes at least two bytes.
    let limits = YamlLimits { bytes: limit, depth: 16, nodes: limit / 2, words_are_text: false };
    yaml::read(bytes, limits).map_err(|error| error.to_string())
}
