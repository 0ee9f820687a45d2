//! The types of `[map]`.

use toml::de::DeValue;

use crate::value::{ConfigValue, ValueError, ValueKind, parse_usize_in, string, toml_string};

const AUTO: &str = "auto";

/// `[map] scope`: the files that have an entry; `None` for all indexed files. The map validates the scope.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MapScope(pub Option<String>);

impl ConfigValue for MapScope {
    const KIND: ValueKind =
        ValueKind::Text(r#"a directory, a file or a pattern, such as ".claude/" or "src/**/*.rs""#);

    fn read(value: &DeValue<'_>) -> Result<Self, ValueError> {
        let text = string(value)?;
        Ok(Self((!text.is_empty()).then(|| text.to_owned())))
    }

    fn to_toml(&self) -> String {
        toml_string(self.0.as_deref().unwrap_or_default())
    }
}

/// `[map] max_lines`: `None` if the scope decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MaxMapLines(pub Option<usize>);

impl ConfigValue for MaxMapLines {
    const KIND: ValueKind = ValueKind::Text(r#""auto", or a whole number"#);

    fn read(value: &DeValue<'_>) -> Result<Self, ValueError> {
        match value.as_str() {
            Some(AUTO) => Ok(Self(None)),
            _ => parse_usize_in(value, 0..=10_000_000).map(|lines| Self(Some(lines))),
        }
    }

    fn to_toml(&self) -> String {
        self.0.map_or_else(|| toml_string(AUTO), |lines| lines.to_string())
    }
}
