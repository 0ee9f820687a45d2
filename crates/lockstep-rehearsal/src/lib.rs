//! Plays a real Claude Code against a scripted model.
//!
//! The client is real: its tools change files, its hooks run, its settings and plugins are loaded. Only the model is
//! a script on loopback, so a run costs nothing, needs no account and does the same every time. What the
//! client told the model is kept, and that is the evidence: a text reached the Lead when it is in a request of
//! the Lead's.
//!
//! ```no_run
//! use lockstep_rehearsal::{ClientBinary, Rehearsal, RequestAgent, Scenario};
//!
//! let scenario = Scenario::parse(r#"
//!     prompt = "Say hello."
//!     [[lead]]
//!     text = "Hello."
//! "#)?;
//! let outcome = Rehearsal::new(ClientBinary::at("/usr/bin/claude"), scenario, "/tmp/project").run()?;
//! assert!(outcome.success(), "{}", outcome.stderr);
//! assert_eq!(outcome.transcript.lead().count("Say hello."), 1);
//! assert_eq!(outcome.transcript.recipients_of("Say hello."), [RequestAgent::Lead].into());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Read [`scenario`] first, then [`run`].

pub mod client;
pub mod network_sandbox;
pub mod process_group;
pub mod run;
pub mod scenario;
pub mod scripted_model;
pub mod transcript;

pub use client::ClientBinary;
pub use network_sandbox::NetworkAccess;
pub use run::{ExitReason, Rehearsal, RehearsalError, RehearsalResult, RunningRehearsal};
pub use scenario::{Scenario, ScenarioError, ScriptedToolCall, Turn};
pub use scripted_model::ScriptedModel;
pub use transcript::{Conversation, ModelRequest, RequestAgent, RequestText, TextSource, Transcript};
