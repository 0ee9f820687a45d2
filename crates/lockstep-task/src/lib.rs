//! The task: one versioned document for all phases of a piece of work.
//!
//! Everything here is pure: text and values in, values out. A closure answers whether a file exists, the time
//! is a parameter, and the store saves versions. Read [`document`] first, then [`version::compare_and_swap`], then
//! [`write_check`], which judges a complete write; [`client_list`] does so for a client's own task list.

pub mod access;
pub mod audit;
pub mod client_list;
pub mod document;
pub mod fork_context;
pub mod gate_record;
pub mod handoff;
pub mod json_schemas;
pub mod key_path;
pub mod markdown;
pub mod migrate;
pub mod phase;
pub mod pointer;
pub mod problem;
pub mod scratch;
pub mod task_readers;
pub mod value;
pub mod value_schema;
pub mod version;
pub mod write_check;
pub mod yaml;
