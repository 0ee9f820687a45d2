//! The types of `[map]`.

use toml::de::DeValue;

use crate::value::{ConfigValue, ValueError, ValueKind, any_text, config_text, parse_usize_in, toml_string};

const AUTO: &str = "auto";

config_text! {
    /// `[map] scope`: the files that have an entry; `None` for all indexed files. The map validates the scope.
    pub struct MapScope(Option<String>),
    ValueKind::Text(r#"a directory, a file or a pattern, such as ".claude/" or "src/**/*.rs""#), any_text
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
