//! The boundary of a step: which files it may change.

use lockstep_text::glob::covers;
use serde_json::Value;

use crate::problem::StepProblem;

/// Patterns of files, relative to the project's root. Forbidden files may never be changed. If there are
/// allowed patterns, all other files are forbidden too.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Boundary {
    /// Files that may be changed; empty for all.
    pub allowed: Vec<String>,
    /// Files that may not be changed.
    pub forbidden: Vec<String>,
}

impl Boundary {
    pub(crate) fn read(value: &Value, problems: &mut Vec<StepProblem>) -> Self {
        match value {
            Value::Null => Self::default(),
            Value::Object(_) => Self {
                allowed: patterns(&value["allowed"], "boundary.allowed", problems),
                forbidden: patterns(&value["forbidden"], "boundary.forbidden", problems),
            },
            _ => {
                problems.push(StepProblem::invalid(
                    "boundary",
                    "Step file error: boundary is not an object",
                    "Write {\"allowed\": [patterns], \"forbidden\": [patterns]}",
                ));
                Self::default()
            }
        }
    }

    /// Returns true if there are no restrictions.
    pub fn is_unrestricted(&self) -> bool {
        self.allowed.is_empty() && self.forbidden.is_empty()
    }

    /// Returns the reason why a file may not be changed. `path` is relative to the project's root; `None` is
    /// a file outside of it.
    pub fn refusal_reason(&self, path: Option<&str>) -> Option<String> {
        let Some(path) = path else {
            return (!self.allowed.is_empty())
                .then(|| format!("it is outside the project; allowed is {}", self.allowed.join(", ")));
        };
        if let Some(pattern) = self.forbidden.iter().find(|pattern| covers(pattern, path)) {
            return Some(format!("{pattern} is forbidden"));
        }
        let allowed = self.allowed.is_empty() || self.allowed.iter().any(|pattern| covers(pattern, path));
        (!allowed).then(|| format!("allowed is {}", self.allowed.join(", ")))
    }
}

fn patterns(value: &Value, place: &str, problems: &mut Vec<StepProblem>) -> Vec<String> {
    let wrong = |what: &str| {
        let message = format!("Step file error: {place}: {what}");
        StepProblem::invalid(place, message, "Write a list of patterns such as \"src/**\"")
    };
    let Value::Array(items) = value else {
        if !value.is_null() {
            problems.push(wrong("it is not a list"));
        }
        return Vec::new();
    };
    let mut read = Vec::new();
    for item in items {
        match item.as_str().map(|pattern| (pattern, pattern_problem(pattern))) {
            Some((pattern, None)) => read.push(pattern.to_owned()),
            Some((pattern, Some(why))) => problems.push(wrong(&format!("{pattern:?}: {why}"))),
            None => problems.push(wrong("a pattern is no text")),
        }
    }
    read
}

/// Returns the reason why a pattern is invalid.
fn pattern_problem(pattern: &str) -> Option<&'static str> {
    if pattern.trim().is_empty() {
        return Some("it is empty");
    }
    if pattern.contains(['[', ']', '{', '}', '\\', '!']) {
        return Some("only *, ? and ** have a meaning");
    }
    if pattern.starts_with('/') || pattern.split('/').any(|part| part == "..") {
        return Some("it must begin at the project's root and stay below it");
    }
    // Each `**` may match any number of directories, and all combinations are tried.
    if pattern.split('/').filter(|part| *part == "**").count() > 4 {
        return Some("it has more than four **");
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_outside_the_project_and_other_syntax_are_refused() {
        for wrong in ["", " ", "/etc/**", "../x", "a/../b", "src/[ab].rs", "{a,b}", "!src"] {
            assert!(pattern_problem(wrong).is_some(), "{wrong}");
        }
    }
}
