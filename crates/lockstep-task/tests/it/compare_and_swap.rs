//! Compare-and-swap, lost pointers, delivery.

use lockstep_task::document::TaskDocument;
use lockstep_task::key_path::KeyPath;
use lockstep_task::phase::TaskPhase;
use lockstep_task::value::{Map, MapExt};
use lockstep_task::version::compare_and_swap::{
    CurrentVersion, NextVersion, SwapError, VersionProposal, compare_and_swap,
};
use lockstep_task::version::delivery::{deliver, reopen};

use crate::fixture::{after_p3, document, edited, held, lines};

fn propose<'a>(
    base: u64,
    base_document: &'a TaskDocument,
    document: &'a TaskDocument,
) -> VersionProposal<'a> {
    VersionProposal { base, base_document: Some(base_document), document, merge: false, drops: &[] }
}

fn next(result: Result<Option<NextVersion>, SwapError>) -> NextVersion {
    result.unwrap().expect("it changes something")
}

/// A real update: it marks P4 complete and drops the L2 pointers of P2 and P3 unnoticed.
fn lossy() -> (TaskDocument, TaskDocument) {
    let base = after_p3();
    let text = base.to_yaml();
    let text = text.replace("    l2_path: phase-2/research-coord/L2-summary.md\n", "");
    let text = text.replace("    l2_path: phase-3/arch-coord/L2-summary.md\n", "");
    (base, document(&text.replace("IN_PROGRESS", "COMPLETE")))
}

#[test]
fn the_first_writer_wins() {
    let base = after_p3();
    let new = edited(&base, "status: IN_PROGRESS", "status: BLOCKED");
    let next = next(compare_and_swap(held(3, &base), propose(3, &base, &new)));
    assert_eq!((next.version, next.merged, &next.document), (4, false, &new));
    assert_eq!(next.diff.sections(), ["phase_status"]);
}

#[test]
fn identical_write_creates_no_version() {
    let base = after_p3();
    assert_eq!(compare_and_swap(held(3, &base), propose(3, &base, &base)), Ok(None));
}

#[test]
fn conflict_lists_the_changes_of_the_first_writer() {
    let base = after_p3();
    let present = edited(&base, "constraint: No new service", "constraint: No new process");
    let yours = edited(&base, "status: IN_PROGRESS", "status: BLOCKED");
    let refusal = compare_and_swap(held(4, &present), propose(3, &base, &yours)).unwrap_err();
    insta::assert_snapshot!(refusal.to_string());
    let merged = next(compare_and_swap(
        held(4, &present),
        VersionProposal { merge: true, ..propose(3, &base, &yours) },
    ));
    assert_eq!((merged.version, merged.merged), (5, true));
    assert!(merged.document.to_yaml().contains("No new process"));
    assert!(merged.document.to_yaml().contains("BLOCKED"));
}

#[test]
fn sections_that_conflict_are_not_merged() {
    let base = after_p3();
    let present = edited(&base, "status: IN_PROGRESS", "status: COMPLETE");
    let yours = edited(&base, "status: IN_PROGRESS", "status: BLOCKED");
    let refusal =
        compare_and_swap(held(4, &present), VersionProposal { merge: true, ..propose(3, &base, &yours) })
            .unwrap_err();
    assert!(matches!(refusal, SwapError::Conflict { clashes: true, .. }));
    insta::assert_snapshot!(refusal.to_string());
    let json = serde_json::to_value(&refusal).unwrap();
    assert_eq!(json["sections"]["sections"][0]["clashes"][0]["where"], "phase_status.P4.status");
}

#[test]
fn an_unknown_base_cannot_be_merged() {
    let base = after_p3();
    let yours = edited(&base, "status: IN_PROGRESS", "status: BLOCKED");
    let forgotten = VersionProposal { base_document: None, merge: true, ..propose(1, &base, &yours) };
    assert!(matches!(
        compare_and_swap(held(4, &base), forgotten),
        Err(SwapError::Conflict { sections: None, .. })
    ));
    let future = propose(9, &base, &yours);
    assert_eq!(compare_and_swap(held(4, &base), future), Err(SwapError::NoSuchBase { base: 9, present: 4 }));
}

