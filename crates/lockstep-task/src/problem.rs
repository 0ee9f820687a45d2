//! Problems of a document: location, description and fix.

use std::fmt;

use serde::Serialize;

use crate::key_path::KeyPath;

/// An error or a warning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DocumentProblem {
    /// The section; empty if the problem concerns the complete document.
    pub section: String,
    /// The exact place.
    #[serde(rename = "where")]
    pub at: String,
    pub what: String,
    pub fix: String,
}

impl DocumentProblem {
    pub fn at(place: &KeyPath, what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self {
            section: place.section_name().to_owned(),
            at: place.to_string(),
            what: what.into(),
            fix: fix.into(),
        }
    }

    /// A problem of a named part that is no place in a document (a heading, a file).
    pub fn of(part: &str, what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { section: part.to_owned(), at: part.to_owned(), what: what.into(), fix: fix.into() }
    }
}

impl fmt::Display for DocumentProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.at, self.what, self.fix)
    }
}

/// Everything a check found, in the order of the text.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Diagnostics {
    pub problems: Vec<DocumentProblem>,
    /// Warnings; the content is kept.
    pub warnings: Vec<DocumentProblem>,
}

impl Diagnostics {
    /// Returns true if there are no errors.
    pub fn is_valid(&self) -> bool {
        self.problems.is_empty()
    }

    /// Adds the findings of another check.
    pub fn extend(&mut self, other: Self) {
        self.problems.extend(other.problems);
        self.warnings.extend(other.warnings);
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for problem in &self.problems {
            writeln!(f, "error: {problem}")?;
        }
        for warning in &self.warnings {
            writeln!(f, "warning: {warning}")?;
        }
        Ok(())
    }
}
