//! The verbs: their preconditions, their effects, and all refusals.

use lockstep_steps::state_machine::StepMachines;
use lockstep_steps::step::Step;
use lockstep_steps::step::evidence::{EvidenceRules, ExpectedResult, PhaseOutcome};
use lockstep_steps::step::transition::{self, PhaseAction, TransitionRules};
use serde_json::json;

use crate::{NOW, after, done, evidence, machine, no_evidence, refused, skip, three};

#[test]
fn a_step_from_its_beginning_to_its_end() {
    let step = after(three(), &[("RED", PhaseAction::Start)]);
    assert_eq!(step.status(), "IN_PROGRESS");
    assert_eq!(step.phase("RED").unwrap().started_at.as_deref(), Some(NOW));
    let step = after(
        step,
        &[("RED", done()), ("GREEN", skip("NOT_APPLICABLE: docs")), ("COMMIT", PhaseAction::Start)],
    );
    let step = after(step, &[("COMMIT", done())]);
    let (machine, evidence) = (machine(), no_evidence());
    let rules = TransitionRules { machine: &machine, evidence: &evidence };
    let step = transition::finish(&step, "DONE", None, rules).unwrap();
    assert_eq!(step.status(), "DONE");
    assert!(
        transition::resume(&step, rules).unwrap_err()[0]
            .message
            .contains("Invalid transition: DONE -> IN_PROGRESS")
    );
}

#[test]
fn unknown_fields_stay_in_their_place() {
    let text = r#"{"zeta":1,"task_id":"a","project_id":"p","state":{"status":"TODO","owner":"me"},
        "tdd_cycle":{"phase_execution_log":[{"phase_name":"RED","status":"NOT_EXECUTED","note":[1,2]},
        {"phase_name":"GREEN","status":"NOT_EXECUTED"},{"phase_name":"COMMIT","status":"NOT_EXECUTED"}],"more":{}},"alpha":null}"#;
    let step = after(Step::parse(text).unwrap(), &[("RED", PhaseAction::Start)]);
    let value = step.value();
    assert_eq!((&value["zeta"], &value["state"]["owner"]), (&json!(1), &json!("me")));
    assert_eq!(value["tdd_cycle"]["phase_execution_log"][0]["note"], json!([1, 2]));
    assert_eq!(value.as_object().unwrap().keys().next().unwrap(), "zeta");
    assert_eq!(step.phase_set(&machine()).unwrap().name, "tdd-3", "the set is known by its phases");
    assert_eq!(Step::parse(&step.to_text()).unwrap(), step);
}

#[test]
fn phases_begin_in_their_order_and_one_at_a_time() {
    assert_eq!(
        refused(&three(), "GREEN", &PhaseAction::Start),
        ["The phases before GREEN are not over: RED"]
    );
    let step = after(three(), &[("RED", PhaseAction::Start)]);
    assert_eq!(refused(&step, "GREEN", &PhaseAction::Start), ["The phases before GREEN are not over: RED"]);
    assert_eq!(
        refused(&step, "RED", &PhaseAction::Start),
        ["Invalid transition: IN_PROGRESS -> IN_PROGRESS"]
    );
    assert_eq!(
        refused(&three(), "COMMIT", &skip("NOT_APPLICABLE: x")),
        ["The phases before COMMIT are not over: RED, GREEN"]
    );
    assert_eq!(refused(&three(), "BLUE", &PhaseAction::Start), ["The step has no phase \"BLUE\""]);
}

#[test]
fn a_set_may_leave_the_order_open() {
    let machine = StepMachines::parse("phase_sets:\n  free: {phases: [A, B, C], ordered: false}\n").unwrap();
    let evidence = no_evidence();
    let rules = TransitionRules { machine: &machine, evidence: &evidence };
    let mut step = Step::new("1", "p", machine.phase_set("free").unwrap());
    for name in ["C", "A", "B"] {
        step = transition::apply_phase_action(&step, name, &PhaseAction::Start, rules, NOW).unwrap();
    }
    assert!(step.phases().iter().all(|phase| phase.status == "IN_PROGRESS"));
}

