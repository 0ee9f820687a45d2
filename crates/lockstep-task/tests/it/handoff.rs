//! L2 files and the index beside them.

use std::path::Path;

use lockstep_task::handoff::{CATEGORIES, HandoffCheck, L2_SECTIONS, l1, l2, scaffold};
use lockstep_task::phase::TaskPhase;
use lockstep_task::pointer::PointerResolver;

use crate::fixture::{Project, all, l2 as l2_text, lines};

const FILE: &str = ".agent/teams/s1/phase-3/arch-coord/L2-summary.md";

fn check(text: &str) -> HandoffCheck {
    l2::check(Path::new(FILE), text.as_bytes(), &all())
}

fn problems(text: &str) -> String {
    lines(&check(text).problems)
}

#[test]
fn a_whole_file_passes_and_is_read() {
    let report = check(&l2_text("Sessions"));
    assert_eq!((lines(&report.problems), lines(&report.warnings)), (String::new(), String::new()));
    assert!(report.valid);
    assert_eq!(report.handoff.decisions, ["Sessions is decided"]);
    assert_eq!(report.handoff.interface_contracts, ["api → auth"]);
    assert_eq!((report.handoff.risks.len(), report.handoff.artifacts.len()), (0, 0));
    assert!(report.handoff.text.starts_with("### Decisions Made"));
}

#[test]
fn leaving_out_any_one_thing_stops_it() {
    let whole = l2_text("x");
    for category in CATEGORIES {
        let output = problems(&whole.replace(&format!("### {category}\n"), ""));
        assert!(output.contains(&format!("### {category}: the category is missing")), "{category}: {output}");
        let blank = whole
            .replace(&format!("### {category}\n- "), &format!("### {category}\n<!-- - "))
            .replace("<!-- - none", "<!-- none -->");
        let blank = blank
            .lines()
            .map(|l| if l.starts_with("<!-- - ") { format!("{l} -->") } else { l.to_owned() })
            .collect::<Vec<_>>()
            .join("\n");
        let output = problems(&blank);
        assert!(output.contains(&format!("### {category}: it is empty")), "{category}: {output}");
        let twice = format!("{whole}\n### {category}\n- again\n");
        assert!(
            problems(&twice).contains(&format!("### {category}: the category occurs twice")),
            "{category}"
        );
    }
    for section in L2_SECTIONS {
        let output = problems(&whole.replace(&format!("## {section}\n"), ""));
        assert!(output.contains(&format!("## {section}: the section is missing")), "{section}: {output}");
    }
}

#[test]
fn all_errors_are_reported_at_once() {
    insta::assert_snapshot!(problems(
        "# Report\n## Evidence Sources\n\n## Downstream Handoff\n### Decisions made\n- x\n### Risks Identified (must-track)\n\n\
         ### Artifacts Produced\n- `missing`, `/etc/x` — two\n- only words here\n- `../up.md`\n"
    ));
}

#[test]
fn the_order_is_summary_first_and_handoff_last() {
    let whole = l2_text("x");
    let (before, handoff) = whole.split_once("## Downstream Handoff").unwrap();
    let (head, evidence) = before.split_once("## Evidence Sources").unwrap();
    let swapped = format!("{head}## Downstream Handoff{handoff}\n## Evidence Sources{evidence}");
    insta::assert_snapshot!(problems(&swapped), @"L2: the sections are out of order: Summary, Findings, PT Goal Linkage, Downstream Handoff, Evidence Sources; begin with Summary, then the sections of this role, and end with PT Goal Linkage, Evidence Sources, Downstream Handoff");
    let after = format!("{whole}\n## Appendix\nx\n");
    assert!(problems(&after).contains("out of order"));
    let first = whole.replace("## Summary", "## Overview\nx\n\n## Summary");
    assert!(problems(&first).contains("out of order"));
    let between = whole.replace("## Evidence Sources", "## More\nx\n\n## Evidence Sources");
    assert!(problems(&between).contains("out of order"));
}

#[test]
fn headings_in_fences_and_comments_are_text() {
    let whole = l2_text("x");
    let fenced = whole.replace("## Findings\n- one\n", "## Findings\n```markdown\n## Downstream Handoff\n### Artifacts Produced\n```\n~~~~\n## Summary\n~~~\n~~~~\n");
    assert_eq!(problems(&fenced), "");
    let commented = whole.replace("## Findings\n", "## Findings\n<!--\n## Summary\n-->\n");
    assert_eq!(problems(&commented), "");
    let hidden = whole.replace("### Artifacts Produced\n", "<!--\n### Artifacts Produced\n-->\n");
    assert!(problems(&hidden).contains("### Artifacts Produced: the category is missing"));
}

