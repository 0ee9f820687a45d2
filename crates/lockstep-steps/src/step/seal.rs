//! The seal: a digest of everything about a step that verbs change. The audit trail records it with every change, so a state that
//! something else has written is found. Other fields may be edited by anybody.

use serde_json::{Value, json};

use super::Step;

impl Step {
    /// The digest of the step's ids, state, phases and boundary.
    pub fn seal(&self) -> String {
        let value = &self.value;
        digest(&json!([
            value["task_id"],
            value["project_id"],
            value["state"],
            value["tdd_cycle"],
            value["boundary"],
        ]))
    }

    /// The digest of what a commit needs: the phases before `COMMIT` and the boundary. The state of the task and the commit's own
    /// phase move on while the commit is made.
    pub fn commit_seal(&self) -> String {
        let value = &self.value;
        let before = self.phases_before_commit().len();
        let phases =
            value["tdd_cycle"]["phase_execution_log"].as_array().map_or(&[][..], |log| &log[..before]);
        digest(&json!([
            value["task_id"],
            value["project_id"],
            value["tdd_cycle"]["phase_set"],
            phases,
            value["boundary"]
        ]))
    }
}

fn digest(value: &Value) -> String {
    blake3::hash(sorted(value).to_string().as_bytes()).to_hex().to_string()
}

/// The value with its keys in order: how a file orders them changes nothing.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> =
                fields.iter().map(|(name, value)| (name.clone(), sorted(value))).collect();
            fields.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(fields.into_iter().collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
        plain => plain.clone(),
    }
}
