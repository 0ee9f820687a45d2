//! The task on the command line, from an empty project to DELIVERED, and everything that stops it on the way.

use std::fs;

use insta::assert_snapshot;
use lockstep_testkit::{ProcessOutput, TestEnv};

use crate::active;

/// An L2 file that passes.
pub(crate) fn l2(summary: &str) -> String {
    format!(
        "# L2 Summary\n\n## Summary\n{summary}\n\n## PT Goal Linkage\n- AD-1\n\n## Evidence Sources\n- src/auth.rs\n\n\
         ## Downstream Handoff\n\n### Decisions Made (forward-binding)\n- {summary} is decided\n\n\
         ### Risks Identified (must-track)\n- none\n\n### Interface Contracts (must-satisfy)\n- api → auth\n\n\
         ### Constraints (must-enforce)\n- C-1\n\n### Open Questions (requires resolution)\n- none\n\n\
         ### Artifacts Produced\n- `src/auth.rs` — the code\n"
    )
}

/// A gate record that passes, for the gate after phase `n`.
pub(crate) fn gate(n: usize) -> String {
    let to = if n == 9 { "DELIVERED".to_owned() } else { format!("P{}", n + 1) };
    format!(
        "gate: G{n}\nphase_from: P{n}\nphase_to: {to}\ntier: TRIVIAL\ntimestamp: 2026-02-12T09:30:00Z\nevidence: []\n\
         checklist:\n  - {{item: scope, status: PASS, evidence_ref: L2}}\n  - {{item: tests, status: PASS, evidence_ref: L2}}\n  \
         - {{item: review, status: PASS, evidence_ref: L2}}\nverdict: PASS\njustification: All three hold.\ndownstream: {{}}\n"
    )
}

/// Returns the sections that each phase writes into the task, with the skill that writes them.
fn sections(n: usize) -> Vec<(&'static str, &'static str)> {
    match n {
        2 => vec![
            ("codebase_impact_map", "{modules: [], interfaces: [], risk_hotspots: []}"),
            ("constraints", "[{id: C-1, constraint: No new service, source: user}]"),
        ],
        3 => vec![(
            "architecture_decisions",
            "[{id: AD-1, decision: Sessions live in the store, rationale: They survive, status: ACCEPTED}]",
        )],
        4 => vec![("implementation_plan", "{l3_path: plan, task_count: 3, file_ownership: []}")],
        5 => vec![("validation_verdict", "PASS")],
        6 => vec![("implementation_results", "{l3_path: out, summary: done}")],
        8 => {
            vec![("verification_summary", "{test_count: 9, pass_rate: 100%, l2_path: work/7/L2-summary.md}")]
        }
        _ => vec![],
    }
}

fn skill(n: usize) -> &'static str {
    match n {
        1..=3 => "brainstorming-pipeline",
        4 => "agent-teams-write-plan",
        5 => "plan-validation-pipeline",
        6 => "agent-teams-execution-plan",
        7 | 8 => "verification-pipeline",
        _ => "delivery-pipeline",
    }
}

/// A project with the files every phase leaves, and no task.
fn project() -> TestEnv {
    let env = active();
    for file in ["src/auth.rs", "plan/index.md", "out/index.md"] {
        env.write(file, "x\n");
    }
    for n in 1..=9 {
        env.write(format!("work/{n}/L2-summary.md"), l2(&format!("P{n}-work")));
        env.write(format!("work/{n}/gate-record.yaml"), gate(n));
    }
    env
}

fn run(env: &TestEnv, args: &str) -> ProcessOutput {
    env.lockstep(args.split(' '))
}

fn version(env: &TestEnv) -> u64 {
    let text = run(env, "task show --format json").assert_success();
    serde_json::from_str::<serde_json::Value>(&text).unwrap()["version"].as_u64().unwrap()
}

/// Writes what phase `n` writes, each section as one version.
fn write_sections(env: &TestEnv, n: usize) {
    for (name, value) in sections(n) {
        env.write("section.yaml", value);
        let base = version(env);
        run(env, &format!("task update section.yaml --section {name} --base {base} --skill {}", skill(n)))
            .assert_success();
    }
}

fn complete(env: &TestEnv, n: usize) -> ProcessOutput {
    run(
        env,
        &format!(
            "phase complete P{n} --l2 work/{n}/L2-summary.md --gate work/{n}/gate-record.yaml --skill {}",
            skill(n)
        ),
    )
}

