//! Comparison of the client's list with the store.

use std::fmt;

use serde::Serialize;

use super::Known;
use crate::document::{Document, Limits};
use crate::problem::Problem;
use crate::version::diff::{Diff, diff};
use crate::version::subject::Subject;

/// The result of comparing the client's list with the store.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "agreement", rename_all = "snake_case")]
pub enum Agreement {
    /// Both have the same content.
    Same,
    Different {
        /// The store's version.
        store: u64,
        /// The list's version, if its subject names one.
        list: Option<u64>,
        /// The list's differences from the stored document; `None` if its description is not a document.
        diff: Option<Diff>,
        /// The reason why the description is no document.
        unreadable: Option<Problem>,
    },
}

/// Compares the client's list with the store.
pub fn compare(known: Known<'_>, subject: &str, description: &str, limits: Limits) -> Agreement {
    let list = Subject::parse(subject).and_then(|subject| subject.version);
    let (diff, unreadable) = match Document::parse(description.as_bytes(), limits) {
        Ok(document) => (Some(diff(known.held.document, &document)), None),
        Err(problem) => (None, Some(problem)),
    };
    if list == Some(known.held.version) && diff.as_ref().is_some_and(Diff::is_empty) {
        return Agreement::Same;
    }
    Agreement::Different { store: known.held.version, list, diff, unreadable }
}

impl fmt::Display for Agreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Different { store, list, diff, unreadable } = self else {
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
