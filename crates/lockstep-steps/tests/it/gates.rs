//! The gates as tables: accepted states, and every attack that must be refused.

use lockstep_steps::command_table::CommandTable;
use lockstep_steps::gate::commit::{self, CommitContext, CommitStep};
use lockstep_steps::gate::invocation::{self, InvocationContext, ReferencedStep};
use lockstep_steps::gate::stop::{self, StepStopContext, StopContext};
use lockstep_steps::gate::{AuditMatch, GateResult, GateVerdict};
use lockstep_steps::markers::parse;
use lockstep_steps::problem::StepProblem;
use lockstep_steps::section_definitions::SectionDefinitions;
use lockstep_steps::step::Step;
use lockstep_steps::step::evidence::{EvidenceRules, ExpectedResult, PhaseOutcome};
use lockstep_steps::step::transition::{PhaseAction, TransitionRules};
use lockstep_steps::{prompt_check, step::transition};
use serde_json::json;

use crate::prompts::whole;
use crate::{after, done, machine, no_evidence, skip, three};

fn fourteen() -> Step {
    Step::new("01-01", "auth", machine().phase_set("tdd-14").unwrap())
}

fn invoke(
    text: &str,
    step: Result<Step, Vec<StepProblem>>,
    recorded: AuditMatch,
    locked: Option<&str>,
) -> GateResult {
    let machine = machine();
    let rules = prompt_check::PromptRules {
        commands: &CommandTable::built_in(),
        definitions: &SectionDefinitions::built_in(),
        phases: &machine.phase_set("tdd-14").unwrap().phases,
    };
    let markers = parse(text);
    let found = ReferencedStep { file: "steps/01-01.json".to_owned(), step, recorded };
    let step = markers.step_file.is_some().then_some(&found);
    invocation::evaluate(InvocationContext { prompt: text, markers: &markers, step, locked }, &machine, rules)
}

fn stopped(step: Step, recorded: AuditMatch) -> GateResult {
    stopped_with(step, recorded, &[], no_evidence())
}

fn stopped_with(
    step: Step,
    recorded: AuditMatch,
    changed: &[(String, Option<String>)],
    evidence: EvidenceRules,
) -> GateResult {
    let machine = machine();
    let rules = TransitionRules { machine: &machine, evidence: &evidence };
    let stop = StepStopContext {
        file: "steps/01-01.json",
        step: &Ok(step),
        recorded: &recorded,
        changed: Some(changed),
        turns: Some(7),
        budget: Some(50),
        over_budget_blocks: false,
    };
    stop::evaluate(StopContext::Step(stop), rules)
}

fn at_commit(step: Step) -> CommitStep {
    CommitStep {
        file: "steps/01-01.json".to_owned(),
        step: Ok(step),
        recorded: AuditMatch::Matches,
        touched: true,
        abandoned: false,
        stop_passed: true,
    }
}

fn committed(step: CommitStep) -> GateResult {
    let (machine, evidence) = (machine(), no_evidence());
    let rules = TransitionRules { machine: &machine, evidence: &evidence };
    commit::evaluate(&CommitContext { steps: vec![step], ..CommitContext::default() }, rules)
}

fn edited(step: &Step, edit: impl Fn(&mut serde_json::Value)) -> Step {
    let mut value = step.value().clone();
    edit(&mut value);
    Step::parse(&value.to_string()).unwrap()
}

/// RED and GREEN are over, COMMIT is not started.
fn ready() -> Step {
    after(
        three(),
        &[("RED", PhaseAction::Start), ("RED", done()), ("GREEN", PhaseAction::Start), ("GREEN", done())],
    )
}

#[test]
fn an_ad_hoc_invocation_is_not_checked() {
    let judged = invoke("Look around.", Ok(fourteen()), AuditMatch::Missing, None);
    assert_eq!(judged.validation.result, GateVerdict::Pass);
    assert!(judged.looked_at[0].found.contains("ad-hoc"));
}

