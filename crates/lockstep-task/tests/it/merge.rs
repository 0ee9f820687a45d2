//! Differences and merges: their reports and their invariants.

use lockstep_task::document::TaskDocument;
use lockstep_task::phase::TaskPhase;
use lockstep_task::value::{Map, MapExt, Value, ValueExt};
use lockstep_task::version::diff::diff;
use lockstep_task::version::loss::losses;
use lockstep_task::version::merge::{merge, three_way};
use proptest::prelude::*;

use crate::fixture::{after_p3, document, edited};

#[test]
fn a_difference_is_rendered_by_section() {
    let before = after_p3();
    let mut after = edited(&before, "status: IN_PROGRESS", "status: COMPLETE");
    after = edited(&after, "- id: AD-2\n", "- id: AD-3\n");
    after = edited(&after, "- src/auth.rs", "- src/login.rs");
    after.set("validation_verdict", "PASS");
    insta::assert_snapshot!(diff(&before, &after).to_string());
    assert_eq!(
        diff(&before, &after).sections(),
        ["codebase_impact_map", "architecture_decisions", "phase_status", "validation_verdict"]
    );
}

#[test]
fn order_is_no_difference() {
    let a = document("user_intent: x\nconstraints: [{id: C-1, source: a}, {id: C-2, source: b}]\n");
    let b = document("constraints: [{source: b, id: C-2}, {source: a, id: C-1}]\nuser_intent: x\n");
    assert!(diff(&a, &b).is_empty());
    // A list that does not name its items is one value, and its order is part of it.
    let (a, b) = (document("x: [1, 2]"), document("x: [2, 1]"));
    assert_eq!(diff(&a, &b).places()[0].to_string(), "x");
}

#[test]
fn two_phases_may_write_the_same_section() {
    let base = after_p3();
    let mut yours = base.clone();
    yours.set("constraints", value("[{id: C-1, constraint: No new service, source: user}, {id: C-2, constraint: Keep the session format, source: AD-1}, {id: C-3, constraint: c, source: you}]"));
    let yours = edited(&yours, "status: IN_PROGRESS", "status: BLOCKED");
    let theirs = edited(&base, "constraint: No new service", "constraint: No new process");
    let merged = merge(&base, &yours, &theirs);
    assert_eq!(merged.clashes, []);
    let text = merged.document.to_yaml();
    for part in ["No new process", "C-3", "status: BLOCKED"] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
}

fn value(text: &str) -> Value {
    crate::fixture::value(text)
}

#[test]
fn conflicts_show_all_three_sides() {
    let base = after_p3();
    let yours = edited(&base, "status: IN_PROGRESS", "status: COMPLETE");
    let yours = edited(
        &yours,
        "- id: AD-2\n  decision: Tokens are opaque\n  rationale: They can be revoked\n  status: ACCEPTED\n",
        "",
    );
    let theirs = edited(&base, "status: IN_PROGRESS", "status: BLOCKED");
    let theirs = edited(&theirs, "They can be revoked", "They are short");
    let mut theirs = edited(&theirs, "source: user", "source: the user");
    theirs.set("validation_verdict", "PASS");
    assert_eq!(merge(&base, &yours, &theirs).clashes.len(), 2);
    insta::assert_snapshot!(three_way(&base, &yours, &theirs).to_string());
}

