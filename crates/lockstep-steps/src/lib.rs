//! Steps: a unit of an agent's work whose phases are recorded as they happen, and whose prompt, end and commit pass gates.
//!
//! Everything here is decided by arguments alone. [`markers`] and [`prompt`] look at the prompt of an invocation, [`template`]
//! makes one; [`machine`] holds the states and phase sets as data; [`step`] is the document and its changes; [`gate`] judges;
//! [`audit`] is the chain in which all of it is recorded. Files, locks, clocks and clients stay out.

pub mod audit;
pub mod boundary;
pub mod commands;
mod fences;
pub mod gate;
pub mod glob;
pub mod machine;
pub mod markers;
pub mod nwave;
pub mod problem;
pub mod prompt;
pub mod redact;
pub mod schema;
pub mod sections;
pub mod shell;
pub mod stale;
pub mod step;
pub mod template;
mod words;
mod yaml;
