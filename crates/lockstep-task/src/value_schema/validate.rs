//! A value against a shape: every problem, each with its place and its remedy.

use std::collections::BTreeSet;

use super::{FieldSchema, ValueSchema, is_id, is_numbered, is_percent, is_timestamp};
use crate::key_path::KeyPath;
use crate::phase::TaskPhase;
use crate::pointer::PointerResolver;
use crate::problem::{Diagnostics, DocumentProblem};
use crate::value::{Map, Value, ValueExt};

impl ValueSchema {
    /// Everything about `value` at `place` that is not of this shape.
    pub fn check(&self, value: &Value, place: &KeyPath, lookup: &PointerResolver<'_>) -> Diagnostics {
        let mut check = Validator { lookup, findings: Diagnostics::default() };
        check.value(self, value, place);
        let mut findings = check.findings;
        truncate_problems(&mut findings.problems, place);
        truncate_problems(&mut findings.warnings, place);
        findings
    }
}

/// The number of listed problems; the rest is counted.
const MAX_PROBLEMS: usize = 100;

fn truncate_problems(problems: &mut Vec<DocumentProblem>, place: &KeyPath) {
    if problems.len() > MAX_PROBLEMS {
        let what = format!("{} more were found", problems.len() - MAX_PROBLEMS);
        problems.truncate(MAX_PROBLEMS);
        problems.push(DocumentProblem::at(place, what, "mend these first, then check again"));
    }
}

struct Validator<'a> {
    lookup: &'a PointerResolver<'a>,
    findings: Diagnostics,
}

impl Validator<'_> {
    fn problem(&mut self, place: &KeyPath, what: impl Into<String>, fix: impl Into<String>) {
        self.findings.problems.push(DocumentProblem::at(place, what, fix));
    }

    fn value(&mut self, shape: &ValueSchema, value: &Value, place: &KeyPath) {
        match shape {
            ValueSchema::Any => {}
            ValueSchema::List { item, unique } => self.list(item, *unique, value, place),
            ValueSchema::Record(fields) => self.record(fields, false, value, place),
            ValueSchema::OpenRecord(fields) => self.record(fields, true, value, place),
            ValueSchema::PhaseMap(entry) => self.phases(entry, value, place),
            ValueSchema::MapOf(entry) => {
                if let Some(map) = self.mapping(value, place, "names") {
                    map.iter().for_each(|(key, inner)| self.value(entry, inner, &place.child(key)));
                }
            }
            scalar => self.scalar(scalar, value, place),
        }
    }

    fn scalar(&mut self, shape: &ValueSchema, value: &Value, place: &KeyPath) {
        if let ValueSchema::Count = shape {
            if !value.is_u64() {
                self.problem(
                    place,
                    format!("expected a whole number, found {}", describe_value(value)),
                    "give a count, 0 or more",
                );
            }
            return;
        }
        let Some(text) = value.as_str().filter(|text| !text.trim().is_empty()) else {
            self.problem(
                place,
                format!("expected {}, found {}", shape.expects(), describe_value(value)),
                shape.fix_hint(),
            );
            return;
        };
        if let ValueSchema::Pointer = shape {
            if let Err(fault) = self.lookup.resolve(text) {
                self.problem(place, fault.describe(text), fault.fix());
            }
        } else if !shape.accepts_text(text) {
            self.problem(place, format!("expected {}, found {text:?}", shape.expects()), shape.fix_hint());
        }
    }

    fn list(&mut self, item: &ValueSchema, unique: Option<&str>, value: &Value, place: &KeyPath) {
        let Some(items) = value.as_list() else {
            self.problem(
                place,
                format!("expected a list, found {}", describe_value(value)),
                "write it as a list; `[]` when there are none",
            );
            return;
        };
        let mut seen = BTreeSet::new();
        for (n, inner) in items.iter().enumerate() {
            let key = unique.and_then(|field| inner.get(field)?.as_str());
            let here = key.map_or_else(|| place.child(&n.to_string()), |name| place.child(name));
            self.value(item, inner, &here);
            if let (Some(key), Some(field)) = (key, unique)
                && !seen.insert(key)
            {
                self.problem(
                    &here,
                    format!("{field} {key:?} occurs twice"),
                    "give each its own, or keep one",
                );
            }
        }
    }

    fn record(&mut self, fields: &[FieldSchema], open: bool, value: &Value, place: &KeyPath) {
        let Some(map) = self.mapping(value, place, &names(fields)) else { return };
        for field in fields {
            let here = place.child(field.name);
            match map.get(field.name) {
                Some(inner) => self.value(&field.shape, inner, &here),
                None if field.required => {
                    self.problem(&here, "it is missing", format!("add it: {}", field.doc))
                }
                None => {}
            }
        }
        if !open {
            self.unknown_keys(fields, map, place);
        }
    }

    fn unknown_keys(&mut self, fields: &[FieldSchema], map: &Map, place: &KeyPath) {
        for key in map.keys().filter(|key| fields.iter().all(|f| f.name != *key)) {
            let known = fields.iter().map(|f| f.name);
            let fix = match nearest(key, known) {
                Some(name) => format!("if {name:?} was meant, rename it; else it stays as it is"),
                None => "it stays as it is".to_owned(),
            };
            self.findings.warnings.push(DocumentProblem::at(
                &place.child(key),
                "nothing reads this key",
                fix,
            ));
        }
    }

    fn phases(&mut self, entry: &ValueSchema, value: &Value, place: &KeyPath) {
        let Some(map) = self.mapping(value, place, "P1 … P9") else { return };
        for (key, inner) in map.iter() {
            let here = place.child(key);
            if key.parse::<TaskPhase>().is_err() {
                self.problem(&here, format!("{key:?} is not a phase"), "the phases are P1 … P9");
            }
            self.value(entry, inner, &here);
        }
    }

    fn mapping<'v>(&mut self, value: &'v Value, place: &KeyPath, keys: &str) -> Option<&'v Map> {
        if value.as_object().is_none() {
            self.problem(
                place,
                format!("expected a mapping, found {}", describe_value(value)),
                format!("write it as a mapping with {keys}"),
            );
        }
        value.as_object()
    }
}

