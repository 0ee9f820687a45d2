//! Gate records: the verdict follows from the checklist, and old dialects are imported with notes.

use lockstep_task::gate_record::{ParsedGateRecord, RecordVerdict, read};
use lockstep_task::pointer::PointerResolver;

use crate::fixture::{all, gate, lines, nothing};

fn checked(text: &str) -> ParsedGateRecord {
    read(text.as_bytes(), &all())
}

fn problems(text: &str) -> String {
    lines(&checked(text).findings.problems)
}

#[test]
fn a_record_that_holds() {
    for n in 1..=9 {
        let reading = checked(&gate(n));
        assert_eq!(lines(&reading.findings.problems), "");
        assert_eq!(
            (reading.computed, reading.verdict()),
            (Some(RecordVerdict::Pass), Some(RecordVerdict::Pass))
        );
        assert_eq!(reading.phase_from(), Some(format!("P{n}").as_str()));
        assert!(reading.notes.is_empty() && reading.findings.warnings.is_empty());
    }
}

#[test]
fn a_verdict_is_never_milder_than_its_checklist() {
    // The statuses of the checklist, the stated verdict, whether it holds, and the computed verdict.
    let table = [
        ("PASS PASS PASS", "PASS", true, "PASS"),
        ("PASS PASS PASS", "CONDITIONAL_PASS", true, "PASS"),
        ("PASS PASS PASS", "FAIL", true, "PASS"),
        ("PASS SKIP PASS", "PASS", false, "CONDITIONAL_PASS"),
        ("PASS SKIP PASS", "CONDITIONAL_PASS", true, "CONDITIONAL_PASS"),
        ("PASS FAIL SKIP", "PASS", false, "FAIL"),
        ("PASS FAIL PASS", "CONDITIONAL_PASS", false, "FAIL"),
        ("FAIL FAIL FAIL", "FAIL", true, "FAIL"),
        ("SKIP SKIP SKIP", "PASS", false, "CONDITIONAL_PASS"),
    ];
    for (statuses, stated, stands, computed) in table {
        let mut text = gate(4).replace("verdict: PASS", &format!("verdict: {stated}"));
        for status in statuses.split(' ') {
            text = text.replacen("status: PASS,", &format!("status: {status}\u{0},"), 1);
        }
        let reading = checked(&text.replace('\u{0}', ""));
        assert_eq!(reading.findings.is_valid(), stands, "{statuses} {stated}: {:?}", reading.findings);
        assert_eq!(reading.computed.map(RecordVerdict::as_str), Some(computed));
        assert!(reading.verdict() >= reading.computed, "the stricter stands");
    }
}

#[test]
fn pass_over_a_failed_item_names_the_item() {
    let text = gate(4).replace("item: tests, status: PASS", "item: tests, status: FAIL");
    insta::assert_snapshot!(problems(&text), @"verdict: it says PASS over FAIL: tests; the verdict that follows from the checklist is FAIL");
}

#[test]
fn the_checklist_is_as_long_as_its_tier_asks() {
    let with = |tier: &str, items: usize| {
        let (head, rest) =
            gate(4).split_once("checklist:\n").map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
        let tail = &rest[rest.find("verdict:").unwrap()..];
        let list: String =
            (0..items).map(|n| format!("  - {{item: i{n}, status: PASS, evidence_ref: L2}}\n")).collect();
        let list = if items == 0 { "checklist: []\n".to_owned() } else { format!("checklist:\n{list}") };
        checked(&format!("{}{list}{tail}", head.replace("TRIVIAL", tier)))
    };
    for (tier, least) in [("TRIVIAL", 3), ("STANDARD", 5), ("COMPLEX", 7)] {
        for items in 1..=11 {
            let reading = with(tier, items);
            assert_eq!(reading.findings.is_valid(), items >= least, "{tier} {items}");
            assert_eq!(reading.findings.warnings.len(), usize::from(items > 10), "{tier} {items}");
        }
    }
    insta::assert_snapshot!(lines(&with("COMPLEX", 6).findings.problems), @"checklist: a COMPLEX gate checks at least 7 items, and this record has 6; check the items that are missing, or state the tier that was meant");
    let none = with("TRIVIAL", 0);
    assert_eq!(none.computed, None);
    assert!(lines(&none.findings.problems).contains("it says PASS over no checklist"));
}

#[test]
fn all_problems_of_a_record_at_once() {
    let text = "gate: G3\nphase_from: P4\nphase_to: P2\ntier: HUGE\ntimestamp: yesterday\n\
                evidence: [{artifact: L2-summary.md, type: L9, location: x}, {artifact: a, type: L2, location: /etc/x}]\n\
                checklist: [{item: a, status: OK, evidence_ref: b}, {status: PASS}]\nverdict: APPROVED\n";
    insta::assert_snapshot!(problems(text));
}

