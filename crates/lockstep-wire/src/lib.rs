//! Client dialects: converts bytes to an [`Event`](lockstep_model::event::Event), and a
//! [`Decision`](lockstep_model::decision::Decision) to bytes and an exit code.
//!
//! There is one folder per client. Input is tolerant: additional fields and values are ignored, missing
//! fields are absent. Output is strict: exactly what the client accepts. No I/O.

pub mod claude;
mod response;

pub use response::HookResponse;

/// The reason why bytes are not an event.
#[derive(Debug, thiserror::Error)]
pub enum ParseEventError {
    /// Nothing arrived on standard input.
    #[error("the event is empty: nothing arrived on standard input")]
    Empty,
    /// JSON, perhaps, but not an object.
    #[error("the event is not a JSON object")]
    NotAnObject,
    /// Broken JSON or not UTF-8.
    #[error("the event is not a JSON object")]
    Json(#[source] serde_json::Error),
    /// JSON without the event's name.
    #[error("the event has no `hook_event_name`")]
    NoName,
    /// Text behind the object: it may be another event.
    #[error("the event is not a JSON object: there is text behind it")]
    Trailing,
    /// A call without the name of its tool.
    #[error("the event has no `tool_name`")]
    NoTool,
    /// A name that looks like one of the client, with letters that no name of the client has.
    #[error("the event or its tool has a name that no client gives: {0}")]
    ForeignName(String),
    /// The input of a tool, in another form than its client sends.
    #[error("the input of the tool {0} cannot be read")]
    Input(String),
}
