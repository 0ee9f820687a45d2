//! The cascade: files that depend on what changed are brought up to date, in at most three iterations, until nothing
//! unresolved is left.
//!
//! Pure. [`Cascade`] is the state, [`Cascade::step`] the only way it changes: an [`Event`] in, [`Effect`]s out. What agents
//! claim never counts; what somebody saw on disk does, and comes in as an [`Observation`](event::Observation). Starting agents,
//! looking at files and keeping the state belong to the program; [`inspect`] says what it must be able to tell.

pub mod claim;
pub mod event;
pub mod grouping;
pub mod input;
pub mod inspect;
pub mod prompt;
pub mod report;
pub mod state;
mod step;
pub mod tier;
mod yaml;

pub use event::{Effect, Event};
pub use state::Cascade;
pub use step::{Refused, Start};

/// How many iterations a cascade has at most. Fixed: there is no way to raise it.
pub const MAX_ITERATIONS: u8 = 3;

/// How many agents work at the same time at most.
pub const MAX_GROUPS: usize = 2;
