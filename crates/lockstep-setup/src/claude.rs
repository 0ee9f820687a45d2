//! Claude Code's settings file: its `hooks`, and our entries among them.
//!
//! An entry is ours if its command calls `lockstep hook claude`. There is no other mark, so an entry that a
//! user moved or copied is still recognised.

mod finding;
mod handlers;
mod inspect;
mod install;
mod switches;
mod uninstall;

use thiserror::Error;

pub use finding::{SettingsFinding, SettingsFindingKind, Severity};
pub use inspect::{PlainEntry, inspect, plain_entries};
pub use install::install;
pub use switches::HookSwitches;
pub use uninstall::uninstall;

use crate::position::Position;

/// The client's name on the command line.
const CLIENT: &str = "claude";

/// A hook to register: a command for an event, optionally restricted by a `matcher`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct HookEntry {
    pub event: String,
    /// A regular expression over the tool's name (or the event's source); `None` for every occurrence.
    pub matcher: Option<String>,
    pub command: String,
    /// The client's timeout for it, in seconds.
    pub timeout_seconds: u32,
}

/// Settings after an edit, and the list of changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsEdit {
    pub text: String,
    /// The changes in order; empty if the text is unchanged.
    pub changes: Vec<EntryChange>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryChange {
    pub action: EntryAction,
    pub event: String,
    pub matcher: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryAction {
    Added,
    /// The entry had another command, timeout or matcher.
    Updated,
    /// The entry is no longer wanted.
    Removed,
}

/// The reason why settings cannot be edited. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SettingsError {
    /// The text is not JSON, even with comments and trailing commas allowed.
    #[error("{at}: the settings are not JSON: {message}; correct the file and try again")]
    Syntax {
        at: Position,
        /// The parser's message.
        message: String,
    },
    /// The text is JSON, but its structure does not allow to add hooks.
    #[error("hooks cannot be added to the settings:{}", lines(.0))]
    Shape(Vec<ShapeProblem>),
    /// The command of an entry would not be recognised as ours later.
    #[error(
        "hooks are recognised by the file name `lockstep`, which `{command}` does not have; rename the program's file to \
         `lockstep`, or link it under that name, and run that one"
    )]
    Unrecognised { command: String },
}

/// A part of the settings with an unexpected type or form.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{at}: {what}; {fix}")]
pub struct ShapeProblem {
    pub at: Position,
    pub what: String,
    pub fix: String,
}

fn lines(misfits: &[ShapeProblem]) -> String {
    misfits.iter().map(|misfit| format!("\n  {misfit}")).collect()
}

/// Splits off the byte order mark, which editors keep but JSON does not allow.
fn split_bom(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 })
}
