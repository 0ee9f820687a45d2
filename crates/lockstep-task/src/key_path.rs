//! A key path in a document: `phase_status.P2.l2_path`.
//!
//! Messages, `--drop` and access grants use it.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

/// A path of keys from the top of a document. The first is the section.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct KeyPath(Vec<String>);

impl KeyPath {
    pub fn root() -> Self {
        Self::default()
    }

    /// A section, or a key of a top-level mapping.
    pub fn section(name: &str) -> Self {
        Self::root().child(name)
    }

    /// The place of `key` in the mapping or keyed list at this place.
    #[must_use]
    pub fn child(&self, key: &str) -> Self {
        let mut keys = self.0.clone();
        keys.push(key.to_owned());
        Self(keys)
    }

    pub fn keys(&self) -> &[String] {
        &self.0
    }

    /// The section this place is in; empty for the top.
    pub fn section_name(&self) -> &str {
        self.0.first().map_or("", String::as_str)
    }

    /// Returns true if this place is `outer` or below it.
    pub fn starts_with(&self, outer: &Self) -> bool {
        self.0.starts_with(&outer.0)
    }
}

fn is_bare(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
}

impl fmt::Display for KeyPath {
    /// Keys that hold anything but letters, digits, `_` and `-` are written as `["key"]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("document");
        }
        for (n, key) in self.0.iter().enumerate() {
            match (is_bare(key), n) {
                (true, 0) => f.write_str(key)?,
                (true, _) => write!(f, ".{key}")?,
                (false, _) => {
                    let quoted = key.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
                    write!(f, "[\"{quoted}\"]")?;
                }
            }
        }
        Ok(())
    }
}

/// The error for a text that is not a valid key path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} names no place in the document; write it as in phase_status.P2.l2_path or modules[\"a b\"].files"
)]
pub struct ParseKeyPathError(String);

impl FromStr for KeyPath {
    type Err = ParseKeyPathError;

    fn from_str(text: &str) -> Result<Self, ParseKeyPathError> {
        parse(text)
            .filter(|keys| !keys.is_empty())
            .map(Self)
            .ok_or_else(|| ParseKeyPathError(text.to_owned()))
    }
}

fn parse(text: &str) -> Option<Vec<String>> {
    let mut keys = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        if let Some(quoted) = rest.strip_prefix("[\"") {
            let (key, after) = quoted_key(quoted)?;
            keys.push(key);
            rest = after;
            continue;
        }
        if !keys.is_empty() {
            rest = rest.strip_prefix('.')?;
        }
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        let (key, after) = rest.split_at(end);
        if !is_bare(key) {
            return None;
        }
        keys.push(key.to_owned());
        rest = after;
    }
    Some(keys)
}

fn quoted_key(text: &str) -> Option<(String, &str)> {
    let mut key = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => match chars.next()?.1 {
                'n' => key.push('\n'),
                other => key.push(other),
            },
            '"' => return text[at + 1..].strip_prefix(']').map(|rest| (key, rest)),
            other => key.push(other),
        }
    }
    None
}

impl Serialize for KeyPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
