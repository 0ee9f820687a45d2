//! Claude Code's settings file: its `hooks`, and our entries among them.
//!
//! An entry is ours if its command calls `lockstep hook claude`; nothing else marks it, so that an entry somebody
//! moved or copied is still known.

mod finding;
mod inspect;
mod install;
mod settings;
mod switches;
mod uninstall;

use thiserror::Error;

pub use finding::{Finding, FindingKind, Weight};
pub use inspect::inspect;
pub use install::install;
pub use switches::HookSwitches;
pub use uninstall::uninstall;

use crate::position::Position;

/// The client's name on the command line.
const CLIENT: &str = "claude";

/// A hook to register: a command for an event, optionally only for what `matcher` matches.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct HookEntry {
    /// The event, such as `PostToolUse`.
    pub event: String,
    /// A regular expression over the tool's name (or the event's source); `None` for every occurrence.
    pub matcher: Option<String>,
    /// The command line.
    pub command: String,
    /// How long the client waits for it, in seconds.
    pub timeout_seconds: u32,
}

/// Settings after an edit, and what the edit did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The new text.
    pub text: String,
    /// What was done, in order; empty if the text is the old one.
    pub changes: Vec<Change>,
}

/// One thing an edit did to an entry of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// What was done.
    pub action: Action,
    /// The entry's event.
    pub event: String,
    /// The entry's matcher.
    pub matcher: Option<String>,
}

/// What an edit does to an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// It was not there.
    Added,
    /// It was there with another command, timeout or matcher.
    Updated,
    /// It is not wanted any more.
    Removed,
}

/// Why settings cannot be edited. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SettingsError {
    /// The text is not JSON, even with comments and trailing commas allowed.
    #[error("the settings are not JSON: {at}: {message}; correct the file and try again")]
    Syntax {
        /// Where.
        at: Position,
        /// What the parser says.
        message: String,
    },
    /// The text is JSON, but hooks cannot be added to what it holds.
    #[error("hooks cannot be added to the settings:{}", lines(.0))]
    Shape(Vec<Misfit>),
}

/// A part of the settings that is not what hooks need there.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{at}: {what}; {fix}")]
pub struct Misfit {
    /// Where.
    pub at: Position,
    /// What is wrong.
    pub what: String,
    /// How to mend it.
    pub fix: String,
}

fn lines(misfits: &[Misfit]) -> String {
    misfits.iter().map(|misfit| format!("\n  {misfit}")).collect()
}

/// The byte order mark of `text`, which editors leave alone but JSON does not know, and the rest.
fn split_mark(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 })
}
