//! The types of `[gates]`.

use crate::value::choices;

choices! {
    /// What a gate does with its verdict.
    pub enum GateMode {
        /// The gate is not asked.
        Off = "off",
        /// The verdict is recorded and the Lead is told; nothing is refused.
        Warn = "warn",
        /// What fails the gate is refused.
        Block = "block",
    }
}
