//! An old context file, section by section.

use std::collections::BTreeMap;
use std::path::Path;

use lockstep_task::document::{DocumentLimits, TaskDocument};
use lockstep_task::migrate::disposition::{DISPOSITIONS, Disposition, Replacement, disposition_for};
use lockstep_task::migrate::plan::{MigrationInput, MigrationPlan, plan};
use lockstep_task::phase::TaskPhase;
use lockstep_task::pointer::PointerResolver;
use lockstep_task::scratch::Scratch;

use crate::fixture::{Project, document, l2, lines};

/// Every section of the fate table.
const OLD: &str = include_str!("../data/global-context.md");

fn task() -> TaskDocument {
    document(
        "user_intent: Add login
constraints: [{id: C-1, constraint: No new service, source: user}]
architecture_decisions: [{id: AD-1, decision: a, rationale: b, status: ACCEPTED}]
implementation_plan: {l3_path: plan/, task_count: 1, file_ownership: [{file: a, owner: b}]}
phase_status:
  P2: {status: COMPLETE, l2_path: p2.md}
  P3: {status: COMPLETE, l2_path: p3.md}
  P4: {status: COMPLETE, l2_path: p4.md}
  P6: {status: COMPLETE, l2_path: p6.md}
  P8: {status: COMPLETE, l2_path: p8.md}
",
    )
}

fn project() -> Project {
    let project = Project::default().file("plan/index.md", "");
    ["p2.md", "p3.md", "p4.md", "p6.md", "p8.md"]
        .iter()
        .fold(project, |project, file| project.file(file, l2(file)))
}

fn planned(
    text: &str,
    task: &TaskDocument,
    project: &Project,
    stated: &BTreeMap<String, Disposition>,
) -> MigrationPlan {
    let (exists, content) = (|path: &Path| project.exists(path), |path: &Path| project.content(path));
    let lookup = PointerResolver::new(&exists);
    plan(&MigrationInput {
        text,
        document: task,
        scratch: &Scratch::default(),
        stated,
        lookup: &lookup,
        content: &content,
    })
}

#[test]
fn every_section_of_the_table_is_accounted_for() {
    let plan = planned(OLD, &task(), &project(), &BTreeMap::new());
    let titles: Vec<_> = OLD
        .lines()
        .filter_map(|line| line.strip_prefix("## "))
        .filter(|title| *title != "Not a section")
        .collect();
    let rows: Vec<_> =
        plan.rows.iter().map(|row| row.section.as_str()).filter(|title| !title.starts_with('(')).collect();
    assert_eq!(rows, titles);
    for row in &plan.rows {
        let expected =
            OLD.lines().position(|line| line == format!("## {}", row.section)).map_or(1, |n| n + 1);
        assert_eq!(row.line, expected, "{}", row.section);
    }
    insta::assert_snapshot!(plan.to_string());
    assert!(plan.is_possible());
}

#[test]
fn sections_stay_or_move_as_documented() {
    let migrated = planned(OLD, &task(), &project(), &BTreeMap::new()).apply().unwrap();
    insta::assert_snapshot!(migrated.scratch.to_yaml());
    let changes = lockstep_task::version::diff::diff(&task(), &migrated.document);
    insta::assert_snapshot!(changes.to_string());
    let project = project();
    let exists = |path: &Path| project.exists(path);
    let findings = migrated.document.check(DocumentLimits::default(), &PointerResolver::new(&exists));
    assert!(findings.is_valid(), "{findings}");
    // A second migration finds everything there and adds nothing.
    let again = planned(OLD, &migrated.document, &project, &BTreeMap::new()).apply().unwrap();
    assert!(lockstep_task::version::diff::diff(&migrated.document, &again.document).is_empty());
}

#[test]
fn nothing_is_dropped_without_its_replacement() {
    let whole = planned(OLD, &task(), &project(), &BTreeMap::new());
    let empty = document("user_intent: x\n");
    let bare = planned(OLD, &empty, &Project::default(), &BTreeMap::new());
    for (row, possible) in bare.rows.iter().zip(&whole.rows) {
        assert_eq!(row.section, possible.section);
        let drops = matches!(row.fate, Some(Disposition::Drop { replacement }) if replacement != Replacement::Task("user_intent", None));
        assert_eq!(!row.problems.is_empty(), drops, "{}: {:?}", row.section, row.problems);
    }
    insta::assert_snapshot!(lines(&bare.apply().unwrap_err()));
    let removed = Project::default().file("plan/x", "").file("p2.md", "no handoff here");
    let partly = planned(OLD, &task(), &removed, &BTreeMap::new());
    let of = |title: &str| {
        partly
            .rows
            .iter()
            .find(|row| row.section == title)
            .unwrap()
            .problems
            .iter()
            .map(ToString::to_string)
            .collect::<String>()
    };
    assert_eq!(of("Research Findings"), "");
    assert!(of("Phase 3 Input").contains("p2.md has no \"Downstream Handoff\""));
    assert!(of("Architecture Summary (from Phase 3)").contains("\"p3.md\" does not exist"));
}

#[test]
fn an_unknown_section_stops_the_migration() {
    let text = "# Global Context\n\nSome words.\n\n## Component Map\n- a\n\n## Scope\nx\n\n## Interface Changes\n- something vague\n\n## Codebase Constraints\nA sentence.\n- an item\n";
    let task = document("user_intent: x\n");
    let plan = planned(text, &task, &Project::default(), &BTreeMap::new());
    insta::assert_snapshot!(plan.to_string());
    assert!(plan.apply().is_err());
    let stated = ["Component Map", "(before the first section)", "Interface Changes", "Codebase Constraints"]
        .map(|title| (title.to_owned(), Disposition::Discard));
    let migrated = planned(text, &task, &Project::default(), &BTreeMap::from(stated)).apply().unwrap();
    assert_eq!(migrated.document, task);
}

#[test]
fn titles_are_known_as_they_were_written() {
    let handoff = |phase| Some(Disposition::Drop { replacement: Replacement::Handoff(phase) });
    let table = [
        ("Phase 4 Entry Requirements — SATISFIED", handoff(TaskPhase::P3)),
        ("Phase 6 Entry Conditions", handoff(TaskPhase::P4)),
        ("Phase 9 Entry Conditions", handoff(TaskPhase::P8)),
        ("Phase 1 Entry Conditions", None),
        ("Phase 10 Entry Conditions", None),
        (
            "Phase 2 Research Findings Summary",
            Some(Disposition::Drop { replacement: Replacement::L2(TaskPhase::P2) }),
        ),
        ("Gate Records (embedded)", Some(Disposition::Keep)),
        ("INTERFACE  CHANGES", Some(Disposition::IntoInterfaces)),
        (
            "Implementation Plan Ref",
            Some(Disposition::Drop { replacement: Replacement::Task("implementation_plan", None) }),
        ),
        ("Scopes of work", None),
        ("Active Teammates", None),
        ("", None),
    ];
    for (title, expected) in table {
        assert_eq!(disposition_for(title), expected, "{title}");
    }
    for (title, expected) in DISPOSITIONS {
        assert_eq!(disposition_for(title), Some(expected), "{title}: an earlier row hides it");
    }
}
