//! The map of a project on disk: where it is, what is remembered of it, and how both are brought up to date. What a map is
//! stands in [`lockstep_map`].

mod amendments;
mod answers;
mod append;
mod bring;
mod copy;
mod elsewhere;
pub(crate) mod entry;
pub(crate) mod hot;
mod lock;
mod memory;
mod paper;
mod place;
mod renames;
mod start;
mod truth;

pub(crate) use bring::{Done, Order, Way};
pub(crate) use truth::Current;
