//! The published JSON Schemas agree with the checks.

use lockstep_task::audit::{TaskAuditEntry, TaskAuditVerdict};
use lockstep_task::handoff::l2;
use lockstep_task::json_schemas::schemas;
use lockstep_task::scratch::Scratch;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::fixture::{AFTER_P3, all, check, gate, l2 as l2_text, value};

fn validator(name: &str) -> jsonschema::Validator {
    let (_, schema) = schemas().into_iter().find(|(n, _)| *n == name).unwrap();
    jsonschema::draft202012::meta::validate(&schema).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

fn json_of(yaml: &str) -> Value {
    serde_json::to_value(value(yaml)).unwrap()
}

#[test]
fn the_schemas_are_there_and_are_schemas() {
    let names: Vec<_> = schemas().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["task", "gate-record", "l1-index", "scratch", "handoff-report", "task-event"]);
    for name in names {
        validator(name);
    }
}

#[test]
fn the_schema_of_the_task_agrees_with_the_check() {
    let validator = validator("task");
    assert!(validator.is_valid(&json_of(AFTER_P3)));
    let rows = [
        "user_intent: ''",
        "user_intent: 3",
        "constraints: []",
        "constraints: x",
        "constraints: [{id: C-0, constraint: a, source: b}]",
        "constraints: [{id: C-12, constraint: a, source: b}]",
        "constraints: [{id: AD-1, constraint: a, source: b}]",
        "phase_status: {P1: {status: COMPLETE}}",
        "phase_status: {P10: {status: COMPLETE}}",
        "phase_status: {P1: {status: DONE}}",
        "phase_status: {P1: {}}",
        "validation_verdict: PASS",
        "validation_verdict: pass",
        "budget_constraints: {max_spawns: 1, max_phases: 0}",
        "budget_constraints: {max_spawns: -1, max_phases: 0}",
        "budget_constraints: {max_spawns: 1.5, max_phases: 0}",
        "other: {x: 1}",
        "verification_summary: {test_count: 1, pass_rate: 98.5%, l2_path: a}",
        "verification_summary: {test_count: 1, pass_rate: 100%, l2_path: a}",
        "verification_summary: {test_count: 1, pass_rate: 100.5%, l2_path: a}",
        "verification_summary: {test_count: 1, pass_rate: 98, l2_path: a}",
        "metrics: {a: [1]}",
        "metrics: 3",
        "implementation_plan: {l3_path: a, task_count: 1}",
        "codebase_impact_map: {modules: [], interfaces: [], risk_hotspots: []}",
        "codebase_impact_map: {modules: [{name: a, files: [], dependencies: [1]}], interfaces: [], risk_hotspots: []}",
    ];
    for row in rows {
        let text =
            if row.starts_with("user_intent") { row.to_owned() } else { format!("user_intent: x\n{row}\n") };
        assert_eq!(validator.is_valid(&json_of(&text)), check(&text).is_valid(), "{text}");
    }
}

#[test]
fn the_other_schemas_accept_what_passes_and_refuse_what_does_not() {
    let record = validator("gate-record");
    assert!(record.is_valid(&json_of(&gate(4))));
    assert!(!record.is_valid(&json_of(&gate(4).replace("tier: TRIVIAL\n", ""))));
    assert!(!record.is_valid(&json_of(&gate(4).replace("G4", "gate 4"))));
    let index = validator("l1-index");
    assert!(index.is_valid(
        &json!({"agent": "a", "phase": "P2b", "status": "blocked", "timestamp": "2026-02-12", "more": 1})
    ));
    assert!(
        !index.is_valid(
            &json!({"agent": "a", "phase": "P2b", "status": "COMPLETE", "timestamp": "2026-02-12"})
        )
    );
    let scratch = validator("scratch");
    for text in [
        "gc_version: 3",
        "execution_metrics: {spawn_count: 1}",
        "gate_summaries: {a: b}",
        "decisions: 1",
        "execution_metrics: {x: 1}",
        "gc_version: x",
    ] {
        assert_eq!(scratch.is_valid(&json_of(text)), Scratch::read(text.as_bytes()).is_ok(), "{text}");
    }
}

#[test]
fn reports_and_events_match_their_schemas() {
    let report = validator("handoff-report");
    for text in [l2_text("x"), "## Summary\n### x\n".to_owned()] {
        let checked = l2::check("L2.md".as_ref(), text.as_bytes(), &all());
        let json = serde_json::to_value(&checked).unwrap();
        assert!(report.is_valid(&json), "{:?}", report.validate(&json).err());
    }
    let event = validator("task-event");
    let entry = TaskAuditEntry {
        timestamp: "2026-02-12T09:30:00Z".parse().unwrap(),
        session: None,
        agent_id: Some("a1".to_owned()),
        agent_type: None,
        tool: "TaskCreate".to_owned(),
        task_id: None,
        version: None,
        sections: Vec::new(),
        verdict: TaskAuditVerdict::Granted,
        reason: None,
    };
    let mut json = serde_json::to_value(&entry).unwrap();
    assert!(event.is_valid(&json));
    json["verdict"] = json!("maybe");
    assert!(!event.is_valid(&json));
}

proptest! {
    /// Any small change of the example is valid for both or for neither.
    #[test]
    fn changed_documents_agree(line in 0_usize..21, new in "[A-Za-z0-9:{}\\[\\], %-]{0,12}") {
        let mut lines: Vec<_> = AFTER_P3.lines().map(str::to_owned).collect();
        let cut = lines[line].rfind(' ').map_or(0, |at| at + 1);
        lines[line].truncate(cut);
        lines[line].push_str(&new);
        let text = lines.join("\n");
        if let Ok(value) = lockstep_task::yaml::read(text.as_bytes(), 1 << 20) {
            // Uniqueness is beyond a schema, and so are pointers, which all exist here.
            let findings = check(&text);
            let unique = findings.problems.iter().all(|p| !p.what.contains("occurs twice") && !p.what.contains("leads out") && !p.what.contains("is empty"));
            if unique && value.as_object().is_some() {
                let json = serde_json::to_value(&value).unwrap();
                prop_assert_eq!(validator("task").is_valid(&json), findings.is_valid(), "{}\n{}", text, findings);
            }
        }
    }
}
