//! Every row of the termination table, of the error contracts of boundaries B4 and B5, and every failure of a
//! cascade.

use lockstep_cascade::cascade_input::{CascadeInput, CascadeInputError, read};
use lockstep_cascade::event::{AgentClaim, CheckResult};
use lockstep_cascade::state::ConvergeOn;
use lockstep_cascade::{Cascade, CascadeEffect, CascadeEvent, StartOptions};

use crate::driver::{Play, ROOT, breaks, report, root_changed};

/// A chain of so many rounds: in each, one file is fixed and breaks the next one.
fn chain(rounds: usize) -> Play {
    let mut play = Play::start(&["f1"]);
    for round in 1..=rounds.min(3) {
        let (group, file) = (format!("{round}a"), format!("f{round}"));
        assert_eq!(play.cascade.pending_effects(), [CascadeEffect::Dispatch { group: group.clone() }]);
        assert_eq!(play.hand(&group), []);
        play.fix(&file, "1");
        assert_eq!(play.done(&group), [CascadeEffect::Check]);
        let next = (round < rounds).then(|| breaks(&format!("f{}", round + 1), &file));
        play.check(next.into_iter().collect());
    }
    play
}

#[test]
fn an_empty_check_after_iteration_1_2_or_3_is_convergence() {
    for rounds in 1..=3 {
        let play = chain(rounds);
        assert_eq!(play.ended(), ("converged", Some(true), rounds));
        assert_eq!(play.cascade.updated().len(), rounds);
        assert_eq!(play.cascade.all_warnings(), [] as [String; 0]);
    }
}

#[test]
fn impacts_left_after_iteration_3_are_partial_and_named() {
    let play = chain(4);
    assert_eq!(play.ended(), ("partial", Some(false), 3));
    assert_eq!(play.cascade.unresolved().into_iter().collect::<Vec<_>>(), ["f4"]);
    play.warned("New impacts are left after iteration 3: f4.");
}

#[test]
fn a_file_that_cannot_be_updated_is_retried_once_and_skipped() {
    let mut play = Play::start(&["a", "b"]);
    play.hand("1a");
    play.fix("a", "1");
    assert_eq!(
        play.done("1a"),
        [CascadeEffect::Dispatch { group: "1a".to_owned() }],
        "a fresh agent for what is left"
    );
    let group = play.cascade.group("1a").unwrap();
    let open: Vec<_> = group.files.iter().filter(|f| f.outcome.is_none()).map(|f| f.path.as_str()).collect();
    assert_eq!((open, group.attempt), (vec!["b"], 2));
    play.hand("1a");
    assert_eq!(play.done("1a"), [CascadeEffect::Check]);
    play.check(vec![]);
    assert_eq!(play.ended(), ("partial", Some(false), 1));
    assert_eq!(play.cascade.updated().into_iter().collect::<Vec<_>>(), ["a"]);
    assert!(play.cascade.skipped()["b"].contains("unchanged and still stale: b:1:use old;"));
    assert_eq!(play.cascade.iterations[0].agents, 2);
}

#[test]
fn skipped_file_stays_unresolved_after_an_empty_later_check() {
    let mut play = Play::start(&["a", "b"]);
    for _ in 0..2 {
        play.hand("1a");
        play.fix("a", "1").done("1a");
    }
    play.check(vec![breaks("c", "a"), breaks("b", "a")]);
    assert_eq!(play.cascade.iteration().unwrap().groups[0].files.len(), 1, "b is not tried again");
    play.hand("2a");
    play.fix("c", "1").done("2a");
    play.check(vec![]);
    assert_eq!(play.ended(), ("partial", Some(false), 2));
}

#[test]
fn all_implementers_failing_ends_the_cascade_with_their_errors() {
    let mut play = Play::of(
        ["a/1", "a/2", "b/1", "b/2"].iter().map(|file| breaks(file, ROOT)).collect(),
        root_changed(),
    );
    for _ in 0..2 {
        for group in ["1a", "1b"] {
            play.hand(group);
        }
        for group in ["1a", "1b"] {
            play.failed(group, "the file is locked");
        }
    }
    assert_eq!(play.ended(), ("partial", Some(false), 1));
    assert_eq!(play.cascade.skipped().len(), 4);
    play.warned("Group 1a, attempt 1: the agent said: the file is locked");
    play.warned("All implementers of iteration 1 failed");
}

