//! Questions about references: the tree they are about, what changed in it, and the answer.
//!
//! Shared by `lockstep impact`, `lockstep refs`, the hooks, the cascade and the MCP server. What depends on what is decided in `lockstep-refs`;
//! here only files, git and the store are asked.

mod alert;
pub(crate) mod analysis;
mod awaited;
mod background;
pub(crate) mod deadline;
pub(crate) mod edits;
mod gone;
pub(crate) mod index;
pub(crate) mod lookup;
pub(crate) mod lookup_text;
pub(crate) mod moves;
pub(crate) mod original;
mod package;
pub(crate) mod question;
pub(crate) mod references;
pub(crate) mod session;
mod suggestion;
mod target;
pub(crate) mod text;
pub(crate) mod tree;
mod undefined;
