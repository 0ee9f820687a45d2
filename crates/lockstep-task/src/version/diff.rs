//! Differences between two documents, by section.

use std::fmt;

use serde::Serialize;

use super::keyed_list;
use crate::document::TaskDocument;
use crate::key_path::KeyPath;
use crate::value::{Value, ValueExt};

/// One place whose values differ in two documents.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DocumentChange {
    #[serde(rename = "where")]
    pub place: KeyPath,
    /// The old value; `None` if it was added.
    pub before: Option<Value>,
    /// The new value; `None` if it was removed.
    pub after: Option<Value>,
}

/// All changes from one document to another, in the order of the documents.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct DocumentDiff {
    /// The changes, smallest places first named by their keys.
    pub changes: Vec<DocumentChange>,
}

/// Compares two documents. The order of keys and of named items is ignored.
pub fn diff(before: &TaskDocument, after: &TaskDocument) -> DocumentDiff {
    let mut changes = Vec::new();
    let (before, after) = (Value::Object(before.root().clone()), Value::Object(after.root().clone()));
    collect_changes(Some(&before), Some(&after), &KeyPath::root(), &mut changes);
    DocumentDiff { changes }
}

fn collect_changes(
    before: Option<&Value>,
    after: Option<&Value>,
    place: &KeyPath,
    changes: &mut Vec<DocumentChange>,
) {
    if let (Some(b), Some(a)) = (before, after)
        && keyed_list::comparable(b, a)
        && let (Some(b), Some(a)) = (keyed_list::keyed_items(b), keyed_list::keyed_items(a))
    {
        for (name, inner) in &b {
            collect_changes(Some(inner), keyed_list::find(&a, name), &place.child(name), changes);
        }
        for (name, inner) in a.iter().filter(|(name, _)| keyed_list::find(&b, name).is_none()) {
            collect_changes(None, Some(inner), &place.child(name), changes);
        }
    } else if before != after {
        changes.push(DocumentChange { place: place.clone(), before: before.cloned(), after: after.cloned() });
    }
}

impl DocumentDiff {
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// The changed sections, each once, in order.
    pub fn sections(&self) -> Vec<String> {
        let mut sections: Vec<String> = Vec::new();
        for change in &self.changes {
            let section = change.place.section_name();
            if !sections.iter().any(|s| s == section) {
                sections.push(section.to_owned());
            }
        }
        sections
    }

    pub fn places(&self) -> Vec<KeyPath> {
        self.changes.iter().map(|change| change.place.clone()).collect()
    }

    pub fn of_section(&self, section: &str) -> Vec<DocumentChange> {
        self.changes.iter().filter(|c| c.place.section_name() == section).cloned().collect()
    }
}

impl fmt::Display for DocumentDiff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for section in self.sections() {
            writeln!(f, "{section}")?;
            self.of_section(&section).iter().try_for_each(|change| writeln!(f, "  {change}"))?;
        }
        Ok(())
    }
}

impl fmt::Display for DocumentChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = &self.place;
        match (&self.before, &self.after) {
            (None, Some(after)) => write!(f, "+ {place}: {}", after.short_text()),
            (Some(before), None) => write!(f, "- {place}: {}", before.short_text()),
            (Some(before), Some(after)) => {
                write!(f, "~ {place}: {} → {}", before.short_text(), after.short_text())
            }
            (None, None) => Ok(()),
        }
    }
}
