//! The JSON Schema of the impact report, L1 and JSON.

use serde_json::{Value, json};

/// Every schema with its name.
pub fn schemas() -> Vec<(&'static str, Value)> {
    vec![("impact", impact())]
}

/// Returns the schema of the report. Values that were not analysed are `null`, which does not mean none. The
/// JSON form has more fields, so additional ones are allowed.
fn impact() -> Value {
    let dependent = json!({
        "type": "object",
        "properties": {
            "file": {"type": "string", "description": "Absolute."},
            "type": {"enum": ["DIRECT", "TRANSITIVE"]},
            "hop_count": {"enum": [1, 2]},
            "reference_pattern": {"type": "string"},
            "evidence": {"type": "string", "description": "file:line:text, the path relative to the root."},
            "kind": {"enum": ["import", "symbol", "path", "name", "mention"]},
            "breaks": {"type": "boolean"},
        },
        "required": ["file", "type", "hop_count", "reference_pattern", "evidence", "kind", "breaks"],
    });
    let broken = json!({
        "type": "object",
        "description": "A reference in the changed file itself that the edit broke.",
        "properties": {
            "line": {"type": "integer", "minimum": 1},
            "reference_pattern": {"type": "string", "description": "L1; `pattern` in JSON."},
            "evidence": {"type": "string", "description": "file:line:text, the path relative to the root."},
            "kind": {"enum": ["import", "symbol", "path", "name", "mention"]},
            "reason": {"type": "string"},
        },
        "required": ["line", "evidence", "kind", "reason"],
    });
    let file = json!({
        "type": "object",
        "properties": {
            "changed_file": {"type": "string", "description": "Absolute."},
            "dependents": {"type": ["array", "null"], "items": dependent},
            "dependent_count": {"type": ["integer", "null"], "minimum": 0},
            "broken_in_file": {"type": "array", "items": broken},
        },
        "required": ["changed_file", "dependents", "dependent_count"],
    });
    let together = json!({
        "type": "object",
        "description": "A file that tends to change when a changed one does; with --history. No dependent.",
        "properties": {
            "file": {"type": "string"},
            "changed_file": {"type": "string"},
            "kind": {"const": "history"},
            "commits": {"type": "integer", "minimum": 1},
            "confidence": {"type": "number", "minimum": 0, "maximum": 1},
        },
        "required": ["file", "changed_file", "kind", "commits", "confidence"],
    });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Impact report",
        "description": "Who depends on what changed: L1 of `lockstep impact` and of a stop",
        "type": "object",
        "properties": {
            "domain": {"const": "execution"},
            "skill": {"const": "impact"},
            "root": {"type": "string", "description": "JSON only. The project: `ranked`, `history`, `renamed_from` and `evidence` have paths relative to it; all others are absolute."},
            "status": {"enum": ["complete", "partial", "skipped"]},
            "confidence": {"enum": ["high", "medium", "low"]},
            "files_changed": {"type": "integer", "minimum": 0},
            "impact_candidates": {"type": ["integer", "null"], "minimum": 0},
            "degradation_level": {"enum": ["full", "degraded"]},
            "impacts": {"type": "array", "items": file},
            "cascade_recommended": {"type": "boolean"},
            "cascade_rationale": {"type": "string"},
            "unresolved_references": {"type": "integer", "minimum": 0},
            "index": {
                "type": "object",
                "properties": {
                    "fresh": {"type": "boolean"},
                    "revision": {"type": "string"},
                    "unseen_files": {"type": "integer", "minimum": 0},
                },
                "required": ["fresh", "revision"],
            },
            "history": {"type": "array", "items": together},
        },
        "required": [
            "domain", "skill", "status", "confidence", "files_changed", "impact_candidates",
            "degradation_level", "impacts", "cascade_recommended", "cascade_rationale",
        ],
    })
}
