//! `L1-index.yaml`: the workers of each phase, and their status.

use serde::Serialize;

use crate::key_path::KeyPath;
use crate::pointer::PointerResolver;
use crate::problem::{Diagnostics, DocumentProblem};
use crate::value::{Map, MapExt, Value, ValueExt};
use crate::value_schema::{FieldSchema, ValueSchema, list, optional, required};
use crate::yaml;

/// The most bytes of an index that are read.
pub const MAX_BYTES: usize = 256 * 1024;

/// The shape of an index. Keys of the agent's own domain are welcome.
pub const L1: ValueSchema = ValueSchema::OpenRecord(&FIELDS);

const FIELDS: [FieldSchema; 6] = [
    required("agent", ValueSchema::Text, "who wrote it"),
    required("phase", ValueSchema::PhaseName, "the phase, as in P2"),
    required("status", ValueSchema::OneOf(&["complete", "in_progress", "blocked"]), "where the work stands"),
    required("timestamp", ValueSchema::Timestamp, "when it was written, in ISO 8601"),
    optional("evidence_count", ValueSchema::Count, "how many pieces of evidence it rests on"),
    optional("pt_goal_links", list(&ValueSchema::Text), "which requirements and decisions it serves"),
];

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ParsedL1Index {
    /// The index in the present dialect, as far as it could be read.
    pub index: Option<Value>,
    /// Translations from an older dialect.
    pub notes: Vec<String>,
    #[serde(flatten)]
    pub findings: Diagnostics,
}

/// Reads an index, translating older dialects with a note for each translation.
pub fn read(bytes: &[u8]) -> ParsedL1Index {
    let refuse = |what: String| {
        let problem = DocumentProblem::of(
            "L1-index.yaml",
            what,
            "write it as one YAML mapping with agent, phase, status, timestamp",
        );
        ParsedL1Index {
            index: None,
            notes: Vec::new(),
            findings: Diagnostics { problems: vec![problem], warnings: Vec::new() },
        }
    };
    match yaml::read(bytes, MAX_BYTES) {
        Err(error) => refuse(error.to_string()),
        Ok(Value::Object(mut map)) => {
            let notes = translate(&mut map);
            let index = Value::Object(map);
            let nothing_exists = |_: &std::path::Path| false;
            let findings = L1.check(&index, &KeyPath::root(), &PointerResolver::new(&nothing_exists));
            ParsedL1Index { index: Some(index), notes, findings }
        }
        Ok(other) => refuse(format!("expected a mapping, found {}", other.kind())),
    }
}

fn translate(map: &mut Map) -> Vec<String> {
    let mut notes = Vec::new();
    for (old, new) in [("role", "agent"), ("date", "timestamp")] {
        if map.get(new).is_none()
            && let Some(value) = map.shift_remove(old)
        {
            notes.push(format!("{old} was read as {new}"));
            map.set(new, value);
        }
    }
    if let Some(n @ 0..=9) = map.get("phase").and_then(Value::as_i64) {
        let phase = format!("P{n}");
        notes.push(format!("phase {n} was read as {phase}"));
        map.set("phase", phase);
    }
    let status = map.get("status").and_then(Value::as_str).and_then(|status| match status {
        "COMPLETE" | "COMPLETED" | "completed" | "done" => Some("complete"),
        "IN_PROGRESS" => Some("in_progress"),
        "BLOCKED" => Some("blocked"),
        _ => None,
    });
    if let Some(status) = status {
        notes.push(format!(
            "status {} was read as {status}",
            map.get("status").map(Value::short_text).unwrap_or_default()
        ));
        map.set("status", status);
    }
    notes
}
