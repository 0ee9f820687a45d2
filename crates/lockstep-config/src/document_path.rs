//! The place of a document that Lockstep writes for others to read: the map, the session cache.

use toml::de::DeValue;

use crate::value::{ConfigValue, ValueError, ValueKind, parse_path, string, toml_string};

/// A path relative to the root; `None` if the project's kind decides.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DocumentPath(pub Option<String>);

impl ConfigValue for DocumentPath {
    const KIND: ValueKind = ValueKind::Path;

    fn read(value: &DeValue<'_>) -> Result<Self, ValueError> {
        let text = string(value)?;
        parse_path(text)?;
        Ok(Self((!text.is_empty()).then(|| text.to_owned())))
    }

    fn to_toml(&self) -> String {
        toml_string(self.0.as_deref().unwrap_or_default())
    }
}
