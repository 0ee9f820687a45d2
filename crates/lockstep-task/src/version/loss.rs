//! Losses of a write: pointers, phases, sections, and entries that are still referenced.
//!
//! Models rewrite the task and forget what they do not mention. Data that another phase relies on is dropped
//! only if the write names it.

use std::fmt;

use serde::Serialize;

use super::keyed_list;
use crate::document::{SECTIONS, TaskDocument};
use crate::key_path::KeyPath;
use crate::phase::{COMPLETE, TaskPhase};
use crate::value::{Value, ValueExt};

/// A value of the present version that the new one would not have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Loss {
    /// The place; the argument of `--drop`.
    #[serde(rename = "where")]
    pub place: KeyPath,
    pub kind: LossKind,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LossKind {
    Pointer(String),
    /// The record that a phase is complete.
    Phase,
    Section,
    /// A decision or a constraint that is still named at this place.
    Entry(KeyPath),
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            LossKind::Pointer(to) => write!(f, "{} (points to {to})", self.place),
            LossKind::Phase => write!(f, "{} (the phase is COMPLETE)", self.place),
            LossKind::Section => write!(f, "{} (the whole section)", self.place),
            LossKind::Entry(by) => write!(f, "{} (still named in {by})", self.place),
        }
    }
}

/// Everything `new` would lose of `current`, in the order of the document.
pub fn losses(current: &TaskDocument, new: &TaskDocument) -> Vec<Loss> {
    let mut losses = lost_pointers(current, new);
    losses.extend(lost_phases(current, new, &losses));
    losses.extend(lost_sections(current, new, &losses));
    losses.extend(lost_entries(current, new));
    let order = |loss: &Loss| current.root().keys().position(|key| key == loss.place.section_name());
    losses.sort_by_key(order);
    losses
}

fn lost_pointers(current: &TaskDocument, new: &TaskDocument) -> Vec<Loss> {
    let remaining = new.pointers();
    let removed =
        current.pointers().into_iter().filter(|(place, _)| remaining.iter().all(|(other, _)| other != place));
    removed.map(|(place, to)| Loss { place, kind: LossKind::Pointer(to) }).collect()
}

fn lost_phases(current: &TaskDocument, new: &TaskDocument, known: &[Loss]) -> Vec<Loss> {
    let complete = |document: &TaskDocument, phase: TaskPhase| {
        document.text(&["phase_status", phase.name(), "status"]) == Some(COMPLETE)
    };
    let absent = |phase: &TaskPhase| {
        let entry = KeyPath::section("phase_status").child(phase.name());
        new.get(&entry).is_none() && !known.iter().any(|loss| loss.place.starts_with(&entry))
    };
    let removed = TaskPhase::ALL.into_iter().filter(|phase| complete(current, *phase)).filter(absent);
    removed
        .map(|phase| Loss {
            place: KeyPath::section("phase_status").child(phase.name()),
            kind: LossKind::Phase,
        })
        .collect()
}

fn lost_sections(current: &TaskDocument, new: &TaskDocument, known: &[Loss]) -> Vec<Loss> {
    let says = |document: &TaskDocument, name| document.section(name).is_some_and(|value| !value.is_blank());
    let removed = SECTIONS
        .iter()
        .map(|section| section.name)
        .filter(|name| says(current, name) && !new.has_content(name));
    removed
        .map(KeyPath::section)
        .filter(|place| !known.iter().any(|loss| loss.place.starts_with(place)))
        .map(|place| Loss { place, kind: LossKind::Section })
        .collect()
}

/// Returns removed decisions and constraints whose id the new document still references.
fn lost_entries(current: &TaskDocument, new: &TaskDocument) -> Vec<Loss> {
    let mut losses = Vec::new();
    for section in ["architecture_decisions", "constraints"] {
        let remaining = ids(new, section);
        for id in ids(current, section).into_iter().filter(|id| !remaining.contains(id)) {
            if let Some(by) = reference_to(new, &id) {
                losses.push(Loss { place: KeyPath::section(section).child(&id), kind: LossKind::Entry(by) });
            }
        }
    }
    losses
}

fn ids(document: &TaskDocument, section: &str) -> Vec<String> {
    let items = document.section(section).and_then(Value::as_list).unwrap_or_default();
    items.iter().filter_map(|item| item.get("id")?.as_str()).map(str::to_owned).collect()
}

fn reference_to(document: &TaskDocument, id: &str) -> Option<KeyPath> {
    document.root().iter().find_map(|(key, value)| named_in(value, id, &KeyPath::section(key)))
}

fn named_in(value: &Value, id: &str, place: &KeyPath) -> Option<KeyPath> {
    match value {
        Value::String(text) => has_word(text, id).then(|| place.clone()),
        Value::Array(items) => {
            let names = keyed_list::item_keys(items);
            items.iter().enumerate().find_map(|(n, item)| {
                let name = names.as_ref().map_or_else(|| n.to_string(), |names| names[n].clone());
                named_in(item, id, &place.child(&name))
            })
        }
        Value::Object(map) => map.iter().find_map(|(key, inner)| named_in(inner, id, &place.child(key))),
        _ => None,
    }
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_'))).any(|found| found == word)
}

/// Returns the losses that no name in `drops` covers.
///
/// A name covers the places below it only if all of it is removed: `phase_status.P2` drops a phase and cannot
/// hide the loss of one pointer in it.
pub fn undeclared_losses(losses: Vec<Loss>, drops: &[KeyPath], new: &TaskDocument) -> Vec<Loss> {
    let covers = |drop: &KeyPath, loss: &Loss| {
        *drop == loss.place || (loss.place.starts_with(drop) && new.get(drop).is_none_or(Value::is_blank))
    };
    losses.into_iter().filter(|loss| !drops.iter().any(|drop| covers(drop, loss))).collect()
}
