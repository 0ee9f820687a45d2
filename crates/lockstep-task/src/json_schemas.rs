//! The JSON Schemas of this crate's documents, by name.

use serde_json::{Value, json};

use crate::document::TASK;
use crate::gate_record::GATE_RECORD;
use crate::handoff::l1::L1;
use crate::scratch::SCRATCH;

pub fn schemas() -> Vec<(&'static str, Value)> {
    vec![
        ("task", TASK.json_schema_document("Task", "One version of the task.")),
        (
            "gate-record",
            GATE_RECORD.json_schema_document("Gate record", "What a gate checked, and its verdict."),
        ),
        (
            "l1-index",
            L1.json_schema_document("L1 index", "Who worked in which phase, and whether it is done."),
        ),
        ("scratch", scratch()),
        ("handoff-report", handoff_report()),
        ("task-event", task_event()),
    ]
}

/// Scratch accepts nothing but its three concerns.
fn scratch() -> Value {
    let mut schema = SCRATCH.json_schema_document("Scratch", "What a session keeps for itself.");
    schema["additionalProperties"] = json!(false);
    schema["properties"]["execution_metrics"]["additionalProperties"] = json!(false);
    schema
}

fn object(title: &str, description: &str, properties: Value, required: &[&str]) -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        "description": description,
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn handoff_report() -> Value {
    let texts = json!({"type": "array", "items": {"type": "string"}});
    let categories =
        ["decisions", "risks", "interface_contracts", "constraints", "open_questions", "artifacts"];
    let handoff: serde_json::Map<_, _> =
        categories.iter().map(|name| ((*name).to_owned(), texts.clone())).collect();
    let problem = json!({
        "type": "object",
        "properties": {
            "section": {"type": "string"}, "where": {"type": "string"},
            "what": {"type": "string"}, "fix": {"type": "string"},
        },
        "required": ["section", "where", "what", "fix"],
        "additionalProperties": false,
    });
    let properties = json!({
        "file": {"type": "string"},
        "valid": {"type": "boolean"},
        "problems": {"type": "array", "items": problem},
        "warnings": {"type": "array", "items": problem},
        "handoff": {"type": "object", "properties": handoff, "required": categories, "additionalProperties": false},
    });
    let required = ["file", "valid", "problems", "warnings", "handoff"];
    object("Handoff report", "What a check of an L2 file found.", properties, &required)
}

fn task_event() -> Value {
    let text_or_null = json!({"type": ["string", "null"]});
    let properties = json!({
        "timestamp": {"type": "string"},
        "session": text_or_null,
        "agent_id": text_or_null,
        "agent_type": text_or_null,
        "tool": {"type": "string"},
        "task_id": text_or_null,
        "version": {"type": ["integer", "null"], "minimum": 0},
        "sections": {"type": "array", "items": {"type": "string"}},
        "verdict": {"enum": ["granted", "refused"]},
        "reason": text_or_null,
    });
    let required = [
        "timestamp",
        "session",
        "agent_id",
        "agent_type",
        "tool",
        "task_id",
        "version",
        "sections",
        "verdict",
        "reason",
    ];
    object("Task event", "One line of events.jsonl.", properties, &required)
}
