//! The transition of each event in each state, and the events that are refused.

use lockstep_cascade::cascade_input::{CascadeInput, ImpactedFile};
use lockstep_cascade::event::{AgentClaim, CascadeDependent, CheckResult};
use lockstep_cascade::state::{FileOutcome, GroupStage};
use lockstep_cascade::{Cascade, CascadeEffect, CascadeEvent, StartOptions, TransitionError};

use crate::driver::{Play, ROOT, breaks, root_changed};

fn stage(play: &Play, group: &str) -> GroupStage {
    play.cascade.group(group).unwrap().stage
}

#[test]
fn events_that_do_not_fit_change_nothing_and_say_why() {
    let waiting = Play::start(&["a"]);
    let mut handed = waiting.clone();
    handed.hand("1a");
    let mut checking = handed.clone();
    checking.fix("a", "1").done("1a");
    let mut ended = checking.clone();
    ended.check(vec![]);
    let hand = |group: &str| CascadeEvent::Dispatched { group: group.to_owned(), before: [].into() };
    let done = |group: &str| CascadeEvent::AgentFinished {
        group: group.to_owned(),
        claim: AgentClaim::default(),
        seen: waiting.seen(),
    };
    let not_needed =
        |file: &str, why: &str| CascadeEvent::Dismissed { file: file.to_owned(), why: why.to_owned() };
    let check = || CascadeEvent::CheckCompleted(CheckResult::Failed("x".to_owned()));
    for (state, event, why) in [
        (&waiting, done("1a"), "was not handed out yet"),
        (&waiting, hand("9z"), "there is no group \"9z\" in this iteration; the groups are 1a"),
        (&waiting, check(), "no convergence check is due"),
        (&waiting, not_needed("z", "x"), "those are a"),
        (&waiting, not_needed("a", " "), "a reason is needed"),
        (&handed, hand("1a"), "in an agent's hands already"),
        (&handed, check(), "no convergence check is due"),
        (&checking, hand("1a"), "is settled"),
        (&checking, done("1a"), "is settled"),
        (&checking, not_needed("a", "x"), "those are none"),
        (&ended, hand("1a"), "has ended (converged)"),
        (&ended, done("1a"), "has ended"),
        (&ended, check(), "has ended"),
        (&ended, CascadeEvent::Aborted { why: "x".to_owned() }, "has ended"),
        (&ended, CascadeEvent::Interrupted { seen: waiting.seen() }, "has ended"),
    ] {
        let mut state = state.clone();
        let before = state.cascade.clone();
        let refused: TransitionError = state.try_step(event.clone()).unwrap_err();
        assert!(refused.to_string().contains(why), "{event:?}: {refused}");
        assert_eq!(state.cascade, before);
    }
}

#[test]
fn a_dependent_that_needs_no_change_is_resolved_with_its_reason() {
    let mut play = Play::start(&["a", "b"]);
    play.hand("1a");
    play.step(CascadeEvent::Dismissed { file: "b".to_owned(), why: "only a comment".to_owned() });
    assert_eq!(stage(&play, "1a"), GroupStage::Dispatched);
    play.fix("a", "1").done("1a");
    play.check(vec![breaks("b", "a")]);
    assert_eq!(play.ended(), ("converged", Some(true), 1));
    assert_eq!(play.cascade.dismissed["b"], "only a comment");
    assert_eq!(play.cascade.updated().len(), 1);
}

#[test]
fn when_nothing_in_a_group_needs_a_change_no_agent_is_needed() {
    let mut play = Play::start(&["a"]);
    let effects = play.step(CascadeEvent::Dismissed { file: "a".to_owned(), why: "x".to_owned() });
    assert_eq!(effects, [CascadeEffect::Check]);
    play.check(vec![]);
    assert_eq!(play.ended(), ("converged", Some(true), 1));
    assert_eq!(play.cascade.iterations[0].agents, 0);
}

#[test]
fn a_skipped_file_may_be_dismissed_later() {
    let mut play = Play::start(&["a", "b"]);
    for _ in 0..2 {
        play.hand("1a");
        play.fix("a", "1").done("1a");
    }
    assert!(play.cascade.skipped().contains_key("b"));
    play.step(CascadeEvent::Dismissed { file: "b".to_owned(), why: "generated".to_owned() });
    play.check(vec![]);
    assert_eq!(play.ended(), ("converged", Some(true), 1));
}