#[test]
fn the_lossy_merge_is_refused_and_names_both_pointers() {
    let (base, new) = lossy();
    let refusal = compare_and_swap(held(3, &base), propose(3, &base, &new)).unwrap_err();
    insta::assert_snapshot!(refusal.to_string(), @r"
    this write would lose what other phases rely on:
      phase_status.P2.l2_path (points to phase-2/research-coord/L2-summary.md)
      phase_status.P3.l2_path (points to phase-3/arch-coord/L2-summary.md)
    keep them, or give them up by name: --drop 'phase_status.P2.l2_path' --drop 'phase_status.P3.l2_path'
    ");
}

#[test]
fn declared_lossy_merge_passes() {
    let (base, new) = lossy();
    let drop = |texts: &[&str]| texts.iter().map(|t| t.parse::<KeyPath>().unwrap()).collect::<Vec<_>>();
    let both = drop(&["phase_status.P2.l2_path", "phase_status.P3.l2_path", "phase_status.P1.l2_path"]);
    let next =
        next(compare_and_swap(held(3, &base), VersionProposal { drops: &both, ..propose(3, &base, &new) }));
    assert_eq!(next.version, 4);
    assert_eq!(next.idle_drops, drop(&["phase_status.P1.l2_path"]));
    // One name does not drop two values, and the name of a container that stays does not drop its content.
    for names in
        [&["phase_status.P2.l2_path"] as &[_], &["phase_status"], &["phase_status.P2", "phase_status.P3"]]
    {
        let drops = drop(names);
        let refused =
            compare_and_swap(held(3, &base), VersionProposal { drops: &drops, ..propose(3, &base, &new) });
        assert!(matches!(refused, Err(SwapError::WouldLose { .. })), "{names:?}");
    }
}

#[test]
fn a_merge_that_loses_a_pointer_is_refused_too() {
    let (base, new) = lossy();
    let present = edited(&base, "constraint: No new service", "constraint: No new process");
    let refusal =
        compare_and_swap(held(4, &present), VersionProposal { merge: true, ..propose(3, &base, &new) })
            .unwrap_err();
    assert!(matches!(refusal, SwapError::WouldLose { losses } if losses.len() == 2));
}

#[test]
fn everything_another_phase_relies_on_is_missed() {
    let base = after_p3();
    let table = [
        // A replaced value is not lost.
        (edited(&base, "phase-2/research-coord/L2-summary.md", "other/L2.md"), ""),
        // A section, unless its pointers are already reported.
        (document(&without(&base, "codebase_impact_map")), "codebase_impact_map (the whole section)"),
        (
            document(&without(&base, "phase_status")),
            "phase_status.P1.gate_record (points to phase-1/gate-record.yaml)\n\
             phase_status.P1.l2_path (points to phase-1/lead/L2-summary.md)\n\
             phase_status.P2.l2_path (points to phase-2/research-coord/L2-summary.md)\n\
             phase_status.P3.l2_path (points to phase-3/arch-coord/L2-summary.md)",
        ),
        // A decision that a constraint still references. An unreferenced one may be removed.
        (
            edited(
                &base,
                "- id: AD-1\n  decision: Sessions live in the store\n  rationale: They survive a restart\n  status: ACCEPTED\n",
                "",
            ),
            "architecture_decisions.AD-1 (still named in constraints.C-2.source)",
        ),
        (
            edited(
                &base,
                "- id: AD-2\n  decision: Tokens are opaque\n  rationale: They can be revoked\n  status: ACCEPTED\n",
                "",
            ),
            "",
        ),
        // A pointer that is emptied is lost as one that is removed.
        (
            edited(&base, "l2_path: phase-2/research-coord/L2-summary.md", "l2_path: ''"),
            "phase_status.P2.l2_path (points to phase-2/research-coord/L2-summary.md)",
        ),
    ];
    for (new, expected) in table {
        let output = match compare_and_swap(held(3, &base), propose(3, &base, &new)) {
            Err(SwapError::WouldLose { losses }) => {
                losses.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
            }
            Ok(Some(_)) => String::new(),
            other => panic!("{other:?}"),
        };
        assert_eq!(output, expected);
    }
}

fn without(document: &TaskDocument, section: &str) -> String {
    let mut root = document.root().clone();
    root.shift_remove(section);
    TaskDocument::from_root(root).to_yaml()
}

#[test]
fn a_complete_phase_without_pointers_is_missed() {
    let base = document(
        "user_intent: x\nphase_status: {P1: {status: COMPLETE}, P2: {status: PENDING}, P3: {status: COMPLETE}}\n",
    );
    let new = document("user_intent: x\nphase_status: {P3: {status: PENDING}}\n");
    let Err(SwapError::WouldLose { losses }) = compare_and_swap(held(3, &base), propose(3, &base, &new))
    else {
        panic!()
    };
    assert_eq!(
        losses.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["phase_status.P1 (the phase is COMPLETE)"]
    );
    let drops = ["phase_status.P1".parse().unwrap()];
    assert!(
        compare_and_swap(held(3, &base), VersionProposal { drops: &drops, ..propose(3, &base, &new) })
            .is_ok()
    );
}

#[test]
fn a_delivered_task_is_final() {
    let base = after_p3();
    let new = edited(&base, "status: IN_PROGRESS", "status: BLOCKED");
    let current = CurrentVersion { version: 9, delivered: true, document: &base };
    let refusal = compare_and_swap(current, propose(9, &base, &new)).unwrap_err();
    assert_eq!(refusal, SwapError::Delivered { present: 9 });
    assert!(refusal.to_string().contains("task reopen --why"));
}

#[test]
fn delivery_names_every_phase_that_is_not_complete() {
    let base = after_p3();
    let reasons = deliver(held(5, &base), &Map::new(), &[TaskPhase::P5]).unwrap_err();
    insta::assert_snapshot!(lines(&reasons));
}

#[test]
fn delivery_completes_the_last_phase_and_adds_metrics() {
    let mut base = after_p3();
    let phases: Map = TaskPhase::ALL
        .iter()
        .filter(|phase| **phase != TaskPhase::P9)
        .map(|phase| {
            let status = if *phase == TaskPhase::P5 { "PENDING" } else { "COMPLETE" };
            (
                phase.name().to_owned(),
                crate::fixture::value(&format!("{{status: {status}, l2_path: {phase}.md}}")),
            )
        })
        .collect();
    base.set("phase_status", phases);
    let mut metrics = Map::new();
    metrics.set("spawns", 12);
    let delivered = deliver(held(5, &base), &metrics, &[TaskPhase::P5]).unwrap();
    assert_eq!(delivered.text(&["phase_status", "P9", "status"]), Some("COMPLETE"));
    assert_eq!(delivered.text(&["phase_status", "P5", "status"]), Some("COMPLETE"));
    assert_eq!(delivered.text(&["phase_status", "P5", "assumed"]), Some("at delivery"));
    assert!(delivered.to_yaml().contains("metrics:\n  spawns: 12\n"));
    assert_eq!(delivered.pointers().len(), base.pointers().len());

    let current = CurrentVersion { version: 6, delivered: true, document: &delivered };
    assert!(deliver(current, &metrics, &[]).is_err());
    assert!(reopen(current, " ").is_err());
    assert!(reopen(held(6, &delivered), "more").is_err());
    let open = reopen(current, "a fault was found").unwrap();
    assert_eq!(open.text(&["phase_status", "P9", "status"]), Some("IN_PROGRESS"));
}