/// One edit: a place, and its new value.
#[derive(Debug, Clone)]
enum Edit {
    Status(TaskPhase, &'static str),
    Pointer(TaskPhase, String),
    DropPointer(TaskPhase),
    Constraint(u8, String),
    DropConstraint(u8),
    Section(&'static str, String),
    DropSection(&'static str),
}

impl Edit {
    /// The unit that the edit changes. Edits of different units do not conflict.
    fn unit(&self) -> String {
        match self {
            Self::Status(phase, _) => format!("status {phase}"),
            Self::Pointer(phase, _) | Self::DropPointer(phase) => format!("pointer {phase}"),
            Self::Constraint(n, _) | Self::DropConstraint(n) => format!("constraint {n}"),
            Self::Section(name, _) | Self::DropSection(name) => format!("section {name}"),
        }
    }

    fn apply(&self, document: &mut TaskDocument) {
        let mut root = document.root().clone();
        match self {
            Self::Status(phase, status) => {
                phase_entry(&mut root, *phase, |entry| entry.set("status", *status))
            }
            Self::Pointer(phase, to) => {
                phase_entry(&mut root, *phase, |entry| entry.set("l2_path", to.clone()))
            }
            Self::DropPointer(phase) => phase_entry(&mut root, *phase, |entry| {
                entry.shift_remove("l2_path");
            }),
            Self::Constraint(n, text) => constraints(&mut root, *n, Some(text)),
            Self::DropConstraint(n) => constraints(&mut root, *n, None),
            Self::Section(name, text) => root.set(name, text.clone()),
            Self::DropSection(name) => {
                root.shift_remove(*name);
            }
        }
        *document = TaskDocument::from_root(root);
    }
}

fn phase_entry(root: &mut Map, phase: TaskPhase, change: impl FnOnce(&mut Map)) {
    let mut phases = root.get("phase_status").and_then(Value::as_object).cloned().unwrap_or_default();
    let mut entry = phases.get(phase.name()).and_then(Value::as_object).cloned().unwrap_or_default();
    change(&mut entry);
    phases.set(phase.name(), entry);
    root.set("phase_status", phases);
}

fn constraints(root: &mut Map, n: u8, text: Option<&str>) {
    let id = format!("C-{n}");
    let mut list = root.get("constraints").and_then(Value::as_list).unwrap_or_default().to_vec();
    list.retain(|item| item.get("id").and_then(Value::as_str) != Some(&id));
    if let Some(text) = text {
        let mut entry = Map::new();
        entry.set("id", id);
        entry.set("constraint", text);
        list.push(Value::Object(entry));
    }
    root.set("constraints", list);
}

fn any_edit() -> impl Strategy<Value = Edit> {
    let phase = || proptest::sample::select(TaskPhase::ALL.to_vec());
    let section = || proptest::sample::select(vec!["notes", "validation_verdict", "user_intent"]);
    prop_oneof![
        (phase(), proptest::sample::select(vec!["PENDING", "IN_PROGRESS", "COMPLETE"]))
            .prop_map(|(p, s)| Edit::Status(p, s)),
        (phase(), "[a-c]{1,2}").prop_map(|(p, to)| Edit::Pointer(p, to)),
        phase().prop_map(Edit::DropPointer),
        (1_u8..9, "[a-c]{1,2}").prop_map(|(n, text)| Edit::Constraint(n, text)),
        (1_u8..9).prop_map(Edit::DropConstraint),
        (section(), "[a-c]{1,2}").prop_map(|(name, text)| Edit::Section(name, text)),
        section().prop_map(Edit::DropSection),
    ]
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    proptest::collection::vec(any_edit(), 0..8)
}

fn applied(base: &TaskDocument, edits: &[Edit]) -> TaskDocument {
    let mut document = base.clone();
    edits.iter().for_each(|edit| edit.apply(&mut document));
    document
}

/// A base where every phase and every constraint an edit may name is there, so that edits do not create shared parents.
fn base() -> TaskDocument {
    let mut document = document("user_intent: x\n");
    for phase in TaskPhase::ALL {
        Edit::Status(phase, "COMPLETE").apply(&mut document);
        Edit::Pointer(phase, format!("phase-{}/L2.md", phase.number())).apply(&mut document);
    }
    (1..9).for_each(|n| Edit::Constraint(n, "base".to_owned()).apply(&mut document));
    document
}

proptest! {
    /// Edits that do not meet merge, in either direction, to the content of both applied one after the other.
    #[test]
    fn disjoint_edits_commute(mine in edits(), theirs in edits()) {
        let base = base();
        let taken: Vec<_> = mine.iter().map(Edit::unit).collect();
        let theirs: Vec<_> = theirs.into_iter().filter(|edit| !taken.contains(&edit.unit())).collect();
        let (a, b) = (applied(&base, &mine), applied(&base, &theirs));
        let (ab, ba) = (merge(&base, &a, &b), merge(&base, &b, &a));
        prop_assert_eq!(&ab.clashes, &vec![]);
        prop_assert_eq!(&ba.clashes, &vec![]);
        prop_assert!(diff(&ab.document, &ba.document).is_empty());
        let both = applied(&a, &theirs);
        prop_assert!(diff(&ab.document, &both).is_empty(), "{}", diff(&ab.document, &both));
    }

    /// For any two writers, both sides have the same conflicts, and no change of one side alone is lost.
    #[test]
    fn any_two_writers_see_the_same_clashes(mine in edits(), theirs in edits()) {
        let base = base();
        let (a, b) = (applied(&base, &mine), applied(&base, &theirs));
        let places = |clashes: Vec<lockstep_task::version::merge::MergeConflict>| {
            let mut places: Vec<_> = clashes.into_iter().map(|c| c.place.to_string()).collect();
            places.sort();
            places
        };
        prop_assert_eq!(places(merge(&base, &a, &b).clashes), places(merge(&base, &b, &a).clashes));
        let same = merge(&base, &a, &a);
        prop_assert!(same.clashes.is_empty() && diff(&same.document, &a).is_empty());
        let alone = merge(&base, &a, &base);
        prop_assert!(alone.clashes.is_empty() && diff(&alone.document, &a).is_empty());
    }

    /// A merge never loses a pointer silently: each pointer of the present version is in the result or is
    /// reported.
    #[test]
    fn a_merge_never_loses_a_pointer_silently(mine in edits(), theirs in edits()) {
        let base = base();
        let (a, b) = (applied(&base, &mine), applied(&base, &theirs));
        let merged = merge(&base, &a, &b).document;
        let told: Vec<_> = losses(&b, &merged).into_iter().map(|loss| loss.place).collect();
        let kept: Vec<_> = merged.pointers().into_iter().map(|(place, _)| place).collect();
        for (place, _) in b.pointers() {
            prop_assert!(kept.contains(&place) || told.contains(&place), "{} is lost", place);
        }
    }
}
