//! A grant: permission to write a place of the task, optionally under a condition.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::key_path::{KeyPath, ParseKeyPathError};

/// Leave to write a place and all that lies in it. Written as `*`, `constraints`,
/// `codebase_impact_map.interfaces` or `constraints when CONDITIONAL_PASS`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Grant {
    /// The place that may be written; the top is the complete document.
    pub place: KeyPath,
    /// The `validation_verdict` the new document must have.
    pub when: Option<String>,
}

impl Grant {
    pub fn everything() -> Self {
        Self { place: KeyPath::root(), when: None }
    }

    /// Returns true if `place` may be written while the new document has `verdict`.
    pub fn covers(&self, place: &KeyPath, verdict: Option<&str>) -> bool {
        place.starts_with(&self.place) && self.when.as_deref().is_none_or(|when| verdict == Some(when))
    }
}

impl FromStr for Grant {
    type Err = ParseKeyPathError;

    fn from_str(text: &str) -> Result<Self, ParseKeyPathError> {
        let (place, when) = match text.split_once(" when ") {
            Some((place, when)) => (place, Some(when.trim().to_owned())),
            None => (text, None),
        };
        let place = if place.trim() == "*" { KeyPath::root() } else { place.trim().parse()? };
        Ok(Self { place, when })
    }
}

impl fmt::Display for Grant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.place == KeyPath::root() {
            f.write_str("*")?
        } else {
            write!(f, "{}", self.place)?
        }
        match &self.when {
            Some(when) => write!(f, " when {when}"),
            None => Ok(()),
        }
    }
}

impl TryFrom<String> for Grant {
    type Error = ParseKeyPathError;

    fn try_from(text: String) -> Result<Self, ParseKeyPathError> {
        text.parse()
    }
}

impl From<Grant> for String {
    fn from(grant: Grant) -> Self {
        grant.to_string()
    }
}
