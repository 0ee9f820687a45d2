//! Text that other parts of Lockstep own: the task, active work, hotspots. The cache only carries it.

use std::collections::BTreeMap;

/// Gives the text of sections with the strategy `given`.
pub trait Provider {
    /// The text for a section, by its name.
    fn given(&self, section: &str) -> Given;

    /// What tells, without asking for any text, that all of them are as they were: as long as it stays the same. Taken before
    /// the first text is found out. `None` where the texts have to be asked for.
    fn stamp(&self) -> Option<Vec<u8>> {
        None
    }
}

/// What a provider has for a section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Given {
    /// This text.
    Text(String),
    /// There is nothing to say.
    Nothing,
    /// It could not be found out, for this reason.
    Unknown(String),
}

/// What is not in the map is nothing.
impl Provider for BTreeMap<String, String> {
    fn given(&self, section: &str) -> Given {
        self.get(section).map_or(Given::Nothing, |text| Given::Text(text.clone()))
    }
}
