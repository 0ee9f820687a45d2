//! The types of `[cascade]`.

use toml::de::DeValue;

use crate::value::parse_usize_in;
use crate::value::{ConfigValue, ValueError, ValueKind};

/// `[cascade] context_tokens`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContextTokens(pub usize);

impl ContextTokens {
    /// From the context of a small model to more than that of any model.
    const RANGE: std::ops::RangeInclusive<usize> = 4_000..=100_000_000;
}

impl Default for ContextTokens {
    fn default() -> Self {
        Self(200_000)
    }
}

impl ConfigValue for ContextTokens {
    const KIND: ValueKind = ValueKind::Number;

    fn read(value: &DeValue<'_>) -> Result<Self, ValueError> {
        parse_usize_in(value, Self::RANGE).map(Self)
    }

    fn to_toml(&self) -> String {
        self.0.to_string()
    }
}
