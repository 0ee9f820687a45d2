//! The types of `[map]`.

use toml::de::DeValue;

use crate::value::{Kind, Value, Wrong, quoted, string, whole_number};

const AUTO: &str = "auto";

/// `[map] scope`: the files that have an entry; `None` for all indexed files. The map validates the scope.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MapScope(pub Option<String>);

impl Value for MapScope {
    const KIND: Kind = Kind::Text(r#"a directory, a file or a pattern, such as ".claude/" or "src/**/*.rs""#);

    fn read(value: &DeValue<'_>) -> Result<Self, Wrong> {
        let text = string(value)?;
        Ok(Self((!text.is_empty()).then(|| text.to_owned())))
    }

    fn to_toml(&self) -> String {
        quoted(self.0.as_deref().unwrap_or_default())
    }
}

/// `[map] max_lines`: `None` if the scope decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MapLines(pub Option<usize>);

impl Value for MapLines {
    const KIND: Kind = Kind::Text(r#""auto", or a whole number"#);

    fn read(value: &DeValue<'_>) -> Result<Self, Wrong> {
        match value.as_str() {
            Some(AUTO) => Ok(Self(None)),
            _ => whole_number(value, 0..=10_000_000).map(|lines| Self(Some(lines))),
        }
    }

    fn to_toml(&self) -> String {
        self.0.map_or_else(|| quoted(AUTO), |lines| lines.to_string())
    }
}
