//! The types of `[scope]`: which files are indexed, and how large they may be.

use toml::de::DeValue;

use crate::value::{
    ConfigValue, ValueError, ValueKind, config_enum, config_number, list_toml, read_list, string, toml_string,
};

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
        read_list(value, |item| string(item).map(str::to_owned)).map(Self)
    }

    fn to_toml(&self) -> String {
        list_toml(&self.0, |pattern| toml_string(pattern))
    }
}

config_number! {
    /// `[scope] max_file_bytes`: from a line of code to more than any parser handles.
    pub struct MaxFileBytes(u64) = 1 << 20, in 1_000..=100_000_000
}
