//! A hermetic environment in which tests run the real binary: real processes, real files, real git.
//!
//! [`TestEnv`] is the environment, [`HookEvent`] a client's input for a hook, [`ProcessOutput`] its result, [`DirSnapshot`]
//! the state of the disk, and [`attacks`] the actions of a hostile repository or agent. On failure,
//! everything panics with the command and a listing of the environment. [`client`] installs
//! the real client, and [`npm`] other programs that tests drive.

#![allow(clippy::unwrap_used, clippy::missing_panics_doc)] // A helper that panics fails its test, which is its purpose.

pub mod attacks;
pub mod client;
mod dir_snapshot;
mod env;
mod executable;
mod hook_event;
pub mod npm;
mod output;
pub mod step_agent;

pub use dir_snapshot::DirSnapshot;
pub use env::TestEnv;
pub use executable::{copy_program, write_script};
pub use hook_event::HookEvent;
pub use output::ProcessOutput;
