//! The schemas match the written files.

use lockstep_steps::audit::{ChainHead, TrailRecord};
use lockstep_steps::command_table::CommandTable;
use lockstep_steps::gate::invocation::{self, InvocationContext};
use lockstep_steps::markers::parse;
use lockstep_steps::prompt_check::PromptRules;
use lockstep_steps::schema::schemas;
use lockstep_steps::section_definitions::SectionDefinitions;
use lockstep_steps::step::evidence::PhaseOutcome;
use lockstep_steps::step::transition::PhaseAction;
use serde_json::{Value, json};

use crate::{after, evidence, machine, three};

fn valid(name: &str, document: &Value) -> bool {
    let schemas = schemas();
    let (_, schema) = schemas.iter().find(|(known, _)| *known == name).unwrap();
    jsonschema::validator_for(schema).unwrap().is_valid(document)
}

#[test]
fn a_step_in_every_stage_fits_its_schema() {
    let pass = PhaseAction::Done {
        outcome: Some(PhaseOutcome::Pass),
        details: Some("x".to_owned()),
        evidence: Some(evidence(1)),
    };
    let begun = after(three(), &[("RED", PhaseAction::Start)]);
    let ended = after(begun.clone(), &[("RED", pass)]);
    for step in [three(), begun, ended] {
        assert!(valid("step-file", step.value()), "{}", step.value());
    }
    assert!(!valid("step-file", &json!({"task_id": "x"})));
}

#[test]
fn a_gate_result_fits_its_schema() {
    let machine = machine();
    let prompt = "<!-- DES-VALIDATION: required -->";
    let rules = PromptRules {
        commands: &CommandTable::built_in(),
        definitions: &SectionDefinitions::built_in(),
        phases: &machine.phase_sets[0].phases,
    };
    let markers = parse(prompt);
    let invocation = InvocationContext { prompt, markers: &markers, step: None, locked: None };
    let judged = invocation::evaluate(invocation, &machine, rules);
    let mut value = serde_json::to_value(&judged.validation).unwrap();
    assert!(valid("gate-result", &value), "{value}");
    value["looked_at"] = serde_json::to_value(&judged.looked_at).unwrap();
    assert!(valid("gate-result", &value), "{value}");
    value["result"] = json!("MAYBE");
    assert!(!valid("gate-result", &value));
}

#[test]
fn an_audit_line_fits_its_schema() {
    let record = TrailRecord::new("2026-02-14T10:00:00Z".parse().unwrap(), "X", None).with("extra", 1);
    let (line, _) = record.line(&ChainHead::default());
    let value: Value = serde_json::from_str(&line).unwrap();
    assert!(valid("audit-entry", &value), "{line}");
    assert!(!valid("audit-entry", &json!({"event": "X"})));
}
