//! What can be found in a settings file, and how it is told.

use std::fmt;

use crate::position::Position;

/// Something to know about a settings file.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// Where.
    pub at: Position,
    /// What.
    pub kind: FindingKind,
}

/// What was found.
#[derive(Debug, Clone, PartialEq)]
pub enum FindingKind {
    /// The text is not strict JSON.
    NotJson {
        /// What a strict parser says.
        message: String,
    },
    /// The text begins with a byte order mark.
    ByteOrderMark,
    /// A matcher is an object.
    ObjectMatcher {
        /// The event it belongs to.
        event: String,
    },
    /// A part of the hooks is not what the client expects there.
    WrongType {
        /// The part, such as `hooks.PostToolUse[0].hooks`.
        path: String,
        /// What it should be.
        expected: &'static str,
        /// What it is; `None` if it is missing.
        found: Option<&'static str>,
    },
    /// A timeout is so long that it was probably meant in milliseconds.
    Milliseconds {
        /// The timeout's place, such as `hooks.Stop[0].hooks[0].timeout`.
        path: String,
        /// Its value.
        timeout: f64,
    },
    /// `disableAllHooks` is true.
    HooksDisabled,
    /// An entry of ours.
    Ours {
        /// Its event.
        event: String,
        /// Its matcher, if that is a string.
        matcher: Option<String>,
        /// Its command.
        command: String,
        /// Its timeout in seconds, if it has one.
        timeout: Option<f64>,
    },
    /// An entry of ours that does what an earlier one does.
    Duplicate {
        /// Its event.
        event: String,
        /// Its matcher.
        matcher: Option<String>,
    },
    /// An entry of ours runs without the client waiting, so it can neither deliver nor block.
    Asynchronous {
        /// Its event.
        event: String,
    },
}

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// Something to know.
    Information,
    /// Something that is probably not meant.
    Warning,
    /// Hooks do not do their work because of it.
    Fault,
}

impl FindingKind {
    /// How much it matters.
    pub fn weight(&self) -> Weight {
        match self {
            Self::Ours { .. } => Weight::Information,
            Self::ByteOrderMark | Self::Milliseconds { .. } | Self::Duplicate { .. } => Weight::Warning,
            Self::NotJson { .. }
            | Self::ObjectMatcher { .. }
            | Self::WrongType { .. }
            | Self::HooksDisabled
            | Self::Asynchronous { .. } => Weight::Fault,
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.at, self.kind)
    }
}

impl fmt::Display for FindingKind {
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
            Self::Milliseconds { path, timeout } => write!(
                f,
                "`{path}` is {timeout} seconds, probably meant in milliseconds; write {}",
                (timeout / 1000.0).ceil()
            ),
            Self::HooksDisabled => {
                f.write_str("`disableAllHooks` is true, so no hook runs; remove it to run hooks")
            }
            Self::Ours { event, matcher, command, timeout } => {
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
