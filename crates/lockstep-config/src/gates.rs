//! The types of `[gates]`.

use crate::value::config_enum;

config_enum! {
    /// The effect of a gate's verdict.
    pub enum GateMode {
        /// The gate is skipped.
        Off = "off",
        /// The verdict is recorded and reported to the Lead; nothing is refused.
        Warn = "warn",
        /// The gate refuses actions that fail it.
        Block = "block",
    }
}

config_enum! {
    /// The answer to something that a gate would have to read and cannot.
    pub enum Unreadable {
        /// The client asks the user.
        Ask = "ask",
        /// The gate refuses it.
        Deny = "deny",
        /// The gate lets it pass.
        Allow = "allow",
    }
}
