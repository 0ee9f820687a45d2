//! A hermetic environment in which tests run the real binary: real processes, real files, real git.
//!
//! [`TestEnv`] is the environment, [`HookEvent`] a client's input for a hook, [`ProcessOutput`] its result, [`DirSnapshot`]
//! the state of the disk, and [`attacks`] the actions of a hostile repository or agent. On failure,
//! everything panics with the command and a listing of the environment. It depends on no product crate but
//! the recorded payloads.

#![allow(clippy::unwrap_used, clippy::missing_panics_doc)] // A helper that panics fails its test, which is its purpose.

pub mod attacks;
mod env;
mod event;
mod listing;
mod output;

pub use env::TestEnv;
pub use event::HookEvent;
pub use listing::DirSnapshot;
pub use output::ProcessOutput;
