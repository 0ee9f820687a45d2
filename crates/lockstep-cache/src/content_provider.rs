//! Text that other parts of Lockstep own: the task, active work, hotspots. The cache only carries it.

use std::collections::BTreeMap;

/// Provides the text of sections with the strategy `given`.
pub trait ContentProvider {
    fn given(&self, section: &str) -> ProvidedText;

    /// Returns a stamp that stays the same while all texts are unchanged, computed without the texts.
    ///
    /// It is taken before the first text. `None` means that the texts must be requested.
    fn stamp(&self) -> Option<Vec<u8>> {
        None
    }
}

/// A provider's answer for a section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProvidedText {
    Text(String),
    Nothing,
    /// The text could not be determined, for this reason.
    Unknown(String),
}

/// A missing key means that there is no text.
impl ContentProvider for BTreeMap<String, String> {
    fn given(&self, section: &str) -> ProvidedText {
        self.get(section).map_or(ProvidedText::Nothing, |text| ProvidedText::Text(text.clone()))
    }
}
