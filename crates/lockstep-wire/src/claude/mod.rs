//! Claude Code. Measured on 2.1.197; older schemas (no `agent_*` fields, `Task` for `Agent`) are accepted too.

mod edits;
mod input;
mod lenient;
mod mcp_command;
mod output;
pub mod samples;
mod task_list;
pub mod transcript;

pub use input::parse;
pub use output::{carries_context, render};
