//! The task: one versioned document for all phases of a piece of work.
//!
//! Everything here is pure: text and values in, values out. A closure answers whether a file exists, the time
//! is a parameter, and the store saves versions. Read [`document`] first, then [`version::swap`], then
//! [`update`], which judges a complete write; [`client`] does so for a client's own task list.

pub mod access;
pub mod audit;
pub mod client;
pub mod context;
pub mod document;
pub mod gate;
pub mod handoff;
pub mod markdown;
pub mod migrate;
pub mod phase;
pub mod place;
pub mod pointer;
pub mod problem;
pub mod readers;
pub mod schema;
pub mod scratch;
pub mod shape;
pub mod update;
pub mod value;
pub mod version;
pub mod yaml;
