//! The borders of phases: a pipeline from nothing to delivery, and everything that stops it.

use std::path::Path;

use lockstep_task::access::AccessTable;
use lockstep_task::document::{DocumentLimits, TaskDocument};
use lockstep_task::handoff::scaffold;
use lockstep_task::phase::TaskPhase;
use lockstep_task::phase::complete::{CompleteRequest, Completion, InputFile, complete};
use lockstep_task::phase::enter::{EnterRequest, EntryContext, enter};
use lockstep_task::pointer::PointerResolver;
use lockstep_task::problem::DocumentProblem;
use lockstep_task::value::{Map, MapExt};
use lockstep_task::version::compare_and_swap::CurrentVersion;
use lockstep_task::version::delivery::deliver;

use crate::fixture::{Project, document, gate, held, l2, lines, value};

fn l2_path(phase: TaskPhase) -> String {
    format!("phase-{}/{}/L2-summary.md", phase.number(), phase.coordinator())
}

/// A project with the L2 file and the gate record of every phase, and the files its sections point to.
fn project() -> Project {
    TaskPhase::ALL.iter().fold(
        Project::default().file("plan/index.md", "").file("out/index.md", ""),
        |project, phase| {
            project
                .file(&l2_path(*phase), l2(&format!("{phase}-work")))
                .file(&format!("phase-{}/gate-record.yaml", phase.number()), gate(phase.number()))
        },
    )
}

/// Writes the sections of each phase before it is complete.
fn written(phase: TaskPhase, document: &mut TaskDocument) {
    match phase {
        TaskPhase::P2 => {
            document.set("codebase_impact_map", value("{modules: [], interfaces: [], risk_hotspots: []}"));
            document.set("constraints", value("[]"));
        }
        TaskPhase::P3 => document.set(
            "architecture_decisions",
            value("[{id: AD-1, decision: a, rationale: b, status: ACCEPTED}]"),
        ),
        TaskPhase::P4 => {
            document.set("implementation_plan", value("{l3_path: plan/, task_count: 3, file_ownership: []}"))
        }
        TaskPhase::P5 => document.set("validation_verdict", "PASS"),
        TaskPhase::P6 => document.set("implementation_results", value("{l3_path: out/, summary: done}")),
        TaskPhase::P8 => document.set(
            "verification_summary",
            value("{test_count: 9, pass_rate: 100%, l2_path: phase-7/testing-coord/L2-summary.md}"),
        ),
        TaskPhase::P1 | TaskPhase::P7 | TaskPhase::P9 => {}
    }
}

fn try_enter(
    phase: TaskPhase,
    document: &TaskDocument,
    project: &Project,
) -> Result<EntryContext, Vec<DocumentProblem>> {
    let exists = |path: &Path| project.exists(path);
    let content = |path: &Path| project.content(path);
    let lookup = PointerResolver::new(&exists);
    let access = AccessTable::default();
    enter(&EnterRequest {
        phase,
        held: held(phase.number() as u64, document),
        access: &access,
        session: None,
        l2_template: scaffold::L2_PATH,
        lookup: &lookup,
        content: &content,
    })
}

fn try_complete(
    phase: TaskPhase,
    document: &TaskDocument,
    project: &Project,
    with_gate: bool,
) -> Result<Completion, Vec<DocumentProblem>> {
    let exists = |path: &Path| project.exists(path);
    let (l2, record) = (l2_path(phase), format!("phase-{}/gate-record.yaml", phase.number()));
    let l2_bytes = project.content(Path::new(&l2)).unwrap_or_default();
    let gate_bytes = project.content(Path::new(&record)).unwrap_or_default();
    complete(&CompleteRequest {
        phase,
        held: held(phase.number() as u64, document),
        l2: InputFile { path: &l2, bytes: &l2_bytes },
        gate: with_gate.then_some(InputFile { path: &record, bytes: &gate_bytes }),
        lookup: &PointerResolver::new(&exists),
    })
}

/// The task when `phase` is about to begin.
fn before(phase: TaskPhase, project: &Project) -> TaskDocument {
    let mut task = document("user_intent: Add login\n");
    for earlier in TaskPhase::ALL.into_iter().take_while(|earlier| *earlier < phase) {
        written(earlier, &mut task);
        task = try_complete(earlier, &task, project, true).unwrap().document;
    }
    task
}

