//! The place of a document that Lockstep writes for others to read: the map, the session cache.

use toml::de::DeValue;

use crate::value::{Kind, Value, Wrong, plain_path, quoted, string};

/// A path relative to the root; `None` if the project's kind decides.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DocumentPath(pub Option<String>);

impl Value for DocumentPath {
    const KIND: Kind = Kind::Path;

    fn read(value: &DeValue<'_>) -> Result<Self, Wrong> {
        let text = string(value)?;
        plain_path(text)?;
        Ok(Self((!text.is_empty()).then(|| text.to_owned())))
    }

    fn to_toml(&self) -> String {
        quoted(self.0.as_deref().unwrap_or_default())
    }
}
