//! The crate by its public face: tables and properties.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on must say where")]

mod audit;
mod changes;
mod gates;
mod machine;
mod markers;
mod prompts;
mod reachability;
mod schemas;
mod stale;
mod templates;

use std::sync::LazyLock;

use lockstep_steps::state_machine::StepMachines;
use lockstep_steps::step::Step;
use lockstep_steps::step::evidence::{CommandEvidence, EvidenceRules, PhaseOutcome};
use lockstep_steps::step::transition::{self, PhaseAction, TransitionRules};

pub(crate) const NOW: &str = "2026-02-14T15:30:42+09:00";

pub(crate) fn machine() -> StepMachines {
    static MACHINE: LazyLock<StepMachines> = LazyLock::new(StepMachines::built_in);
    MACHINE.clone()
}

pub(crate) fn no_evidence() -> EvidenceRules {
    EvidenceRules::default()
}

/// A new step with the phases RED, GREEN, COMMIT.
pub(crate) fn three() -> Step {
    Step::new("01-01", "auth", machine().phase_set("tdd-3").unwrap())
}

pub(crate) fn done() -> PhaseAction {
    PhaseAction::Done { outcome: Some(PhaseOutcome::Pass), details: None, evidence: None }
}

pub(crate) fn skip(why: &str) -> PhaseAction {
    PhaseAction::Skip { blocked_by: why.to_owned(), details: None }
}

pub(crate) fn evidence(exit_code: i32) -> CommandEvidence {
    CommandEvidence {
        command: "cargo test".to_owned(),
        exit_code: Some(exit_code),
        duration_ms: 12,
        output_digest: "0".repeat(64),
        output_tail: "ok".to_owned(),
        ran_at: NOW.to_owned(),
    }
}

/// Applies the actions. None of them may be refused.
pub(crate) fn after(step: Step, acts: &[(&str, PhaseAction)]) -> Step {
    let (machine, evidence) = (machine(), no_evidence());
    let rules = TransitionRules { machine: &machine, evidence: &evidence };
    acts.iter().fold(step, |step, (phase, act)| {
        transition::apply_phase_action(&step, phase, act, rules, NOW)
            .unwrap_or_else(|why| panic!("{phase} {act:?}: {why:?}"))
    })
}

/// The messages of a refusal.
pub(crate) fn refused(step: &Step, phase: &str, act: &PhaseAction) -> Vec<String> {
    let (machine, evidence) = (machine(), no_evidence());
    let rules = TransitionRules { machine: &machine, evidence: &evidence };
    let problems = transition::apply_phase_action(step, phase, act, rules, NOW).expect_err("it is refused");
    problems.into_iter().map(|problem| problem.message).collect()
}