#[test]
fn a_whole_prompt_for_a_step_that_may_start_passes() {
    let judged = invoke(&whole(), Ok(fourteen()), AuditMatch::Missing, None);
    assert_eq!(judged.validation.errors, Vec::<String>::new());
    assert_eq!(judged.validation.gate_id, "GATE_1_PRE_INVOCATION");
    assert!(
        judged.looked_at.len() >= 4 && judged.looked_at.iter().all(|look| look.passed),
        "{:?}",
        judged.looked_at
    );
}

#[test]
fn a_step_that_is_done_locked_unreadable_or_forged_does_not_start() {
    let done = edited(&fourteen(), |value| value["state"]["status"] = json!("DONE"));
    let judged = invoke(&whole(), Ok(done.clone()), AuditMatch::Matches, None);
    assert!(
        judged.validation.errors[0].contains("Invalid transition: DONE -> IN_PROGRESS"),
        "{:?}",
        judged.validation
    );
    let forged = edited(&fourteen(), |value| {
        value["state"]["status"] = json!("IN_PROGRESS");
        value["tdd_cycle"]["phase_execution_log"][0]["status"] = json!("EXECUTED");
    });
    let judged = invoke(&whole(), Ok(forged), AuditMatch::Missing, None);
    assert!(judged.validation.errors[0].contains("written by hand"), "{:?}", judged.validation);
    let judged =
        invoke(&whole(), Ok(fourteen()), AuditMatch::Missing, Some("STEP_LOCKED by ada since 10:00"));
    assert_eq!(judged.validation.errors, ["STEP_LOCKED by ada since 10:00"]);
    let missing =
        StepProblem::missing("step file", "steps/01-01.json is not there", "Make it: `lockstep step new`");
    let judged = invoke(&whole(), Err(vec![missing]), AuditMatch::Missing, None);
    assert_eq!(judged.validation.errors, ["MISSING: steps/01-01.json is not there"]);
    assert_eq!(judged.validation.recovery_suggestions, ["Make it: `lockstep step new`"]);
}

#[test]
fn the_end_of_an_agent_by_table() {
    let begun = after(three(), &[("RED", PhaseAction::Start)]);
    let no_outcome =
        edited(&begun, |v| v["tdd_cycle"]["phase_execution_log"][0]["status"] = json!("EXECUTED"));
    let no_reason = edited(&begun, |v| v["tdd_cycle"]["phase_execution_log"][0]["status"] = json!("SKIPPED"));
    let wrong_reason =
        edited(&no_reason, |v| v["tdd_cycle"]["phase_execution_log"][0]["blocked_by"] = json!("LATER: x"));
    let done_early = edited(&ready(), |v| v["state"]["status"] = json!("DONE"));
    let fails = PhaseAction::Done { outcome: Some(PhaseOutcome::Fail), details: None, evidence: None };
    let red_fails = after(begun.clone(), &[("RED", fails)]);
    let done_with_fail = edited(&red_fails, |v| {
        v["state"]["status"] = json!("DONE");
        for at in 1..3 {
            v["tdd_cycle"]["phase_execution_log"][at]["status"] = json!("EXECUTED");
            v["tdd_cycle"]["phase_execution_log"][at]["outcome"] = json!("PASS");
        }
    });
    for (step, verdict, message) in [
        (begun, GateVerdict::Fail, "Phase RED left IN_PROGRESS (abandoned)"),
        (no_outcome, GateVerdict::Fail, "Phase RED EXECUTED without outcome"),
        (no_reason, GateVerdict::Fail, "MISSING: Phase RED SKIPPED without blocked_by"),
        (wrong_reason, GateVerdict::Fail, "INVALID: Phase RED: \"LATER: x\" begins with no known prefix"),
        (done_early, GateVerdict::Fail, "Task DONE but COMMIT NOT_EXECUTED"),
        (done_with_fail, GateVerdict::Fail, "INVALID: Phase RED EXECUTED with outcome FAIL"),
        (red_fails, GateVerdict::Warning, "Phase RED EXECUTED with outcome FAIL - blocks commit"),
        (
            after(three(), &[("RED", skip("DEFERRED: later"))]),
            GateVerdict::Warning,
            "Phase RED DEFERRED - blocks commit",
        ),
        (ready(), GateVerdict::Pass, ""),
        (three(), GateVerdict::Pass, ""),
    ] {
        let judged = stopped(step, AuditMatch::Matches);
        let output: Vec<_> = judged.validation.errors.iter().chain(&judged.validation.warnings).collect();
        assert_eq!(
            (judged.validation.result, output),
            (
                verdict,
                [message]
                    .iter()
                    .filter(|m| !m.is_empty())
                    .map(|m| m.to_string())
                    .collect::<Vec<_>>()
                    .iter()
                    .collect()
            )
        );
    }
}

