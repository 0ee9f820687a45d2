//! Comparison of the client's list with the store.

use std::fmt;

use serde::Serialize;

use super::KnownTask;
use crate::document::{DocumentLimits, TaskDocument};
use crate::problem::DocumentProblem;
use crate::version::diff::{DocumentDiff, diff};
use crate::version::subject::TaskSubject;

/// The result of comparing the client's list with the store.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "agreement", rename_all = "snake_case")]
pub enum ListComparison {
    /// Both have the same content.
    #[serde(rename = "same")]
    Match,
    #[serde(rename = "different")]
    Mismatch {
        /// The store's version.
        store: u64,
        /// The list's version, if its subject names one.
        list: Option<u64>,
        /// The list's differences from the stored document; `None` if its description is not a document.
        diff: Option<DocumentDiff>,
        /// The reason why the description is not a document.
        unreadable: Option<DocumentProblem>,
    },
}

/// Compares the client's list with the store.
pub fn compare(
    known: KnownTask<'_>,
    subject: &str,
    description: &str,
    limits: DocumentLimits,
) -> ListComparison {
    let list = TaskSubject::parse(subject).and_then(|subject| subject.version);
    let (diff, unreadable) = match TaskDocument::parse(description.as_bytes(), limits) {
        Ok(document) => (Some(diff(known.held.document, &document)), None),
        Err(problem) => (None, Some(problem)),
    };
    if list == Some(known.held.version) && diff.as_ref().is_some_and(DocumentDiff::is_empty) {
        return ListComparison::Match;
    }
    ListComparison::Mismatch { store: known.held.version, list, diff, unreadable }
}

impl fmt::Display for ListComparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Mismatch { store, list, diff, unreadable } = self else {
            return f.write_str("the store and the client's list agree");
        };
        let list = list.map_or("no version".to_owned(), |version| format!("PT-v{version}"));
        writeln!(f, "the store says PT-v{store}, the client's list says {list}")?;
        if let Some(problem) = unreadable {
            writeln!(f, "the list's description cannot be compared: {problem}")?;
        }
        diff.as_ref().map_or(Ok(()), |diff| diff.fmt(f))
    }
}
