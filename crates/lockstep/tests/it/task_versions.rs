//! Versions of the task under many writers: none lost, none skipped, none torn, regardless of killed
//! processes.
//!
//! The four thousand swaps run in eight real processes of this test binary, against the store and the rules
//! themselves. The command line, whose processes take longer to start, is driven by eight writers with fewer
//! swaps.

use std::collections::BTreeMap;
use std::env;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use insta::assert_snapshot;
use jiff::Timestamp;
use lockstep_store::task_versions::{ExpectedVersion, NewVersion, SwapOutcome, VersionAuthor};
use lockstep_store::{StateDir, Store};
use lockstep_task::document::{DocumentLimits, TaskDocument};
use lockstep_task::version::compare_and_swap::{CurrentVersion, VersionProposal, compare_and_swap};
use lockstep_testkit::TestEnv;
use serde_json::Value;

use crate::active;

const WRITERS: usize = 8;
const UPDATES: u64 = 500;
/// Fewer through the command line: starting processes is what takes the time.
const COMMANDS: u64 = 25;

/// The project in which a process that this test starts is to write.
const PROJECT: &str = "LOCKSTEP_TEST_WRITE_IN";
const WRITER: &str = "LOCKSTEP_TEST_WRITER";

fn counters(document: &TaskDocument) -> BTreeMap<String, u64> {
    document
        .root()
        .iter()
        .filter_map(|(key, value)| {
            Some((key.strip_prefix("writer_")?.to_owned(), value.as_str()?.parse().ok()?))
        })
        .collect()
}

fn parse(text: &str) -> TaskDocument {
    TaskDocument::parse(text.as_bytes(), DocumentLimits::default()).unwrap()
}

fn new<'a>(document: &'a str, author: &'a VersionAuthor) -> NewVersion<'a> {
    NewVersion { subject: "[PERMANENT]", delivered: false, document, author, at: Timestamp::UNIX_EPOCH }
}

/// Five hundred compare-and-swap updates, each repeated until it is the next version. Runs only as a process of its own.
#[test]
#[ignore = "it is a process that the test below starts"]
fn one_writer() {
    let (Ok(project), Ok(writer)) = (env::var(PROJECT), env::var(WRITER)) else { return };
    let mut store = Store::open(&StateDir::for_project(Path::new(&project))).unwrap();
    let author = VersionAuthor { agent_id: Some(writer.clone()), ..VersionAuthor::default() };
    for n in 1..=UPDATES {
        loop {
            let present = store.current_task().unwrap().unwrap();
            let document = parse(&present.document);
            let mut next = document.clone();
            next.set(&format!("writer_{writer}"), n.to_string());
            let current = CurrentVersion { version: present.version, delivered: false, document: &document };
            let proposal = VersionProposal {
                base: present.version,
                base_document: Some(&document),
                document: &next,
                merge: false,
                drops: &[],
            };
            let Ok(Some(next)) = compare_and_swap(current, proposal) else {
                panic!("it follows the present version")
            };
            let follows = ExpectedVersion::Version { task: present.task, version: present.version };
            let swapped = store.swap_task(follows, new(&next.document.to_yaml(), &author)).unwrap();
            match swapped {
                SwapOutcome::Written { version, .. } => {
                    assert_eq!(version, next.version);
                    break;
                }
                SwapOutcome::Conflict => {}
            }
        }
    }
}

