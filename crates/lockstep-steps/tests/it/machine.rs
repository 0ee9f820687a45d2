//! Both machines as data: every transition, allowed and refused, and invalid files.

use lockstep_steps::state_machine::{PHASE_STATES, SkipReason, StepMachines, TASK_STATES};

use crate::machine;

#[test]
fn every_transition_of_a_task() {
    let allowed = [
        ("TODO", "IN_PROGRESS"),
        ("IN_PROGRESS", "DONE"),
        ("IN_PROGRESS", "FAILED"),
        ("IN_PROGRESS", "PARTIAL"),
        ("FAILED", "IN_PROGRESS"),
        ("PARTIAL", "IN_PROGRESS"),
    ];
    for from in TASK_STATES {
        for to in TASK_STATES {
            let answer = machine().task_transition(from, to);
            assert_eq!(answer.is_ok(), allowed.contains(&(from, to)), "{from} -> {to}");
            if let Err(error) = answer {
                assert_eq!(error.to_string(), format!("Invalid transition: {from} -> {to}"));
            }
        }
    }
}

#[test]
fn every_transition_of_a_phase() {
    let allowed = [
        ("NOT_EXECUTED", "IN_PROGRESS"),
        ("NOT_EXECUTED", "SKIPPED"),
        ("IN_PROGRESS", "EXECUTED"),
        ("IN_PROGRESS", "SKIPPED"),
        ("IN_PROGRESS", "FAILED"),
        ("FAILED", "IN_PROGRESS"),
    ];
    for from in PHASE_STATES {
        for to in PHASE_STATES {
            for deferred in [false, true] {
                let reopened = deferred && (from, to) == ("SKIPPED", "IN_PROGRESS");
                let answer = machine().phase_transition(from, to, deferred);
                assert_eq!(answer.is_ok(), allowed.contains(&(from, to)) || reopened, "{from} -> {to}");
                if let Err(error) = answer {
                    assert_eq!(error.to_string(), format!("Invalid transition: {from} -> {to}"));
                }
            }
        }
    }
}

#[test]
fn skip_reasons_are_classified_by_prefix() {
    for (reason, meaning) in [
        ("BLOCKED_BY_DEPENDENCY: 01-02", SkipReason::AllowsCommit),
        ("NOT_APPLICABLE: no ui", SkipReason::AllowsCommit),
        ("APPROVED_SKIP: by Ada", SkipReason::AllowsCommit),
        ("DEFERRED: tomorrow", SkipReason::BlocksCommit),
        ("DEFERRED:", SkipReason::Empty),
        ("NOT_APPLICABLE:  ", SkipReason::Empty),
        ("LATER: tomorrow", SkipReason::Unknown),
        ("not_applicable: x", SkipReason::Unknown),
        ("", SkipReason::Unknown),
    ] {
        assert_eq!(machine().classify_skip_reason(reason), meaning, "{reason}");
    }
}

#[test]
fn the_phase_sets_that_ship() {
    let machine = machine();
    let sizes: Vec<_> = machine.phase_sets.iter().map(|set| (set.name.as_str(), set.phases.len())).collect();
    assert_eq!(sizes, [("tdd-14", 14), ("tdd-8", 8), ("tdd-5", 5), ("tdd-3", 3)]);
    for set in &machine.phase_sets {
        assert_eq!(set.phases.last().map(String::as_str), Some("COMMIT"));
        assert!(set.ordered);
    }
}

#[test]
fn a_project_adds_a_set_and_keeps_the_rest() {
    let own = "phase_sets:\n  short: {phases: [DO, COMMIT], ordered: false}\n  tdd-3: {phases: [A]}\n";
    let own = StepMachines::parse(own).unwrap();
    assert_eq!(own.phase_set("short").unwrap().phases, ["DO", "COMMIT"]);
    assert!(!own.phase_set("short").unwrap().ordered);
    assert_eq!(own.phase_set("tdd-3").unwrap().phases, ["A"]);
    assert_eq!(own.phase_set("tdd-14"), machine().phase_set("tdd-14"));
    assert_eq!(own.task, machine().task);
}

#[test]
fn a_file_that_cannot_work_is_refused_with_every_reason() {
    let text = "task_states:\n  TODO: {transitions: [IN_PROGRESS]}\n  IN_PROGRESS: {transitions: [DONE, FAILED, GONE]}\n  \
                DONE: {terminal: true, transitions: [TODO]}\n  FAILED: {}\n  ISLAND: {}\n\
                phase_sets:\n  x: {phases: [A, A, 'b c']}\n  y: {phases: []}\n  z: {steps: []}\n";
    let error = StepMachines::parse(text).unwrap_err();
    for expected in [
        "the state PARTIAL is missing",
        "task_states.IN_PROGRESS: the target GONE is not a state",
        "task_states.DONE: it is terminal, yet has transitions",
        "task_states.ISLAND: no transition leads to it",
        "phase_sets.x: the phase A occurs twice",
        "\"b c\" must be letters",
        "phase_sets.y: it has no phases",
        "phase_sets.z:",
    ] {
        assert!(error.0.iter().any(|problem| problem.contains(expected)), "{expected}: {error}");
    }
    assert!(StepMachines::parse("task_state: {}").is_err());
    assert!(StepMachines::parse("a: &x [*x, *x]").is_err());
}