fn describe_value(value: &Value) -> String {
    match value {
        Value::String(text) if text.trim().is_empty() => "blank text".to_owned(),
        Value::String(_) | Value::Number(_) | Value::Bool(_) => value.short_text(),
        Value::Null | Value::Array(_) | Value::Object(_) => value.kind().to_owned(),
    }
}

fn names(fields: &[FieldSchema]) -> String {
    fields.iter().map(|f| f.name).collect::<Vec<_>>().join(", ")
}

/// Returns the known name closest to a misspelt one.
pub(crate) fn nearest<'n>(word: &str, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    known
        .filter(|name| name.len().abs_diff(word.len()) <= 2)
        .map(|name| (strsim::osa_distance(word, name), name))
        .filter(|(distance, name)| *distance <= 2 && *distance < name.len() / 2 + 1)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

impl ValueSchema {
    fn accepts_text(&self, text: &str) -> bool {
        match self {
            Self::Percent => is_percent(text),
            Self::OneOf(words) => words.contains(&text),
            Self::Id(prefix) => is_id(prefix, text),
            Self::Gate => is_numbered('G', text),
            Self::PhaseName => is_numbered('P', text),
            Self::NextPhase => is_numbered('P', text) || text == "DELIVERED",
            Self::Timestamp => is_timestamp(text),
            _ => true,
        }
    }

    fn expects(&self) -> String {
        match self {
            Self::Percent => "a share".to_owned(),
            Self::OneOf(words) => format!("one of {}", words.join(", ")),
            Self::Id(prefix) => format!("an id {prefix}-N"),
            Self::Gate => "a gate G0 … G9".to_owned(),
            Self::PhaseName => "a phase P0 … P9".to_owned(),
            Self::NextPhase => "a phase P0 … P9 or DELIVERED".to_owned(),
            Self::Timestamp => "a date or a time in ISO 8601".to_owned(),
            Self::Pointer => "a path".to_owned(),
            _ => "text".to_owned(),
        }
    }

    fn fix_hint(&self) -> String {
        match self {
            Self::Percent => "write it as in \"98.5%\"".to_owned(),
            Self::OneOf(_) => "use one of these words".to_owned(),
            Self::Id(prefix) => format!("number it, as in {prefix}-1"),
            Self::Gate => "write it as in G4".to_owned(),
            Self::PhaseName | Self::NextPhase => "write it as in P4".to_owned(),
            Self::Timestamp => "write it as in 2026-02-12T09:30:00Z".to_owned(),
            Self::Pointer => "give a path relative to the project's root".to_owned(),
            _ => "write a sentence, in quotes if it looks like something else".to_owned(),
        }
    }
}
