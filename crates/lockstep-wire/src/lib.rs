//! Client dialects: bytes become an [`Event`](lockstep_model::event::Event), a
//! [`Decision`](lockstep_model::decision::Decision) becomes bytes and an exit code.
//!
//! One folder per client. Tolerant on input (fields and values a client adds are ignored, fields it leaves out are
//! absent), strict on output (exactly what the client takes). No I/O.

pub mod claude;
mod reply;

pub use reply::Reply;

/// Why bytes are no event.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    /// Nothing arrived on standard input.
    #[error("the event is empty: nothing arrived on standard input")]
    Empty,
    /// JSON, perhaps, but not an object.
    #[error("the event is not a JSON object")]
    NotAnObject,
    /// Broken JSON or not UTF-8.
    #[error("the event is not a JSON object")]
    Json(#[source] serde_json::Error),
    /// JSON without the field that says what happened.
    #[error("the event has no `hook_event_name`")]
    NoName,
}
