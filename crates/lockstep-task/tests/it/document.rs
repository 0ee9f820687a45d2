//! The document: shape, pointers, size, order.

use lockstep_task::document::{DocumentLimits, TaskDocument};
use lockstep_task::pointer::PointerResolver;
use lockstep_task::value::MapExt as _;
use proptest::prelude::*;

use crate::fixture::{AFTER_P3, after_p3, all, check, document, lines, nothing};
use crate::yaml::any_value;

#[test]
fn the_documented_example_is_valid() {
    let findings = check(AFTER_P3);
    assert_eq!((findings.problems, findings.warnings), (vec![], vec![]));
    assert!(check("user_intent: add login").is_valid());
}

#[test]
fn all_problems_are_reported_at_once() {
    let findings = check(
        "user_intent: '  '
codebase_impact_map: {modules: [{name: a, files: x}], interfaces: none}
architecture_decisions:
  - {id: AD-01, decision: a, rationale: b, status: c}
  - {id: AD-2, decision: a, rationale: b, status: c}
  - {id: AD-2, decision: a, rationale: b}
phase_status:
  P0: {status: COMPLETE}
  P2: {status: DONE}
  P3: COMPLETE
constraints: [just text]
implementation_plan: {l3_path: /etc, task_count: -1, file_ownership: [{file: a, owner: x}, {file: a, owner: y}]}
implementation_results: {l3_path: ../../x, summary: 7}
validation_verdict: MAYBE
verification_summary: {test_count: many, pass_rate: 101%, l2_path: ''}
budget_constraints: {max_spawns: 3.5}
",
    );
    insta::assert_snapshot!(lines(&findings.problems));
}

#[test]
fn unknown_keys_are_preserved_with_a_warning() {
    let text = "zebra: {b: 1, a: [x]}\nuser_intent: x\narchitecture_decision: []\napple: 2\n";
    let findings = check(text);
    assert!(findings.is_valid());
    insta::assert_snapshot!(lines(&findings.warnings), @r#"
    zebra: nothing reads this key; it stays as it is
    architecture_decision: nothing reads this key; if "architecture_decisions" was meant, rename it; else it stays as it is
    apple: nothing reads this key; it stays as it is
    "#);
    insta::assert_snapshot!(document(text).to_yaml(), @r"
    user_intent: x
    zebra:
      b: 1
      a:
      - x
    architecture_decision: []
    apple: 2
    ");
}

#[test]
fn a_pointer_must_be_there() {
    let text = "user_intent: x\nphase_status: {P2: {status: COMPLETE, l2_path: phase-2/L2.md}}\n\
                implementation_results: {l3_path: out/, summary: y}\n";
    let missing =
        TaskDocument::read(text.as_bytes(), DocumentLimits::default(), &PointerResolver::new(&nothing));
    insta::assert_snapshot!(lines(&missing.findings.problems), @r#"
    phase_status.P2.l2_path: "phase-2/L2.md" does not exist; write the file first, or correct the path (looked at phase-2/L2.md)
    implementation_results.l3_path: "out/" does not exist; write the file first, or correct the path (looked at out)
    "#);
    // The seeds' short form is relative to the directory of the session's phases.
    let only_team = |path: &std::path::Path| path.starts_with(".agent/teams/s1");
    let lookup = PointerResolver::new(&only_team).with_base(".agent/teams/s1".as_ref());
    assert!(TaskDocument::read(text.as_bytes(), DocumentLimits::default(), &lookup).findings.is_valid());
}

#[test]
fn a_pointer_stays_inside_the_project() {
    for (pointer, expected) in [
        ("/etc/passwd", "is absolute"),
        ("../other/L2.md", "points outside the project"),
        ("a/../../b", "points outside the project"),
        ("a/..", "the pointer is empty"),
        (".", "the pointer is empty"),
    ] {
        let fault = all().resolve(pointer).unwrap_err();
        assert!(fault.describe(pointer).contains(expected), "{pointer}: {}", fault.describe(pointer));
    }
    assert_eq!(all().resolve("a/./b/../c").unwrap(), std::path::Path::new("a/c"));
}

#[test]
fn a_large_document_names_the_section_that_should_be_a_pointer() {
    let plan = "a line of the plan that belongs in a file\n    ".repeat(500);
    let text = format!("user_intent: x\nnotes: |\n    {plan}\nconstraints: [{{id: C-1}}]\n");
    let findings = check(&text);
    insta::assert_snapshot!(lines(&findings.problems), @r"
    notes: the document has 22047 bytes, over the limit of 16384, and 22009 of them are in this section; move the detail to a file (an L2 or L3 file) and keep a pointer or one sentence here
    constraints.C-1.constraint: it is missing; add it: what must hold
    constraints.C-1.source: it is missing; add it: where it comes from
    ");
    assert!(
        TaskDocument::read(text.as_bytes(), DocumentLimits { max_bytes: 64 * 1024 }, &all())
            .findings
            .problems
            .len()
            == 2
    );
}

#[test]
fn non_mapping_yaml_is_refused() {
    for (text, expected) in [
        ("", "it is empty"),
        ("# only a comment\n", "it is empty"),
        ("just words", "expected sections, found text"),
        ("- a\n", "expected sections, found a list"),
        ("a: [", "line 1"),
    ] {
        let reading = TaskDocument::read(text.as_bytes(), DocumentLimits::default(), &all());
        assert!(reading.document.is_none());
        assert!(reading.findings.problems[0].what.contains(expected), "{:?}", reading.findings);
    }
}

#[test]
fn empty_list_differs_from_absent_section() {
    let document = document("user_intent: x\nconstraints: []\nimplementation_plan:\n");
    assert!(document.has_content("constraints"));
    assert!(!document.has_content("architecture_decisions"));
    assert!(!document.has_content("implementation_plan"));
}

#[test]
fn pointers_are_found_wherever_they_stand() {
    let mut places: Vec<_> = after_p3().pointers().into_iter().map(|(place, _)| place.to_string()).collect();
    places.extend(
        document("x: [{id: a, l3_path: y}, {id: b, gate_record: z}]\nl2_path: w\n")
            .pointers()
            .into_iter()
            .map(|(p, _)| p.to_string()),
    );
    assert_eq!(
        places,
        [
            "phase_status.P1.gate_record",
            "phase_status.P1.l2_path",
            "phase_status.P2.l2_path",
            "phase_status.P3.l2_path",
            "x.a.l3_path",
            "x.b.gate_record",
            "l2_path",
        ]
    );
}

proptest! {
    /// Writing and reading a document keeps all of its keys, and sections keep their order.
    #[test]
    fn a_document_round_trips(
        unknown in proptest::collection::vec(("[a-z]{1,6}_x", any_value()), 0..6),
        position in 0_usize..6,
    ) {
        let mut root = lockstep_task::value::Map::new();
        for (n, (key, value)) in unknown.iter().enumerate() {
            if n == position {
                root.set("constraints", lockstep_task::value::Value::Array(vec![]));
            }
            root.set(key, value.clone());
        }
        root.set("user_intent", "x");
        let document = TaskDocument::from_root(root);
        let text = document.to_yaml();
        let back = TaskDocument::parse(text.as_bytes(), DocumentLimits { max_bytes: 1 << 20 }).unwrap();
        prop_assert_eq!(&back, &document);
        prop_assert_eq!(back.to_yaml(), text);
        prop_assert_eq!(document.root().keys().next().map(String::as_str), Some("user_intent"));
    }
}
