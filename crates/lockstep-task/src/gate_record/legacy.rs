//! Records of older frameworks (`result: APPROVED`, `date`, `criteria`) in the present dialect.
//!
//! Everything that is translated, and everything that is not there, becomes a note.

use crate::value::{Map, MapExt, Value, ValueExt};

/// The keys that identify an older record, besides the absence of `checklist`.
const OLD_KEYS: [&str; 5] = ["result", "date", "criteria", "gate_criteria", "phase"];

/// The record translated, with notes; `None` when it is not in an older dialect.
pub(super) fn convert_legacy(old: &Map) -> Option<(Map, Vec<String>)> {
    if old.get("checklist").is_some() || !OLD_KEYS.iter().any(|key| old.contains_key(*key)) {
        return None;
    }
    let mut import = LegacyConverter { old, new: Map::new(), taken: Vec::new(), notes: Vec::new() };
    import.notes.push("this record is in an older dialect and was imported".to_owned());
    import.phases();
    import.tier();
    import.timestamp();
    import.evidence();
    import.checklist();
    import.verdict();
    import.rest();
    Some((import.new, import.notes))
}

struct LegacyConverter<'a> {
    old: &'a Map,
    new: Map,
    taken: Vec<&'a str>,
    notes: Vec<String>,
}

impl<'a> LegacyConverter<'a> {
    fn take(&mut self, key: &'a str) -> Option<&'a Value> {
        let value = self.old.get(key)?;
        self.taken.push(key);
        Some(value)
    }

    fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// Reads the gate's number from `phase: 4`, `gate: 4` or `gate: G4`.
    fn phases(&mut self) {
        let gate = self.take("gate").and_then(number);
        let phase = self.take("phase").and_then(number);
        let Some(n) = gate.or(phase) else {
            self.note("neither gate nor phase names a number");
            return;
        };
        let to = if n >= 9 { "DELIVERED".to_owned() } else { format!("P{}", n + 1) };
        self.note(format!("gate and phase were read as G{n}, P{n} to {to}"));
        self.new.set("gate", format!("G{n}"));
        self.new.set("phase_from", format!("P{n}"));
        self.new.set("phase_to", to);
    }

    fn tier(&mut self) {
        match self.take("tier") {
            Some(tier) => self.new.set("tier", tier.clone()),
            None => self.note("no tier is recorded, so the length of the checklist was not checked"),
        }
    }

    fn timestamp(&mut self) {
        if let Some(timestamp) = self.take("timestamp") {
            self.new.set("timestamp", timestamp.clone());
        } else if let Some(date) = self.take("date") {
            self.note("date was read as timestamp");
            self.new.set("timestamp", date.clone());
        }
    }

    fn evidence(&mut self) {
        let artifacts = self.take("artifacts").and_then(Value::as_list).unwrap_or_default();
        let evidence: Vec<_> = artifacts.iter().filter_map(Value::as_str).map(evidence).collect();
        if evidence.is_empty() {
            self.note("no evidence is recorded");
        } else {
            self.note("artifacts were read as evidence; whether they exist was not checked");
        }
        self.new.set("evidence", Value::Array(evidence));
    }

    fn checklist(&mut self) {
        let key = ["criteria", "gate_criteria"].into_iter().find(|key| self.old.contains_key(*key));
        let Some((key, criteria)) = key.and_then(|key| Some((key, self.take(key)?))) else {
            self.note("no criteria are recorded");
            return;
        };
        let items: Vec<Value> = match criteria {
            Value::Object(map) => map.iter().map(|(name, value)| item(Some(name), value)).collect(),
            Value::Array(list) => list.iter().map(|value| item(None, value)).collect(),
            _ => Vec::new(),
        };
        self.note(format!("{key} were read as a checklist of {}", items.len()));
        let bare = items.iter().filter(|item| item.get("evidence_ref") == Some(&NOT_RECORDED.into())).count();
        if bare > 0 {
            self.note(format!("{bare} of them name no evidence"));
        }
        self.new.set("checklist", Value::Array(items));
    }

    fn verdict(&mut self) {
        let stated = ["verdict", "result", "gate_result"].into_iter().find_map(|key| self.take(key));
        let Some(stated) = stated.and_then(Value::as_str) else {
            self.note("no result is recorded");
            return;
        };
        let verdict = match stated {
            text if text.contains("CONDITIONAL") => "CONDITIONAL_PASS",
            text if text.starts_with("APPROVED") || text.starts_with("PASS") => "PASS",
            text if ["REJECTED", "FAIL", "ITERATE", "ABORT"].iter().any(|word| text.starts_with(word)) => {
                "FAIL"
            }
            other => other,
        };
        self.note(format!("result {stated:?} was read as {verdict}"));
        self.new.set("verdict", verdict);
    }

    fn rest(&mut self) {
        let reason = ["justification", "notes", "note", "summary"].into_iter().find_map(|key| self.take(key));
        let justification = reason.and_then(Value::as_str).unwrap_or(NOT_RECORDED);
        self.new.set("justification", justification);
        let downstream = self.take("downstream").cloned().unwrap_or_else(|| Value::Object(Map::new()));
        self.new.set("downstream", downstream);
        let left: Vec<_> =
            self.old.keys().map(String::as_str).filter(|key| !self.taken.contains(key)).collect();
        if !left.is_empty() {
            self.note(format!("not taken over: {}", left.join(", ")));
        }
    }
}

/// The placeholder for data that an older record lacks.
const NOT_RECORDED: &str = "not recorded";

fn number(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number.as_i64().filter(|n| (0..=9).contains(n)),
        Value::String(text) => {
            text.trim_start_matches(['G', 'P']).parse().ok().filter(|n| (0..=9).contains(n))
        }
        _ => None,
    }
}

fn evidence(text: &str) -> Value {
    let path = text.split(" (").next().unwrap_or(text).trim();
    let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or(path);
    let kind = ["L1", "L2", "L3"].into_iter().find(|kind| name.starts_with(kind)).unwrap_or("reference");
    let mut map = Map::new();
    map.set("artifact", name);
    map.set("type", kind);
    map.set("location", path);
    Value::Object(map)
}

/// A criterion: `G4-1: PASS (why)`, `G4-1: {check, result, evidence}` or `- {item, status, evidence}`.
fn item(name: Option<&str>, value: &Value) -> Value {
    let field = |keys: &[&str]| keys.iter().find_map(|key| value.get(key)?.as_str());
    let (status, evidence) = match value.as_str() {
        Some(text) if text.starts_with("N/A") => ("SKIP", Some(text)),
        Some(text) => {
            let end = text.find(|c: char| !(c.is_ascii_alphabetic() || c == '_')).unwrap_or(text.len());
            (&text[..end], Some(text[end..].trim()))
        }
        None => (field(&["status", "result"]).unwrap_or_default(), field(&["evidence", "evidence_ref"])),
    };
    let mut map = Map::new();
    let described = field(&["item", "check", "criterion"]);
    map.set(
        "item",
        match (name, described) {
            (Some(name), Some(check)) => format!("{name}: {check}"),
            (name, check) => check.or(name).unwrap_or(NOT_RECORDED).to_owned(),
        },
    );
    map.set(
        "status",
        match status {
            "PASS" | "PASSED" | "MET" => "PASS",
            "FAIL" | "FAILED" => "FAIL",
            "SKIP" | "SKIPPED" => "SKIP",
            other => other,
        },
    );
    map.set("evidence_ref", evidence.filter(|text| !text.is_empty()).unwrap_or(NOT_RECORDED));
    Value::Object(map)
}
