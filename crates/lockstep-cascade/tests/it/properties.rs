//! Properties that hold for every sequence of events.

use std::collections::BTreeMap;

use lockstep_cascade::event::{
    AgentClaim, CascadeDependent, CheckFindings, CheckResult, DiskObservation, FileStaleness, GroupingInput,
    ObservedFile, UnassignedChange, VerificationResult,
};
use lockstep_cascade::state::{ConvergeOn, FileOutcome};
use lockstep_cascade::tier::Tier;
use lockstep_cascade::{Cascade, CascadeEvent, MAX_GROUPS, MAX_ITERATIONS, StartOptions};
use proptest::prelude::*;

use crate::driver::{breaks, report};

const FILES: [&str; 8] = ["a/1", "a/2", "b/3", "b/4", ".claude/c/5", "6", "7", "8"];

fn file() -> impl Strategy<Value = String> {
    prop::sample::select(&FILES[..]).prop_map(str::to_owned)
}

fn content() -> impl Strategy<Value = Option<String>> {
    prop::option::weighted(0.9, (0_u8..4).prop_map(|n| n.to_string()))
}

fn left() -> impl Strategy<Value = FileStaleness> {
    prop_oneof![
        4 => Just(FileStaleness::Clean),
        2 => Just(FileStaleness::Stale(vec!["x:1:y".to_owned()])),
        1 => Just(FileStaleness::Unknown("dark".to_owned())),
    ]
}

fn seen() -> impl Strategy<Value = DiskObservation> {
    let files = prop::collection::vec((content(), left()), FILES.len()).prop_map(|seen| {
        let seen = seen.into_iter().map(|(content, left)| ObservedFile { content, left });
        FILES.iter().map(ToString::to_string).zip(seen).collect::<BTreeMap<_, _>>()
    });
    let others = prop::collection::vec(("[xyz]", content(), content()), 0..2).prop_map(|others| {
        others.into_iter().map(|(path, before, content)| UnassignedChange { path, before, content }).collect()
    });
    (files, others).prop_map(|(files, others)| DiskObservation { files, unassigned_changes: others })
}

fn dependents() -> impl Strategy<Value = Vec<CascadeDependent>> {
    let one = (file(), file(), any::<bool>(), prop::option::of(any::<bool>()));
    let one = one.prop_map(|(path, cause, direct, breaking)| CascadeDependent {
        direct,
        breaks: breaking,
        ..breaks(&path, &cause)
    });
    prop::collection::vec(one, 0..5)
}

fn verdict() -> impl Strategy<Value = CheckResult> {
    let oracle =
        (any::<bool>(), prop::collection::vec(file(), 0..2)).prop_map(|(passed, named)| VerificationResult {
            passed,
            failures: named.into_iter().map(|path| (path, "error".to_owned())).collect(),
        });
    let found = (dependents(), prop::option::weighted(0.3, oracle)).prop_map(|(dependents, oracle)| {
        CheckResult::Found(CheckFindings {
            dependents,
            oracle,
            terrain: GroupingInput::default(),
            warnings: vec![],
        })
    });
    prop_oneof![8 => found, 1 => Just(CheckResult::Failed("x".to_owned()))]
}

#[derive(Debug, Clone)]
enum Move {
    Hand(usize, Vec<Option<String>>),
    Done(usize, bool, Option<Vec<String>>, DiskObservation),
    Interrupt(DiskObservation),
    Dismiss(String),
    Check(CheckResult),
    Abort,
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let one = prop_oneof![
        6 => (0_usize..2, prop::collection::vec(content(), FILES.len())).prop_map(|(g, c)| Move::Hand(g, c)),
        6 => (0_usize..2, any::<bool>(), prop::option::of(prop::collection::vec(file(), 0..3)), seen())
            .prop_map(|(group, complete, files, seen)| Move::Done(group, complete, files, seen)),
        1 => seen().prop_map(Move::Interrupt),
        1 => file().prop_map(Move::Dismiss),
        6 => verdict().prop_map(Move::Check),
        1 => Just(Move::Abort),
    ];
    prop::collection::vec(one, 0..40)
}

