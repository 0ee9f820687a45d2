//! What is wrong with a document: where, what, and how to mend it.

use std::fmt;

use serde::Serialize;

use crate::place::Place;

/// One thing that is wrong, or worth knowing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The section it is in; empty when it is about the whole.
    pub section: String,
    /// The exact place.
    #[serde(rename = "where")]
    pub at: String,
    /// What is the matter.
    pub what: String,
    /// How to mend it.
    pub fix: String,
}

impl Problem {
    /// A problem at a place in a document.
    pub fn at(place: &Place, what: impl Into<String>, fix: impl Into<String>) -> Self {
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

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.at, self.what, self.fix)
    }
}

/// Everything a check found, in the order of the text.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Findings {
    /// What must be mended.
    pub problems: Vec<Problem>,
    /// What is kept as it is and worth a look.
    pub warnings: Vec<Problem>,
}

impl Findings {
    /// Whether nothing must be mended.
    pub fn is_valid(&self) -> bool {
        self.problems.is_empty()
    }

    /// Adds what another check found.
    pub fn extend(&mut self, other: Self) {
        self.problems.extend(other.problems);
        self.warnings.extend(other.warnings);
    }
}

impl fmt::Display for Findings {
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
