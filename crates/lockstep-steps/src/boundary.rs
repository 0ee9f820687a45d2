//! The boundary of a step: which files it may change.

use serde_json::Value;

use crate::glob;
use crate::problem::Problem;

/// Patterns of files, from the project's root. What is forbidden is forbidden; where something is allowed, all else is not.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Boundary {
    /// What may be changed; empty: everything.
    pub allowed: Vec<String>,
    /// What may not be changed.
    pub forbidden: Vec<String>,
}

impl Boundary {
    pub(crate) fn read(value: &Value, problems: &mut Vec<Problem>) -> Self {
        match value {
            Value::Null => Self::default(),
            Value::Object(_) => Self {
                allowed: patterns(&value["allowed"], "boundary.allowed", problems),
                forbidden: patterns(&value["forbidden"], "boundary.forbidden", problems),
            },
            _ => {
                problems.push(Problem::invalid(
                    "boundary",
                    "Step file error: boundary is no object",
                    "Write {\"allowed\": [patterns], \"forbidden\": [patterns]}",
                ));
                Self::default()
            }
        }
    }

    /// Whether there is none.
    pub fn is_open(&self) -> bool {
        self.allowed.is_empty() && self.forbidden.is_empty()
    }

    /// Why a file may not be changed. `path` is relative to the project's root; `None` is a file outside of it.
    pub fn refuses(&self, path: Option<&str>) -> Option<String> {
        let Some(path) = path else {
            return (!self.allowed.is_empty())
                .then(|| format!("it is outside the project; allowed is {}", self.allowed.join(", ")));
        };
        if let Some(pattern) = self.forbidden.iter().find(|pattern| glob::covers(pattern, path)) {
            return Some(format!("{pattern} is forbidden"));
        }
        let allowed =
            self.allowed.is_empty() || self.allowed.iter().any(|pattern| glob::covers(pattern, path));
        (!allowed).then(|| format!("allowed is {}", self.allowed.join(", ")))
    }
}

fn patterns(value: &Value, place: &str, problems: &mut Vec<Problem>) -> Vec<String> {
    let wrong = |what: &str| {
        let message = format!("Step file error: {place}: {what}");
        Problem::invalid(place, message, "Write a list of patterns such as \"src/**\"")
    };
    let Value::Array(items) = value else {
        if !value.is_null() {
            problems.push(wrong("it is no list"));
        }
        return Vec::new();
    };
    let mut read = Vec::new();
    for item in items {
        match item.as_str().map(|pattern| (pattern, glob::problem(pattern))) {
            Some((pattern, None)) => read.push(pattern.to_owned()),
            Some((pattern, Some(why))) => problems.push(wrong(&format!("{pattern:?}: {why}"))),
            None => problems.push(wrong("a pattern is no text")),
        }
    }
    read
}
