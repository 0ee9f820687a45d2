//! What a verb answers, before anybody renders it: data for programs, text for people and models.
//!
//! The command line prints one of the two, the MCP server sends both. What is found out, and how, is in the modules of the
//! subjects.

use serde::Serialize;

/// The answer of a verb.
pub(crate) trait Reply: Serialize {
    /// The answer for people and models, in whole lines.
    fn text(&self) -> String;
}