/// The project when phase `n` is about to begin.
fn before(n: usize) -> TestEnv {
    let env = project();
    env.lockstep(["task", "new", "--title", "auth", "--intent", "Add login", "--skill", skill(1)])
        .assert_success();
    for phase in 1..n {
        write_sections(&env, phase);
        complete(&env, phase).assert_success();
    }
    env
}

#[test]
fn from_an_empty_project_to_delivered() {
    let env = before(1);
    for n in 1..=8 {
        let entry = run(&env, &format!("phase enter P{n}")).assert_success();
        let handed: Vec<String> = match n {
            1 => vec![],
            6 => vec!["P4-work is decided".to_owned(), "P5-work is decided".to_owned()],
            _ => vec![format!("P{}-work is decided", n - 1)],
        };
        assert!(handed.iter().all(|text| entry.contains(text)), "{entry}");
        write_sections(&env, n);
        complete(&env, n).assert_success();
    }
    run(&env, "phase enter P9").assert_success();
    assert_snapshot!(run(&env, "task deliver --metric spawns=12 --as delivery-agent --skill delivery-pipeline").snapshot(), @"
    [PERMANENT] PT-v17 auth — DELIVERED
    changed: phase_status, metrics, subject
    exit 0
    ");
    assert_snapshot!(run(&env, "task show --section phase_status").snapshot());
    assert_snapshot!(run(&env, "task history").snapshot());

    // It is final, until it is reopened with a reason.
    env.write("task.yaml", "user_intent: other\n");
    assert!(text(&run(&env, "task update task.yaml --base 17")).contains("PT-v17 is DELIVERED and final"));
    assert!(text(&run(&env, "phase enter P4")).contains("PT-v17 is DELIVERED"));
    assert!(text(&run(&env, "task deliver")).contains("DELIVERED already"));
    assert!(text(&run(&env, "task reopen")).contains("no reason is given"));
    assert_eq!(
        env.lockstep(["task", "reopen", "--why", "a fault was found", "--quiet"]).assert_success(),
        "[PERMANENT] PT-v18 auth\n"
    );
    assert_eq!(run(&env, "task deliver --quiet").assert_success(), "[PERMANENT] PT-v19 auth — DELIVERED\n");

    // After a delivery the next task begins at its first version, and every version of the last one stays.
    assert_eq!(
        run(&env, "task new --title next --intent more --quiet").assert_success(),
        "[PERMANENT] PT-v1 next\n"
    );
    let events = fs::read_to_string(env.state().join("events.jsonl")).unwrap();
    let verdict = |verdict: &str| events.lines().filter(|line| line.contains(verdict)).count();
    assert_eq!((verdict("\"granted\""), verdict("\"refused\"")), (20, 3), "{events}");
}

/// The output of a command whose answer is no.
#[track_caller]
fn text(output: &ProcessOutput) -> String {
    assert_eq!(output.code, Some(1), "{}", output.snapshot());
    assert!(output.stderr.is_empty(), "{}", output.snapshot());
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn every_omission_stops_the_phase_with_all_reasons_at_once() {
    let env = before(4);
    write_sections(&env, 4);
    let file = env.project().join("work/4/L2-summary.md");
    let whole = fs::read_to_string(&file).unwrap();
    let categories = [
        "Decisions Made (forward-binding)",
        "Risks Identified (must-track)",
        "Interface Contracts (must-satisfy)",
        "Constraints (must-enforce)",
        "Open Questions (requires resolution)",
        "Artifacts Produced",
    ];
    for category in categories {
        fs::write(&file, whole.replace(&format!("### {category}\n"), "")).unwrap();
        assert!(text(&complete(&env, 4)).contains(category), "{category}");
        let checked = text(&env.lockstep(["handoff", "check", "work/4/L2-summary.md"]));
        assert!(checked.contains(category), "{category}");
    }
    for section in ["Summary", "PT Goal Linkage", "Evidence Sources", "Downstream Handoff"] {
        fs::write(&file, whole.replace(&format!("## {section}\n"), "")).unwrap();
        assert!(text(&complete(&env, 4)).contains(section), "{section}");
    }
    fs::write(&file, whole.replace("src/auth.rs` —", "src/gone.rs` —")).unwrap();
    assert!(text(&complete(&env, 4)).contains("src/gone.rs"));
    fs::write(&file, &whole).unwrap();
    assert_eq!(version(&env), 8, "nothing was written");
    complete(&env, 4).assert_success();

    // Everything at once: a phase out of turn, without its section, its files, its gate.
    let refused = run(&env, "phase complete P6 --l2 work/none.md --gate work/5/gate-record.yaml");
    assert_eq!(refused.code, Some(4), "a missing file: {}", refused.snapshot());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("there is no file work/none.md"));
    assert_snapshot!(String::from_utf8_lossy(&refused.stdout));
}

#[test]
fn a_phase_is_entered_only_through_what_the_one_before_left() {
    let env = before(4);
    let file = env.project().join("work/3/L2-summary.md");
    let whole = fs::read_to_string(&file).unwrap();
    fs::write(&file, whole.replace("### Constraints (must-enforce)\n", "")).unwrap();
    assert!(text(&run(&env, "phase enter P4")).contains("Constraints (must-enforce)"));
    fs::remove_file(&file).unwrap();
    assert!(text(&run(&env, "phase enter P4")).contains("does not exist"));
    assert_snapshot!(text(&run(&env, "phase enter P8")));
    fs::write(&file, whole).unwrap();
    run(&env, "phase enter P4").assert_success();
    // A section the next skill must read.
    let output = run(&env, "task show").assert_success();
    let without: String = output
        .split_inclusive('\n')
        .filter(|line| {
            !line.contains("C-1")
                && !line.contains("No new service")
                && !line.contains("source: user")
                && !line.starts_with("constraints")
        })
        .collect();
    env.write("task.yaml", without);
    run(&env, &format!("task update task.yaml --base {} --drop constraints", version(&env))).assert_success();
    let message = text(&run(&env, "phase enter P4"));
    assert!(message.contains("constraints: agent-teams-write-plan must read it"), "{message}");
}

#[test]
fn a_gate_that_does_not_hold_stops_its_phase() {
    let env = before(4);
    write_sections(&env, 4);
    let path = "work/4/gate-record.yaml";
    let whole = gate(4);
    let table = [
        (whole.replacen("status: PASS", "status: FAIL", 1), "it says PASS over FAIL: scope"),
        (
            whole.replace("TRIVIAL", "COMPLEX"),
            "a COMPLEX gate checks at least 7 items, and this record has 3",
        ),
        ("gate: [\n".to_owned(), "it is not valid YAML"),
        (whole.replace("P4", "P3").replace("G4", "G3"), "it is the record of P3, not of P4"),
        (
            whole.replacen("status: PASS", "status: FAIL", 1).replace("verdict: PASS", "verdict: FAIL"),
            "the gate says FAIL",
        ),
        (whole.replace("justification: All three hold.\n", ""), "justification"),
    ];
    for (record, expected) in table {
        env.write(path, &record);
        let output = text(&complete(&env, 4));
        assert!(output.contains(expected), "{expected}\n{output}");
    }
    // An old dialect is imported, with a note.
    let old = "gate: 4\nresult: APPROVED\ndate: 2026-02-01\ncriteria:\n  - {name: scope, status: PASS}\n  - {name: tests, status: PASS}\n";
    env.write(path, old);
    assert_snapshot!(run(&env, &format!("handoff check {path}")).snapshot());
    env.write(path, whole);
    complete(&env, 4).assert_success();
}

#[test]
fn a_new_handoff_is_created_at_its_path_and_fails_until_filled() {
    let env = before(2);
    env.configure("[task]\nl2_path = 'notes/{session-id}/{N}-{coordinator}.md'\n");
    assert_eq!(
        run(&env, "handoff new P2 --write --session s1").assert_success(),
        "notes/s1/2-research-coord.md\n"
    );
    assert!(text(&run(&env, "handoff new P2 --write --session s1")).contains("there already"));
    let output = text(&run(&env, "handoff check notes/s1/2-research-coord.md"));
    assert!(output.contains("problems"), "{output}");
    assert!(run(&env, "handoff new P2").assert_success().contains("from PT-v2"));
    let missing = run(&env, "handoff check section.txt --kind l2").assert_failure(4);
    for text in ["cannot read section.txt", "is looked for in", "`lockstep handoff new PHASE` prints"] {
        assert!(missing.contains(text), "{missing}");
    }
    assert!(run(&env, "handoff new P2 --write").assert_failure(2).contains("--session"));
}
