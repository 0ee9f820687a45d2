//! Three-way merge of two changes to one version.
//!
//! The unit is the smallest named place: two phases may both write `phase_status`, each its own entry. The
//! result does not depend on the order of the writes.

use std::fmt;

use serde::Serialize;

use super::diff::{DocumentChange, diff};
use super::keyed_list;
use crate::document::TaskDocument;
use crate::key_path::KeyPath;
use crate::value::{Map, Value, ValueExt};

/// A place that both sides changed differently.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MergeConflict {
    #[serde(rename = "where")]
    pub place: KeyPath,
    /// The common ancestor.
    pub base: Option<Value>,
    pub yours: Option<Value>,
    /// The value of the current version.
    pub theirs: Option<Value>,
}

/// Both sides brought together.
#[derive(Debug, Clone, PartialEq)]
pub struct MergeResult {
    /// The merged document. At conflicts it has the current version's value.
    pub document: TaskDocument,
    pub clashes: Vec<MergeConflict>,
}

/// Applies the changes of `yours` since `base` to `theirs`.
pub fn merge(base: &TaskDocument, yours: &TaskDocument, theirs: &TaskDocument) -> MergeResult {
    let mut clashes = Vec::new();
    let root = |document: &TaskDocument| Value::Object(document.root().clone());
    let (base, yours, theirs) = (root(base), root(yours), root(theirs));
    let merged = merge_value(Some(&base), Some(&yours), Some(&theirs), &KeyPath::root(), &mut clashes);
    let root = match merged {
        Some(Value::Object(map)) => map,
        _ => Map::new(),
    };
    MergeResult { document: TaskDocument::from_root(root), clashes }
}

type Side<'v> = Option<&'v Value>;

fn merge_value(
    base: Side<'_>,
    yours: Side<'_>,
    theirs: Side<'_>,
    place: &KeyPath,
    clashes: &mut Vec<MergeConflict>,
) -> Option<Value> {
    if same(yours, theirs) || same(base, yours) {
        return theirs.cloned();
    }
    if same(base, theirs) {
        return yours.cloned();
    }
    match (yours, theirs) {
        (Some(y), Some(t))
            if keyed_list::comparable(y, t) && base.is_none_or(|b| keyed_list::comparable(b, y)) =>
        {
            Some(merge_entries(base, y, t, place, clashes))
        }
        _ => {
            clashes.push(MergeConflict {
                place: place.clone(),
                base: base.cloned(),
                yours: yours.cloned(),
                theirs: theirs.cloned(),
            });
            theirs.cloned()
        }
    }
}

/// Entries in the order of the present version, then those this write adds.
fn merge_entries(
    base: Side<'_>,
    yours: &Value,
    theirs: &Value,
    place: &KeyPath,
    clashes: &mut Vec<MergeConflict>,
) -> Value {
    let base = base.and_then(keyed_list::keyed_items).unwrap_or_default();
    let yours_entries = keyed_list::keyed_items(yours).unwrap_or_default();
    let theirs_entries = keyed_list::keyed_items(theirs).unwrap_or_default();
    let added = yours_entries.iter().filter(|(name, _)| keyed_list::find(&theirs_entries, name).is_none());
    let merged = theirs_entries.iter().chain(added).filter_map(|(name, _)| {
        let [b, y, t] = [&base, &yours_entries, &theirs_entries].map(|side| keyed_list::find(side, name));
        merge_value(b, y, t, &place.child(name), clashes).map(|value| (name.clone(), value))
    });
    match theirs {
        Value::Array(_) => Value::Array(merged.map(|(_, value)| value).collect()),
        _ => Value::Object(merged.collect()),
    }
}

fn same(a: Side<'_>, b: Side<'_>) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => keyed_list::is_equivalent(a, b),
        _ => false,
    }
}

/// The changes of both sides to the common ancestor, by section.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ThreeWayDiff {
    /// The sections either side changed.
    pub sections: Vec<SectionDiff>,
}

/// The changes of both sides to one section.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SectionDiff {
    pub section: String,
    pub yours: Vec<DocumentChange>,
    /// The changes of the current version.
    pub theirs: Vec<DocumentChange>,
    pub clashes: Vec<MergeConflict>,
}

pub fn three_way(base: &TaskDocument, yours: &TaskDocument, theirs: &TaskDocument) -> ThreeWayDiff {
    let (mine, other) = (diff(base, yours), diff(base, theirs));
    let clashes = merge(base, yours, theirs).clashes;
    let mut names = other.sections();
    names.extend(mine.sections().into_iter().filter(|s| !other.sections().contains(s)));
    let section = |section: String| SectionDiff {
        yours: mine.of_section(&section),
        theirs: other.of_section(&section),
        clashes: clashes.iter().filter(|c| c.place.section_name() == section).cloned().collect(),
        section,
    };
    ThreeWayDiff { sections: names.into_iter().map(section).collect() }
}

impl fmt::Display for ThreeWayDiff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for delta in &self.sections {
            let state = if delta.clashes.is_empty() { "" } else { "  (both changed it)" };
            writeln!(f, "{}{state}", delta.section)?;
            delta.theirs.iter().try_for_each(|change| writeln!(f, "  present  {change}"))?;
            delta.yours.iter().try_for_each(|change| writeln!(f, "  yours    {change}"))?;
            for clash in &delta.clashes {
                let brief =
                    |side: &Option<Value>| side.as_ref().map_or("nothing".to_owned(), Value::short_text);
                writeln!(
                    f,
                    "  conflict {}: base {}, present {}, yours {}",
                    clash.place,
                    brief(&clash.base),
                    brief(&clash.theirs),
                    brief(&clash.yours)
                )?;
            }
        }
        Ok(())
    }
}
