//! The cascade as a state machine: events in, states and effects out.

#![allow(clippy::unwrap_used)] // A helper that panics fails its test, which is its purpose.

mod driver;
mod prompts;
mod properties;
mod reports;
mod termination;
mod transitions;
