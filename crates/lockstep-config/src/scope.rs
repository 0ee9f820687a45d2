//! The types of `[scope]`: which files are indexed, and how large they may be.

use toml::de::DeValue;

use crate::value::{ConfigValue, ValueError, ValueKind, config_enum, parse_usize_in, string, toml_string};

config_enum! {
    /// `[scope] preset`: which files to begin with.
    pub enum ScopePreset {
        /// The whole repository.
        Repository = "repository",
        /// An agent framework's own files, below `.claude/`.
        Claude = "claude",
    }
}

/// Patterns in the syntax of `.gitignore`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GitignorePatterns(pub Vec<String>);

impl ConfigValue for GitignorePatterns {
    const KIND: ValueKind =
        ValueKind::List(r#"a list of patterns as in `.gitignore`, such as ["/docs/", "*.sql"]"#);

    fn read(value: &DeValue<'_>) -> Result<Self, ValueError> {
        let DeValue::Array(items) = value else { return Err(ValueError::kind(value)) };
        let items = items.iter().map(|item| string(item.get_ref()).map(str::to_owned));
        items.collect::<Result<_, _>>().map(Self)
    }

    fn to_toml(&self) -> String {
        format!("[{}]", self.0.iter().map(|pattern| toml_string(pattern)).collect::<Vec<_>>().join(", "))
    }
}

/// `[scope] max_file_bytes`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MaxFileBytes(pub u64);

impl MaxFileBytes {
    /// From a line of code to more than any parser handles.
    const RANGE: std::ops::RangeInclusive<usize> = 1_000..=100_000_000;
}

impl Default for MaxFileBytes {
    fn default() -> Self {
        Self(1 << 20)
    }
}

impl ConfigValue for MaxFileBytes {
    const KIND: ValueKind = ValueKind::Number;

    fn read(value: &DeValue<'_>) -> Result<Self, ValueError> {
        parse_usize_in(value, Self::RANGE).map(|bytes| Self(bytes as u64))
    }

    fn to_toml(&self) -> String {
        self.0.to_string()
    }
}
