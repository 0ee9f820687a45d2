//! Compares the answers of two programs in one normal form.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;

use crate::XtaskResult;

/// An answer without what depends on the time.
pub(super) fn normal_form(answer: &[u8]) -> XtaskResult<Value> {
    const OF_THE_RUN: [&str; 4] = ["timings_ms", "work", "generated_at", "date"];
    let mut value: Value = serde_json::from_slice(answer)?;
    if let Some(fields) = value.as_object_mut() {
        fields.retain(|name, _| !OF_THE_RUN.contains(&name.as_str()));
        if let Some(index) = fields.get_mut("index").and_then(Value::as_object_mut) {
            index.remove("time");
        }
    }
    Ok(value)
}

/// Lists the dependents that only one of two answers has, or in which they differ.
pub(super) fn difference(ours: &Value, theirs: &Value) -> String {
    let dependents = |answer: &Value| -> BTreeMap<String, Value> {
        let impacts = answer["impacts"].as_array().cloned().unwrap_or_default();
        let all =
            impacts.iter().flat_map(|impact| impact["dependents"].as_array().cloned().unwrap_or_default());
        all.map(|candidate| (candidate["file"].as_str().unwrap_or_default().to_owned(), candidate)).collect()
    };
    let (ours, theirs) = (dependents(ours), dependents(theirs));
    let mut out = String::new();
    for (file, our) in &ours {
        match theirs.get(file) {
            None => drop(writeln!(out, "  - only here: {file}")),
            Some(their) if their != our => drop(writeln!(out, "  - otherwise: {file}")),
            Some(_) => {}
        }
    }
    for file in theirs.keys().filter(|file| !ours.contains_key(*file)) {
        let _ = writeln!(out, "  - only there: {file}");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_that_differ_in_time_only_are_equal() {
        let of = |text: &str| normal_form(text.as_bytes()).unwrap();
        let one = r#"{"impacts":[],"timings_ms":{"total":1},"index":{"fresh":true,"time":"1"}}"#;
        let other = r#"{"impacts":[],"timings_ms":2,"work":{"types":1},"index":{"fresh":true,"time":"2"}}"#;
        assert_eq!(of(one), of(other));
        assert_ne!(of(r#"{"impacts":[1]}"#), of(r#"{"impacts":[]}"#));
        let (one, none) =
            (of(r#"{"impacts":[{"dependents":[{"file":"a"}]}]}"#), of(r#"{"impacts":[{"dependents":[]}]}"#));
        assert_eq!(difference(&one, &none), "  - only here: a\n");
        assert_eq!(difference(&none, &one), "  - only there: a\n");
    }
}