fn event(cascade: &Cascade, one: Move) -> Option<CascadeEvent> {
    let group = |at: usize| Some(cascade.iteration()?.groups.get(at)?.id.clone());
    Some(match one {
        Move::Hand(at, contents) => {
            let files = FILES.iter().map(ToString::to_string);
            let group = group(at)?;
            let own = &cascade.group(&group)?.files;
            let before =
                files.zip(contents).filter(|(path, _)| own.iter().any(|f| f.path == *path)).collect();
            CascadeEvent::Dispatched { group, before }
        }
        Move::Done(at, complete, files, mut seen) => {
            let own = cascade.iteration()?.groups.iter().flat_map(|g| &g.files).map(|f| f.path.clone());
            let own: Vec<String> = own.collect();
            seen.files.retain(|path, _| own.contains(path));
            CascadeEvent::AgentFinished {
                group: group(at)?,
                claim: AgentClaim { complete, files, ..AgentClaim::default() },
                seen,
            }
        }
        Move::Interrupt(seen) => CascadeEvent::Interrupted { seen },
        Move::Dismiss(file) => CascadeEvent::Dismissed { file, why: "no".to_owned() },
        Move::Check(verdict) => CascadeEvent::CheckCompleted(verdict),
        Move::Abort => CascadeEvent::Aborted { why: "stop".to_owned() },
    })
}

fn holds(cascade: &Cascade) {
    assert!(cascade.iterations.len() <= usize::from(MAX_ITERATIONS));
    for iteration in &cascade.iterations {
        assert!(iteration.groups.len() <= MAX_GROUPS);
        let files: Vec<&str> =
            iteration.groups.iter().flat_map(|g| &g.files).map(|f| f.path.as_str()).collect();
        let mut once = files.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), files.len(), "a file is processed twice in one iteration");
        assert!(iteration.groups.iter().all(|group| group.attempt <= 2 && iteration.agents <= 64));
    }
    let mut updated: Vec<&str> = cascade
        .assignments()
        .filter(|(_, _, file)| file.outcome == Some(FileOutcome::Updated))
        .map(|(_, _, file)| file.path.as_str())
        .collect();
    let count = updated.len();
    updated.sort_unstable();
    updated.dedup();
    assert_eq!(updated.len(), count, "a file is updated in two iterations");
    if cascade.convergence() == Some(true) {
        assert!(cascade.skipped().is_empty() && cascade.unresolved().is_empty());
        assert!(cascade.assignments().all(|(_, _, file)| file.outcome.is_some()));
    }
    if let Some(end) = &cascade.end {
        assert!(!end.why.is_empty());
    }
    let text = serde_json::to_string(cascade).unwrap();
    assert_eq!(&serde_json::from_str::<Cascade>(&text).unwrap(), cascade, "the state survives being kept");
}

fn play(
    dependents: Vec<CascadeDependent>,
    moves: Vec<Move>,
    any: bool,
    tier: Option<Tier>,
) -> (Cascade, String) {
    let converge_on = if any { ConvergeOn::Any } else { ConvergeOn::Breaking };
    let start = StartOptions { converge_on, tier, ..StartOptions::default() };
    let mut cascade = Cascade::start(Ok(report(dependents)), start);
    let mut output = String::new();
    for one in moves {
        holds(&cascade);
        let Some(event) = event(&cascade, one) else { continue };
        let was_active = cascade.is_active();
        match cascade.clone().apply(event) {
            Ok((next, effects)) => {
                assert!(was_active, "what has ended stays as it is");
                assert_eq!(next.pending_effects(), effects);
                cascade = next;
            }
            Err(refused) => output += &format!("{refused}\n"),
        }
        output += &cascade.l1();
        output += &cascade.l2(&|digest| Some(format!("{digest}\n")), &[]);
        output += &serde_json::to_string(&cascade.data()).unwrap();
    }
    holds(&cascade);
    (cascade, output)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn invariants_hold_for_random_event_sequences(dependents in dependents(), moves in moves(), any in any::<bool>(), tier in prop::option::of(prop::sample::select(&Tier::ALL[..]))) {
        let (first, told) = play(dependents.clone(), moves.clone(), any, tier);
        let (second, again) = play(dependents, moves, any, tier);
        prop_assert_eq!(first, second);
        prop_assert_eq!(told, again, "the same events give the same bytes");
    }
}
