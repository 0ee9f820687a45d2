//! Hostile documents: each is refused because of a limit, with a clear reason.

use lockstep_task::document::{DocumentLimits, TaskDocument};

use crate::fixture::all;

/// Reads `bytes` and returns the problems. Each test expects the limit that bounds its document.
fn refused(bytes: &[u8]) -> String {
    let reading = TaskDocument::read(bytes, DocumentLimits::default(), &all());
    assert!(!reading.findings.is_valid());
    assert!(reading.findings.problems.len() <= 102);
    crate::fixture::lines(&reading.findings.problems)
}

#[test]
fn a_megabyte_in_one_section() {
    let text = format!("user_intent: x\nimplementation_plan:\n  notes: {}\n", "x".repeat(1_000_000));
    let problem = refused(text.as_bytes());
    assert!(
        problem.starts_with("implementation_plan: the document has 1000046 bytes, over the limit of 16384"),
        "{problem}"
    );
}

#[test]
fn rejects_ten_thousand_decisions() {
    let mut text = "user_intent: x\narchitecture_decisions:\n".to_owned();
    for n in 1..=10_000 {
        text.push_str(&format!("  - {{id: AD-{n}, decision: d, rationale: r, status: ACCEPTED}}\n"));
    }
    assert!(refused(text.as_bytes()).starts_with("architecture_decisions: the document has"));
}

/// As many decisions as are still parsed, so that their shape and uniqueness are checked too.
#[test]
fn as_many_decisions_as_are_read() {
    let mut text = "architecture_decisions:\n".to_owned();
    while text.len() < DocumentLimits::default().max_parse_bytes() - 40 {
        text.push_str("- {id: AD-1, decision: d}\n");
    }
    assert!(refused(text.as_bytes()).contains(" more were found"));
}

#[test]
fn deep_nesting() {
    assert!(refused(format!("a: {}", "[".repeat(10_000)).as_bytes()).contains("nested deeper"));
    assert!(refused(format!("a: {}", "{b: ".repeat(4_000)).as_bytes()).contains("nested deeper"));
    let block: String = (0..150).map(|n| format!("{}a:\n", " ".repeat(n))).collect();
    assert!(refused(block.as_bytes()).contains("nested deeper"));
    let lists = format!("a:\n  {}x\n", "- ".repeat(5_000));
    assert!(refused(lists.as_bytes()).contains("nested deeper"));
}

#[test]
fn bombs_of_anchors_and_aliases() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for n in 1..12 {
        bomb.push_str(&format!("a{n}: &a{n} [{}]\n", vec![format!("*a{}", n - 1); 9].join(", ")));
    }
    assert!(refused(bomb.as_bytes()).contains("anchors, aliases and merge keys"));
    assert!(refused(b"a: &a [*a]\n").contains("anchors, aliases and merge keys"));
    let merges = "base: &b {x: 1}\nuser_intent: {<<: *b}\n";
    assert!(refused(merges.as_bytes()).contains("anchors, aliases and merge keys"));
}

#[test]
fn duplicate_keys() {
    assert!(
        refused(b"user_intent: a\nconstraints: []\nuser_intent: b\n")
            .contains("the key \"user_intent\" occurs twice")
    );
    assert!(
        refused(b"user_intent: a\nphase_status:\n  P1: {status: COMPLETE}\n  P1: {status: PENDING}\n")
            .contains("\"P1\" occurs twice")
    );
}

#[test]
fn bytes_that_are_no_text() {
    assert!(refused(b"user_intent: \xff\xfe\n").contains("not UTF-8: the first bad byte is at offset 13"));
    assert!(refused(&[0xff; 2_000_000]).contains("over the limit"));
    assert!(refused(&vec![0; 100_000]).contains("document"));
    assert!(refused("user_intent: \u{1}\n".as_bytes()).contains("line 1"));
}

#[test]
fn many_keys_and_long_keys() {
    let keys: String = (0..60_000).map(|n| format!("k{n}: 1\n")).collect();
    assert!(refused(keys.as_bytes()).contains("over the limit"));
    let keys: String = (0..6_000).map(|n| format!("k{n}: 1\n")).collect();
    assert!(keys.len() < DocumentLimits::default().max_parse_bytes());
    refused(keys.as_bytes());
    refused(format!("{}: 1\n", "k".repeat(60_000)).as_bytes());
    refused("? ".repeat(30_000).as_bytes());
    refused("- ".repeat(30_000).as_bytes());
    refused("!".repeat(60_000).as_bytes());
    refused("'".repeat(60_001).as_bytes());
}
