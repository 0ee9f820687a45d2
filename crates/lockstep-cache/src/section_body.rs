//! A section's content before its final length is known: which parts can be truncated, and which can only be
//! omitted.

use crate::external_skills::ExternalSkillSource;
use crate::text_length::{chars, prefix};

/// Says that something was cut.
pub(crate) const TRUNCATED: &str = "[... truncated for context budget ...]";

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SectionBody {
    /// Text that is never cut.
    Whole(String),
    /// External skills, each of which can be cut.
    External(Vec<ExternalSkillSource>),
    /// Personas, which are never cut, and topics, which can be.
    Roundtable(Vec<RoundtableItem>),
}

/// A persona or a topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoundtableItem {
    /// `### Persona: Business Analyst`.
    pub heading: String,
    /// The file's content.
    pub text: String,
    pub topic: bool,
}

/// Maximum lengths of content that can be cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LengthCaps {
    pub external: usize,
    /// For each topic; `None` does not cut topics.
    pub topic: Option<usize>,
}

impl LengthCaps {
    /// The limits within the budget.
    pub const DEFAULT: Self = Self { external: 5_000, topic: None };
}

impl SectionBody {
    /// The content under `caps`.
    pub fn text(&self, caps: LengthCaps) -> String {
        match self {
            Self::Whole(text) => text.clone(),
            Self::External(blocks) => {
                let blocks: Vec<String> = blocks.iter().map(|block| block.text(caps.external)).collect();
                blocks.join(crate::external_skills::SEPARATOR)
            }
            Self::Roundtable(pieces) => {
                let pieces: Vec<String> = pieces.iter().map(|piece| piece.capped(caps.topic)).collect();
                pieces.join("\n\n")
            }
        }
    }
}

impl SectionBody {
    /// Returns shorter forms of the content than [`Self::text`], longest first. Text that is never cut has
    /// none.
    pub fn short_forms(&self) -> Vec<String> {
        match self {
            Self::Whole(_) => Vec::new(),
            Self::External(_) => vec![self.text(LengthCaps { external: 0, topic: None })],
            Self::Roundtable(pieces) => crate::roundtable::short_forms(pieces),
        }
    }
}

impl RoundtableItem {
    pub(crate) fn capped(&self, topic: Option<usize>) -> String {
        let text = match topic {
            Some(cap) if self.topic => truncate_with_note(&self.text, cap),
            _ => self.text.clone(),
        };
        format!("{}\n{text}", self.heading)
    }
}

/// `text`, or its beginning and a note when it is longer than `cap`.
pub(crate) fn truncate_with_note(text: &str, cap: usize) -> String {
    // A text has at least as many bytes as characters, so most texts fit without counting.
    if text.len() <= cap || chars(text) <= cap {
        return text.to_owned();
    }
    format!("{}\n{TRUNCATED}", prefix(text, cap))
}
