//! Scratch: three concerns, and nothing else.

use lockstep_task::access::{AccessTable, Principal};
use lockstep_task::scratch::{Scratch, may_write};
use lockstep_task::value::Value;

use crate::fixture::lines;

#[test]
fn the_three_concerns_are_kept() {
    let text = "execution_metrics:\n  spawn_count: 4\n  spawn_log:\n  - P2 researcher-1\n  timing:\n    P2: 12m\ngate_summaries:\n  G2: PASS, two risks\ngc_version: 3\n";
    assert_eq!(Scratch::read(text.as_bytes()).unwrap().to_yaml(), text);
    assert_eq!(Scratch::read(b"").unwrap(), Scratch::default());
}

#[test]
fn nothing_else_is_accepted() {
    let findings = Scratch::read(b"gc_version: three\ndecisions: [a]\nexecution_metrics: {spawn_count: 1, findings: x}\ngate_summaries: {G2: ''}\n").unwrap_err();
    insta::assert_snapshot!(lines(&findings.problems), @r#"
    gate_summaries.G2: expected text, found blank text; write a sentence, in quotes if it looks like something else
    gc_version: expected a whole number, found "three"; give a count, 0 or more
    execution_metrics.findings: scratch holds execution_metrics, gate_summaries and gc_version, and nothing else; what another phase needs belongs in the task, or in the L2 file of this one
    decisions: scratch holds execution_metrics, gate_summaries and gc_version, and nothing else; what another phase needs belongs in the task, or in the L2 file of this one
    "#);
    for text in ["- a", "words", "a: ["] {
        assert!(Scratch::read(text.as_bytes()).is_err(), "{text}");
    }
}

#[test]
fn one_value_is_set_at_a_time() {
    let set = |scratch: &Scratch, place: &str, value: Value| scratch.with(&place.parse().unwrap(), value);
    let scratch = set(&Scratch::default(), "gc_version", 3.into()).unwrap();
    let scratch = set(&scratch, "execution_metrics.spawn_count", 4.into()).unwrap();
    let scratch = set(&scratch, "gate_summaries.G2", "PASS".into()).unwrap();
    assert_eq!(
        scratch.to_yaml(),
        "execution_metrics:\n  spawn_count: 4\ngate_summaries:\n  G2: PASS\ngc_version: 3\n"
    );
    for (place, value) in [
        ("decisions", 1),
        ("execution_metrics.notes", 1),
        ("gc_version.x", 1),
        ("gc_version", -1),
        ("gate_summaries", 1),
    ] {
        assert!(set(&scratch, place, value.into()).is_err(), "{place}");
    }
}

#[test]
fn fork_agents_may_not_write() {
    let table = AccessTable::default();
    for agent in ["pt-manager", "delivery-agent", "rsil-agent"] {
        let refusal = may_write(&Principal::from_agent_name(Some(agent)), &table).unwrap_err();
        assert!(
            refusal.to_string().starts_with(&format!("{agent} may not write scratch: a fork agent")),
            "{refusal}"
        );
    }
    for principal in [Principal::Lead, Principal::from_agent_name(Some("research-coord"))] {
        assert!(may_write(&principal, &table).is_ok());
    }
}
