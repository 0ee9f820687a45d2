//! Three-way merge of two changes to one version.
//!
//! The unit is the smallest named place: two phases may both write `phase_status`, each its own entry. The
//! result does not depend on the order of the writes.

use std::fmt;

use serde::Serialize;

use super::diff::{Change, diff};
use super::entries;
use crate::document::Document;
use crate::place::Place;
use crate::value::{Map, Value};

/// A place that both sides changed differently.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Clash {
    #[serde(rename = "where")]
    pub place: Place,
    /// The common ancestor.
    pub base: Option<Value>,
    /// The value of this write.
    pub yours: Option<Value>,
    /// The value of the current version.
    pub theirs: Option<Value>,
}

/// Both sides brought together.
#[derive(Debug, Clone, PartialEq)]
pub struct Merge {
    /// The merged document. At conflicts it has the current version's value.
    pub document: Document,
    pub clashes: Vec<Clash>,
}

/// Applies the changes of `yours` since `base` to `theirs`.
pub fn merge(base: &Document, yours: &Document, theirs: &Document) -> Merge {
    let mut clashes = Vec::new();
    let root = |document: &Document| Value::Map(document.root().clone());
    let (base, yours, theirs) = (root(base), root(yours), root(theirs));
    let merged = three(Some(&base), Some(&yours), Some(&theirs), &Place::top(), &mut clashes);
    let root = match merged {
        Some(Value::Map(map)) => map,
        _ => Map::new(),
    };
    Merge { document: Document::from_root(root), clashes }
}

type Side<'v> = Option<&'v Value>;

fn three(
    base: Side<'_>,
    yours: Side<'_>,
    theirs: Side<'_>,
    place: &Place,
    clashes: &mut Vec<Clash>,
) -> Option<Value> {
    if same(yours, theirs) || same(base, yours) {
        return theirs.cloned();
    }
    if same(base, theirs) {
        return yours.cloned();
    }
    match (yours, theirs) {
        (Some(y), Some(t)) if entries::comparable(y, t) && base.is_none_or(|b| entries::comparable(b, y)) => {
            Some(entry_by_entry(base, y, t, place, clashes))
        }
        _ => {
            clashes.push(Clash {
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
fn entry_by_entry(
    base: Side<'_>,
    yours: &Value,
    theirs: &Value,
    place: &Place,
    clashes: &mut Vec<Clash>,
) -> Value {
    let base = base.and_then(entries::of).unwrap_or_default();
    let yours_entries = entries::of(yours).unwrap_or_default();
    let theirs_entries = entries::of(theirs).unwrap_or_default();
    let added = yours_entries.iter().filter(|(name, _)| entries::find(&theirs_entries, name).is_none());
    let merged = theirs_entries.iter().chain(added).filter_map(|(name, _)| {
        let [b, y, t] = [&base, &yours_entries, &theirs_entries].map(|side| entries::find(side, name));
        three(b, y, t, &place.child(name), clashes).map(|value| (name.clone(), value))
    });
    match theirs {
        Value::List(_) => Value::List(merged.map(|(_, value)| value).collect()),
        _ => Value::Map(merged.collect()),
    }
}

fn same(a: Side<'_>, b: Side<'_>) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => entries::same(a, b),
        _ => false,
    }
}

/// The changes of both sides to the common ancestor, by section.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ThreeWay {
    /// The sections either side changed.
    pub sections: Vec<SectionDelta>,
}

/// The changes of both sides to one section.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SectionDelta {
    pub section: String,
    /// The changes of this write.
    pub yours: Vec<Change>,
    /// The changes of the current version.
    pub theirs: Vec<Change>,
    pub clashes: Vec<Clash>,
}

/// Returns the three-way difference, by section.
pub fn three_way(base: &Document, yours: &Document, theirs: &Document) -> ThreeWay {
    let (mine, other) = (diff(base, yours), diff(base, theirs));
    let clashes = merge(base, yours, theirs).clashes;
    let mut names = other.sections();
    names.extend(mine.sections().into_iter().filter(|s| !other.sections().contains(s)));
    let section = |section: String| SectionDelta {
        yours: mine.of_section(&section),
        theirs: other.of_section(&section),
        clashes: clashes.iter().filter(|c| c.place.section_name() == section).cloned().collect(),
        section,
    };
    ThreeWay { sections: names.into_iter().map(section).collect() }
}

impl fmt::Display for ThreeWay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for delta in &self.sections {
            let state = if delta.clashes.is_empty() { "" } else { "  (both changed it)" };
            writeln!(f, "{}{state}", delta.section)?;
            delta.theirs.iter().try_for_each(|change| writeln!(f, "  present  {change}"))?;
            delta.yours.iter().try_for_each(|change| writeln!(f, "  yours    {change}"))?;
            for clash in &delta.clashes {
                let brief = |side: &Option<Value>| side.as_ref().map_or("nothing".to_owned(), Value::brief);
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