#[test]
fn evidence_is_checked_at_its_recorded_location() {
    let text = gate(4).replace("evidence: []", "evidence: [{artifact: L2, type: L2, location: a/L2.md}, {artifact: rfc, type: reference, location: RFC 9110}]");
    assert_eq!(problems(&text), "");
    let reading = read(text.as_bytes(), &PointerResolver::new(&nothing));
    insta::assert_snapshot!(lines(&reading.findings.problems), @r#"evidence.0.location: "a/L2.md" does not exist; write the file first, or correct the path (looked at a/L2.md)"#);
}

#[test]
fn invalid_yaml_is_reported_with_its_position() {
    let markdown = "---\ngate: 4\ndate: 2026-02-09\nverdict: APPROVED\n---\n\n# Gate 4 Record\n\n| # | Criterion |\n|---|---|\n";
    for text in [markdown, "gate: 6\nnote: 22 files: all done\n", "gate: [", ""] {
        let reading = checked(text);
        assert!(reading.record.is_none() && reading.computed.is_none() && reading.verdict().is_none());
        let problem = lines(&reading.findings.problems);
        assert!(
            problem.starts_with("gate-record.yaml: ") && problem.contains("write one YAML mapping with gate"),
            "{problem}"
        );
    }
    assert!(problems("gate: 6\nnote: 22 files: all done\n").contains("it is not valid YAML: line 2"));
}

/// The dialects that were really written, one after the other.
#[test]
fn old_dialects_are_imported_with_notes() {
    let plain = "phase: 1\nresult: APPROVED\ndate: 2026-02-07\ncriteria:\n  G1-1: PASS\n  G1-2: PASS (MEDIUM complexity)\n  G1-3: PASS\ndecisions:\n  D-1: all\n";
    let mapped = "gate: G3\nphase: 3\nresult: APPROVED (CONDITIONAL_PASS accepted)\ndate: 2026-02-12\ntier: STANDARD\ncriteria:\n\
                  \x20 artifacts_exist: {status: PASS, evidence: 4 dirs}\n  scope: {check: scope is met, result: PASS, evidence: design §6}\n\
                  \x20 risks: {status: SKIP, evidence: none open}\n  decisions: {status: PASS, evidence: ADRs}\n  interfaces: {status: PASS, evidence: C-1}\n";
    let listed = "gate: G4\nphase_transition: P4 → P5\nresult: APPROVED\ndate: 2026-02-12\ncriteria:\n\
                  \x20 - {item: plan complete, status: PASS, evidence: L1}\n  - {item: reconciled, status: PASS, evidence: L2}\n\
                  artifacts:\n  - phase-4/planning-coord/L1-index.yaml\n  - phase-4/planner/L3-full/ (3 files)\n";
    for (text, verdict) in [
        (plain, RecordVerdict::Pass),
        (mapped, RecordVerdict::ConditionalPass),
        (listed, RecordVerdict::Pass),
    ] {
        let reading = checked(text);
        assert_eq!(lines(&reading.findings.problems), "", "{text}");
        assert_eq!(reading.verdict(), Some(verdict));
        assert!(reading.notes[0].contains("older dialect"));
    }
    let output: Vec<_> = [plain, mapped, listed].iter().map(|text| checked(text).notes.join("\n")).collect();
    insta::assert_snapshot!(output.join("\n\n"));
    insta::assert_snapshot!(lockstep_task::yaml::write(&checked(listed).record.unwrap()));
}

#[test]
fn an_old_record_is_held_to_its_checklist_too() {
    let failed =
        "phase: 1\nresult: APPROVED\ndate: 2026-02-07\ncriteria: {a: PASS, b: FAIL (no tests), c: PASS}\n";
    assert!(problems(failed).contains("it says PASS over FAIL: b"));
    let short = "phase: 1\nresult: APPROVED\ndate: 2026-02-07\ntier: COMPLEX\ncriteria: {a: PASS}\n";
    assert!(problems(short).contains("a COMPLEX gate checks at least 7 items"));
    let unclear = "phase: 1\nresult: LGTM\ndate: 2026-02-07\ncriteria: {a: mostly fine}\n";
    let output = problems(unclear);
    assert!(
        output.contains("verdict: expected one of PASS, CONDITIONAL_PASS, FAIL, found \"LGTM\""),
        "{output}"
    );
    assert!(
        output.contains("checklist.0.status: expected one of PASS, FAIL, SKIP, found \"mostly\""),
        "{output}"
    );
    assert!(!output.contains("it says"), "no verdict follows from what cannot be read: {output}");
    let skipped =
        "phase: 1\nresult: APPROVED\ndate: 2026-02-07\ncriteria: {a: PASS, b: N/A (no schema), c: PASS}\n";
    assert!(problems(skipped).contains("it says PASS over SKIP: b"));
    let bare = "phase: 1\nresult: APPROVED\ndate: 2026-02-07\n";
    assert!(problems(bare).contains("checklist: it is missing"));
    assert!(problems(bare).contains("it says PASS over no checklist"));
}
