//! No sequence of verbs reaches a state that a gate accepts without its evidence.

use std::collections::BTreeSet;

use lockstep_steps::gate::commit::{self, CommitContext, CommitStep};
use lockstep_steps::gate::stop::{self, StepStopContext, StopContext};
use lockstep_steps::gate::{AuditMatch, GateVerdict};
use lockstep_steps::step::Step;
use lockstep_steps::step::evidence::{EvidenceRules, ExpectedResult, PhaseOutcome};
use lockstep_steps::step::transition::{self, PhaseAction, TransitionRules};
use proptest::prelude::*;

use crate::{NOW, evidence, machine, three};

/// One verb with its arguments.
#[derive(Debug, Clone)]
enum Verb {
    Phase(&'static str, PhaseAction),
    Finish(&'static str),
    Resume,
    GateFails,
}

fn act() -> impl Strategy<Value = PhaseAction> {
    let outcome = prop_oneof![Just(None), Just(Some(PhaseOutcome::Pass)), Just(Some(PhaseOutcome::Fail))];
    let code = prop_oneof![Just(None), Just(Some(0)), Just(Some(1)), Just(Some(127))];
    let reason = prop_oneof![
        Just("DEFERRED: later"),
        Just("NOT_APPLICABLE: x"),
        Just("APPROVED_SKIP: ada"),
        Just("LATER: x"),
        Just("")
    ];
    prop_oneof![
        3 => Just(PhaseAction::Start),
        4 => (outcome, code).prop_map(|(outcome, code)| {
            PhaseAction::Done { outcome, details: None, evidence: code.map(evidence) }
        }),
        1 => reason.prop_map(|reason| PhaseAction::Skip { blocked_by: reason.to_owned(), details: None }),
        1 => Just(PhaseAction::Fail { details: None, evidence: None }),
    ]
}

fn verb() -> impl Strategy<Value = Verb> {
    let phase = prop_oneof![Just("RED"), Just("GREEN"), Just("COMMIT")];
    prop_oneof![
        12 => (phase, act()).prop_map(|(phase, act)| Verb::Phase(phase, act)),
        1 => prop_oneof![Just("DONE"), Just("PARTIAL"), Just("FAILED")].prop_map(Verb::Finish),
        1 => Just(Verb::Resume),
        1 => Just(Verb::GateFails),
    ]
}

/// The step after a verb; unchanged where it was refused.
fn apply(step: &Step, verb: &Verb, rules: TransitionRules<'_>) -> Step {
    let next = match verb {
        Verb::Phase(name, act) => transition::apply_phase_action(step, name, act, rules, NOW),
        Verb::Finish(status) => transition::finish(step, status, None, rules),
        Verb::Resume => transition::resume(step, rules),
        Verb::GateFails => Ok(transition::fail_by_gate(step, "because", &[])),
    };
    next.unwrap_or_else(|_| step.clone())
}

/// Returns true if a phase is proven by evidence of the expected kind, or was skipped for a reason that ends
/// it.
fn is_proven(step: &Step, name: &str, wanted: ExpectedResult) -> bool {
    let phase = step.phase(name).unwrap();
    let code = phase.evidence.as_ref().and_then(|evidence| evidence.exit_code);
    let text = match wanted {
        ExpectedResult::Pass => code == Some(0),
        ExpectedResult::Fail => code == Some(1),
    };
    let skipped = phase.status == "SKIPPED"
        && phase.blocked_by.as_deref().is_some_and(|reason| {
            ["BLOCKED_BY_DEPENDENCY: ", "NOT_APPLICABLE: ", "APPROVED_SKIP: "]
                .iter()
                .any(|prefix| reason.starts_with(prefix))
        });
    (phase.status == "EXECUTED" && phase.outcome.as_deref() == Some("PASS") && text) || skipped
}

fn commit_passes(step: &Step, rules: TransitionRules<'_>) -> bool {
    let at = CommitStep {
        file: "s.json".to_owned(),
        step: Ok(step.clone()),
        recorded: AuditMatch::Matches,
        touched: true,
        abandoned: false,
        stop_passed: true,
    };
    !commit::evaluate(&CommitContext { steps: vec![at], ..CommitContext::default() }, rules)
        .validation
        .failed()
}

fn stop_verdict(step: &Step, rules: TransitionRules<'_>) -> GateVerdict {
    let stop = StepStopContext {
        file: "s.json",
        step: &Ok(step.clone()),
        recorded: &AuditMatch::Matches,
        changed: None,
        turns: None,
        budget: None,
        over_budget_blocks: false,
    };
    stop::evaluate(StopContext::Step(stop), rules).validation.result
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn no_sequence_of_verbs_gets_past_a_gate_without_evidence(verbs in prop::collection::vec(verb(), 0..40)) {
        let machine = machine();
        let wanted = [("RED", ExpectedResult::Fail), ("GREEN", ExpectedResult::Pass)];
        let evidence = EvidenceRules(wanted.iter().map(|(name, kind)| ((*name).to_owned(), *kind)).collect());
        let rules = TransitionRules { machine: &machine, evidence: &evidence };
        let mut step = three();
        for verb in &verbs {
            step = apply(&step, verb, rules);
            if commit_passes(&step, rules) && !step.is_pristine() {
                for (name, kind) in wanted {
                    prop_assert!(is_proven(&step, name, kind), "{} is not proven: {}", name, step.to_text());
                }
                prop_assert_ne!(step.status(), "FAILED");
            }
            if step.status() == "DONE" {
                prop_assert_eq!(stop_verdict(&step, rules), GateVerdict::Pass, "{}", step.to_text());
                prop_assert!(commit_passes(&step, rules));
            }
            prop_assert!(step.problems(&machine).is_empty());
        }
    }
}

/// The property would prove nothing if the interesting states were never reached.
#[test]
fn the_verbs_do_reach_a_commit_and_an_end() {
    let machine = machine();
    let rules_of = EvidenceRules(
        [("RED".to_owned(), ExpectedResult::Fail), ("GREEN".to_owned(), ExpectedResult::Pass)].into(),
    );
    let rules = TransitionRules { machine: &machine, evidence: &rules_of };
    let with = |code| PhaseAction::Done { outcome: None, details: None, evidence: Some(evidence(code)) };
    let plain = PhaseAction::Done { outcome: Some(PhaseOutcome::Pass), details: None, evidence: None };
    let mut step = three();
    let mut seen = BTreeSet::new();
    for verb in [
        Verb::Phase("RED", PhaseAction::Start),
        Verb::Phase("RED", with(1)),
        Verb::Phase("GREEN", PhaseAction::Start),
        Verb::Phase("GREEN", with(0)),
        Verb::Phase("COMMIT", PhaseAction::Start),
        Verb::Phase("COMMIT", plain),
        Verb::Finish("DONE"),
    ] {
        step = apply(&step, &verb, rules);
        seen.insert((step.status().to_owned(), commit_passes(&step, rules)));
    }
    let expected = [("DONE", true), ("IN_PROGRESS", false), ("IN_PROGRESS", true)];
    assert_eq!(seen, expected.map(|(status, passes)| (status.to_owned(), passes)).into());
}