#[test]
fn a_pipeline_from_nothing_to_delivery() {
    let project = project();
    let exists = |path: &Path| project.exists(path);
    let mut task = document("user_intent: Add login\n");
    for phase in TaskPhase::ALL {
        let entry = try_enter(phase, &task, &project)
            .unwrap_or_else(|reasons| panic!("{phase}: {}", lines(&reasons)));
        assert_eq!(entry.handoffs.iter().map(|r| r.phase).collect::<Vec<_>>(), phase.sources());
        written(phase, &mut task);
        if phase != TaskPhase::P9 {
            task = try_complete(phase, &task, &project, true)
                .unwrap_or_else(|reasons| panic!("{phase}: {}", lines(&reasons)))
                .document;
        }
        let findings = task.check(DocumentLimits::default(), &PointerResolver::new(&exists));
        assert!(findings.is_valid(), "{findings}");
    }
    let delivered = deliver(held(12, &task), &Map::new(), &[]).unwrap();
    for phase in TaskPhase::ALL {
        assert_eq!(delivered.text(&["phase_status", phase.name(), "status"]), Some("COMPLETE"));
    }
}

#[test]
fn every_phase_needs_what_is_before_it() {
    let project = project();
    for phase in TaskPhase::ALL.into_iter().skip(1) {
        let task = before(phase, &project);
        for source in phase.sources() {
            let mut open = task.clone();
            let entry = format!("{{status: IN_PROGRESS, l2_path: {}}}", l2_path(source));
            let mut phases = open.section("phase_status").unwrap().as_object().unwrap().clone();
            phases.set(source.name(), value(&entry));
            open.set("phase_status", phases.clone());
            assert!(
                lines(&try_enter(phase, &open, &project).unwrap_err())
                    .contains(&format!("{source} is IN_PROGRESS")),
                "{phase}"
            );
            phases.set(source.name(), value("{status: COMPLETE}"));
            open.set("phase_status", phases);
            let output = lines(&try_enter(phase, &open, &project).unwrap_err());
            assert!(
                output.contains(&format!("phase_status.{source}.l2_path: the task does not say where")),
                "{phase}: {output}"
            );
        }
        let access = AccessTable::default();
        for section in &access.skill_of(phase).unwrap().1.must_read {
            let mut without = task.root().clone();
            without.shift_remove(section);
            let reasons = try_enter(phase, &TaskDocument::from_root(without), &project).unwrap_err();
            assert!(
                reasons.iter().any(|reason| reason.section == *section),
                "{phase} {section}: {}",
                lines(&reasons)
            );
        }
    }
}

#[test]
fn all_reasons_why_a_phase_cannot_begin() {
    let project = Project::default()
        .file("b/L2.md", l2("x").replace("### Artifacts Produced", "### Artifacts"))
        .file("a/L2.md", "x");
    let task = document(
        "user_intent: x\nvalidation_verdict: FAIL\nphase_status:\n  P4: {status: BLOCKED, l2_path: b/L2.md}\n  P5: {status: COMPLETE, l2_path: gone/L2.md}\n",
    );
    insta::assert_snapshot!(lines(&try_enter(TaskPhase::P6, &task, &project).unwrap_err()));
}

#[test]
fn the_entry_context_is_sections_and_handoffs() {
    let project = project();
    let mut task = before(TaskPhase::P6, &project);
    task.set("budget_constraints", value("{max_spawns: 3, max_phases: 9}"));
    insta::assert_snapshot!(try_enter(TaskPhase::P6, &task, &project).unwrap().to_string());
}