#[test]
fn a_dependent_that_does_not_break_may_stay_as_it_is() {
    let fits = CascadeDependent { breaks: Some(false), ..breaks("a", ROOT) };
    let mut play = Play::of(vec![fits, breaks("b", ROOT)], root_changed());
    play.hand("1a");
    play.fix("b", "1").done("1a");
    let outcome = |path: &str| {
        play.cascade.assignments().find(|(_, _, f)| f.path == path).unwrap().2.outcome.clone().unwrap()
    };
    assert_eq!((outcome("a"), outcome("b")), (FileOutcome::Unchanged, FileOutcome::Updated));
    let mut later = play.clone();
    // Now something breaks it that did not before.
    later.check(vec![breaks("a", "b")]);
    assert_eq!(later.cascade.pending_effects(), [CascadeEffect::Dispatch { group: "2a".to_owned() }]);
    play.check(vec![CascadeDependent { breaks: Some(false), ..breaks("a", "b") }]);
    assert_eq!(play.ended(), ("converged", Some(true), 1));
}

#[test]
fn unverifiable_file_counts_if_changed_and_is_reported() {
    let mut play = Play::start(&["a", "b"]);
    play.nobody_knows("a").nobody_knows("b").hand("1a");
    assert_eq!(play.fix("a", "1").done("1a"), [CascadeEffect::Dispatch { group: "1a".to_owned() }]);
    play.warned("a changed; whether it is up to date is not known");
    let errors = &play.cascade.group("1a").unwrap().errors;
    assert!(errors[0].contains("b: it is unchanged, and nobody can tell"), "{errors:?}");
}

#[test]
fn observed_files_override_a_failed_claim() {
    let mut play = Play::start(&["a"]);
    play.hand("1a");
    play.fix("a", "1");
    assert_eq!(play.failed("1a", "out of turns"), [CascadeEffect::Check]);
    play.warned("says it failed (out of turns); its files are up to date");
}

#[test]
fn an_interruption_loses_no_attempt_and_keeps_what_was_done() {
    let mut play = Play::start(&["a", "b"]);
    play.hand("1a");
    play.fix("a", "1");
    let seen = play.seen();
    assert_eq!(
        play.step(CascadeEvent::Interrupted { seen }),
        [CascadeEffect::Dispatch { group: "1a".to_owned() }]
    );
    let group = play.cascade.group("1a").unwrap();
    assert_eq!((group.attempt, group.files[0].outcome.clone()), (1, Some(FileOutcome::Updated)));
    assert_eq!(group.files[1].outcome, None);
    play.hand("1a");
    play.fix("b", "1");
    let seen = play.seen();
    assert_eq!(
        play.step(CascadeEvent::Interrupted { seen }),
        [CascadeEffect::Check],
        "nothing is left to hand out"
    );
}

#[test]
fn editing_a_settled_file_is_a_scope_violation() {
    let mut play = Play::start(&["a/1", "a/2", "b/1", "b/2"]);
    play.hand("1a");
    play.hand("1b");
    play.fix("a/1", "1").fix("a/2", "1").done("1a");
    play.fix("b/1", "1").fix("b/2", "1").fix("a/1", "2").done("1b");
    play.warned("a/1 is outside the scope and changed while group 1b was at work");
    assert_eq!(play.cascade.iterations[0].violations["a/1"], ["1b"]);
}

#[test]
fn editing_an_active_groups_file_is_not_a_violation() {
    let mut play = Play::start(&["a/1", "a/2", "b/1", "b/2"]);
    play.hand("1a");
    play.hand("1b");
    play.fix("a/1", "1").fix("a/2", "1").fix("b/1", "1").done("1a");
    assert!(play.cascade.iterations[0].violations.is_empty());
    play.fix("b/2", "1").done("1b");
    assert_eq!(play.cascade.updated().len(), 4);
}

#[test]
fn the_second_iteration_follows_what_the_first_one_changed() {
    let mut play = Play::start(&["a"]);
    play.hand("1a");
    play.fix("a", "1").done("1a");
    play.check(vec![breaks("b", "a")]);
    let iteration = play.cascade.iteration().unwrap();
    assert_eq!(iteration.causes.iter().map(|cause| cause.path.as_str()).collect::<Vec<_>>(), ["a"]);
    assert_eq!(iteration.groups[0].files[0].path, "b");
}

#[test]
fn a_root_cause_that_no_longer_fits_another_one_is_work_too() {
    let changed = |path: &str, dependents| ImpactedFile { path: path.to_owned(), dependents };
    let fits = CascadeDependent { breaks: Some(false), ..breaks("r1", "r2") };
    let input = CascadeInput {
        impacts: vec![changed("r1", vec![breaks("r2", "r1")]), changed("r2", vec![fits])],
        warnings: vec![],
    };
    let cascade = Cascade::start(Ok(input), StartOptions::default());
    assert_eq!(cascade.original.iter().collect::<Vec<_>>(), ["r2"]);
}
