//! Every input that can change the cache, by path and digest; the content hash over them; and the changes
//! between two builds.

use std::collections::BTreeMap;
use std::fmt;

use blake3::Hash;

/// Raised when the same inputs produce other bytes, so that a cache of another version is not treated as
/// fresh.
const CONTENT_VERSION: u32 = 1;

/// The name of the input that is the configuration itself.
pub(crate) const CONFIGURATION: &str = "configuration";

/// The name of the input that a caller gave for a section.
pub(crate) fn given(section: &impl fmt::Display) -> String {
    format!("given:{section}")
}

/// The state of an input when it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InputState {
    Bytes(Hash),
    /// Something that could not be used, for this reason.
    Unusable(String),
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BuildInputs(BTreeMap<String, InputState>);

impl BuildInputs {
    pub(crate) fn insert(&mut self, path: String, state: InputState) {
        self.0.insert(path, state);
    }

    /// Every input, sorted by path.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &InputState)> {
        self.0.iter().map(|(path, state)| (path.as_str(), state))
    }

    /// Returns the number of inputs that are files.
    pub fn files(&self) -> usize {
        self.0
            .iter()
            .filter(|(path, state)| {
                matches!(state, InputState::Bytes(_)) && *path != CONFIGURATION && !path.starts_with("given:")
            })
            .count()
    }

    /// The content hash: over path and content of every input.
    pub fn hash(&self) -> Hash {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&CONTENT_VERSION.to_le_bytes());
        for (path, state) in &self.0 {
            // Lengths keep one field from running into the next.
            hasher.update(&(path.len() as u64).to_le_bytes()).update(path.as_bytes());
            match state {
                InputState::Bytes(digest) => hasher.update(&[0]).update(digest.as_bytes()),
                InputState::Unusable(why) => {
                    hasher.update(&[1]).update(blake3::hash(why.as_bytes()).as_bytes())
                }
            };
        }
        hasher.finalize()
    }

    pub fn changes(&self, now: &Self) -> Vec<InputChange> {
        let mut changes = Vec::new();
        for (path, state) in &self.0 {
            match now.0.get(path) {
                None => changes.push(InputChange::Removed(path.clone())),
                Some(other) if other != state => changes.push(InputChange::Changed(path.clone())),
                Some(_) => {}
            }
        }
        changes.extend(
            now.0
                .keys()
                .filter(|path| !self.0.contains_key(*path))
                .map(|path| InputChange::Added(path.clone())),
        );
        changes
    }
}

/// An input that changed since the build of the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InputChange {
    Added(String),
    Changed(String),
    Removed(String),
}

impl fmt::Display for InputChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Added(path) => write!(f, "{path} is new"),
            Self::Changed(path) => write!(f, "{path} changed"),
            Self::Removed(path) => write!(f, "{path} is gone"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(entries: &[(&str, &str)]) -> BuildInputs {
        let mut inputs = BuildInputs::default();
        for (path, text) in entries {
            inputs.insert((*path).to_owned(), InputState::Bytes(blake3::hash(text.as_bytes())));
        }
        inputs
    }

    #[test]
    fn path_and_bytes_count_and_order_does_not() {
        let one = of(&[("a", "1"), ("b", "2")]);
        assert_eq!(one.hash(), of(&[("b", "2"), ("a", "1")]).hash());
        for other in [of(&[("a", "2"), ("b", "1")]), of(&[("a", "1"), ("c", "2")]), of(&[("a", "1")])] {
            assert_ne!(one.hash(), other.hash());
        }
    }

    #[test]
    fn changes_are_named() {
        let changes = of(&[("a", "1"), ("b", "2")]).changes(&of(&[("b", "3"), ("c", "4")]));
        let lines: Vec<_> = changes.iter().map(ToString::to_string).collect();
        assert_eq!(lines, ["a is gone", "b changed", "c is new"]);
    }
}
