//! A hermetic environment in which tests run the real binary: real processes, real files, real git.
//!
//! [`TestEnv`] is the environment, [`Event`] what a client sends to a hook, [`Output`] what came back, [`Listing`] what is on disk.
//! Everything panics with the command and a listing of the environment when something is not as it should be: that is a failed
//! test. Knows no product crate but the recorded payloads.

#![allow(clippy::unwrap_used, clippy::missing_panics_doc)] // A helper that panics fails its test, which is its purpose.

mod env;
mod event;
mod listing;
mod output;

pub use env::TestEnv;
pub use event::Event;
pub use listing::Listing;
pub use output::Output;
