//! The JSON Schema of the map's L1.

use serde_json::{Value, json};

pub fn schemas() -> Vec<(&'static str, Value)> {
    vec![("map-report", report())]
}

fn report() -> Value {
    let count = json!({"type": "integer", "minimum": 0});
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Map report",
        "description": "What came of a run over the codebase map: its L1.",
        "type": "object",
        "properties": {
            "domain": {"const": "homeostasis"},
            "skill": {"const": "manage-codebase"},
            "status": {"enum": ["complete", "partial"]},
            "mode": {"enum": ["full-generation", "incremental-update", "staleness-check"]},
            "entries": count,
            "stale_entries_removed": count,
            "new_entries_added": count,
            "entries_updated": count,
            "map_path": {"type": "string"},
            "staleness_report": {
                "type": "object",
                "properties": {
                    "total_entries": count,
                    "stale_count": count,
                    "missing_count": count,
                    "recommendation": {"enum": ["none", "incremental", "full-regeneration"]},
                },
                "required": ["total_entries", "stale_count", "missing_count", "recommendation"],
                "additionalProperties": false,
            },
        },
        "required": [
            "domain", "skill", "status", "mode", "entries", "stale_entries_removed", "new_entries_added", "entries_updated",
            "map_path",
        ],
        "additionalProperties": false,
    })
}
