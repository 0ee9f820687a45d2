//! The task: one versioned document that is the truth across phases.
//!
//! Everything here is pure: text and values in, values out. Whether a file exists is asked through a closure, time is
//! a parameter, and versions are kept by the store. Read [`document`] first, then [`version::swap`], then [`update`],
//! which judges a whole write; [`client`] does so for a client's own task list.

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
