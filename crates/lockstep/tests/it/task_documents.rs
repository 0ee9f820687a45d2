//! Invalid documents, access, scratch, migration, schemas: the answers of the commands.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use insta::assert_snapshot;
use lockstep_testkit::{ProcessOutput, TestEnv};
use serde_json::Value;

use crate::task_pipeline::l2;
use crate::{active, configured};

fn begun() -> TestEnv {
    let env = active();
    env.lockstep(["task", "new", "--title", "auth", "--intent", "Add login"]).assert_success();
    env
}

#[track_caller]
fn refused(output: &ProcessOutput) -> String {
    assert_eq!(output.code, Some(1), "{}", output.snapshot());
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn hostile_documents_are_refused_and_nothing_is_stored() {
    let decisions: String = (1..=10_000)
        .map(|n| format!("  - {{id: AD-{n}, decision: a, rationale: b, status: ACCEPTED}}\n"))
        .collect();
    let bomb: String = "user_intent: x\na0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned()
        + &(1..12)
            .map(|n| {
                let before = format!("*a{}", n - 1);
                format!("a{n}: &a{n} [{}]\n", vec![before; 9].join(", "))
            })
            .collect::<String>();
    let table: Vec<(&str, Vec<u8>, &str)> = vec![
        ("1 MB", format!("user_intent: {}\n", "x".repeat(1 << 20)).into_bytes(), "over the limit of 16384"),
        ("10,000 decisions", format!("user_intent: x\narchitecture_decisions:\n{decisions}").into_bytes(), "architecture_decisions"),
        ("deep", format!("user_intent: x\ndeep: {}{}\n", "[".repeat(5_000), "]".repeat(5_000)).into_bytes(), "deep"),
        ("a bomb", bomb.into_bytes(), "alias"),
        ("duplicate keys", b"user_intent: x\nuser_intent: y\n".to_vec(), "user_intent"),
        ("no UTF-8", b"user_intent: \xff\xfe\n".to_vec(), "UTF-8"),
        ("no mapping", b"- a\n- b\n".to_vec(), "found"),
        ("nothing", Vec::new(), "it is empty"),
        ("two documents", b"user_intent: x\n---\nuser_intent: y\n".to_vec(), "document"),
        ("a pointer out", b"user_intent: x\nimplementation_plan: {l3_path: ../../etc/passwd, task_count: 1, file_ownership: []}\n".to_vec(), "points outside the project"),
    ];
    let env = begun();
    for (what, bytes, expected) in table {
        env.write("task.yaml", &bytes);
        for args in [vec!["task", "update", "task.yaml", "--base", "1"], vec!["task", "new", "task.yaml"]] {
            let output = refused(&env.lockstep(args));
            assert!(output.to_lowercase().contains(&expected.to_lowercase()), "{what}: {output}");
            assert!(output.len() < 60_000, "{what}: {} bytes of reasons", output.len());
        }
    }
    let history: Vec<Value> =
        serde_json::from_str(&env.lockstep(["task", "history", "--format", "json"]).assert_success())
            .unwrap();
    assert_eq!(history.len(), 1);
}

#[test]
fn write_access_follows_the_configuration() {
    let env = configured(
        "[task.agents.scribe]\nupdate = ['constraints']\n\n[task.skills.notes]\nwrites = ['constraints']\n",
    );
    env.lockstep(["task", "new", "--intent", "Add login"]).assert_success();
    env.write("constraints.yaml", "[{id: C-1, constraint: a, source: user}]");
    env.write("intent.yaml", "other");
    let update = |file: &str, section: &str, base: &str, agent: &str| {
        env.lockstep([
            "task",
            "update",
            file,
            "--section",
            section,
            "--base",
            base,
            "--as",
            agent,
            "--skill",
            "notes",
        ])
    };
    let output = refused(&update("intent.yaml", "user_intent", "1", "scribe"));
    assert_snapshot!(output, @"
    refused, for 1 reason; nothing was written
    - scribe may not change user_intent: scribe may update only constraints; notes may write only constraints. Who could: the Lead, pt-manager, the skill brainstorming-pipeline, the skill permanent-tasks.
    ");
    update("constraints.yaml", "constraints", "1", "scribe").assert_success();
    assert!(refused(&update("constraints.yaml", "constraints", "2", "reader")).contains("only reads"));
    let access = env.lockstep(["task", "access"]).assert_success();
    assert!(access.contains("agent scribe: creates nothing, updates constraints\n"), "{access}");
    assert!(access.contains("skill notes: writes constraints; must find nothing\n"), "{access}");

    let events = fs::read_to_string(env.state().join("events.jsonl")).unwrap();
    assert_snapshot!(events.replace("2026-02-14T06:30:42Z", "NOW"));
    let mode = fs::metadata(env.state().join("events.jsonl")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn audit_follows_the_configured_directory() {
    let env = configured("[task]\nevents = 'audit/task/events.jsonl'\n");
    env.lockstep(["task", "new", "--intent", "Add login"]).assert_success();
    assert_eq!(fs::read_to_string(env.project().join("audit/task/events.jsonl")).unwrap().lines().count(), 1);
    assert!(!env.state().join("events.jsonl").exists());
}

#[test]
fn scratch_holds_its_three_concerns_and_nothing_else() {
    let env = begun();
    let set = |place: &str, value: &str, agent: &str| {
        env.lockstep(["scratch", "set", place, value, "--session", "s1", "--as", agent, "--quiet"])
    };
    set("execution_metrics.spawn_count", "3", "lead").assert_success();
    set("gate_summaries.G4", "PASS, 5 items", "lead").assert_success();
    set("gc_version", "2", "implementer").assert_success();
    for place in ["architecture_decisions", "execution_metrics.opinion", "notes"] {
        assert!(refused(&set(place, "x", "lead")).contains("nothing else"), "{place}");
    }
    assert!(refused(&set("gc_version", "3", "pt-manager")).contains("fork agent"));
    assert_snapshot!(env.lockstep(["scratch", "show", "--session", "s1"]).assert_success(), @r#"
    execution_metrics:
      spawn_count: 3
    gate_summaries:
      G4: PASS, 5 items
    gc_version: 2
    "#);
    assert_eq!(env.lockstep(["scratch", "show", "--session", "s2"]).assert_success(), "");
    assert!(env.lockstep(["scratch", "show"]).assert_failure(2).contains("--session"));
    assert!(env.lockstep(["scratch", "show", "--session", "../x"]).assert_failure(2).contains("session"));
    let context = env
        .lockstep(["task", "context", "--for", "pt-manager", "--args", "add C-1", "--session", "s1"])
        .assert_success();
    for part in ["add C-1", "spawn_count: 3", "user_intent: Add login", "every section"] {
        assert!(context.contains(part), "{part}\n{context}");
    }
}

/// An old context file with every section of the fate table.
const OLD_CONTEXT: &str = include_str!("../../../lockstep-task/tests/data/global-context.md");

/// Writes a task whose sections and files have the content of the old file's dropped sections.
fn replaced(env: &TestEnv) {
    let mut task =
        "user_intent: Add login\nconstraints: [{id: C-1, constraint: No new service, source: user}]\n\
        architecture_decisions: [{id: AD-1, decision: a, rationale: b, status: ACCEPTED}]\n\
        implementation_plan: {l3_path: plan, task_count: 1, file_ownership: [{file: a, owner: b}]}\n\
        implementation_results: {l3_path: out, summary: done}\n\
        verification_summary: {test_count: 1, pass_rate: 100%, l2_path: work/8/L2.md}\nphase_status:\n"
            .to_owned();
    for n in 1..=8 {
        env.write(format!("work/{n}/L2.md"), l2("x").replace("- `src/auth.rs` — the code", "- none"));
        task.push_str(&format!("  P{n}: {{status: COMPLETE, l2_path: work/{n}/L2.md}}\n"));
    }
    env.write("plan/index.md", "x");
    env.write("out/index.md", "x");
    env.write("task.yaml", task);
    env.lockstep(["task", "update", "task.yaml", "--base", "1"]).assert_success();
}

#[test]
fn a_migration_accounts_for_every_section_and_writes_only_on_request() {
    let env = begun();
    env.write("global-context.md", format!("{OLD_CONTEXT}\n## My Own Notes\n- a thought\n"));
    let state = || {
        let text = env.lockstep(["task", "show"]).assert_success();
        (text, env.lockstep(["scratch", "show", "--session", "s1"]).assert_success())
    };
    let before = state();
    // Most sections have no counterpart yet, and the last one is unknown: each is reported, and none is lost.
    let args = ["task", "migrate", "global-context.md", "--session", "s1", "--write"];
    let output = refused(&env.lockstep(args));
    let refusals = output.lines().filter(|line| line.contains("refused:")).count();
    assert!(refusals > 10, "{output}");
    assert!(output.contains("My Own Notes: no fate"), "{output}");
    assert_eq!(state(), before);
    let data = env.lockstep(args.into_iter().chain(["--format", "json"])).stdout;
    let data: Value = serde_json::from_slice(&data).expect("one JSON value and nothing beside it");
    assert_eq!(data["possible"], false);

    replaced(&env);
    let before = state();
    let discard = ["--discard", "My Own Notes"];
    assert_snapshot!(env.lockstep(args[..5].iter().chain(&discard)).snapshot());
    assert_eq!(state(), before, "without --write nothing is written");
    let fork = args.into_iter().chain(discard).chain(["--as", "pt-manager"]);
    assert!(refused(&env.lockstep(fork)).contains("fork agent"));
    assert_eq!(state(), before);

    env.lockstep(args.into_iter().chain(discard)).assert_success();
    let (task, scratch) = state();
    for part in ["Keep the session format", "login returns a session", "sessions are rows", "PT-v3"] {
        assert!(task.contains(part), "{part}\n{task}");
    }
    for part in ["gc_version: 5", "Phase Pipeline Status", "Gate Records"] {
        assert!(scratch.contains(part), "{part}\n{scratch}");
    }
    assert!(!task.contains("a thought") && !scratch.contains("a thought"));
}

#[test]
fn every_schema_is_printed_and_an_unknown_name_is_refused() {
    let env = active();
    let listed: Vec<String> =
        serde_json::from_str(&env.lockstep(["schema", "--format", "json"]).assert_success()).unwrap();
    for name in ["task", "gate-record", "l1-index", "handoff-report", "task-event", "scratch"] {
        assert!(listed.iter().any(|listed| listed == name), "{name}");
        let schema: Value = serde_json::from_str(&env.lockstep(["schema", name]).assert_success()).unwrap();
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema", "{name}");
    }
    assert!(env.lockstep(["schema", "nonsense"]).assert_failure(2).contains("gate-record"));
}

#[test]
fn without_a_task_every_question_is_answered_with_no() {
    let env = active();
    for args in [
        vec!["task", "show"],
        vec!["task", "history"],
        vec!["task", "diff", "1"],
        vec!["task", "restore", "1"],
        vec!["task", "check"],
        vec!["task", "readers"],
        vec!["task", "deliver"],
        vec!["task", "reopen", "--why", "x"],
        vec!["phase", "enter", "P1"],
        vec!["phase", "complete", "P1", "--l2", "lockstep.toml"],
    ] {
        let output = refused(&env.lockstep(&args));
        assert!(output.contains("`lockstep task new` creates it"), "{args:?}: {output}");
    }
}

#[test]
fn query_about_a_missing_task_mentions_no_write() {
    let output = refused(&active().lockstep(["task", "show"]));
    assert_eq!(output, "there is no task yet; `lockstep task new` creates it\n");
}
