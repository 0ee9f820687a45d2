//! One write judged whole: shape, access and version at once.

use lockstep_task::access::{AccessTable, Principal};
use lockstep_task::document::{DocumentLimits, TaskDocument};
use lockstep_task::version::compare_and_swap::{NextVersion, VersionProposal};
use lockstep_task::write_check::{
    RefusalReason, WriteRequest, WriteRules, evaluate_creation, evaluate_update,
};

use crate::fixture::{after_p3, all, document, edited, held};

fn judged(
    principal: &Principal,
    skill: Option<&str>,
    present: &TaskDocument,
    base: &TaskDocument,
    new: &TaskDocument,
    merge: bool,
) -> Result<Option<NextVersion>, String> {
    let access = AccessTable::default();
    let lookup = all();
    let rules = WriteRules { access: &access, limits: DocumentLimits::default(), lookup: &lookup };
    let base_version = if present == base { 4 } else { 3 };
    let proposal =
        VersionProposal { base: base_version, base_document: Some(base), document: new, merge, drops: &[] };
    let update =
        WriteRequest { principal, skill, current: held(4, present), proposal, changes_subject: false };
    evaluate_update(&update, rules).map(|judged| judged.next).map_err(|reasons| told(&reasons))
}

fn told(reasons: &[RefusalReason]) -> String {
    reasons.iter().map(|reason| format!("{reason}\n")).collect()
}

#[test]
fn all_reasons_come_at_once() {
    let base = after_p3();
    let new = edited(&base, "    l2_path: phase-3/arch-coord/L2-summary.md\n", "");
    let new = edited(&new, "status: IN_PROGRESS", "status: FINISHED");
    let agent = Principal::from_agent_name(Some("implementer"));
    insta::assert_snapshot!(
        judged(&agent, Some("agent-teams-write-plan"), &base, &base, &new, false).unwrap_err()
    );
}

#[test]
fn a_writer_answers_for_their_own_changes_only() {
    let base = after_p3();
    let present = edited(&base, "constraint: No new service", "constraint: No new process");
    let mut new = base.clone();
    new.set(
        "implementation_plan",
        crate::fixture::value("{l3_path: plan/, task_count: 3, file_ownership: []}"),
    );
    let new = edited(&new, "status: IN_PROGRESS", "status: BLOCKED");
    let Ok(Some(next)) =
        judged(&Principal::Lead, Some("agent-teams-write-plan"), &present, &base, &new, true)
    else {
        panic!("what others wrote since is not this skill's change");
    };
    assert_eq!(next.version, 5);
    assert_eq!(next.diff.sections(), ["phase_status", "implementation_plan"]);
}

/// Each side is valid, but together they are not: the result is checked.
#[test]
fn a_merge_is_checked_after_merging() {
    let big = |section: &str| format!("user_intent: x\n{section}: {}\n", "y".repeat(9_000));
    let base = document("user_intent: x\n");
    let error =
        judged(&Principal::Lead, None, &document(&big("a")), &base, &document(&big("b")), true).unwrap_err();
    assert!(error.contains("over the limit of 16384"), "{error}");
}

#[test]
fn a_new_task_is_judged_too() {
    let access = AccessTable::default();
    let lookup = all();
    let rules = WriteRules { access: &access, limits: DocumentLimits::default(), lookup: &lookup };
    let new = |agent, open, text: &str| {
        evaluate_creation(&Principal::from_agent_name(agent), None, open, &document(text), rules)
            .map_err(|reasons| told(&reasons))
    };
    assert_eq!(new(None, None, "user_intent: x").unwrap(), []);
    assert_eq!(new(Some("pt-manager"), None, "user_intent: x").unwrap(), []);
    assert_eq!(new(None, None, "user_intent: x\nnote: y").unwrap().len(), 1);
    insta::assert_snapshot!(new(Some("rsil-agent"), Some(3), "constraints: x").unwrap_err(), @r#"
    user_intent: it is missing; add it: the goal, in one to three sentences
    constraints: expected a list, found "x"; write it as a list; `[]` when there are none
    rsil-agent may not create the task: only the Lead, and the agents named for it, create tasks. Nobody could.
    "#);
}
