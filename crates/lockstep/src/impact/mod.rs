//! Queries about references: the tree, its changes, and the answer.
//!
//! Shared by `lockstep impact`, `lockstep refs`, the hooks, the cascade and the MCP server. `lockstep-refs`
//! resolves dependencies; this module reads files, git and the store.

mod alert;
pub(crate) mod analysis;
pub(crate) mod background;
pub(crate) mod deadline;
pub(crate) mod edits;
pub(crate) mod findings;
mod gone;
pub(crate) mod index;
mod lazy_join;
mod links;
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
