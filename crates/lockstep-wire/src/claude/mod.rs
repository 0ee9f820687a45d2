//! Claude Code. Measured on 2.1.197; older schemas (no `agent_*` fields, `Task` for `Agent`) are accepted too.

mod edits;
mod event;
mod lenient;
mod mcp_use;
mod response;
pub mod samples;
mod task_list;
pub mod transcript;

pub use event::parse;
pub use response::{accepts_context, render};
