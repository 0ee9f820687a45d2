//! Steps: units of an agent's work whose phases are recorded as they happen, and whose prompt, end and commit
//! pass gates.
//!
//! All functions are pure. [`markers`] and [`prompt_check`] check the prompt of an invocation, and [`template`]
//! creates one. [`state_machine`] has the states and phase sets as data, [`step`] is the document and its changes,
//! [`gate`] decides, and [`audit`] is the chain that records all of it. Files, locks, clocks and clients
//! belong to the callers.

pub mod audit;
pub mod boundary;
pub mod command_table;
pub mod commit_detection;
mod fences;
pub mod gate;
pub mod markers;
pub mod nwave;
pub mod problem;
pub mod prompt_check;
pub mod redact;
pub mod schema;
pub mod script;
pub mod section_definitions;
pub mod stale_phases;
pub mod state_machine;
pub mod step;
pub mod template;
mod words;
mod yaml;
