//! The result of a command before it is rendered: data for programs, text for people and models.
//!
//! The command line prints one of the two, the MCP server sends both. The modules of the subjects compute it.

use serde::Serialize;

/// The answer of a verb.
pub(crate) trait CommandOutput: Serialize {
    /// Renders the result for people and models, in complete lines.
    fn text(&self) -> String;
}
