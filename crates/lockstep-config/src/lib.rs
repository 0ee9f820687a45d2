//! `lockstep.toml`, typed: which keys there are, what is wrong with a file, and where the file is found.
//!
//! [`keys`] is the single source: a key's type, default and documentation stand there once, and validation,
//! the [`template`], the [`reference`](mod@reference) page and `config show` come from it. [`parse()`] is pure;
//! only [`discover`] touches the disk. Nothing here reads the environment or starts a process.

pub mod cache;
pub mod cascade;
pub mod discover;
pub mod document_path;
pub mod gates;
pub mod impact;
pub mod keys;
pub mod map;
pub mod parse;
pub mod problem;
pub mod reference;
pub mod scope;
pub mod steps;
pub mod table;
pub mod tables;
pub mod task;
pub mod template;
pub mod value;

mod duration;
mod suggest;
mod syntax;
mod worktree;

pub use discover::{Fault, Project};
pub use keys::Config;
pub use parse::{Loaded, Origin, Setting, parse};
pub use problem::{Position, Problem};

/// The name of the file whose presence makes a project active.
pub const FILE_NAME: &str = "lockstep.toml";
