//! The findings about a settings file, and their messages.

use std::fmt;

use crate::position::Position;

/// A fact about a settings file.
#[derive(Debug, Clone, PartialEq)]
pub struct SettingsFinding {
    pub at: Position,
    pub kind: SettingsFindingKind,
}

#[derive(Debug, Clone, PartialEq)]
pub enum SettingsFindingKind {
    /// The text is not strict JSON.
    NotJson {
        /// The strict parser's message.
        message: String,
    },
    /// The text begins with a byte order mark.
    ByteOrderMark,
    ObjectMatcher {
        event: String,
    },
    /// A part of the hooks has a type that the client does not expect.
    WrongType {
        /// The part, such as `hooks.PostToolUse[0].hooks`.
        path: String,
        expected: &'static str,
        /// The actual type; `None` if the part is missing.
        found: Option<&'static str>,
    },
    /// A timeout is so long that it is probably in milliseconds.
    TimeoutInMilliseconds {
        /// The timeout's place, such as `hooks.Stop[0].hooks[0].timeout`.
        path: String,
        timeout: f64,
    },
    HooksDisabled,
    LockstepEntry {
        event: String,
        matcher: Option<String>,
        command: String,
        /// In seconds.
        timeout: Option<f64>,
    },
    /// An entry of ours that repeats an earlier one.
    Duplicate {
        event: String,
        matcher: Option<String>,
    },
    /// An entry of ours runs without the client waiting, so it can neither deliver nor block.
    Asynchronous {
        event: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    Info,
    Warning,
    /// Hooks do not do their work because of it.
    Error,
}

impl SettingsFindingKind {
    pub fn weight(&self) -> Severity {
        match self {
            Self::LockstepEntry { .. } => Severity::Info,
            Self::ByteOrderMark | Self::TimeoutInMilliseconds { .. } | Self::Duplicate { .. } => {
                Severity::Warning
            }
            Self::NotJson { .. }
            | Self::ObjectMatcher { .. }
            | Self::WrongType { .. }
            | Self::HooksDisabled
            | Self::Asynchronous { .. } => Severity::Error,
        }
    }
}

impl fmt::Display for SettingsFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.at, self.kind)
    }
}

impl fmt::Display for SettingsFindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotJson { message } => write!(
                f,
                "this is not strict JSON ({message}), so the client silently ignores the whole file; correct it"
            ),
            Self::ObjectMatcher { event } => write!(
                f,
                "a matcher of `{event}` is an object, so the client silently ignores the whole file; \
                 write it as a string, such as \"Edit|Write\""
            ),
            Self::WrongType { path, expected, found: Some(found) } => {
                write!(f, "`{path}` is {found} where the client expects {expected}; correct or remove it")
            }
            Self::WrongType { path, expected, found: None } => {
                write!(f, "`{path}` is missing where the client expects {expected}; add it")
            }
            Self::ByteOrderMark => f.write_str(
                "the file begins with a byte order mark, which strict JSON does not allow; save it without one",
            ),
            Self::TimeoutInMilliseconds { path, timeout } => write!(
                f,
                "`{path}` is {timeout} seconds, probably meant in milliseconds; write {}",
                (timeout / 1000.0).ceil()
            ),
            Self::HooksDisabled => {
                f.write_str("`disableAllHooks` is true, so no hook runs; remove it to run hooks")
            }
            Self::LockstepEntry { event, matcher, command, timeout } => {
                write!(f, "{event}{}: `{command}`", of_matcher(matcher.as_deref()))?;
                timeout.map_or(Ok(()), |timeout| write!(f, ", at most {timeout} s"))
            }
            Self::Duplicate { event, matcher } => write!(
                f,
                "{event}{} has this entry twice, so its work is done twice; `lockstep init` removes one",
                of_matcher(matcher.as_deref())
            ),
            Self::Asynchronous { event } => write!(
                f,
                "the entry for {event} has `async: true`, so the client does not wait for its answer; remove `async`"
            ),
        }
    }
}

fn of_matcher(matcher: Option<&str>) -> String {
    matcher.map_or(String::new(), |matcher| format!(" on `{matcher}`"))
}
