//! The cascade updates the files that depend on a change, in at most three iterations, until nothing is
//! unresolved.
//!
//! The crate is pure. [`Cascade`] is the state, and [`Cascade::apply`] is its only transition:
//! a [`CascadeEvent`] in, [`CascadeEffect`]s out. Agents' reports never decide; the state of the disk does, and comes in as an
//! [`DiskObservation`](event::DiskObservation). The program starts agents, reads files and saves the state;
//! [`inspector`] defines the interface for that.

pub mod agent_report;
pub mod cascade_input;
pub mod event;
pub mod grouping;
pub mod inspector;
pub mod prompt;
pub mod report;
pub mod schema;
pub mod state;
pub mod tier;
mod transition;
mod yaml;

pub use event::{CascadeEffect, CascadeEvent};
pub use state::Cascade;
pub use transition::{StartOptions, TransitionError};

/// The maximum number of iterations. It is not configurable.
pub const MAX_ITERATIONS: u8 = 3;

/// The maximum number of agents that work at the same time.
pub const MAX_GROUPS: usize = 2;