#[test]
fn a_line_that_begins_with_a_code_span_opens_no_fence() {
    let whole = l2_text("x").replace("## Findings\n", "## Findings\n``` `a` ``` is the mark of a span.\n");
    assert_eq!(problems(&whole), "");
}

#[test]
fn artifacts_resolve_from_project_file_and_session() {
    let project = Project::default()
        .file("docs/plan.md", "")
        .file(".agent/teams/s1/phase-3/arch-coord/L3-full/design.md", "")
        .file(".agent/teams/s1/phase-3/arch-coord/L1-index.yaml", "")
        .file(".agent/teams/s1/phase-2/x/L2-summary.md", "");
    let exists = |path: &Path| project.exists(path);
    let check = |items: &str| {
        let text = l2_text("x")
            .replace("### Artifacts Produced\n- none", &format!("### Artifacts Produced\n{items}"));
        l2::check(Path::new(FILE), text.as_bytes(), &PointerResolver::new(&exists))
    };
    let report = check(
        "- `docs/plan.md` (630L) — the plan\n- L1-index.yaml, L3-full/design.md\n- `L3-full/` — 3 files\n- phase-2/x/L2-summary.md: research",
    );
    assert_eq!(lines(&report.problems), "");
    assert_eq!(
        report.handoff.artifacts,
        ["docs/plan.md", "L1-index.yaml", "L3-full/design.md", "L3-full/", "phase-2/x/L2-summary.md"]
    );
    let report = check("- `docs/nothing.md` — gone");
    insta::assert_snapshot!(lines(&report.problems), @r#"### Artifacts Produced: "docs/nothing.md" does not exist; write the file first, or correct the path (looked at docs/nothing.md, .agent/teams/s1/phase-3/arch-coord/docs/nothing.md, .agent/teams/s1/docs/nothing.md)"#);
}

#[test]
fn a_heading_of_its_own_in_the_handoff_is_noticed() {
    let report = check(&format!("{}\n### Notes\n- x\n", l2_text("x")));
    assert!(report.valid);
    assert_eq!(report.warnings.len(), 1);
}

#[test]
fn bytes_that_are_no_summary_are_refused() {
    assert!(lines(&l2::check(Path::new(FILE), b"\xff", &all()).problems).contains("not UTF-8"));
    assert!(
        lines(&l2::check(Path::new(FILE), &vec![b'#'; 2_000_000], &all()).problems).contains("2000000 bytes")
    );
    assert_eq!(check("").problems.len(), 4);
}

#[test]
fn a_new_file_does_not_pass_until_it_is_filled() {
    for phase in TaskPhase::ALL {
        let text = scaffold::l2_template(phase, Some(3));
        let report = check(&text);
        // Three sections and six categories are still empty; none is missing or out of order.
        assert_eq!(report.problems.len(), 9, "{}", lines(&report.problems));
        assert!(report.problems.iter().all(|problem| problem.what.starts_with("it is empty")));
        let filled = text.replace("-->", "-->\n- none");
        assert_eq!(problems(&filled), "");
    }
    insta::assert_snapshot!(scaffold::l2_template(TaskPhase::P4, Some(3)));
    assert_eq!(scaffold::default_path(scaffold::L2_PATH, "s1", TaskPhase::P3), FILE);
}

#[test]
fn the_index_is_checked_and_old_words_are_translated() {
    let good = l1::read(b"agent: x\nphase: P2b\nstatus: complete\ntimestamp: 2026-02-12T09:30:00Z\nfindings: [1]\nevidence_count: 4\n");
    assert!(good.findings.is_valid() && good.notes.is_empty() && good.findings.warnings.is_empty());
    let old = l1::read(b"role: architect-1\nphase: 3\nstatus: COMPLETE\ndate: 2026-02-08\n");
    assert!(old.findings.is_valid(), "{:?}", old.findings);
    assert_eq!(
        old.notes,
        [
            "role was read as agent",
            "date was read as timestamp",
            "phase 3 was read as P3",
            "status \"COMPLETE\" was read as complete"
        ]
    );
    let bad = l1::read(b"agent: ''\nstatus: AWAITING_IMPACT_VERIFICATION\nevidence_count: lots\n");
    insta::assert_snapshot!(lines(&bad.findings.problems), @r#"
    agent: expected text, found blank text; write a sentence, in quotes if it looks like something else
    phase: it is missing; add it: the phase, as in P2
    status: expected one of complete, in_progress, blocked, found "AWAITING_IMPACT_VERIFICATION"; use one of these words
    timestamp: it is missing; add it: when it was written, in ISO 8601
    evidence_count: expected a whole number, found "lots"; give a count, 0 or more
    "#);
    assert!(l1::read(b"- a\n").index.is_none());
    assert!(l1::read(b"a: [").index.is_none());
}
