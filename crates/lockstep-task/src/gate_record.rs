//! The record of a gate: its checklist, and the resulting verdict.
//!
//! The verdict is recomputed from the checklist: a record is evidence, not a claim. Records in older dialects
//! are imported with a note for everything that was translated.

mod legacy;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::key_path::KeyPath;
use crate::pointer::PointerResolver;
use crate::problem::{Diagnostics, DocumentProblem};
use crate::value::{Value, ValueExt};
use crate::value_schema::{FieldSchema, ValueSchema, list, required};
use crate::yaml;

/// The most bytes of a record that are read.
pub const MAX_BYTES: usize = 256 * 1024;

pub const GATE_RECORD: ValueSchema = ValueSchema::Record(&FIELDS);

const FIELDS: [FieldSchema; 10] = [
    required("gate", ValueSchema::Gate, "the gate, as in G4"),
    required("phase_from", ValueSchema::PhaseName, "the phase that ends"),
    required("phase_to", ValueSchema::NextPhase, "the phase that begins, or DELIVERED"),
    required("tier", ValueSchema::OneOf(&["TRIVIAL", "STANDARD", "COMPLEX"]), "how deep the gate looks"),
    required("timestamp", ValueSchema::Timestamp, "when it was evaluated, in ISO 8601"),
    required("evidence", list(&EVIDENCE), "what was produced; `[]` when nothing"),
    required("checklist", list(&CHECKLIST_ITEM), "what was verified"),
    required(
        "verdict",
        ValueSchema::OneOf(&["PASS", "CONDITIONAL_PASS", "FAIL"]),
        "what follows from the checklist",
    ),
    required("justification", ValueSchema::Text, "one to three sentences"),
    required(
        "downstream",
        ValueSchema::MapOf(&ValueSchema::Any),
        "what the next phase needs to know; `{}` when nothing",
    ),
];

const EVIDENCE: ValueSchema = ValueSchema::Record(&[
    required("artifact", ValueSchema::Text, "the file's name"),
    required(
        "type",
        ValueSchema::OneOf(&["L1", "L2", "L3", "reference", "code"]),
        "what kind of evidence it is",
    ),
    required("location", ValueSchema::Text, "its path"),
]);

const CHECKLIST_ITEM: ValueSchema = ValueSchema::Record(&[
    required("item", ValueSchema::Text, "the criterion"),
    required("status", ValueSchema::OneOf(&["PASS", "FAIL", "SKIP"]), "what was found"),
    required("evidence_ref", ValueSchema::Text, "where it can be seen; for SKIP, why"),
]);

/// The verdict of a gate record. The order matters: a later one is stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum RecordVerdict {
    /// Everything was checked and holds.
    Pass,
    /// Nothing failed, but something was not checked.
    ConditionalPass,
    Fail,
}

impl RecordVerdict {
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Pass, Self::ConditionalPass, Self::Fail].into_iter().find(|v| v.as_str() == text)
    }

    /// The verdict as records spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "PASS",
            Self::ConditionalPass => "CONDITIONAL_PASS",
            Self::Fail => "FAIL",
        }
    }
}

impl fmt::Display for RecordVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ParsedGateRecord {
    /// The record in the present dialect, as far as it could be read.
    pub record: Option<Value>,
    /// The verdict that follows from the checklist; `None` when there is no checklist to follow from.
    pub computed: Option<RecordVerdict>,
    /// Translations from an older dialect, and parts that could not be translated.
    pub notes: Vec<String>,
    #[serde(flatten)]
    pub findings: Diagnostics,
}

impl ParsedGateRecord {
    /// The phase that ends, `P4`.
    pub fn phase_from(&self) -> Option<&str> {
        self.record.as_ref()?.get("phase_from")?.as_str()
    }

    /// Returns the effective verdict: the stricter of the stated and the computed one.
    pub fn verdict(&self) -> Option<RecordVerdict> {
        let stated = self.record.as_ref().and_then(|r| RecordVerdict::parse(r.get("verdict")?.as_str()?));
        stated.max(self.computed)
    }
}

/// Reads and checks a record. `lookup` resolves the paths of evidence.
pub fn read(bytes: &[u8], lookup: &PointerResolver<'_>) -> ParsedGateRecord {
    let record = match yaml::read(bytes, MAX_BYTES) {
        Ok(Value::Object(map)) => map,
        Ok(other) => return unreadable_record(format!("expected a mapping, found {}", other.kind())),
        Err(error) => return unreadable_record(format!("it is not valid YAML: {error}")),
    };
    let (record, notes, imported) = match legacy::convert_legacy(&record) {
        Some((imported, notes)) => (Value::Object(imported), notes, true),
        None => (Value::Object(record), Vec::new(), false),
    };
    let mut findings = GATE_RECORD.check(&record, &KeyPath::root(), lookup);
    if imported {
        // An older record may lack its tier; the notes report that nothing was concluded from it.
        findings.problems.retain(|problem| problem.at != "tier" || record.get("tier").is_some());
    } else {
        findings.problems.extend(check_locations(&record, lookup));
    }
    findings.problems.extend(check_phases(&record));
    check_length(&record, &mut findings);
    let computed = compute_verdict(&record);
    findings.problems.extend(check_verdict(&record, computed));
    ParsedGateRecord { record: Some(record), computed, notes, findings }
}

