//! Plays a real Claude Code against a scripted model.
//!
//! The client is real: its tools change files, its hooks run, its settings and plugins are loaded. Only the model is
//! a script on loopback, so a run costs nothing, needs no account and does the same every time. What the
//! client told the model is kept, and that is the evidence: a text reached the Lead when it is in a request of
//! the Lead's.
//!
//! ```no_run
//! use lockstep_rehearsal::client::NEWEST;
//! use lockstep_rehearsal::{ClientBinary, Rehearsal, RequestAgent, Scenario};
//!
//! let scenario = Scenario::parse(r#"
//!     prompt = "Say hello."
//!     [[lead]]
//!     text = "Hello."
//! "#)?;
//! let outcome = Rehearsal::new(ClientBinary::obtain_version(NEWEST)?, scenario, "/tmp/project").run()?;
//! assert!(outcome.success(), "{}", outcome.stderr);
//! assert_eq!(outcome.transcript.lead().count("Say hello."), 1);
//! assert_eq!(outcome.transcript.recipients_of("Say hello."), [RequestAgent::Lead].into());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Read [`scenario`] first, then [`run`].

/// Makes two tests of each function: one with each pinned version of the client.
#[macro_export]
macro_rules! on_each_client {
    ($($test:ident),+ $(,)?) => {
        $(
            mod $test {
                #[test]
                fn newest() {
                    $crate::client::with_version($crate::client::VERSIONS[0], super::$test);
                }

                #[test]
                fn older() {
                    $crate::client::with_version($crate::client::VERSIONS[1], super::$test);
                }
            }
        )+
    };
}

pub mod client;
pub mod network_sandbox;
mod process_group;
pub mod run;
pub mod scenario;
pub mod scripted_model;
pub mod transcript;

pub use client::{ClientBinary, ClientError};
pub use network_sandbox::NetworkAccess;
pub use run::{ExitReason, Rehearsal, RehearsalError, RehearsalResult, RunningRehearsal};
pub use scenario::{Scenario, ScenarioError, ScriptedToolCall, Turn};
pub use scripted_model::ScriptedModel;
pub use transcript::{Conversation, ModelRequest, RequestAgent, RequestText, TextSource, Transcript};
