//! Plays a real Claude Code against a scripted model.
//!
//! Read [`scenario`] first.

pub mod model;
pub mod scenario;
pub mod transcript;

pub use model::Model;
pub use scenario::{Scenario, ScenarioError, ToolCall, Turn};
pub use transcript::{Agent, Conversation, Kind, Request, Text, Transcript};