#[test]
fn an_end_needs_an_outcome_and_a_skip_a_reason() {
    let step = after(three(), &[("RED", PhaseAction::Start)]);
    let nothing = PhaseAction::Done { outcome: None, details: None, evidence: None };
    assert_eq!(refused(&step, "RED", &nothing), ["Phase RED EXECUTED without outcome"]);
    assert_eq!(
        refused(&step, "RED", &skip("LATER: x")),
        ["Phase RED: \"LATER: x\" begins with no known prefix"]
    );
    assert_eq!(refused(&step, "RED", &skip("DEFERRED:")), ["Phase RED: \"DEFERRED:\" says no reason"]);
}

#[test]
fn a_claim_that_must_have_evidence_is_refused_without_it() {
    let machine = machine();
    let rules = EvidenceRules(
        [("RED".to_owned(), ExpectedResult::Fail), ("GREEN".to_owned(), ExpectedResult::Pass)].into(),
    );
    let rules = TransitionRules { machine: &machine, evidence: &rules };
    let red = after(three(), &[("RED", PhaseAction::Start)]);
    let with = |outcome, code: Option<i32>| PhaseAction::Done {
        outcome,
        details: None,
        evidence: code.map(evidence),
    };
    let pass = Some(PhaseOutcome::Pass);
    for (act, ok) in [
        (with(pass, None), false),
        (with(Some(PhaseOutcome::Fail), None), false),
        (with(pass, Some(0)), false),
        (with(pass, Some(127)), false),
        (with(pass, Some(1)), true),
        (with(None, Some(101)), true),
        (with(Some(PhaseOutcome::Fail), Some(0)), true),
    ] {
        assert_eq!(transition::apply_phase_action(&red, "RED", &act, rules, NOW).is_ok(), ok, "{act:?}");
    }
    let text = transition::apply_phase_action(&red, "RED", &with(None, Some(0)), rules, NOW).unwrap();
    assert_eq!(text.phase("RED").unwrap().outcome.as_deref(), Some("FAIL"), "the evidence decides");
}

#[test]
fn evidence_counts_even_if_it_is_not_required() {
    let step = after(three(), &[("RED", PhaseAction::Start), ("RED", done()), ("GREEN", PhaseAction::Start)]);
    let claim =
        PhaseAction::Done { outcome: Some(PhaseOutcome::Pass), details: None, evidence: Some(evidence(1)) };
    assert_eq!(
        refused(&step, "GREEN", &claim),
        ["Phase GREEN claims PASS, but its command ended with exit code 1 instead of 0"]
    );
}

#[test]
fn done_needs_every_phase_and_nothing_left_open() {
    let (machine, evidence) = (machine(), no_evidence());
    let rules = TransitionRules { machine: &machine, evidence: &evidence };
    let messages = |step: &Step, status| -> Vec<String> {
        transition::finish(step, status, None, rules)
            .unwrap_err()
            .into_iter()
            .map(|problem| problem.message)
            .collect()
    };
    assert_eq!(messages(&three(), "DONE")[0], "Invalid transition: TODO -> DONE");
    let step = after(three(), &[("RED", PhaseAction::Start)]);
    assert_eq!(messages(&step, "PARTIAL"), ["Phase RED is still IN_PROGRESS"]);
    let fail = PhaseAction::Done { outcome: Some(PhaseOutcome::Fail), details: None, evidence: None };
    let step = after(step, &[("RED", fail), ("GREEN", skip("DEFERRED: later"))]);
    assert_eq!(
        messages(&step, "DONE"),
        [
            "Phase RED EXECUTED with outcome FAIL",
            "Phase GREEN is put off (DEFERRED: later)",
            "Phase COMMIT is NOT_EXECUTED",
        ]
    );
    let partial = transition::finish(&step, "PARTIAL", Some("out of turns"), rules).unwrap();
    assert_eq!(partial.value()["state"]["failure_reason"], "out of turns");
    assert_eq!(
        refused(&partial, "COMMIT", &PhaseAction::Start)[0],
        "The step is PARTIAL, so its phases stay as they are"
    );
    assert_eq!(transition::resume(&partial, rules).unwrap().status(), "IN_PROGRESS");
}

