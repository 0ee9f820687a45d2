//! `--format sarif`: a SARIF 2.1.0 log for code scanning.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{Finding, Findings, Rule};
use crate::cli::VERSION;

/// The identifier of the format's version.
const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// The name of the directory that paths are relative to.
const ROOT: &str = "%SRCROOT%";

/// Renders a log with one run. Notes about the complete answer become notifications of the run.
pub(crate) fn render(findings: &Findings<'_>, notes: &[String]) -> String {
    let rules: Vec<Value> = Rule::ALL.iter().map(|rule| describe_rule(*rule)).collect();
    let mut occurrences = BTreeMap::new();
    let results: Vec<Value> = findings.list.iter().map(|finding| result(finding, &mut occurrences)).collect();
    let notifications: Vec<Value> =
        notes.iter().map(|note| json!({"level": "warning", "message": {"text": note}})).collect();
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {"name": "lockstep", "version": VERSION, "rules": rules}},
            "invocations": [{
                "executionSuccessful": findings.is_complete,
                "toolExecutionNotifications": notifications,
            }],
            "originalUriBaseIds": {ROOT: {"uri": format!("file://{}/", encode_path(findings.root))}},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    serde_json::to_string_pretty(&log).expect("a log is maps with text keys, lists and scalars") + "\n"
}

fn describe_rule(rule: Rule) -> Value {
    json!({
        "id": rule.id(),
        "shortDescription": {"text": rule.description()},
        "defaultConfiguration": {"level": rule.level().as_str()},
    })
}

fn result(finding: &Finding<'_>, occurrences: &mut BTreeMap<String, usize>) -> Value {
    let mut region = json!({"startLine": finding.line, "startColumn": finding.column});
    if let Some(text) = finding.text {
        region["snippet"] = json!({"text": text});
    }
    let mut result = json!({
        "ruleId": finding.rule.id(),
        "ruleIndex": Rule::ALL.iter().position(|rule| *rule == finding.rule),
        "level": finding.rule.level().as_str(),
        "message": {"text": finding.message},
        "locations": [{"physicalLocation": {"artifactLocation": artifact(finding.path), "region": region}}],
        "partialFingerprints": {"lockstepLine/v1": fingerprint(finding, occurrences)},
    });
    if finding.changed != finding.path {
        result["relatedLocations"] = json!([{
            "id": 1,
            "message": {"text": "The changed file."},
            "physicalLocation": {"artifactLocation": artifact(finding.changed)},
        }]);
    }
    result
}

fn artifact(path: &str) -> Value {
    json!({"uri": encode_path(path), "uriBaseId": ROOT})
}

/// Identifies a finding across commits: lines may move, so the text of the line counts and its number does not. Equal lines of a
/// file are numbered.
fn fingerprint(finding: &Finding<'_>, occurrences: &mut BTreeMap<String, usize>) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in [finding.rule.id(), finding.path, &finding.message, finding.text.unwrap_or_default().trim()] {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    let hash = hasher.finalize().to_hex()[..32].to_owned();
    let number = occurrences.entry(hash.clone()).or_default();
    *number += 1;
    format!("{hash}:{number}")
}

/// Encodes a path for a URI; the separators stay.
fn encode_path(path: &str) -> String {
    let mut encoded = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                encoded.push(char::from(byte));
            }
            _ => {
                let _ = write!(encoded, "%{byte:02X}");
            }
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_is_encoded_for_a_uri() {
        assert_eq!(encode_path("a b/ü#1?.py"), "a%20b/%C3%BC%231%3F.py");
    }
}