#[test]
fn concurrent_updates_lose_no_version() {
    let env = active();
    let state = StateDir::for_project(&env.project());
    let mut store = Store::open(&state).unwrap();
    let author = VersionAuthor::default();
    store.swap_task(ExpectedVersion::NoOpenTask(None), new("user_intent: count\n", &author)).unwrap();
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            Command::new(env::current_exe().unwrap())
                .args(["task_versions::one_writer", "--exact", "--ignored"])
                .env(PROJECT, env.project())
                .env(WRITER, writer.to_string())
                .stdout(Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    for mut writer in writers {
        assert!(writer.wait().unwrap().success());
    }
    let versions = store.task_versions(1).unwrap();
    assert_eq!(versions.len(), 1 + WRITERS * UPDATES as usize);
    let mut before = counters(&parse(&versions[0].document));
    for (n, version) in versions.iter().enumerate().skip(1) {
        assert_eq!(version.version, n as u64 + 1, "no number is skipped");
        // Each version is the one before it and one update more: nothing another writer wrote is lost.
        let after = counters(&parse(&version.document));
        *before.entry(version.author.agent_id.clone().unwrap()).or_default() += 1;
        assert_eq!(after, before, "PT-v{}", version.version);
    }
    assert!(before.values().all(|count| *count == UPDATES));
}

fn history(env: &TestEnv) -> Vec<Value> {
    serde_json::from_str(&env.lockstep(["task", "history", "--format", "json"]).assert_success()).unwrap()
}

fn document(env: &TestEnv, version: u64) -> Value {
    let text = env
        .lockstep(["task", "show", "--format", "json", "--version", &version.to_string()])
        .assert_success();
    serde_json::from_str::<Value>(&text).unwrap()["document"].clone()
}

/// An update of one writer's own section, from a base that is surely old.
fn update(env: &TestEnv, writer: usize, n: u64) -> Command {
    let file = env.write(format!("{writer}.yaml"), format!("\"{n}\"\n"));
    let section = format!("writer_{writer}");
    let file = file.to_str().unwrap();
    env.command(["task", "update", file, "--section", &section, "--base", "1", "--merge", "--drop", &section])
}

#[test]
fn eight_writers_at_the_command_line_lose_nothing() {
    let env = active();
    env.lockstep(["task", "new", "--intent", "count"]).assert_success();
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let env = &env;
            scope.spawn(move || {
                // Each writer's section is only ever its own, so the one it last wrote is its base.
                let mut base = 1;
                for n in 1..=COMMANDS {
                    let file = env.write(format!("{writer}.yaml"), format!("\"{n}\"\n"));
                    let (section, at) = (format!("writer_{writer}"), base.to_string());
                    let file = file.to_str().unwrap();
                    let args = [
                        "task",
                        "update",
                        file,
                        "--section",
                        &section,
                        "--base",
                        &at,
                        "--merge",
                        "--format",
                        "json",
                    ];
                    let output: Value = serde_json::from_str(&env.lockstep(args).assert_success()).unwrap();
                    base = output["version"].as_u64().unwrap();
                }
            });
        }
    });
    let versions = history(&env);
    assert_eq!(versions.len() as u64, 1 + WRITERS as u64 * COMMANDS);
    assert!(versions.iter().enumerate().all(|(n, version)| version["version"] == n as u64 + 1));
    let last = document(&env, versions.len() as u64);
    for writer in 0..WRITERS {
        assert_eq!(last[format!("writer_{writer}")], COMMANDS.to_string());
    }
}

#[test]
fn killed_writer_leaves_only_complete_versions() {
    let env = active();
    env.lockstep(["task", "new", "--intent", "survive"]).assert_success();
    let mut output = Vec::new();
    for n in 0..40_u64 {
        let mut child = update(&env, n as usize, n).spawn().unwrap();
        // From before it has read its arguments to after it has written.
        thread::sleep(Duration::from_micros(n * n * 25));
        let _ = child.kill();
        if child.wait_with_output().unwrap().status.success() {
            output.push(n);
        }
    }
    let versions = history(&env);
    for (n, version) in versions.iter().enumerate() {
        assert_eq!(version["version"], n as u64 + 1);
        assert_eq!(document(&env, n as u64 + 1)["user_intent"], "survive");
    }
    let last = document(&env, versions.len() as u64);
    for n in &output {
        assert_eq!(last[format!("writer_{n}")], n.to_string(), "a write that was told is there");
    }
    env.run(update(&env, 99, 7), b"").assert_success();
    assert_eq!(document(&env, versions.len() as u64 + 1)["writer_99"], "7");
}

