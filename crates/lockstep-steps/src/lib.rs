//! Steps: units of an agent's work whose phases are recorded as they happen, and whose prompt, end and commit
//! pass gates.
//!
//! All functions are pure. [`markers`] and [`prompt`] check the prompt of an invocation, and [`template`]
//! creates one. [`machine`] has the states and phase sets as data, [`step`] is the document and its changes,
//! [`gate`] decides, and [`audit`] is the chain that records all of it. Files, locks, clocks and clients
//! belong to the callers.

pub mod audit;
pub mod boundary;
pub mod commands;
mod fences;
pub mod gate;
pub mod machine;
pub mod markers;
pub mod nwave;
pub mod problem;
pub mod prompt;
pub mod redact;
pub mod schema;
pub mod script;
pub mod sections;
pub mod shell;
pub mod stale;
pub mod step;
pub mod template;
mod words;
mod yaml;