#[test]
fn stop_gate_passes_ad_hoc_and_fails_without_step() {
    let (machine, evidence) = (machine(), no_evidence());
    let rules = TransitionRules { machine: &machine, evidence: &evidence };
    assert_eq!(stop::evaluate(StopContext::AdHoc, rules).validation.result, GateVerdict::Pass);
    let judged = stop::evaluate(StopContext::NoStep, rules);
    assert_eq!(judged.validation.errors, ["DES-VALIDATION marker present but DES-STEP-FILE marker missing"]);
}

#[test]
fn all_phases_logged_in_reverse_order_within_a_second() {
    let forged = edited(&three(), |v| {
        v["state"]["status"] = json!("IN_PROGRESS");
        for (at, millis) in [(0, "900"), (1, "500"), (2, "100")] {
            let phase = &mut v["tdd_cycle"]["phase_execution_log"][at];
            phase["status"] = json!("EXECUTED");
            phase["outcome"] = json!("PASS");
            phase["started_at"] = json!(format!("2026-02-14T10:00:00.{millis}Z"));
            phase["ended_at"] = json!(format!("2026-02-14T10:00:00.{millis}Z"));
        }
    });
    // Even where the trail would vouch for it, the times do not.
    let judged = stopped(forged.clone(), AuditMatch::Matches);
    assert_eq!(
        judged.validation.errors,
        [
            "INVALID: Phase GREEN began before RED had ended",
            "INVALID: Phase COMMIT began before GREEN had ended"
        ]
    );
    assert_eq!(stopped(forged.clone(), AuditMatch::Missing).validation.errors.len(), 3);
    assert!(committed(at_commit(forged)).validation.failed());
}

#[test]
fn hand_edited_state_passes_no_gate() {
    let by_hand = edited(&ready(), |v| v["state"]["status"] = json!("DONE"));
    let other = AuditMatch::Differs { status: "IN_PROGRESS".to_owned() };
    for judged in [
        stopped(ready(), other.clone()),
        committed(CommitStep { recorded: other.clone(), touched: false, ..at_commit(by_hand.clone()) }),
        committed(CommitStep { recorded: other, ..at_commit(by_hand.clone()) }),
        committed(CommitStep { recorded: AuditMatch::Missing, ..at_commit(by_hand) }),
    ] {
        assert!(
            judged.validation.errors.iter().any(|error| error.contains("by hand")),
            "{:?}",
            judged.validation
        );
    }
}

#[test]
fn changes_outside_the_boundary_are_reported() {
    let step =
        edited(&ready(), |v| v["boundary"] = json!({"allowed": ["src/**"], "forbidden": ["src/gen/**"]}));
    let changed: Vec<(String, Option<String>)> = [
        ("src/a.rs", Some("src/a.rs")),
        ("docs/x.md", Some("docs/x.md")),
        ("src/gen/b.rs", Some("src/gen/b.rs")),
        ("/etc/hosts", None),
    ]
    .map(|(text, path)| (text.to_owned(), path.map(str::to_owned)))
    .into();
    let judged = stopped_with(step, AuditMatch::Matches, &changed, no_evidence());
    assert_eq!(
        judged.validation.errors,
        [
            "docs/x.md was changed, outside the step's boundary: allowed is src/**",
            "src/gen/b.rs was changed, outside the step's boundary: src/gen/** is forbidden",
            "/etc/hosts was changed, outside the step's boundary: it is outside the project; allowed is src/**",
        ]
    );
}

