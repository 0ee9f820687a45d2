//! Problems of a prompt or a file, each with its kind, its element, a message and a fix.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

/// The kind of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[schemars(rename = "ErrorType")]
pub enum ProblemKind {
    /// Something is not there.
    Missing,
    /// Something is there in part.
    Incomplete,
    /// Something is there and wrong.
    Invalid,
}

impl fmt::Display for ProblemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Missing => "MISSING",
            Self::Incomplete => "INCOMPLETE",
            Self::Invalid => "INVALID",
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Problem")]
pub struct StepProblem {
    pub error_type: ProblemKind,
    /// The affected element: a section, a phase, a marker or a field.
    pub element: String,
    pub message: String,
    /// The way to fix it.
    pub suggestion: String,
}

impl StepProblem {
    fn new(
        error_type: ProblemKind,
        element: &str,
        message: impl Into<String>,
        suggestion: impl Into<String>,
    ) -> Self {
        Self {
            error_type,
            element: element.to_owned(),
            message: message.into(),
            suggestion: suggestion.into(),
        }
    }

    /// Something is not there.
    pub fn missing(element: &str, message: impl Into<String>, suggestion: impl Into<String>) -> Self {
        Self::new(ProblemKind::Missing, element, message, suggestion)
    }

    /// Something is there in part.
    pub fn incomplete(element: &str, message: impl Into<String>, suggestion: impl Into<String>) -> Self {
        Self::new(ProblemKind::Incomplete, element, message, suggestion)
    }

    /// Something is there and wrong.
    pub fn invalid(element: &str, message: impl Into<String>, suggestion: impl Into<String>) -> Self {
        Self::new(ProblemKind::Invalid, element, message, suggestion)
    }
}

impl fmt::Display for StepProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.error_type, self.message)
    }
}