#[test]
fn one_group_failing_does_not_end_it() {
    let mut play = Play::start(&["a/1", "a/2", "b/1", "b/2"]);
    for group in ["1a", "1b"] {
        play.hand(group);
    }
    play.fix("a/1", "1").fix("a/2", "1").done("1a");
    play.failed("1b", "no");
    play.hand("1b");
    assert_eq!(play.failed("1b", "no"), [CascadeEffect::Check]);
}

#[test]
fn no_direct_dependents_or_no_data_is_skipped() {
    let transitive = breaks("a", ROOT);
    let transitive = lockstep_cascade::event::CascadeDependent { direct: false, ..transitive };
    for (input, why) in [
        (Ok(report(vec![])), "No file depends directly on what changed"),
        (Ok(CascadeInput::default()), "No file depends directly on what changed"),
        (Ok(report(vec![transitive])), "Only transitive dependents (1)"),
        (Err(CascadeInputError::Empty), "does not mean that there are no impacts"),
        (Err(CascadeInputError::Malformed("x".to_owned())), "malformed: x"),
        (Err(CascadeInputError::Skipped), "nothing was analysed"),
        (read(b"]", "/p"), "malformed"),
    ] {
        let cascade = Cascade::start(input, StartOptions::default());
        assert_eq!((cascade.status().as_str(), cascade.convergence()), ("skipped", None));
        assert_eq!(
            (cascade.iterations.len(), cascade.pending_effects()),
            (0, vec![CascadeEffect::Report]),
            "nothing is started"
        );
        let warnings = cascade.all_warnings();
        assert!(warnings.iter().any(|warning| warning.contains(why)), "{why}: {warnings:?}");
    }
}

/// B4: partial or low-confidence input is accepted with a warning.
#[test]
fn weak_input_continues_with_a_warning() {
    let weak = b"status: partial\nconfidence: low\nimpacts:\n  - changed_file: r\n    dependents:\n      \
                 - {file: a, type: DIRECT, hop_count: 1}\n";
    let cascade = Cascade::start(read(weak, "/p"), StartOptions::default());
    assert!(cascade.is_active());
    assert!(cascade.warnings[0].contains("partial"), "{:?}", cascade.warnings);
}

/// B4: all dependents refused, because they are missing or outside the project.
#[test]
fn dependents_that_cannot_be_updated_are_omitted_with_a_note() {
    let refused = [("a".to_owned(), "it does not exist".to_owned())].into();
    let cascade =
        Cascade::start(Ok(report(vec![breaks("a", ROOT)])), StartOptions { refused, ..root_changed() });
    assert_eq!(cascade.status().as_str(), "skipped");
    assert!(cascade.warnings[0].contains("a is left out: it does not exist"), "{:?}", cascade.warnings);
}

/// B5, and seed 001: a check that fails is not convergence. It is repeated once, then the cascade ends.
#[test]
fn a_check_that_fails_twice_ends_partial() {
    let mut play = Play::start(&["a"]);
    play.hand("1a");
    play.fix("a", "1").done("1a");
    let failed = || CascadeEvent::CheckCompleted(CheckResult::Failed("no index".to_owned()));
    assert_eq!(play.step(failed()), [CascadeEffect::Check]);
    assert_eq!(play.step(failed()), [CascadeEffect::Report]);
    assert_eq!(play.ended(), ("partial", Some(false), 1));
    play.warned("failed a second time: no index");
}

#[test]
fn a_check_that_fails_once_may_still_converge() {
    let mut play = Play::start(&["a"]);
    play.hand("1a");
    play.fix("a", "1").done("1a");
    play.step(CascadeEvent::CheckCompleted(CheckResult::Failed("busy".to_owned())));
    play.check(vec![]);
    assert_eq!(play.ended(), ("converged", Some(true), 1));
}

/// B5: the implementer updates a wrong file.
#[test]
fn a_wrong_file_is_warned_about_not_counted_and_still_checked() {
    let mut play = Play::start(&["a"]);
    play.hand("1a");
    play.fix("a", "1").fix("other", "1").done("1a");
    play.warned("other is outside the scope and changed while group 1a was at work");
    let changed: Vec<String> = play.cascade.changed().into_iter().map(|cause| cause.path).collect();
    assert_eq!(changed, ["a", "other"], "its impacts are checked");
    assert_eq!(play.cascade.updated().len(), 1);
    play.check(vec![breaks("c", "other")]);
    assert_eq!(play.cascade.pending_effects(), [CascadeEffect::Dispatch { group: "2a".to_owned() }]);
}

