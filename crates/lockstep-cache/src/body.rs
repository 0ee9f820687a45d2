//! A section's content while its length is still open: what can be cut, and what only stays or goes.

use crate::external::ExternalBlock;
use crate::measure::{chars, prefix};

/// Says that something was cut.
pub(crate) const TRUNCATED: &str = "[... truncated for context budget ...]";

/// The content of one section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// Text that stays whole.
    Whole(String),
    /// External skills, each of which can be cut.
    External(Vec<ExternalBlock>),
    /// Personas, which stay whole, and topics, which can be cut.
    Roundtable(Vec<Piece>),
}

/// A persona or a topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// `### Persona: Business Analyst`.
    pub heading: String,
    /// The file's content.
    pub text: String,
    /// Whether it is a topic.
    pub topic: bool,
}

/// How long what can be cut may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caps {
    /// For each external skill.
    pub external: usize,
    /// For each topic; `None` leaves topics whole.
    pub topic: Option<usize>,
}

impl Caps {
    /// What holds while the budget is kept.
    pub const USUAL: Self = Self { external: 5_000, topic: None };
}

impl Body {
    /// The content under `caps`.
    pub fn text(&self, caps: Caps) -> String {
        match self {
            Self::Whole(text) => text.clone(),
            Self::External(blocks) => {
                let blocks: Vec<String> = blocks.iter().map(|block| block.text(caps.external)).collect();
                blocks.join(crate::external::SEPARATOR)
            }
            Self::Roundtable(pieces) => {
                let pieces: Vec<String> = pieces.iter().map(|piece| piece.capped(caps.topic)).collect();
                pieces.join("\n\n")
            }
        }
    }
}

impl Body {
    /// Returns shorter forms of the content than [`Self::text`] gives, the longest first. A text that stays whole has none.
    pub fn short_forms(&self) -> Vec<String> {
        match self {
            Self::Whole(_) => Vec::new(),
            Self::External(_) => vec![self.text(Caps { external: 0, topic: None })],
            Self::Roundtable(pieces) => crate::roundtable::short_forms(pieces),
        }
    }
}

impl Piece {
    pub(crate) fn capped(&self, topic: Option<usize>) -> String {
        let text = match topic {
            Some(cap) if self.topic => cut(&self.text, cap),
            _ => self.text.clone(),
        };
        format!("{}\n{text}", self.heading)
    }
}

/// `text`, or its beginning and a note when it is longer than `cap`.
pub(crate) fn cut(text: &str, cap: usize) -> String {
    // A text has at least as many bytes as characters: most are known to fit without counting.
    if text.len() <= cap || chars(text) <= cap {
        return text.to_owned();
    }
    format!("{}\n{TRUNCATED}", prefix(text, cap))
}
