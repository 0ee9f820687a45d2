//! The seal: a digest of everything that verbs change in a step. The audit trail records it with every
//! change, so that a state written by anything else is detected. Other fields may be edited freely.

use serde_json::Value;

use super::Step;

impl Step {
    /// The digest of the step's ids, state, phases and boundary.
    pub fn seal(&self) -> String {
        let value = &self.value;
        let parts = ["task_id", "project_id", "state", "tdd_cycle", "boundary"];
        digest(&parts.map(|part| SealedPart::Value(&value[part])))
    }

    /// Returns the digest of everything that a commit requires: the phases before `COMMIT` and the boundary.
    /// The state of the task and the commit's own phase may change during the commit.
    pub fn commit_seal(&self) -> String {
        let value = &self.value;
        let before = self.phases_before_commit().len();
        let phases =
            value["tdd_cycle"]["phase_execution_log"].as_array().map_or(&[][..], |log| &log[..before]);
        digest(&[
            SealedPart::Value(&value["task_id"]),
            SealedPart::Value(&value["project_id"]),
            SealedPart::Value(&value["tdd_cycle"]["phase_set"]),
            SealedPart::Items(phases),
            SealedPart::Value(&value["boundary"]),
        ])
    }
}

enum SealedPart<'a> {
    Value(&'a Value),
    Items(&'a [Value]),
}

/// The digest of the parts as a JSON array, as short as JSON can be, the keys of objects in order: how a file orders them changes nothing.
/// Written without a copy of the step, which every gate would pay for.
fn digest(parts: &[SealedPart<'_>]) -> String {
    let mut text = Vec::with_capacity(4096);
    write_list(parts, &mut text, |part, text| match part {
        SealedPart::Value(value) => write_canonical(value, text),
        SealedPart::Items(items) => write_list(items, text, write_canonical),
    });
    blake3::hash(&text).to_hex().to_string()
}

fn write_canonical(value: &Value, text: &mut Vec<u8>) {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_unstable_by_key(|(name, _)| *name);
            text.push(b'{');
            write_separated(&fields, text, |(name, value), text| {
                write_plain(*name, text);
                text.push(b':');
                write_canonical(value, text);
            });
            text.push(b'}');
        }
        Value::Array(items) => write_list(items, text, write_canonical),
        plain => write_plain(plain, text),
    }
}

fn write_list<T>(items: &[T], text: &mut Vec<u8>, write: impl Fn(&T, &mut Vec<u8>)) {
    text.push(b'[');
    write_separated(items, text, write);
    text.push(b']');
}

fn write_separated<T>(items: &[T], text: &mut Vec<u8>, write: impl Fn(&T, &mut Vec<u8>)) {
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            text.push(b',');
        }
        write(item, text);
    }
}

fn write_plain(value: &(impl serde::Serialize + ?Sized), text: &mut Vec<u8>) {
    serde_json::to_writer(text, value).expect("memory takes what a string, a number or a word writes");
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    /// Returns the canonical form of a value for the seal, with its keys sorted.
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

    fn values() -> impl Strategy<Value = Value> {
        let plain = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        plain.prop_recursive(4, 40, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::hash_map(any::<String>(), inner, 0..6)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_seal_is_that_of_the_shortest_text_with_its_keys_in_order(one in values(), other in values()) {
            let whole = sorted(&json!([one, other, [one]])).to_string();
            let parts = [SealedPart::Value(&one), SealedPart::Value(&other), SealedPart::Items(std::slice::from_ref(&one))];
            prop_assert_eq!(digest(&parts), blake3::hash(whole.as_bytes()).to_hex().to_string());
        }
    }
}
