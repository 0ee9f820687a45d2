//! `L1-index.yaml`: the workers of each phase, and their status.

use serde::Serialize;

use crate::place::Place;
use crate::pointer::Lookup;
use crate::problem::{Findings, Problem};
use crate::shape::{Field, Shape, list, optional, required};
use crate::value::{Map, Value};
use crate::yaml;

/// The most bytes of an index that are read.
pub const MAX_BYTES: usize = 256 * 1024;

/// The shape of an index. Keys of the agent's own domain are welcome.
pub const L1: Shape = Shape::Open(&FIELDS);

const FIELDS: [Field; 6] = [
    required("agent", Shape::Text, "who wrote it"),
    required("phase", Shape::PhaseName, "the phase, as in P2"),
    required("status", Shape::Word(&["complete", "in_progress", "blocked"]), "where the work stands"),
    required("timestamp", Shape::Timestamp, "when it was written, in ISO 8601"),
    optional("evidence_count", Shape::Count, "how many pieces of evidence it rests on"),
    optional("pt_goal_links", list(&Shape::Text), "which requirements and decisions it serves"),
];

/// An index as it was read.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct L1Reading {
    /// The index in the present dialect, as far as it could be read.
    pub index: Option<Value>,
    /// Translations from an older dialect.
    pub notes: Vec<String>,
    #[serde(flatten)]
    pub findings: Findings,
}

/// Reads an index, translating older dialects with a note for each translation.
pub fn read(bytes: &[u8]) -> L1Reading {
    let refuse = |what: String| {
        let problem = Problem::of(
            "L1-index.yaml",
            what,
            "write it as one YAML mapping with agent, phase, status, timestamp",
        );
        L1Reading {
            index: None,
            notes: Vec::new(),
            findings: Findings { problems: vec![problem], warnings: Vec::new() },
        }
    };
    match yaml::read(bytes, MAX_BYTES) {
        Err(error) => refuse(error.to_string()),
        Ok(Value::Map(mut map)) => {
            let notes = translate(&mut map);
            let index = Value::Map(map);
            let nothing_exists = |_: &std::path::Path| false;
            let findings = L1.check(&index, &Place::top(), &Lookup::new(&nothing_exists));
            L1Reading { index: Some(index), notes, findings }
        }
        Ok(other) => refuse(format!("expected a mapping, found {}", other.kind())),
    }
}

fn translate(map: &mut Map) -> Vec<String> {
    let mut notes = Vec::new();
    for (old, new) in [("role", "agent"), ("date", "timestamp")] {
        if map.get(new).is_none()
            && let Some(value) = map.remove(old)
        {
            notes.push(format!("{old} was read as {new}"));
            map.set(new, value);
        }
    }
    if let Some(Value::Int(n @ 0..=9)) = map.get("phase") {
        let phase = format!("P{n}");
        notes.push(format!("phase {n} was read as {phase}"));
        map.set("phase", phase);
    }
    let status = map.get("status").and_then(Value::as_text).and_then(|status| match status {
        "COMPLETE" | "COMPLETED" | "completed" | "done" => Some("complete"),
        "IN_PROGRESS" => Some("in_progress"),
        "BLOCKED" => Some("blocked"),
        _ => None,
    });
    if let Some(status) = status {
        notes.push(format!(
            "status {} was read as {status}",
            map.get("status").map(Value::brief).unwrap_or_default()
        ));
        map.set("status", status);
    }
    notes
}