#[test]
fn a_deferred_phase_can_be_taken_up_again_and_no_other_skipped_one() {
    let step =
        after(three(), &[("RED", skip("DEFERRED: later")), ("GREEN", PhaseAction::Start), ("GREEN", done())]);
    let step = after(step, &[("RED", PhaseAction::Start), ("RED", done())]);
    assert!(step.phase("RED").unwrap().reopened);
    assert_eq!(step.phase("RED").unwrap().blocked_by, None);
    let step = after(three(), &[("RED", skip("NOT_APPLICABLE: x"))]);
    assert_eq!(refused(&step, "RED", &PhaseAction::Start), ["Invalid transition: SKIPPED -> IN_PROGRESS"]);
}

#[test]
fn a_failed_phase_restarts_without_its_old_data() {
    let fail = PhaseAction::Fail { details: Some("flaky".to_owned()), evidence: Some(evidence(3)) };
    let step = after(three(), &[("RED", PhaseAction::Start), ("RED", fail), ("RED", PhaseAction::Start)]);
    let red = step.phase("RED").unwrap();
    assert_eq!((&red.evidence, &red.ended_at), (&None, &None));
}

#[test]
fn invalid_step_file_reports_every_problem() {
    let text = r#"{"task_id":7,"state":{},"tdd_cycle":{"phase_execution_log":[{"status":3},{"phase_name":"A","outcome":"OK"},
        {"phase_name":"A"}]},"boundary":{"allowed":["../x"],"forbidden":"docs"}}"#;
    let problems = Step::parse(text).unwrap_err();
    let elements: Vec<_> = problems.iter().map(|problem| problem.element.as_str()).collect();
    assert_eq!(
        elements,
        [
            "task_id",
            "project_id",
            "state.status",
            "phase_execution_log[0].status",
            "phase_execution_log[0].phase_name",
            "phase_execution_log[1].outcome",
            "A",
            "boundary.allowed",
            "boundary.forbidden",
        ]
    );
    assert!(Step::parse("{").unwrap_err()[0].message.contains("not JSON"));
    assert!(Step::parse("[]").is_err());
}

#[test]
fn phases_outside_the_set_are_reported() {
    let mut value = three().value().clone();
    value["tdd_cycle"]["phase_execution_log"].as_array_mut().unwrap().remove(1);
    let step = Step::parse(&value.to_string()).unwrap();
    assert_eq!(step.problems(&machine())[0].message, "The phase GREEN of tdd-3 is not in the log");
    value["tdd_cycle"]["phase_set"] = json!("tdd-99");
    let step = Step::parse(&value.to_string()).unwrap();
    assert_eq!(step.problems(&machine())[0].message, "There is no phase set \"tdd-99\"");
    value["tdd_cycle"].as_object_mut().unwrap().remove("phase_set");
    let step = Step::parse(&value.to_string()).unwrap();
    assert_eq!(
        step.problems(&machine())[0].message,
        "The phases are those of no phase set, and none is recorded"
    );
}

#[test]
fn the_seal_covers_the_state_and_nothing_that_anybody_may_edit() {
    let step = after(three(), &[("RED", PhaseAction::Start)]);
    let edited = |edit: &dyn Fn(&mut serde_json::Value)| {
        let mut value = step.value().clone();
        edit(&mut value);
        Step::parse(&value.to_string()).unwrap()
    };
    assert_eq!(edited(&|value| value["description"] = json!("new")).seal(), step.seal());
    assert_ne!(edited(&|value| value["state"]["status"] = json!("DONE")).seal(), step.seal());
    assert_ne!(edited(&|value| value["boundary"] = json!({"allowed": ["**"]})).seal(), step.seal());
    assert_ne!(edited(&|value| value["project_id"] = json!("other")).seal(), step.seal());
    let commit = |value: &mut serde_json::Value| {
        value["tdd_cycle"]["phase_execution_log"][2]["status"] = json!("IN_PROGRESS")
    };
    assert_eq!(edited(&commit).commit_seal(), step.commit_seal(), "the commit's own phase moves on");
    assert_ne!(edited(&commit).seal(), step.seal());
}