#[test]
fn default_l2_path_depends_on_the_session() {
    let project = project().file(".agent/teams/s1/phase-3/arch-coord/L2-summary.md", l2("by default"));
    let mut task = before(TaskPhase::P4, &project);
    let mut phases = task.section("phase_status").unwrap().as_object().unwrap().clone();
    phases.set("P3", value("{status: COMPLETE}"));
    task.set("phase_status", phases);
    let (exists, content) = (|path: &Path| project.exists(path), |path: &Path| project.content(path));
    let (lookup, access) = (PointerResolver::new(&exists), AccessTable::default());
    let with = |session| {
        enter(&EnterRequest {
            phase: TaskPhase::P4,
            held: held(4, &task),
            access: &access,
            session,
            l2_template: scaffold::L2_PATH,
            lookup: &lookup,
            content: &content,
        })
    };
    assert_eq!(with(Some("s1")).unwrap().handoffs[0].handoff.decisions, ["by default is decided"]);
    assert!(
        lines(&with(Some("s2")).unwrap_err())
            .contains("\".agent/teams/s2/phase-3/arch-coord/L2-summary.md\" does not exist")
    );
    assert!(with(None).is_err());
}

#[test]
fn all_reasons_why_a_phase_is_not_complete() {
    let record = gate(3)
        .replace("status: PASS, evidence_ref: L2}\nverdict", "status: FAIL, evidence_ref: L2}\nverdict");
    let project = Project::default()
        .file("phase-4/planning-coord/L2-summary.md", "## Summary\nx\n")
        .file("phase-4/gate-record.yaml", record);
    let task = document("user_intent: x\nphase_status: {P3: {status: IN_PROGRESS}}\n");
    insta::assert_snapshot!(lines(&try_complete(TaskPhase::P4, &task, &project, true).unwrap_err()));
}

#[test]
fn completing_writes_one_entry_and_keeps_the_rest() {
    let project = project();
    let mut task = before(TaskPhase::P4, &project);
    written(TaskPhase::P4, &mut task);
    let done = try_complete(TaskPhase::P4, &task, &project, false).unwrap();
    assert!(done.gate.is_none() && done.handoff.valid);
    let changed = lockstep_task::version::diff::diff(&task, &done.document);
    assert_eq!(changed.places().iter().map(ToString::to_string).collect::<Vec<_>>(), ["phase_status.P4"]);
    assert_eq!(done.document.text(&["phase_status", "P4", "l2_path"]), Some(l2_path(TaskPhase::P4).as_str()));
    let again = try_complete(TaskPhase::P4, &done.document, &project, true).unwrap();
    assert_eq!(again.document.text(&["phase_status", "P4", "gate_record"]), Some("phase-4/gate-record.yaml"));
}

#[test]
fn a_phase_without_its_section_or_with_a_failed_gate_is_not_complete() {
    let project = project();
    for phase in
        TaskPhase::ALL.into_iter().filter(|phase| !phase.produces().is_empty() && *phase != TaskPhase::P1)
    {
        let output = lines(&try_complete(phase, &before(phase, &project), &project, true).unwrap_err());
        for section in phase.produces() {
            assert!(
                output.contains(&format!("{section}: {phase} leaves it in the task, and it is not there")),
                "{output}"
            );
        }
    }
    let failed = gate(4).replace("verdict: PASS", "verdict: FAIL");
    let project = project.file("phase-4/gate-record.yaml", failed);
    let mut task = document("user_intent: x\nphase_status: {P3: {status: COMPLETE}}\n");
    written(TaskPhase::P4, &mut task);
    insta::assert_snapshot!(lines(&try_complete(TaskPhase::P4, &task, &project, true).unwrap_err()), @"phase-4/gate-record.yaml: verdict: the gate says FAIL; mend what failed and evaluate the gate again");
}

#[test]
fn nothing_begins_or_ends_in_a_delivered_task() {
    let project = project();
    let task = before(TaskPhase::P4, &project);
    let (exists, content) = (|path: &Path| project.exists(path), |path: &Path| project.content(path));
    let (lookup, access) = (PointerResolver::new(&exists), AccessTable::default());
    let delivered = CurrentVersion { version: 9, delivered: true, document: &task };
    let entered = enter(&EnterRequest {
        phase: TaskPhase::P4,
        held: delivered,
        access: &access,
        session: None,
        l2_template: scaffold::L2_PATH,
        lookup: &lookup,
        content: &content,
    });
    assert!(lines(&entered.unwrap_err()).contains("PT-v9 is DELIVERED"));
}
