//! Plays a real Claude Code against a scripted model.
//!
//! The client is real: its tools change files, its hooks run, its settings and plugins are loaded. Only the model is
//! a script on loopback, so a run costs nothing, needs no account and does the same every time. What the
//! client told the model is kept, and that is the evidence: a text reached the Lead when it is in a request of
//! the Lead's.
//!
//! ```no_run
//! use lockstep_rehearsal::{Agent, Client, Rehearsal, Scenario};
//!
//! let scenario = Scenario::parse(r#"
//!     prompt = "Say hello."
//!     [[lead]]
//!     text = "Hello."
//! "#)?;
//! let outcome = Rehearsal::new(Client::obtain()?, scenario, "/tmp/project").run()?;
//! assert!(outcome.success(), "{}", outcome.stderr);
//! assert_eq!(outcome.transcript.lead().count("Say hello."), 1);
//! assert_eq!(outcome.transcript.who_saw("Say hello."), [Agent::Lead].into());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Read [`scenario`] first, then [`run`].

pub mod client;
pub mod codex;
pub mod model;
pub mod network;
mod package;
mod process;
pub mod run;
pub mod scenario;
pub mod sdk;
pub mod transcript;
pub mod typescript;

pub use client::{Client, ClientError};
pub use codex::Codex;
pub use model::Model;
pub use network::Network;
pub use run::{Ended, Outcome, Rehearsal, RunError, Running};
pub use scenario::{Scenario, ScenarioError, ToolCall, Turn};
pub use sdk::Sdk;
pub use transcript::{Agent, Conversation, Kind, Request, Text, Transcript};
