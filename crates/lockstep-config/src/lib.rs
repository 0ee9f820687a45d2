//! `lockstep.toml`, typed: its keys, its problems, and the search for the file.
//!
//! [`keys`] is the single source: it declares each key's type, default and documentation once, and
//! validation, the [`template`], the [`reference`](mod@reference) page and `config show` are derived from it.
//! [`parse()`] is pure; only [`discover`] accesses the disk. Nothing here reads the environment or starts a
//! process.

pub mod cache;
pub mod cascade;
pub mod diagnostic;
pub mod discover;
pub mod document_path;
pub mod gates;
pub mod impact;
pub mod key_schema;
pub mod keys;
pub mod map;
pub mod nested_tables;
pub mod parse;
pub mod reference;
pub mod scope;
pub mod steps;
pub mod task;
pub mod template;
pub mod user;
pub mod value;

mod duration;
mod suggest;
mod toml_document;
mod worktree;

pub use diagnostic::{ConfigProblem, Position};
pub use discover::{DiscoverError, Project};
pub use keys::Config;
pub use parse::{LoadedConfig, Setting, ValueOrigin, parse};

/// The name of the file that makes a project active.
pub const FILE_NAME: &str = "lockstep.toml";
