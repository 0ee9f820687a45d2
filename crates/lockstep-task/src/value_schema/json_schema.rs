//! A shape as a JSON Schema (2020-12), for other programs.

use serde_json::{Map, Value, json};

use super::{FieldSchema, ValueSchema};

impl ValueSchema {
    /// Returns the JSON Schema of this shape. It does not cover the existence of pointers and the uniqueness
    /// of ids.
    pub fn json_schema(&self) -> Value {
        match self {
            Self::Any => json!({}),
            Self::Text | Self::Pointer | Self::Timestamp => json!({"type": "string", "pattern": r"\S"}),
            Self::Count => json!({"type": "integer", "minimum": 0}),
            Self::Percent => json!({"type": "string", "pattern": r"^(100(\.0*)?|\d{1,2}(\.\d*)?)%$"}),
            Self::OneOf(words) => json!({"enum": words}),
            Self::Id(prefix) => json!({"type": "string", "pattern": format!(r"^{prefix}-[1-9]\d{{0,8}}$")}),
            Self::Gate => json!({"type": "string", "pattern": "^G[0-9][a-z]?$"}),
            Self::PhaseName => json!({"type": "string", "pattern": "^P[0-9][a-z]?$"}),
            Self::NextPhase => json!({"type": "string", "pattern": "^(P[0-9][a-z]?|DELIVERED)$"}),
            Self::List { item, .. } => json!({"type": "array", "items": item.json_schema()}),
            Self::Record(fields) | Self::OpenRecord(fields) => record(fields),
            Self::PhaseMap(entry) => json!({
                "type": "object",
                "patternProperties": {"^P[1-9]$": entry.json_schema()},
                "additionalProperties": false,
            }),
            Self::MapOf(entry) => json!({"type": "object", "additionalProperties": entry.json_schema()}),
        }
    }

    pub fn json_schema_document(&self, title: &str, description: &str) -> Value {
        let mut schema = self.json_schema();
        if let Value::Object(object) = &mut schema {
            object.insert("$schema".into(), json!("https://json-schema.org/draft/2020-12/schema"));
            object.insert("title".into(), json!(title));
            object.insert("description".into(), json!(description));
        }
        schema
    }
}

fn record(fields: &[FieldSchema]) -> Value {
    let mut properties = Map::new();
    for field in fields {
        let mut schema = field.shape.json_schema();
        if let Value::Object(object) = &mut schema {
            object.insert("description".into(), json!(field.doc));
        }
        properties.insert(field.name.to_owned(), schema);
    }
    let required: Vec<_> = fields.iter().filter(|f| f.required).map(|f| f.name).collect();
    json!({"type": "object", "properties": properties, "required": required})
}
