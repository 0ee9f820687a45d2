//! The JSON Schema of the cascade's report.

use serde_json::{Value, json};

use crate::MAX_ITERATIONS;

pub fn schemas() -> Vec<(&'static str, Value)> {
    vec![("cascade-report", report())]
}

/// Returns the schema of the L1's value.
fn report() -> Value {
    let count = json!({"type": "integer", "minimum": 0});
    let details = json!({
        "type": "object",
        "properties": {
            "iteration": {"type": "integer", "minimum": 1, "maximum": MAX_ITERATIONS},
            "implementers_spawned": count,
            "files_changed": count,
            "new_impacts_detected": count,
        },
        "required": ["iteration", "implementers_spawned", "files_changed", "new_impacts_detected"],
        "additionalProperties": false,
    });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Cascade report",
        "description": "How a cascade went: the L1 of boundary B5.",
        "type": "object",
        "properties": {
            "domain": {"const": "execution"},
            "skill": {"const": "cascade"},
            "status": {"enum": ["converged", "partial", "skipped"]},
            "iterations": {"type": "integer", "minimum": 0, "maximum": MAX_ITERATIONS},
            "max_iterations": {"const": MAX_ITERATIONS},
            "files_updated": count,
            "files_skipped": count,
            "convergence": {"type": ["boolean", "null"]},
            "iteration_details": {"type": "array", "items": details, "maxItems": MAX_ITERATIONS},
            "warnings": {"type": "array", "items": {"type": "string"}},
        },
        "required": [
            "domain", "skill", "status", "iterations", "max_iterations", "files_updated", "files_skipped", "convergence",
            "iteration_details", "warnings",
        ],
        "additionalProperties": false,
    })
}
