//! The types of `[scope]`: which files are indexed, and how large they may be.

use toml::de::DeValue;

use crate::value::{Kind, Value, Wrong, choices, quoted, string, whole_number};

choices! {
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
pub struct Patterns(pub Vec<String>);

impl Value for Patterns {
    const KIND: Kind = Kind::List(r#"a list of patterns as in `.gitignore`, such as ["/docs/", "*.sql"]"#);

    fn read(value: &DeValue<'_>) -> Result<Self, Wrong> {
        let DeValue::Array(items) = value else { return Err(Wrong::kind(value)) };
        let items = items.iter().map(|item| string(item.get_ref()).map(str::to_owned));
        items.collect::<Result<_, _>>().map(Self)
    }

    fn to_toml(&self) -> String {
        format!("[{}]", self.0.iter().map(|pattern| quoted(pattern)).collect::<Vec<_>>().join(", "))
    }
}

/// `[scope] max_file_bytes`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileBytes(pub u64);

impl FileBytes {
    /// From a line of code to more than any parser handles.
    const RANGE: std::ops::RangeInclusive<usize> = 1_000..=100_000_000;
}

impl Default for FileBytes {
    fn default() -> Self {
        Self(1 << 20)
    }
}

impl Value for FileBytes {
    const KIND: Kind = Kind::Number;

    fn read(value: &DeValue<'_>) -> Result<Self, Wrong> {
        whole_number(value, Self::RANGE).map(|bytes| Self(bytes as u64))
    }

    fn to_toml(&self) -> String {
        self.0.to_string()
    }
}