/// B5: a claim that names other files than changed.
#[test]
fn agent_claim_does_not_affect_outcome() {
    let mut play = Play::start(&["a"]);
    play.hand("1a");
    let files = Some(vec!["a".to_owned(), "z".to_owned()]);
    let effects = play.done_saying("1a", AgentClaim { complete: true, files, ..AgentClaim::default() });
    assert_eq!(
        effects,
        [CascadeEffect::Dispatch { group: "1a".to_owned() }],
        "nothing changed, so it is retried"
    );
    play.warned("reports changes in files that did not change: a, z. They are not counted as updated.");
    assert!(play.cascade.updated().is_empty());
}

#[test]
fn a_changed_root_cause_is_reported() {
    let mut play = Play::start(&["a"]);
    play.hand("1a");
    play.fix("a", "1").fix(ROOT, "root 2").done("1a");
    play.warned("src/root.rs is the root cause and changed");
}

/// B5: a circular dependency.
#[test]
fn returning_file_causes_a_warning_and_no_second_run() {
    let mut play = Play::start(&["a"]);
    play.hand("1a");
    play.fix("a", "1").done("1a");
    play.check(vec![breaks("b", "a")]);
    play.hand("2a");
    play.fix("b", "1").done("2a");
    assert_eq!(play.check(vec![breaks("a", "b")]), [CascadeEffect::Report]);
    play.warned("a returns after it was handled: it no longer fits b. It is not processed again.");
    assert_eq!(play.ended(), ("partial", Some(false), 2), "it is known not to fit: that is no convergence");
    assert_eq!(play.cascade.unresolved().into_iter().collect::<Vec<_>>(), ["a"]);
}

#[test]
fn a_file_that_returns_and_still_fits_is_only_warned_about() {
    let start = StartOptions { converge_on: ConvergeOn::Any, ..root_changed() };
    let mut play = Play::of(vec![breaks("a", ROOT)], start);
    play.hand("1a");
    play.fix("a", "1").done("1a");
    let fits = |path, cause| lockstep_cascade::event::CascadeDependent {
        breaks: Some(false),
        ..breaks(path, cause)
    };
    play.check(vec![fits(ROOT, "a"), fits("a", "a")]);
    play.warned("src/root.rs returns after it was handled: it depends on a");
    assert_eq!(play.ended(), ("converged", Some(true), 1));
}

#[test]
fn oscillation_ends_the_cascade() {
    // The first letter of the name has two bytes.
    let mut play = Play::start(&["a", "é"]);
    play.hand("1a");
    play.fix("a", "1").botch("é", "1").done("1a");
    play.hand("1a");
    play.fix("é", "0");
    assert_eq!(play.done("1a"), [CascadeEffect::Report]);
    assert_eq!(play.ended(), ("partial", Some(false), 1));
    play.warned("A file oscillates: é returned");
    let mut play = Play::start(&["a"]);
    play.hand("1a");
    play.fix("a", "1").fix(ROOT, "root 0").done("1a");
    assert_eq!(play.ended(), ("partial", Some(false), 1));
    play.warned("src/root.rs has a content it had before");
}

#[test]
fn a_failing_verification_is_the_next_iterations_work() {
    let mut play = Play::start(&["a"]);
    play.hand("1a");
    play.fix("a", "1").done("1a");
    play.verify(false, &[("b", "error: b:1")]);
    assert_eq!(play.cascade.pending_effects(), [CascadeEffect::Dispatch { group: "2a".to_owned() }]);
    play.nobody_knows("b").hand("2a");
    play.fix("b", "1").done("2a");
    play.verify(true, &[]);
    assert_eq!(play.ended(), ("converged", Some(true), 2));
}

#[test]
fn a_verification_that_fails_without_new_work_is_no_convergence() {
    for (failures, why) in [(&[][..], "names no file"), (&[("a", "error in a")][..], "No longer fit")] {
        let mut play = Play::start(&["a"]);
        play.hand("1a");
        play.fix("a", "1").done("1a");
        play.verify(false, failures);
        assert_eq!(play.ended(), ("partial", Some(false), 1));
        let warnings = play.cascade.all_warnings().join("\n").to_lowercase();
        assert!(warnings.contains(&why.to_lowercase()), "{warnings}");
    }
}

#[test]
fn abort_records_its_reason() {
    let mut play = Play::start(&["a"]);
    assert!(play.try_step(CascadeEvent::Aborted { why: " ".to_owned() }).is_err());
    play.step(CascadeEvent::Aborted { why: "no time".to_owned() });
    assert_eq!(play.ended(), ("partial", Some(false), 1));
    play.warned("Aborted: no time.");
    assert_eq!(play.cascade.unresolved().into_iter().collect::<Vec<_>>(), ["a"]);
}