#[test]
fn conflicting_write_reports_both_changes() {
    let env = active();
    env.write("a.yaml", "user_intent: one\nconstraints: []\n");
    env.lockstep(["task", "new", "a.yaml", "--title", "auth"]).assert_success();
    env.write("b.yaml", "user_intent: two\nconstraints: []\n");
    env.write("c.yaml", "user_intent: one\nconstraints: [{id: C-1, constraint: a, source: user}]\n");
    env.lockstep(["task", "update", "b.yaml", "--base", "1", "--why", "renamed"]).assert_success();
    assert_snapshot!(env.lockstep(["task", "update", "c.yaml", "--base", "1"]).snapshot());
    assert_snapshot!(env.lockstep(["task", "update", "c.yaml", "--base", "1", "--merge"]).snapshot(), @"
    [PERMANENT] PT-v3 auth
    merged with later writes
    changed: constraints
    exit 0
    ");
    env.write("d.yaml", "user_intent: three\nconstraints: []\n");
    assert_snapshot!(env.lockstep(["task", "update", "d.yaml", "--base", "1", "--merge"]).snapshot());
    assert_snapshot!(env.lockstep(["task", "diff", "1"]).snapshot(), @r#"
    user_intent
      ~ user_intent: "one" → "two"
    constraints
      + constraints.C-1: {"id":"C-1","constraint":"a","source":"user"}
    exit 0
    "#);
    // Restoring goes forward: the earlier text is the next version.
    env.lockstep(["task", "restore", "2", "--why", "C-1 was a mistake"]).assert_success();
    let history = history(&env);
    assert_eq!(history.len(), 4);
    assert_eq!((&history[3]["why"], &history[1]["why"]), (&"C-1 was a mistake".into(), &"renamed".into()));
    assert!(env.lockstep(["task", "show", "--version", "9"]).assert_failure(2).contains("PT-v1 to PT-v4"));
}

/// The update that really happened: it marks P4 complete, drops the L2 pointers of P2 and P3, and goes unnoticed.
#[test]
fn lossy_merge_is_refused_unless_declared() {
    let env = active();
    for n in 2..=3 {
        env.write(format!("work/{n}/L2.md"), "x");
    }
    let task = "user_intent: Add login\nphase_status:\n  P2: {status: COMPLETE, l2_path: work/2/L2.md}\n  \
                P3: {status: COMPLETE, l2_path: work/3/L2.md}\n  P4: {status: IN_PROGRESS}\n";
    env.write("task.yaml", task);
    env.lockstep(["task", "new", "task.yaml", "--title", "auth"]).assert_success();
    let lossy = task
        .replace(", l2_path: work/2/L2.md", "")
        .replace(", l2_path: work/3/L2.md", "")
        .replace("IN_PROGRESS", "COMPLETE");
    env.write("task.yaml", lossy);
    assert_snapshot!(env.lockstep(["task", "update", "task.yaml", "--base", "1"]).snapshot(), @"
    refused, for 1 reason; nothing was written
    - this write would lose what other phases rely on:
        phase_status.P2.l2_path (points to work/2/L2.md)
        phase_status.P3.l2_path (points to work/3/L2.md)
      keep them, or give them up by name: --drop 'phase_status.P2.l2_path' --drop 'phase_status.P3.l2_path'
    exit 1
    ");
    let drops = ["--drop", "phase_status.P2.l2_path", "--drop", "phase_status.P3.l2_path"];
    let args = ["task", "update", "task.yaml", "--base", "1", "--quiet"].into_iter().chain(drops);
    assert_eq!(env.lockstep(args).assert_success(), "[PERMANENT] PT-v2 auth\n");
}

/// The file of the task's audit cannot be written: a version without its event is not written either.
#[test]
fn a_task_whose_event_cannot_be_written_is_not_written() {
    let env = active();
    std::fs::create_dir_all(env.state().join("events.jsonl")).unwrap();
    let output = env.lockstep(["task", "new", "--title", "auth", "--intent", "Add login"]);
    assert_ne!(output.code, Some(0), "{}", output.snapshot());
    let text = env.lockstep(["task", "show"]);
    assert!(text.code != Some(0) && !text.snapshot().contains("Add login"), "{}", text.snapshot());
}
