//! Impact of changes: the query, its limits, its findings and its texts.
//!
//! Shared by `lockstep impact`, the hooks, the cascade and the MCP server. `lockstep-refs` resolves dependencies;
//! this module and [`workspace`](crate::workspace) read files, git and the store.

mod alert;
pub(crate) mod analysis;
pub(crate) mod deadline;
pub(crate) mod findings;
mod lazy_join;
mod links;
pub(crate) mod moves;
pub(crate) mod original;
pub(crate) mod query;
pub(crate) mod render;
mod unread_mentions;