#[test]
fn too_many_turns_warn_or_block() {
    let (machine, evidence) = (machine(), no_evidence());
    let rules = TransitionRules { machine: &machine, evidence: &evidence };
    for (blocks, verdict) in [(false, GateVerdict::Warning), (true, GateVerdict::Fail)] {
        let stop = StepStopContext {
            file: "s.json",
            step: &Ok(ready()),
            recorded: &AuditMatch::Matches,
            changed: None,
            turns: Some(51),
            budget: Some(50),
            over_budget_blocks: blocks,
        };
        assert_eq!(stop::evaluate(StopContext::Step(stop), rules).validation.result, verdict);
    }
}

#[test]
fn evidence_required_later_is_required_at_the_gate() {
    let rules = EvidenceRules([("GREEN".to_owned(), ExpectedResult::Pass)].into());
    let judged = stopped_with(ready(), AuditMatch::Matches, &[], rules);
    assert_eq!(
        judged.validation.errors,
        ["Phase GREEN needs evidence of a command that passes, and has none"]
    );
}

#[test]
fn a_commit_by_table() {
    let deferred = after(three(), &[("RED", skip("DEFERRED: later")), ("GREEN", skip("NOT_APPLICABLE: x"))]);
    let fails = PhaseAction::Done { outcome: Some(PhaseOutcome::Fail), details: None, evidence: None };
    let green_fails = after(
        three(),
        &[("RED", PhaseAction::Start), ("RED", done()), ("GREEN", PhaseAction::Start), ("GREEN", fails)],
    );
    let failed = transition::fail_by_gate(&ready(), "why", &[]);
    for (step, error) in [
        (at_commit(ready()), None),
        (at_commit(after(ready(), &[("COMMIT", PhaseAction::Start)])), None),
        (at_commit(three()), None),
        (at_commit(deferred), Some("Phase RED is put off (DEFERRED: later)")),
        (at_commit(green_fails), Some("Phase GREEN EXECUTED with outcome FAIL")),
        (at_commit(after(three(), &[("RED", PhaseAction::Start)])), Some("Phase RED is IN_PROGRESS")),
        (at_commit(failed), Some("the step is FAILED")),
        (
            CommitStep { stop_passed: false, ..at_commit(ready()) },
            Some("gate 2 has not passed since the last change"),
        ),
        (CommitStep { abandoned: true, ..at_commit(after(three(), &[("RED", PhaseAction::Start)])) }, None),
    ] {
        let judged = committed(step.clone());
        match error {
            None => assert_eq!(judged.validation.errors, Vec::<String>::new(), "{step:?}"),
            Some(error) => {
                assert!(judged.validation.errors[0].contains(error), "{error}: {:?}", judged.validation);
            }
        }
    }
}

#[test]
fn a_deleted_step_and_a_broken_trail_stop_a_commit() {
    let (machine, evidence) = (machine(), no_evidence());
    let rules = TransitionRules { machine: &machine, evidence: &evidence };
    let commit = CommitContext {
        gone: vec!["steps/01-01.json".to_owned()],
        broken_trail: vec!["audit-2026-02-14.log, line 3: it was edited".to_owned()],
        steps: Vec::new(),
        outside: Vec::new(),
    };
    let judged = commit::evaluate(&commit, rules);
    assert_eq!(judged.validation.errors.len(), 2);
    assert!(judged.render_errors().contains("Suggestion: "), "{}", judged.render_errors());
}

#[test]
fn every_error_has_its_suggestion_beside_it() {
    let judged = invoke("<!-- DES-VALIDATION: required -->", Ok(fourteen()), AuditMatch::Missing, None);
    assert_eq!(judged.validation.errors.len(), judged.fixes.len());
    for (error, suggestion) in &judged.fixes {
        assert!(
            judged.render_errors().contains(error.as_str())
                && judged.render_errors().contains(suggestion.as_str())
        );
    }
}
