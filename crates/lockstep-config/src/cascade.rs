//! The types of `[cascade]`.

use crate::value::config_number;

config_number! {
    /// `[cascade] context_tokens`: from the context of a small model to more than that of any model.
    pub struct ContextTokens(usize) = 200_000, in 4_000..=100_000_000
}