fn unreadable_record(what: String) -> ParsedGateRecord {
    let fix = "write one YAML mapping with gate, phase_from, phase_to, tier, timestamp, evidence, checklist, verdict, justification, downstream";
    let findings = Diagnostics {
        problems: vec![DocumentProblem::of("gate-record.yaml", what, fix)],
        warnings: Vec::new(),
    };
    ParsedGateRecord { record: None, computed: None, notes: Vec::new(), findings }
}

fn check_locations(record: &Value, lookup: &PointerResolver<'_>) -> Vec<DocumentProblem> {
    let evidence = record.get("evidence").and_then(Value::as_list).unwrap_or_default();
    let mut problems = Vec::new();
    for (n, item) in evidence.iter().enumerate() {
        let is_file = item.get("type").and_then(Value::as_str).is_some_and(|kind| kind != "reference");
        let location = item.get("location").and_then(Value::as_str).filter(|l| !l.trim().is_empty());
        if let (true, Some(location)) = (is_file, location)
            && let Err(fault) = lookup.resolve(location)
        {
            let place = KeyPath::section("evidence").child(&n.to_string()).child("location");
            problems.push(DocumentProblem::at(&place, fault.describe(location), fault.fix()));
        }
    }
    problems
}

/// Checks that the gate's number is that of the ending phase, and that the beginning phase follows it.
fn check_phases(record: &Value) -> Vec<DocumentProblem> {
    let number = |key: &str| record.get(key)?.as_str()?.get(1..2)?.parse::<u8>().ok();
    let mut problems = Vec::new();
    let Some(from) = number("phase_from") else { return problems };
    if number("gate").is_some_and(|gate| gate != from) {
        problems.push(DocumentProblem::of(
            "gate",
            format!("the gate after P{from} is G{from}"),
            "name the gate after the phase that ends",
        ));
    }
    if number("phase_to").is_some_and(|to| to < from) {
        problems.push(DocumentProblem::of(
            "phase_to",
            "it comes before phase_from",
            "name the phase that begins",
        ));
    }
    problems
}

fn statuses(record: &Value) -> Option<Vec<&str>> {
    let items = record.get("checklist")?.as_list()?;
    items.iter().map(|item| item.get("status")?.as_str()).collect()
}

/// Requires at least 3, 5 or 7 items by tier, and at most 10.
fn check_length(record: &Value, findings: &mut Diagnostics) {
    let Some(length) = record.get("checklist").and_then(Value::as_list).map(<[_]>::len) else { return };
    let tier = record.get("tier").and_then(Value::as_str).unwrap_or_default();
    let least = match tier {
        "TRIVIAL" => 3,
        "STANDARD" => 5,
        "COMPLEX" => 7,
        _ => return,
    };
    if length < least {
        let what = format!("a {tier} gate checks at least {least} items, and this record has {length}");
        findings.problems.push(DocumentProblem::of(
            "checklist",
            what,
            "check the items that are missing, or state the tier that was meant",
        ));
    } else if length > 10 {
        let what = format!("{length} items are more than the 10 a gate looks at");
        findings.warnings.push(DocumentProblem::of("checklist", what, "bring items together"));
    }
}

/// Computes FAIL if an item failed, CONDITIONAL_PASS if one was skipped, otherwise PASS. Returns `None` if a
/// status is unreadable.
fn compute_verdict(record: &Value) -> Option<RecordVerdict> {
    let of = |status: &str| match status {
        "PASS" => Some(RecordVerdict::Pass),
        "SKIP" => Some(RecordVerdict::ConditionalPass),
        "FAIL" => Some(RecordVerdict::Fail),
        _ => None,
    };
    let verdicts: Option<Vec<_>> = statuses(record)?.into_iter().map(of).collect();
    verdicts?.into_iter().max()
}

/// A record may be stricter than its checklist, never more lenient.
fn check_verdict(record: &Value, computed: Option<RecordVerdict>) -> Option<DocumentProblem> {
    let stated = RecordVerdict::parse(record.get("verdict")?.as_str()?)?;
    let Some(computed) = computed else {
        // An unreadable status has its own problem; only a checklist without items is reported here.
        if record.get("checklist").and_then(Value::as_list).is_some_and(|items| !items.is_empty()) {
            return None;
        }
        let what = format!("it says {stated} over no checklist");
        return Some(DocumentProblem::of(
            "verdict",
            what,
            "list what was checked; a verdict follows from its checklist",
        ));
    };
    if stated >= computed {
        return None;
    }
    let because = if computed == RecordVerdict::Fail { "FAIL" } else { "SKIP" };
    let items = record.get("checklist").and_then(Value::as_list).unwrap_or_default();
    let culprits: Vec<_> = items
        .iter()
        .filter(|item| item.get("status").and_then(Value::as_str) == Some(because))
        .filter_map(|item| item.get("item")?.as_str())
        .collect();
    let what = format!("it says {stated} over {because}: {}", culprits.join("; "));
    Some(DocumentProblem::of(
        "verdict",
        what,
        format!("the verdict that follows from the checklist is {computed}"),
    ))
}
