//! Plays a real Claude Code against a scripted model.
//!
//! Read [`scenario`] first.

pub mod client;
pub mod model;
mod process;
pub mod scenario;
pub mod transcript;

pub use client::{Client, ClientError};
pub use model::Model;
pub use scenario::{Scenario, ScenarioError, ToolCall, Turn};
pub use transcript::{Agent, Conversation, Kind, Request, Text, Transcript};
