//! The JSON Schemas of this crate's documents, by name.

use serde_json::{Value, json};

use crate::gate::{commit, invocation, stop};

/// Every schema with its name.
pub fn schemas() -> Vec<(&'static str, Value)> {
    vec![("step-file", step_file()), ("gate-result", gate_result()), ("audit-entry", audit_entry())]
}

fn object(title: &str, description: &str, properties: Value, required: &[&str]) -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        "description": description,
        "type": "object",
        "properties": properties,
        "required": required,
    })
}

fn texts() -> Value {
    json!({"type": "array", "items": {"type": "string"}})
}

/// Unknown fields are kept, so they are allowed.
fn step_file() -> Value {
    let text_or_null = json!({"type": ["string", "null"]});
    let evidence = json!({
        "type": "object",
        "properties": {
            "command": {"type": "string"},
            "exit_code": {"type": ["integer", "null"]},
            "duration_ms": {"type": "integer", "minimum": 0},
            "output_digest": {"type": "string"},
            "output_tail": {"type": "string"},
            "ran_at": {"type": "string"},
        },
        "required": ["command", "exit_code", "duration_ms", "output_digest", "output_tail", "ran_at"],
    });
    let phase = json!({
        "type": "object",
        "properties": {
            "phase_name": {"type": "string", "minLength": 1},
            "status": {"type": "string"},
            "started_at": text_or_null,
            "ended_at": text_or_null,
            "outcome": {"enum": ["PASS", "FAIL", null]},
            "outcome_details": text_or_null,
            "blocked_by": text_or_null,
            "evidence": evidence,
            "reopened": {"type": "boolean"},
        },
        "required": ["phase_name", "status"],
    });
    let properties = json!({
        "task_id": {"type": "string", "minLength": 1},
        "project_id": {"type": "string", "minLength": 1},
        "state": {
            "type": "object",
            "properties": {
                "status": {"type": "string"},
                "failure_reason": text_or_null,
                "recovery_suggestions": texts(),
            },
            "required": ["status"],
        },
        "tdd_cycle": {
            "type": "object",
            "properties": {
                "phase_set": {"type": "string"},
                "phase_execution_log": {"type": "array", "items": phase},
            },
            "required": ["phase_execution_log"],
        },
        "boundary": {
            "type": "object",
            "properties": {"allowed": texts(), "forbidden": texts()},
        },
        "max_turns": {"type": "integer", "minimum": 1},
    });
    let required = ["task_id", "project_id", "state", "tdd_cycle"];
    object("Step file", "A step: its state and the log of its phases.", properties, &required)
}

fn gate_result() -> Value {
    let look = json!({
        "type": "object",
        "properties": {"what": {"type": "string"}, "found": {"type": "string"}, "good": {"type": "boolean"}},
        "required": ["what", "found", "good"],
        "additionalProperties": false,
    });
    let properties = json!({
        "gate_id": {"enum": [invocation::ID, stop::ID, commit::ID]},
        "result": {"enum": ["PASS", "FAIL", "WARNING"]},
        "errors": texts(),
        "warnings": texts(),
        "recovery_suggestions": texts(),
        "looked_at": {"type": "array", "items": look},
    });
    let required = ["gate_id", "result", "errors", "warnings", "recovery_suggestions"];
    let mut schema = object("Gate result", "What a gate decided, and why.", properties, &required);
    schema["additionalProperties"] = json!(false);
    schema
}

fn audit_entry() -> Value {
    let digest = json!({"type": "string", "pattern": "^[0-9a-f]{64}$"});
    let properties = json!({
        "timestamp": {"type": "string", "pattern": "Z$"},
        "event": {"type": "string", "minLength": 1},
        "step_file": {"type": ["string", "null"]},
        "seq": {"type": "integer", "minimum": 1},
        "prev": digest,
        "hash": digest,
    });
    let required = ["timestamp", "event", "step_file", "seq", "prev", "hash"];
    object("Audit entry", "One line of audit-YYYY-MM-DD.log.", properties, &required)
}
