//! Names from a client that are used as keys or inside file names.
//!
//! A [`SessionId`] becomes part of a path, so it is checked on creation.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The longest id accepted, in bytes.
pub const MAX_ID_LEN: usize = 128;

/// One run of a client. Matches `[A-Za-z0-9._-]{1,128}` and does not start with a dot.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct SessionId(String);

/// The reason why a text is no [`SessionId`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SessionIdError {
    #[error("the session id is empty")]
    Empty,
    /// The text is longer than [`MAX_ID_LEN`].
    #[error("the session id has {0} bytes, more than {MAX_ID_LEN}")]
    TooLong(usize),
    /// A leading dot would make it a hidden or a parent directory.
    #[error("the session id starts with a dot")]
    LeadingDot,
    /// A character outside `[A-Za-z0-9._-]`.
    #[error("the session id contains {0:?}; only letters, digits, '.', '_' and '-' are allowed")]
    Character(char),
}

impl SessionId {
    /// Checks `text` and creates an id from it.
    pub fn new(text: &str) -> Result<Self, SessionIdError> {
        if text.is_empty() {
            return Err(SessionIdError::Empty);
        }
        if text.len() > MAX_ID_LEN {
            return Err(SessionIdError::TooLong(text.len()));
        }
        if text.starts_with('.') {
            return Err(SessionIdError::LeadingDot);
        }
        match text.chars().find(|c| !is_id_char(*c)) {
            Some(c) => Err(SessionIdError::Character(c)),
            None => Ok(Self(text.to_owned())),
        }
    }

    /// The id as text, safe as a single path component.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::str::FromStr for SessionId {
    type Err = SessionIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::new(text)
    }
}

fn is_id_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')
}

/// Reduces a client's name to characters that are safe in a column or a key.
///
/// Unlike a [`SessionId`] it never becomes a path, and dropping it would attribute a subagent's change to the
/// Lead. Unsafe characters are therefore replaced instead of refusing the id.
fn sanitize(text: &str) -> Option<String> {
    let id: String = text.chars().take(MAX_ID_LEN).map(|c| if is_id_char(c) { c } else { '_' }).collect();
    (!id.is_empty() && id != "-").then_some(id)
}

macro_rules! sanitized_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Creates an id from `text`, with characters outside `[A-Za-z0-9._-]` replaced by `_` and
            /// truncated at 128. `None` for an empty text and for `-`, which means "none" in the journal.
            pub fn new(text: &str) -> Option<Self> {
                sanitize(text).map(Self)
            }

            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

sanitized_id! {
    /// A subagent within a session. The Lead has none.
    AgentId
}
sanitized_id! {
    /// One call of a tool.
    ToolUseId
}

impl AgentId {
    /// The id of an agent whose own id cannot be read.
    pub fn unnamed() -> Self {
        Self("unnamed".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_ids_from_clients_are_accepted() {
        for text in ["b806c9f3-8d8c-4d3d-a318-2132af086b47", "a", "A.b_c-9", &"x".repeat(128)] {
            assert_eq!(SessionId::new(text).unwrap().as_str(), text);
        }
    }

    #[test]
    fn hostile_session_ids_are_refused_with_the_reason() {
        let long = "x".repeat(5_000);
        let table = [
            ("", SessionIdError::Empty),
            ("../../x", SessionIdError::LeadingDot),
            (".", SessionIdError::LeadingDot),
            ("a/../b", SessionIdError::Character('/')),
            ("a\0b", SessionIdError::Character('\0')),
            ("a b", SessionIdError::Character(' ')),
            ("sé", SessionIdError::Character('é')),
            (&long, SessionIdError::TooLong(5_000)),
        ];
        for (text, expected) in table {
            assert_eq!(SessionId::new(text), Err(expected), "{text:?}");
        }
    }

    #[test]
    fn a_strange_agent_id_stays_an_agent() {
        assert_eq!(AgentId::new("a\tb\n").unwrap().as_str(), "a_b_");
        assert_eq!(AgentId::new(&"é".repeat(500)).unwrap().as_str(), "_".repeat(128));
        assert_eq!(AgentId::new(""), None);
        assert_eq!(AgentId::new("-"), None);
    }
}
