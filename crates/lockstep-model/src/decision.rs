//! Lockstep's answer to an event. A dialect turns it into the client's bytes and exit code.

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// No reply: the client continues. Permission is never granted explicitly.
    Silent,
    /// Text for the context of the agent the event belongs to.
    Context(String),
    /// The user decides about the tool call; the text gives the reason.
    Ask(String),
    /// The step does not happen, or the agent must go on, for this reason.
    Block(String),
}
